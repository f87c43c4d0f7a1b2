//! G. Schemas that lead nowhere, old dialects, patterns that never end, messages that help.

use serde_json::{Value, json};

use crate::common::caller::{DISCOVER, LIST};
use crate::harness::Hosted;
use crate::moods::{Healthy, LANGUAGES, entry, mood, up};
use crate::world::World;

fn tool(name: &str, schema: Value) -> Value {
    json!({"name": name, "description": name, "argument_schema": schema})
}

#[tokio::test]
async fn schemas_that_lead_in_a_circle_cost_their_own_tool_and_nothing_else() {
    let healthy = Healthy::start().await;
    let tree = json!({"properties": {"tree": {"$ref": "#/$defs/node"}},
        "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}, "additionalProperties": false}}});
    let own = json!({"tools": [
        tool("empty", json!({"$ref": ""})),
        tool("itself", json!({"$ref": "#"})),
        tool("chain", json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}})),
        tool("dynamic", json!({"$dynamicAnchor": "x", "$dynamicRef": "#x"})),
        tool("elsewhere", json!({"$ref": "https://example.invalid/schema.json"})),
        tool("tree", tree),
    ]});
    for language in LANGUAGES {
        let toolbox = up(language, &own).await;
        for name in ["empty", "itself", "chain", "dynamic", "elsewhere"] {
            let error = healthy.beside(toolbox.call(name, json!({"any": 1}))).await.unwrap_err();
            assert!(
                error.starts_with(&format!("Invalid schema of '{name}': ")),
                "{language}: {error}"
            );
        }
        assert_eq!(toolbox.call("echo", json!({})).await, Ok(json!({})));
    }
    let toolbox = up("rust", &own).await;
    let deep = |last: Value| (0..50).fold(last, |node, _| json!({"next": node}));
    let good = json!({"tree": deep(json!({}))});
    assert_eq!(toolbox.call("tree", good.clone()).await, Ok(good));
    let error = toolbox
        .call("tree", json!({"tree": deep(json!({"other": 1}))}))
        .await
        .unwrap_err();
    assert!(
        error.starts_with("Invalid arguments for 'tree': tree.next.next"),
        "{error}"
    );
    healthy.never_noticed().await;
}

#[tokio::test]
async fn a_schema_reaches_callers_with_everything_that_stands_in_it() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema", "$comment": "kept", "type": "object", "x-foo": [1.0, {"b": 1, "a": 2}],
        "properties": {"z": {"$ref": "#/$defs/word"}, "a": {"type": "integer"}}, "additionalProperties": false, "required": ["z"],
        "$defs": {"word": {"type": "string", "minLength": 1}},
    });
    let own = json!({"tools": [tool("kept", schema.clone())]});
    let toolboxes: Value = ["rust", "python", "node"]
        .into_iter()
        .map(|language| (language.to_owned(), entry(language, &own)))
        .collect();
    let mut world = World::start(toolboxes).await;
    let discover = world.caller.send(DISCOVER, &json!({})).await;
    let mut answers = world.caller.wait(&discover, 4).await;
    answers.push(world.caller.ask(LIST, &json!({})).await);
    let mut seen = 0;
    for answer in answers {
        for tool in answer["tools"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|tool| tool["name"] == "kept")
        {
            // JavaScript has no 1.0.
            let said = tool["argument_schema"].to_string();
            let expected = schema.to_string();
            assert!(said == expected || said == expected.replace("1.0", "1"), "{said}");
            seen += 1;
        }
    }
    assert_eq!(seen, 6);
    world.stop().await;
}

