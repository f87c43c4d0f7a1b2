//! Results of many megabytes, on the real bus, which ends a connection over 25 MB.

use serde_json::{Value, json};

use crate::common::caller::Caller;
use crate::common::host::{Host, moody};
use crate::common::peers::RealBus;
use crate::measure::{healthy_calls, peak_memory};

const MIB: usize = 1 << 20;

fn generous() -> Value {
    let mut toolbox = moody(&json!({}));
    toolbox["max_line"] = "64MiB".into();
    toolbox["max_result"] = "23MB".into();
    toolbox
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_too_large_for_the_bus_is_an_error_and_the_connection_stays() {
    let bus = RealBus::start().await;
    let config = json!({
        "bus": {"url": bus.url()},
        "toolboxes": {"usual": moody(&json!({})), "generous": generous(), "healthy": moody(&json!({}))}
    });
    let host = Host::start(&config).await;
    let mut caller = Caller::connect(&bus.url()).await;
    let over = "ResultTooLarge: result too large";
    let table = [
        ("usual", 5, Ok(())),
        ("usual", 10, Err(format!("{over} (10485762 bytes, limit 8388608)"))),
        (
            "usual",
            20,
            Err("ProtocolError: line longer than 16777216 bytes".to_owned()),
        ),
        (
            "usual",
            70,
            Err("ProtocolError: line longer than 16777216 bytes".to_owned()),
        ),
        ("generous", 20, Ok(())),
        ("generous", 30, Err(format!("{over} (31457282 bytes, limit 23000000)"))),
        (
            "generous",
            70,
            Err("ProtocolError: line longer than 67108864 bytes".to_owned()),
        ),
    ];
    for (toolbox, mebibytes, expected) in table {
        let answer = caller.call(toolbox, "big", &json!({"bytes": mebibytes * MIB})).await;
        let length = answer.as_ref().map(|result| result.as_str().map(str::len));
        match expected {
            Ok(()) => assert_eq!(length, Ok(Some(mebibytes * MIB)), "{toolbox} {mebibytes}"),
            Err(error) => assert_eq!(length, Err(&error), "{toolbox} {mebibytes}"),
        }
        healthy_calls(&mut caller, 1).await;
    }
    assert!(!host.log().contains("link to the bus is lost"), "{}", host.log());
    println!("{} MiB at most", peak_memory(&host));
    host.stop().await;
}
