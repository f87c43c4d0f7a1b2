//! More toolboxes that keep the host busy than it has threads.

use serde_json::{Value, json};

use crate::common::caller::{CALL, Caller, call};
use crate::common::embedded::Embedded;
use crate::common::eventually::eventually;
use crate::common::host::{Host, moody};
use crate::measure::healthy_calls;

fn with_time(mut toolbox: Value) -> Value {
    toolbox["timeout"] = "3m".into();
    toolbox
}

#[tokio::test(flavor = "multi_thread")]
async fn floods_of_lines_on_every_thread_starve_neither_a_neighbor_nor_the_bus() {
    const FLOODS: usize = 4;
    let bus = Embedded::start().await;
    let mut toolboxes = json!({"healthy": moody(&json!({}))});
    for n in 0..FLOODS {
        toolboxes[format!("flood{n}")] = with_time(moody(&json!({})));
    }
    let host = Host::start(&json!({"bus": {"url": bus.url}, "toolboxes": toolboxes})).await;
    let mut caller = Caller::connect(&bus.url).await;
    let until = host.folder().join("until");
    let mut floods = Vec::new();
    for n in 0..FLOODS {
        let begun = host.folder().join(format!("begun{n}"));
        let data = call(
            &format!("flood{n}"),
            "flood_stdout",
            &json!({"begun": begun, "until": until}),
        );
        floods.push(caller.send(CALL, &data).await);
        eventually("the flood begins", || begun.exists()).await;
    }
    let start = std::time::Instant::now();
    healthy_calls(&mut caller, 50).await;
    println!("a call takes {:?} beside {FLOODS} floods", start.elapsed() / 50);
    for _ in 0..10 {
        let alive = caller.ask("mycroft.toolhost.is_alive", &json!({})).await;
        assert_eq!(alive, json!({"status": true}));
    }
    assert!(
        floods.iter().all(|token| caller.answers(token).is_empty()),
        "beside the floods"
    );
    std::fs::write(until, "").expect("a file");
    // However long the host takes for what is still in the pipes: it is the neighbor who must not wait.
    while floods.iter().any(|token| caller.answers(token).is_empty()) {
        healthy_calls(&mut caller, 5).await;
    }
    for token in floods {
        assert_eq!(caller.wait(&token, 1).await[0]["result"], json!("flooded"));
    }
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn floods_of_large_calls_starve_neither_a_neighbor_nor_the_bus() {
    const BUSY: usize = 4;
    let bus = Embedded::start().await;
    let mut toolboxes = json!({"healthy": moody(&json!({}))});
    for n in 0..BUSY {
        toolboxes[format!("busy{n}")] = with_time(moody(&json!({})));
    }
    let host = Host::start(&json!({"bus": {"url": bus.url}, "toolboxes": toolboxes})).await;
    let mut senders = Vec::new();
    for n in 0..BUSY {
        let url = bus.url.clone();
        senders.push(tokio::spawn(async move {
            let mut caller = Caller::connect(&url).await;
            let kwargs = json!({"values": vec![n; 20_000]});
            let data = call(&format!("busy{n}"), "pid", &kwargs);
            let mut tokens = Vec::new();
            for _ in 0..20 {
                tokens.push(caller.send(CALL, &data).await);
            }
            // However long they all take: it is the neighbor who must not wait.
            while tokens.iter().any(|token| caller.answers(token).is_empty()) {
                assert!(caller.hear().await, "the bus is there");
            }
            for token in tokens {
                assert!(caller.answers(&token)[0]["data"]["result"].is_number(), "busy{n}");
            }
        }));
    }
    let mut caller = Caller::connect(&bus.url).await;
    while senders.iter().any(|sender| !sender.is_finished()) {
        healthy_calls(&mut caller, 5).await;
        let alive = caller.ask("mycroft.toolhost.is_alive", &json!({})).await;
        assert_eq!(alive, json!({"status": true}));
    }
    for sender in senders {
        sender.await.expect("every call is answered");
    }
    host.stop().await;
}
