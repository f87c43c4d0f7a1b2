//! A. What stands on stdout beside answers: banners, noise, lines without an end, other framings.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::caller::DISCOVER;
use crate::harness::{Hosted, config};
use crate::moods::{Healthy, LANGUAGES, entry, mood, python, raw, up};
use crate::world::World;

fn in_every_language(own: &Value) -> Value {
    LANGUAGES
        .iter()
        .map(|language| ((*language).to_owned(), entry(language, own)))
        .collect()
}

#[tokio::test]
async fn a_banner_before_the_first_answer_hides_no_tool_and_is_logged_as_a_warning() {
    let banner = format!("Server v1.2 started 🚀\n\n{}\n", "\u{1b}[31m=".repeat(100));
    let mut world = World::start(in_every_language(&json!({"banner": banner}))).await;
    let discover = world.caller.send(DISCOVER, &json!({})).await;
    let answers = world.caller.wait(&discover, LANGUAGES.len() + 1).await;
    for language in LANGUAGES {
        let answer = answers.iter().find(|answer| answer["toolbox_id"] == language).unwrap();
        assert!(
            answer["tools"]
                .as_array()
                .unwrap()
                .iter()
                .any(|tool| tool["name"] == "echo"),
            "{answer}"
        );
        assert_eq!(world.call(language, "echo", json!({"n": 1})).await, Ok(json!({"n": 1})));
        let toolbox = format!("toolbox={language}");
        let said = world.lines(&["WARN", "noise on stdout", &toolbox, "Server v1.2 started 🚀"]);
        assert!(!said.is_empty(), "{language}: {}", world.host.log());
        let clipped = world.lines(&["WARN", &toolbox, "[31m="]);
        assert!(!clipped.is_empty(), "{language}");
        assert!(
            clipped[0].len() < 500 && !clipped[0].contains('\u{1b}'),
            "clipped and escaped: {clipped:?}"
        );
        assert_eq!(world.host.toolbox(language)["restarts"], 0);
    }
    world.stop().await;
}

#[tokio::test]
async fn noise_of_threads_fails_none_of_twenty_calls_and_is_a_few_lines_in_the_log() {
    let own = json!({"capabilities": ["concurrent"]});
    let mut world = World::start(json!({"loud": entry("rust", &own)})).await;
    let start = Instant::now();
    assert_eq!(
        world.call("loud", "shout", json!({"threads": 5, "lines": 1000})).await,
        Ok(json!("shouting"))
    );
    let mut tokens = Vec::new();
    for n in 0..20 {
        tokens.push((n, world.send("loud", "noise", json!({"lines": 50, "n": n})).await));
        tokens.push((n, world.send("loud", "echo", json!({"n": n})).await));
        world.healthy().await;
    }
    for (n, token) in tokens {
        let answer = world.answer(&token).await.unwrap();
        assert!(answer == json!("noisy") || answer == json!({"n": n}), "{answer}");
    }
    assert_eq!(world.host.toolbox("loud")["restarts"], 0);
    let said = world.lines(&["noise on stdout", "toolbox=loud"]).len();
    let most = 25 * (start.elapsed().as_secs() as usize + 2);
    assert!((1..=most).contains(&said), "{said} lines for 6000 of noise");
    world.stop().await;
}

#[tokio::test]
async fn noise_fails_no_call_in_any_language() {
    let healthy = Healthy::start().await;
    for language in LANGUAGES {
        let toolbox = up(language, &json!({})).await;
        let pid = toolbox.pid().await;
        let noisy = healthy.beside(toolbox.call("noise", json!({"lines": 5000}))).await;
        assert_eq!(noisy, Ok(json!("noisy")), "{language}");
        assert_eq!(toolbox.pid().await, pid, "{language}");
    }
    healthy.never_noticed().await;
}