#[tokio::test]
async fn each_dialect_is_judged_by_its_own_rules_and_an_unknown_one_as_the_newest() {
    let schema = |dialect: Option<&str>, x: Value| {
        let mut schema = json!({"type": "object", "properties": {"x": x}});
        if let Some(dialect) = dialect {
            schema["$schema"] = dialect.into();
        }
        schema
    };
    let above = json!({"minimum": 0, "exclusiveMinimum": true});
    let newer = json!({"exclusiveMinimum": 0});
    let pair = json!({"items": [{"type": "string"}, {"type": "integer"}]});
    let prefix = json!({"prefixItems": [{"type": "string"}, {"type": "integer"}]});
    let integer = json!({"type": "integer"});
    let four = Some("http://json-schema.org/draft-04/schema#");
    let table = [
        ("above_4", schema(four, above), json!(1), json!(0)),
        ("integer_4", schema(four, integer.clone()), json!(1), json!(1.0)),
        (
            "above_6",
            schema(Some("http://json-schema.org/draft-06/schema#"), newer.clone()),
            json!(1),
            json!(0),
        ),
        (
            "integer_6",
            schema(Some("http://json-schema.org/draft-06/schema"), integer),
            json!(1.0),
            json!(1.5),
        ),
        (
            "pair_7",
            schema(Some("http://json-schema.org/draft-07/schema#"), pair.clone()),
            json!(["a", 1]),
            json!([1, "a"]),
        ),
        (
            "pair_2019",
            schema(Some("https://json-schema.org/draft/2019-09/schema"), pair),
            json!(["a", 1]),
            json!([1, "a"]),
        ),
        (
            "prefix_2020",
            schema(Some("https://json-schema.org/draft/2020-12/schema"), prefix.clone()),
            json!(["a", 1]),
            json!([1, "a"]),
        ),
        ("none", schema(None, prefix.clone()), json!(["a", 1]), json!([1, "a"])),
        (
            "unknown",
            schema(Some("https://example.invalid/my-dialect"), prefix),
            json!(["a", 1]),
            json!([1, "a"]),
        ),
        (
            "secure_7",
            schema(Some("https://json-schema.org/draft-07/schema#"), newer),
            json!(1),
            json!(0),
        ),
    ];
    let tools: Vec<Value> = table
        .iter()
        .map(|(name, schema, _, _)| tool(name, schema.clone()))
        .collect();
    let toolbox = up("rust", &json!({"tools": tools})).await;
    for (name, _, good, bad) in table {
        let good = json!({"x": good});
        assert_eq!(toolbox.call(name, good.clone()).await, Ok(good), "{name}");
        let error = toolbox.call(name, json!({"x": bad})).await.unwrap_err();
        assert!(
            error.starts_with(&format!("Invalid arguments for '{name}': x")),
            "{name}: {error}"
        );
    }
}

#[tokio::test]
async fn a_pattern_that_would_never_end_ends_and_a_faulty_one_costs_its_tool() {
    let healthy = Healthy::start().await;
    let pattern =
        |pattern: &str| json!({"type": "object", "properties": {"x": {"type": "string", "pattern": pattern}}});
    let own = json!({"tools": [
        tool("ahead", pattern(r"^(?=.*\d).+$")),
        tool("explodes", pattern("^(a+)+$")),
        tool("behind", pattern(r"^(?=(a+)+$)b")),
        tool("digits", pattern(r"^\d$")),
        tool("letters", pattern(r"^\p{L}+$")),
        tool("many", pattern("^x{0,100000}$")),
        tool("slash", pattern(r"^\/$")),
        tool("broken", pattern("[")),
    ]});
    let toolbox = Hosted::start(mood("rust", &own)).ready().await;
    let call = async |name: &str, x: &str| healthy.beside(toolbox.call(name, json!({"x": x}))).await;
    assert!(call("ahead", "a1").await.is_ok());
    assert!(
        call("ahead", "a")
            .await
            .unwrap_err()
            .starts_with("Invalid arguments for 'ahead': x")
    );
    let trap = format!("{}!", "a".repeat(40));
    for name in ["explodes", "behind"] {
        let error = call(name, &trap).await.unwrap_err();
        assert!(
            error.starts_with(&format!("Invalid arguments for '{name}': x")),
            "{error}"
        );
    }
    assert!(call("digits", "5").await.is_ok());
    assert!(call("digits", "٥").await.is_err(), "\\d is 0 to 9, as in ECMA");
    assert!(call("letters", "Straße").await.is_ok());
    // Either it is judged, or the tool says that its schema is too much.
    let many = call("many", "xxx").await;
    assert!(
        many.is_ok() || many.as_ref().unwrap_err().starts_with("Invalid schema of 'many'"),
        "{many:?}"
    );
    assert!(call("slash", "/").await.is_ok());
    assert!(
        call("broken", "a")
            .await
            .unwrap_err()
            .starts_with("Invalid schema of 'broken': ")
    );
    healthy.never_noticed().await;
}

#[tokio::test]
async fn what_is_wrong_with_arguments_is_told_with_its_place_short_and_without_the_value() {
    let properties: Value = (0..50).map(|n| (format!("p{n}"), json!({"type": "integer"}))).collect();
    let own = json!({"tools": [
        tool("many", json!({"properties": properties})),
        tool("login", json!({"properties": {"password": {"type": "string", "maxLength": 3}}, "required": ["user"], "additionalProperties": false})),
    ]});
    let toolbox = up("rust", &own).await;
    let wrong: Value = (0..50).map(|n| (format!("p{n}"), json!("text"))).collect();
    let error = toolbox.call("many", wrong).await.unwrap_err();
    assert!(
        error.starts_with("Invalid arguments for 'many': p0: expected integer, got string; "),
        "{error}"
    );
    assert!(error.len() < 3000, "{} bytes", error.len());
    let secret = "s3cr3t".repeat(100);
    let error = toolbox
        .call("login", json!({"password": secret, "extra": secret}))
        .await
        .unwrap_err();
    for told in ["password: ", "user: is required", "extra: is not allowed"] {
        assert!(error.contains(told), "{told}: {error}");
    }
    assert!(!error.contains("s3cr3t"), "{error}");
}
