//! B. Pipes that are not read, not emptied, held open or full on both ends.

use std::time::Duration;

use serde_json::{Value, json};

use crate::common::caller::RELOAD;
use crate::common::eventually::eventually;
use crate::harness::Hosted;
use crate::moods::{Healthy, LANGUAGES, entry, mood, up};
use crate::world::World;

#[tokio::test]
async fn a_toolbox_that_logs_much_never_freezes_and_is_a_few_lines_in_the_log() {
    let own = json!({"stderr_at_start": 256 << 10});
    let mut world = World::start(json!({"talks": entry("rust", &own)})).await;
    let start = std::time::Instant::now();
    for _ in 0..200 {
        let talk = json!({"unit": format!("{}\n", "0123456789abcdef".repeat(8)), "bytes": 80});
        assert_eq!(world.call("talks", "stderr", talk).await, Ok(json!("said")));
    }
    world.healthy().await;
    // Each line that is logged tells how many before it were not.
    let counted = world.lines(&["toolbox=talks", "suppressed="]);
    let most = 25 * (start.elapsed().as_secs() as usize + 3);
    assert!((1..=most).contains(&counted.len()), "{} lines of 16000", counted.len());
    // The count comes with the first line of a later second.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let is_counted = |world: &World| {
        let said = world.lines(&["toolbox=talks", "suppressed="]);
        said.iter().any(|line| !line.contains("suppressed=0"))
    };
    while !is_counted(&world) {
        assert!(std::time::Instant::now() < deadline, "what is left out is counted");
        let word = json!({"unit": "more\n", "bytes": 5});
        assert_eq!(world.call("talks", "stderr", word).await, Ok(json!("said")));
    }
    world.stop().await;
}

#[tokio::test]
async fn stderr_without_an_end_of_line_takes_no_memory_in_any_language() {
    let toolboxes: Value = LANGUAGES
        .iter()
        .map(|language| ((*language).to_owned(), entry(language, &json!({}))))
        .collect();
    let mut world = World::start(toolboxes).await;
    let before = world.peak_memory();
    for language in LANGUAGES {
        for unit in ["\r", "x"] {
            let flood = world
                .send(language, "stderr", json!({"unit": unit, "bytes": 20 << 20}))
                .await;
            world.healthy().await;
            assert_eq!(world.answer(&flood).await, Ok(json!("said")), "{language}");
        }
    }
    let grown = world.peak_memory() - before;
    assert!(grown < 16, "{grown} MiB more than before");
    world.stop().await;
}

#[tokio::test]
async fn a_deaf_toolbox_costs_its_own_calls_in_time_and_holds_up_neither_reload_nor_stop() {
    let mut toolboxes: Value = LANGUAGES
        .iter()
        .map(|language| ((*language).to_owned(), entry(language, &json!({}))))
        .collect();
    for language in LANGUAGES {
        toolboxes[language]["timeout"] = "4s".into();
        // A reload waits for what it asks a deaf toolbox, and for so long.
        toolboxes[language]["describe_timeout"] = "8s".into();
    }
    let mut world = World::start(toolboxes.clone()).await;
    let mut tokens = Vec::new();
    for language in LANGUAGES {
        assert_eq!(world.call(language, "deaf", json!({})).await, Ok(json!("last answer")));
        for _ in 0..4 {
            tokens.push(world.send(language, "echo", json!({"text": "x".repeat(1 << 20)})).await);
        }
    }
    world.healthy().await;
    for token in tokens {
        let error = world.answer(&token).await.unwrap_err();
        assert_eq!(error, "TimeoutError: 'echo' did not answer within 4s");
    }
    // Deaf again, with a line half written, while the file is read anew and all is stopped.
    for language in LANGUAGES {
        world.served_again(language).await;
        assert_eq!(world.call(language, "deaf", json!({})).await, Ok(json!("last answer")));
        world.send(language, "echo", json!({"text": "x".repeat(1 << 20)})).await;
    }
    toolboxes["bash"]["timeout"] = "5s".into();
    world.write(&toolboxes);
    let reloaded = world.caller.ask(RELOAD, &json!({})).await;
    assert_eq!(reloaded.get("error"), None);
    world.stop().await;
}

