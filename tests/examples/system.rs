//! What the `system` toolbox says is what the machine says.

use serde_json::Value;

/// A number of `/proc/meminfo`, in bytes.
fn meminfo(key: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").expect("/proc/meminfo");
    let line = text.lines().find(|line| line.starts_with(key)).expect("its line");
    let number = line.split_whitespace().nth(1).expect("a number");
    number.parse::<u64>().expect("a number") * 1024
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("not a whole number: {value}"))
}

pub(crate) fn root_disk(result: &Value) {
    let disks = result["filesystems"].as_array().expect("file systems");
    assert_eq!(disks.len(), 1, "{result}");
    let stat = nix::sys::statvfs::statvfs("/").expect("statvfs");
    assert_eq!(number(&disks[0]["total_bytes"]), stat.blocks() * stat.fragment_size());
    assert!(number(&disks[0]["available_bytes"]) <= number(&disks[0]["total_bytes"]));
}

pub(crate) fn memory(result: &Value) {
    let total = number(&result["total_bytes"]);
    assert_eq!(total, meminfo("MemTotal:"));
    assert_eq!(
        number(&result["used_bytes"]) + number(&result["available_bytes"]),
        total
    );
}

pub(crate) fn uptime(result: &Value) {
    let text = std::fs::read_to_string("/proc/uptime").expect("/proc/uptime");
    let now: f64 = text
        .split_whitespace()
        .next()
        .and_then(|word| word.parse().ok())
        .expect("seconds");
    let told = result["uptime_seconds"].as_f64().expect("seconds");
    assert!((0.0..60.0).contains(&(now - told + 1.0)), "{told} is not about {now}");
    assert!(result["booted_at"].is_string(), "{result}");
    assert_eq!(result["load_average"].as_array().map(Vec::len), Some(3), "{result}");
    assert!(number(&result["cpus"]) >= 1);
}

pub(crate) fn two_processes_by_memory(result: &Value) {
    let processes = result["processes"].as_array().expect("processes");
    assert_eq!(processes.len(), 2, "{result}");
    assert!(
        number(&processes[0]["memory_bytes"]) >= number(&processes[1]["memory_bytes"]),
        "{result}"
    );
    assert!(processes.iter().all(|process| process["name"].is_string()), "{result}");
}
