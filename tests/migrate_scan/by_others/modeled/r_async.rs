//! A snippet.
impl Client {
    pub async fn call(&self, toolbox: &str, name: &str, kwargs: Value) -> Result<Value> {
        let topic = format!("ovos.persona.tools.{toolbox}.call");
        let answer = format!("{topic}.response");
        self.send(Message::new(&topic, json!({"name": name, "kwargs": kwargs}))).await?;
        self.wait(&answer).await
    }
}

#[test]
fn parses() {
    let raw = "{\"type\":\"ovos.persona.tools.w.call\",\"data\":{}}";
    assert_eq!(parse(raw).kind, "ovos.persona.tools.w.call");
}
