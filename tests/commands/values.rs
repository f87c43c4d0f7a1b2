//! No value becomes an option, a second argument or shell text: it arrives byte for byte, or is refused before anything runs
//! (faults F100 and F101).

use serde_json::{Value, json};

use crate::Commands;
use crate::common::values::values;

/// Prints its arguments, each with a NUL behind it.
const SHOW: &str = r#"printf '%s\0' "$@""#;

fn tools() -> Value {
    let text = json!({"x": {"type": "string"}});
    let dashed = json!({"x": {"type": "string", "leading_dash": true}});
    let list = json!({"xs": {"type": "array", "items": {"type": "string"}}});
    let run = |argv: Value, parameters: &Value| {
        let mut all = vec![json!("sh"), json!("-c"), json!(SHOW), json!("sh")];
        all.extend(argv.as_array().expect("a list").iter().cloned());
        json!({"description": "d", "parameters": parameters, "run": all})
    };
    json!({
        "alone": run(json!(["{x}"]), &text),
        "dashed": run(json!(["{x}"]), &dashed),
        "behind": run(json!(["--", "{x}"]), &text),
        "group": run(json!([["-f", "{x}"]]), &text),
        "glued": run(json!(["--file={x}", "a{x}b"]), &text),
        "spread": run(json!(["{xs...}"]), &list),
        "spread_behind": run(json!(["--", "{xs...}"]), &list),
        "stdin": {"description": "d", "parameters": text, "run": ["cat"], "stdin": "<{x}>"},
        "shell": {"description": "d", "parameters": text, "shell": "printf '%s\\0' \"$ARG_X\""},
    })
}

/// What the command is to have seen; `None` where the value must be refused.
fn expected(form: &str, value: &str) -> Option<Vec<String>> {
    let one = |text: &str| Some(vec![text.to_owned()]);
    let refused = value.starts_with('-');
    match form {
        "alone" | "spread" if refused => None,
        "alone" | "dashed" | "spread" | "shell" => one(value),
        "behind" | "spread_behind" => Some(vec!["--".to_owned(), value.to_owned()]),
        "group" if refused => None,
        "group" => Some(vec!["-f".to_owned(), value.to_owned()]),
        "glued" => Some(vec![format!("--file={value}"), format!("a{value}b")]),
        _ => None,
    }
}

#[tokio::test]
async fn a_value_arrives_byte_for_byte_or_is_refused() {
    let mut commands = Commands::host(tools(), json!({})).await;
    for value in values() {
        for form in [
            "alone",
            "dashed",
            "behind",
            "group",
            "glued",
            "spread",
            "spread_behind",
            "shell",
        ] {
            let kwargs = if form.starts_with("spread") {
                json!({"xs": [value]})
            } else {
                json!({"x": value})
            };
            let asked = format!("{form} {:?}", value.chars().take(40).collect::<String>());
            match (expected(form, &value), commands.call(form, kwargs).await) {
                (Some(arguments), Ok(result)) => {
                    let seen = arguments
                        .iter()
                        .map(|argument| format!("{argument}\0"))
                        .collect::<String>();
                    assert_eq!(result, json!({"output": seen}), "{asked}");
                }
                (None, Err(error)) => assert!(error.contains("starts with '-'"), "{asked}: {error}"),
                (expected, answer) => panic!("{asked}: {expected:?} {answer:?}"),
            }
        }
        let said = commands.output("stdin", json!({"x": value})).await;
        assert_eq!(said, format!("<{value}>"));
    }
    assert!(!commands.host.folder().join("ran").exists());
    commands.host.stop().await;
}

#[tokio::test]
async fn long_lists_arrive_whole_and_what_the_system_cannot_carry_is_refused() {
    let mut commands = Commands::host(tools(), json!({})).await;
    let items: Vec<String> = (0..10_000).map(|n| format!("item {n}")).collect();
    let seen = items.iter().map(|item| format!("{item}\0")).collect::<String>();
    assert_eq!(commands.output("spread", json!({"xs": items})).await, seen);
    let none: [&str; 0] = [];
    // printf prints its format once where there is no argument.
    assert_eq!(commands.output("spread", json!({"xs": none})).await, "\0");

    let one_too_long = commands.call("alone", json!({"x": "x".repeat(200_000)})).await;
    let error = one_too_long.unwrap_err();
    assert!(
        error.starts_with("Invalid arguments for 'alone': x: makes an argument of 200000 bytes"),
        "{error}"
    );
    let error = commands
        .call("shell", json!({"x": "x".repeat(200_000)}))
        .await
        .unwrap_err();
    assert!(
        error.starts_with("Invalid arguments for 'shell': x: is 200000 bytes long"),
        "{error}"
    );
    let together: Vec<String> = (0..1000).map(|_| "x".repeat(100_000)).collect();
    // 100 MB do not travel in one frame; a tenth of it is still more than a program gets.
    let error = commands
        .call("spread", json!({"xs": together[..100]}))
        .await
        .unwrap_err();
    assert_eq!(
        error,
        "Invalid arguments for 'spread': arguments: the arguments are longer than this system hands to a program (E2BIG)"
    );
    assert_eq!(
        commands
            .output("stdin", json!({"x": together[..30].concat()}))
            .await
            .len(),
        3_000_002
    );
    let error = commands.call("alone", json!({"x": "a\u{0}b"})).await.unwrap_err();
    assert!(
        error.starts_with("Invalid arguments for 'alone': x: ") && error.contains("NUL"),
        "{error}"
    );
    let error = commands.call("shell", json!({"x": "a\u{0}b"})).await.unwrap_err();
    assert!(
        error.starts_with("Invalid arguments for 'shell': x: ") && error.contains("NUL"),
        "{error}"
    );
    commands.host.stop().await;
}
