//! Each limit is met by who runs into it, and by nobody else.

use serde_json::json;

use super::{Held, PYTHON, can, has_python, is_root, run, script, shell};
use crate::common::scratch::Scratch;

#[tokio::test]
async fn who_runs_into_a_limit_is_told_which_and_a_neighbor_is_not_held_to_it() {
    let folder = Scratch::new();
    let big = folder.path().join("big").to_str().unwrap().to_owned();
    let (output, big) = (format!("of={big}"), big.as_str());
    let write = ["dd", "if=/dev/zero", output.as_str(), "bs=1M", "count=3"];
    let tools = json!({
        "spin": shell("while :; do :; done"),
        "write": run(&write),
        "limits": shell("ulimit -n; ulimit -d; umask"),
    });
    let mut held = Held::host(json!({
        "held": {
            "tools": tools,
            "limits": {"cpu_seconds": 1, "file_size": "1MiB", "open_files": 64, "memory": "256MiB"},
            "umask": "077",
        },
        "free": {"tools": tools},
    }))
    .await;
    assert_eq!(
        held.call("held", "spin").await,
        Err("CommandError: signal 24 (SIGXCPU): over its cpu_seconds of 1".to_owned())
    );
    let error = held.call("held", "write").await.unwrap_err();
    assert!(
        error.starts_with("CommandError: signal 25 (SIGXFSZ): over its file_size of 1048576 bytes"),
        "{error}"
    );
    assert_eq!(std::fs::metadata(big).unwrap().len(), 1 << 20);
    assert_eq!(held.output("held", "limits").await, "64\n262144\n0077\n");
    let free = held.output("free", "limits").await;
    assert!(free.contains("unlimited") && !free.ends_with("0077\n"), "{free}");
    held.output("free", "write").await;
    assert_eq!(std::fs::metadata(big).unwrap().len(), 3 << 20);
    held.host.stop().await;
}

#[tokio::test]
async fn a_script_over_its_memory_fails_that_call_and_serves_the_next() {
    if !has_python("memory of Python") {
        return;
    }
    let folder = Scratch::new();
    let text =
        "def take(megabytes: int) -> int:\n    \"\"\"Take memory.\"\"\"\n    return len(bytearray(megabytes << 20))\n";
    let path = script(&folder, "take.py", text);
    let mut held = Held::host(json!({
        "python": {"script": path, "python": PYTHON, "limits": {"memory": "128MiB"}},
        "neighbor": {"script": path, "python": PYTHON},
    }))
    .await;
    let take = async |held: &mut Held, who: &str, megabytes: u32| {
        held.caller.call(who, "take", &json!({"megabytes": megabytes})).await
    };
    let error = take(&mut held, "python", 512).await.unwrap_err();
    assert!(error.contains("MemoryError"), "{error}");
    assert_eq!(take(&mut held, "python", 1).await, Ok(json!(1 << 20)));
    assert_eq!(take(&mut held, "neighbor", 512).await, Ok(json!(512 << 20)));
    held.host.stop().await;
}

#[tokio::test]
async fn a_script_that_burns_its_time_is_ended_told_and_started_anew() {
    if !has_python("time of Python") {
        return;
    }
    let folder = Scratch::new();
    let text = "def spin() -> int:\n    \"\"\"Spin.\"\"\"\n    while True:\n        pass\n\n\ndef one() -> int:\n    \"\"\"One.\"\"\"\n    return 1\n";
    let path = script(&folder, "spin.py", text);
    let mut held = Held::host(json!({
        "spin": {"script": path, "python": PYTHON, "limits": {"cpu_seconds": 2}, "restart": {"backoff": "1ms"}},
    }))
    .await;
    let error = held.call("spin", "spin").await.unwrap_err();
    assert!(
        error.contains("signal 24 (SIGXCPU): over its cpu_seconds of 2"),
        "{error}"
    );
    assert_eq!(held.call("spin", "one").await, Ok(json!(1)));
    held.host.stop().await;
}

#[tokio::test]
async fn node_starts_and_serves_within_a_limit_that_its_address_space_is_far_above() {
    let folder = Scratch::new();
    let path = script(&folder, "one.mjs", "/** One. */\nexport function one() { return 1; }\n");
    let mut held = Held::host(json!({"node": {"script": path, "limits": {"memory": "256MiB"}}})).await;
    assert_eq!(held.call("node", "one").await, Ok(json!(1)));
    held.host.stop().await;
}

/// Forks until it may not, and says how often it could.
const FORKS: &str = "import os, signal, time
children = []
try:
    while len(children) < 10000:
        child = os.fork()
        if child == 0:
            time.sleep(60)
            os._exit(0)
        children.append(child)
except OSError:
    pass
for child in children:
    os.kill(child, signal.SIGKILL)
print(len(children))
";

#[tokio::test]
async fn a_toolbox_that_forks_without_end_gets_no_further_than_its_processes() {
    if !has_python("forks") {
        return;
    }
    let mut toolbox = json!({
        "tools": {"fork": run(&[PYTHON, "-c", FORKS])},
        "limits": {"processes": 20},
        "cwd": "/",
    });
    if is_root() {
        toolbox["user"] = json!("54321");
        toolbox["group"] = json!("54321");
    }
    let mut held = Held::host(json!({"forks": toolbox})).await;
    let forked: u32 = held.output("forks", "fork").await.trim().parse().unwrap();
    assert!((1..200).contains(&forked), "{forked}");
    held.host.stop().await;
}

#[tokio::test]
async fn what_cannot_be_started_is_told_as_without_limits() {
    let folder = Scratch::new();
    let text = script(&folder, "text", "no program");
    std::fs::set_permissions(&text, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let no_interpreter = script(&folder, "lost", "#!/no-such-folder/shell\n");
    let tools = json!({
        "gone": run(&["/no-such-folder/program"]),
        "text": run(&[&text]),
        "lost": run(&[&no_interpreter]),
        "unknown": run(&["no-such-program"]),
    });
    let mut held = Held::host(json!({
        "held": {"tools": tools, "limits": {"open_files": 64}},
        "free": {"tools": tools},
    }))
    .await;
    for tool in ["gone", "text", "lost", "unknown"] {
        let told = held.call("held", tool).await.unwrap_err();
        assert_eq!(told, held.call("free", tool).await.unwrap_err());
    }
    held.host.stop().await;
}

#[tokio::test]
async fn a_limited_program_has_no_privileges_to_gain_and_nothing_open_but_its_pipes() {
    let open = "for n in 3 4 5 6 7 8 9 10 11 12; do [ -e /proc/$$/fd/$n ] && echo open: $n; done";
    let look = format!("grep NoNewPrivs /proc/self/status; {open}; ps -o comm= -p $$");
    let tools = json!({"look": shell(&look)});
    let has_ps = std::path::Path::new("/bin/ps").exists();
    if !can("the look of a limited program", "/bin/ps", has_ps) {
        return;
    }
    let mut held = Held::host(json!({"held": {"tools": tools, "limits": {"open_files": 64}}})).await;
    let said = held.output("held", "look").await;
    assert_eq!(said, "NoNewPrivs:\t1\nsh\n");
    held.host.stop().await;
}
