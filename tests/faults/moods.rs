//! One toolbox of many moods in four languages, and the healthy one beside it.

use std::future::Future;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use toolhost::config::{Env, Kind, ToolboxConfig};
use toolhost::json::Text;

use crate::child;
use crate::harness::{Hosted, config};

pub(crate) const LANGUAGES: [&str; 4] = ["bash", "python", "node", "rust"];

/// A Python that starts without a shim before it, where there is one.
pub(crate) fn python() -> &'static str {
    const SYSTEM: &str = "/usr/bin/python3";
    if Path::new(SYSTEM).exists() { SYSTEM } else { "python3" }
}

pub(crate) fn argv(language: &str) -> Vec<String> {
    let (program, file) = match language {
        "bash" => ("bash", "mood.sh"),
        "python" => (python(), "mood.py"),
        "node" => ("node", "mood.mjs"),
        _ => return child::argv(),
    };
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/moods/");
    vec![program.to_owned(), format!("{folder}{file}")]
}

/// The toolbox, for the supervisor.
pub(crate) fn mood(language: &str, own: &Value) -> ToolboxConfig {
    ToolboxConfig {
        kind: Kind::Command(argv(language)),
        config: Text::from(own),
        env: Env([(child::MARK.to_owned(), "1".to_owned())].into()),
        ..config(language, &[])
    }
}

/// The toolbox, for the file.
pub(crate) fn entry(language: &str, own: &Value) -> Value {
    let env = json!({child::MARK: "1"});
    json!({"command": argv(language), "config": own, "env": env, "timeout": "20s", "describe_timeout": "20s"})
}

/// The toolbox in one language, started and described.
pub(crate) async fn up(language: &str, own: &Value) -> Hosted {
    Hosted::start(mood(language, own)).ready().await
}

/// The neighbor.
pub(crate) struct Healthy(Hosted);

impl Healthy {
    pub(crate) async fn start() -> Self {
        Self(up("rust", &json!({})).await)
    }

    /// Calls the neighbor as long as the fault lasts, and once after it.
    pub(crate) async fn beside<T>(&self, fault: impl Future<Output = T>) -> T {
        tokio::pin!(fault);
        let mut n = 0;
        loop {
            let call = async {
                self.serves(n).await;
                tokio::time::sleep(Duration::from_millis(2)).await;
            };
            tokio::select! {
                outcome = &mut fault => {
                    self.serves(n).await;
                    return outcome;
                }
                () = call => n += 1,
            }
        }
    }

    async fn serves(&self, n: u64) {
        assert_eq!(
            self.0.call("echo", json!({"n": n})).await,
            Ok(json!({"n": n})),
            "the neighbor"
        );
    }

    /// It has had one process all along.
    pub(crate) async fn never_noticed(&self) {
        assert_eq!(
            self.0.handle.snapshot().await.unwrap().restarts,
            0,
            "the neighbor was started again"
        );
    }
}

/// Bytes for the tool `raw`: `$ID` becomes the id of the call.
pub(crate) fn raw(bytes: &[u8], pieces: usize) -> Value {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let mark: String = b"$ID".iter().map(|byte| format!("{byte:02x}")).collect();
    json!({"hex": hex.replace(&mark, "ID"), "pieces": pieces})
}