#[tokio::test]
async fn results_come_whole_from_64_kib_to_8_mib_in_every_language() {
    let healthy = Healthy::start().await;
    for language in LANGUAGES {
        let mut config = mood(language, &json!({}));
        config.max_result = (8 << 20) + 2;
        let toolbox = Hosted::start(config).ready().await;
        for bytes in [65_535, 65_536, 65_537, 8 << 20] {
            let result = healthy.beside(toolbox.call("big", json!({"bytes": bytes}))).await;
            let result = result.unwrap_or_else(|error| panic!("{language} {bytes}: {error}"));
            assert_eq!(result.as_str().unwrap().len(), bytes, "{language}");
        }
    }
    healthy.never_noticed().await;
}

#[tokio::test]
async fn a_line_without_an_end_fails_its_call_and_takes_no_memory() {
    let mut toolboxes = in_every_language(&json!({}));
    for language in LANGUAGES {
        toolboxes[language]["max_line"] = "1MiB".into();
        // Far longer than the test waits.
        toolboxes[language]["timeout"] = "1h".into();
    }
    let mut world = World::start(toolboxes).await;
    let mut tokens = Vec::new();
    for language in LANGUAGES {
        tokens.push(world.send(language, "endless", json!({})).await);
    }
    for token in tokens {
        let error = world.answer(&token).await.unwrap_err();
        assert_eq!(error, "ProtocolError: line longer than 1048576 bytes");
        world.healthy().await;
    }
    // They write on, and are replaced for it.
    for language in LANGUAGES {
        let kwargs = json!({"n": 1});
        assert_eq!(
            world.call(language, "echo", kwargs.clone()).await,
            Ok(kwargs),
            "{language}"
        );
        let toolbox = format!("toolbox={language}");
        let said = world.lines(&["WARN", "printed a line without an end", &toolbox]);
        assert!(!said.is_empty(), "{language}: {}", world.host.log());
        world.healthy().await;
    }
    assert!(world.peak_memory() < 150, "{} MiB", world.peak_memory());
    world.stop().await;
}

#[tokio::test]
async fn another_framing_is_named_to_the_caller_and_in_the_log() {
    let own = json!({});
    let mut framed = entry("rust", &own);
    framed["timeout"] = "1s".into();
    let mut world = World::start(json!({"framed": framed.clone(), "spread": framed})).await;
    let header = raw(b"Content-Length: 30\r\n\r\n{\"id\": $ID, \"result\": \"held\"}", 0);
    let pretty = raw(b"{\n  \"id\": $ID,\n  \"result\": {\n    \"a\": 1\n  }\n}\n", 0);
    let framed = world.send("framed", "raw", header).await;
    let spread = world.send("spread", "raw", pretty).await;
    let error = world.answer(&framed).await.unwrap_err();
    assert!(
        error.starts_with("TimeoutError: 'raw' did not answer within 1s") && error.contains("header framing"),
        "{error}"
    );
    let error = world.answer(&spread).await.unwrap_err();
    assert!(
        error.starts_with("TimeoutError") && error.contains("JSON spread over several lines"),
        "{error}"
    );
    world.logged("looks like header framing (Content-Length)").await;
    world.logged("looks like JSON spread over several lines").await;
    world.stop().await;
}

#[tokio::test]
async fn a_python_toolbox_that_never_flushes_answers_at_once() {
    let program = "import sys, json
for line in sys.stdin:
    request = json.loads(line)
    tools = {'tools': [{'name': 'echo'}]}
    print(json.dumps({'id': request['id'], 'result': tools if request['op'] == 'describe' else request['kwargs']}))";
    let toolbox = Hosted::start(config("print", &[python(), "-c", program])).ready().await;
    assert_eq!(toolbox.call("echo", json!({"n": 1})).await, Ok(json!({"n": 1})));
}

#[tokio::test]
async fn a_filter_that_keeps_its_output_in_a_buffer_costs_its_calls_their_time_and_no_more() {
    let healthy = Healthy::start().await;
    let mut buffered = config("filter", &["sed", "s/^/x/"]);
    buffered.describe_timeout = Duration::from_millis(300);
    let toolbox = Hosted::start(buffered);
    let error = healthy.beside(toolbox.call("any", json!({}))).await.unwrap_err();
    assert!(
        error.starts_with("ToolboxUnavailable: did not answer describe within 300ms"),
        "{error}"
    );
    healthy.never_noticed().await;
}