#[tokio::test]
async fn a_toolbox_that_answers_at_length_before_it_reads_on_jams_nothing() {
    let healthy = Healthy::start().await;
    for language in LANGUAGES {
        // Several times what a pipe holds; Bash reads a byte at a time.
        let bytes = if language == "bash" { 128 << 10 } else { 256 << 10 };
        let toolbox = up(language, &json!({"capabilities": ["concurrent"]})).await;
        let text = "y".repeat(bytes);
        let all = async {
            let calls: Vec<_> = (0..4)
                .map(|n| (n, toolbox.send("echo", json!({"n": n, "text": text}))))
                .collect();
            for (n, call) in calls {
                let answer = call.get().await.unwrap();
                assert_eq!(
                    (&answer["n"], answer["text"].as_str().unwrap().len()),
                    (&json!(n), bytes),
                    "{language}"
                );
            }
        };
        healthy.beside(all).await;
    }
    healthy.never_noticed().await;
}

#[tokio::test]
async fn a_command_that_lives_on_after_its_output_is_ended_at_its_time() {
    let lingers =
        json!({"description": "d", "shell": "echo '{\"a\":1}'; exec sleep 300", "output": "json", "timeout": "1s"});
    let leaves = json!({"description": "d", "shell": "sleep 300 & echo '{\"a\":1}'", "output": "json"});
    let mut world = World::start(json!({"box": {"tools": {"lingers": lingers, "leaves": leaves}}})).await;
    let late = world.send("box", "lingers", json!({})).await;
    assert_eq!(world.call("box", "leaves", json!({})).await, Ok(json!({"a": 1})));
    world.healthy().await;
    assert_eq!(
        world.answer(&late).await,
        Err("TimeoutError: 'lingers' did not answer within 1s".into())
    );
    eventually("nothing but the neighbor is left", || world.host.processes().len() == 1).await;
    world.stop().await;
}

#[tokio::test]
async fn grandchildren_that_hold_the_pipes_delay_no_answer_and_leave_nothing() {
    let mut entry = entry("rust", &json!({}));
    entry["timeout"] = "2s".into();
    entry["restart"] = json!({"backoff": "10ms", "max_backoff": "10ms", "give_up_after": 1000});
    let ids: Vec<String> = (0..10).map(|n| format!("t{n}")).collect();
    let mut world = World::start(ids.iter().map(|id| (id.clone(), entry.clone())).collect()).await;
    let before = world.descriptors();
    for _ in 0..2 {
        let mut tokens = Vec::new();
        for id in &ids {
            world.served_again(id).await;
            world.call(id, "background", json!({})).await.unwrap();
            tokens.push(world.send(id, "hang", json!({})).await);
        }
        for token in tokens {
            assert_eq!(
                world.answer(&token).await,
                Err("TimeoutError: 'hang' did not answer within 2s".into())
            );
        }
        world.healthy().await;
    }
    for id in &ids {
        world.served_again(id).await;
    }
    eventually("one process a toolbox", || {
        world.host.processes().len() == ids.len() + 1
    })
    .await;
    eventually("no descriptor is left", || world.descriptors() <= before).await;
    world.stop().await;
}

#[tokio::test]
async fn a_call_whose_line_was_cut_off_in_its_middle_leaves_no_half_of_it_behind() {
    let healthy = Healthy::start().await;
    let mut config = mood("rust", &json!({"reads_slowly": true, "capabilities": ["concurrent"]}));
    config.timeout = Duration::from_millis(700);
    let toolbox = Hosted::start(config).ready().await;
    let text = "z".repeat(150 << 10);
    let all = async {
        let calls: Vec<_> = (0..8).map(|_| toolbox.send("echo", json!({"text": text}))).collect();
        let mut late = 0;
        for call in calls {
            late += usize::from(call.get().await.is_err());
        }
        late
    };
    // 160 KiB take 0.4 s, so that some are given up before, in and after their line.
    assert!(
        healthy.beside(all).await > 0,
        "no call was late: the test shows nothing"
    );
    let start = std::time::Instant::now();
    let broken = loop {
        match toolbox.call("broken_lines", json!({})).await {
            Ok(broken) => break broken,
            Err(error) => assert!(start.elapsed() < crate::harness::DEADLINE, "{error}"),
        }
    };
    assert_eq!(broken, json!(0));
    healthy.never_noticed().await;
}
