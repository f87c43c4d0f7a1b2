//! The clock on the wall jumps: by NTP at boot, by hand, by a battery that is empty.

use std::path::PathBuf;

use serde_json::json;

use crate::common::caller::{CALL, Caller, call};
use crate::common::embedded::Embedded;
use crate::common::eventually::eventually;
use crate::common::host::{Host, moody};
use crate::common::skipped::skipped;

/// Debian's libfaketime, which shows a program another time.
fn faketime() -> Option<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib").ok()?;
    let library = |folder: std::fs::DirEntry| folder.path().join("faketime/libfaketimeMT.so.1");
    folders
        .filter_map(|folder| Some(library(folder.ok()?)))
        .find(|library| library.exists())
}

#[tokio::test]
async fn a_clock_that_jumps_a_year_either_way_delays_and_ends_nothing() {
    let Some(library) = faketime() else {
        return skipped("a clock that jumps: there is no libfaketime");
    };
    let bus = Embedded::start().await;
    let config = json!({"bus": {"url": bus.url}, "toolboxes": {
        "a": moody(&json!({})),
        "slow": moody(&json!({})),
        "late": {"command": moody(&json!({}))["command"], "timeout": "1s"},
    }});
    let mut time = PathBuf::new();
    let mut host = Host::launch_with(&config, |command| {
        time = command.get_current_dir().unwrap().join("time");
        std::fs::write(&time, "+0\n").unwrap();
        command
            .env("LD_PRELOAD", &library)
            .env("FAKETIME_TIMESTAMP_FILE", &time)
            .env("FAKETIME_NO_CACHE", "1")
            // The one that the kernel sets never jumps.
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
            .env("DONT_FAKE_MONOTONIC", "1");
    });
    host.ready().await;
    let year = || host.log().lines().last().unwrap_or_default()[..4].to_owned();
    let now = year();
    let mut caller = Caller::connect(&bus.url).await;
    for (round, jump) in ["-1y", "+1y"].into_iter().enumerate() {
        let running = caller
            .send(CALL, &call("slow", "late_echo", &json!({"seconds": 1})))
            .await;
        let late = caller
            .send(CALL, &call("late", "sleep", &json!({"seconds": 600})))
            .await;
        eventually("both run", || {
            ["slow", "late"]
                .iter()
                .all(|id| host.toolbox(id)["processes"][0]["in_flight"] == 1)
        })
        .await;
        caller.call("a", "exit", &json!({})).await.unwrap_err();
        // In the pause before it is started again, and with two calls in hand.
        std::fs::write(&time, format!("{jump}\n")).unwrap();
        eventually("it is started again", || host.toolbox("a")["state"] == "ready").await;
        assert_eq!(caller.call("a", "echo", &json!({})).await, Ok(json!({})));
        assert_eq!(caller.wait(&running, 1).await[0]["result"], json!({"seconds": 1}));
        let error = "TimeoutError: 'sleep' did not answer within 1s";
        assert_eq!(caller.wait(&late, 1).await[0]["error"], error);
        eventually("the log shows the other time", || year() != now).await;
        eventually("the one that stayed busy is replaced", || {
            let late = host.toolbox("late");
            late["restarts"] == round + 1 && late["state"] == "ready"
        })
        .await;
        std::fs::write(&time, "+0\n").unwrap();
    }
    host.stop().await;
}
