//! The Bash helper, `protocol/toolhost.sh`: a toolbox made with it holds the conversations of the protocol, and no value
//! and no tool gets the better of it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on should panic"
)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/exchange.rs"]
mod exchange;

mod answers;
mod liberties;
mod lines;
mod values;

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use toolhost::config::{Kind, ToolboxConfig};
use toolhost::json::Text;
use toolhost::protocol::transcript;

use common::caller::Caller;
use common::embedded::Embedded;
use common::host::{Host, fixture};
use exchange::Exchange;

/// The toolbox of the tests, hosted by the real program, and a caller.
struct Hosted {
    host: Host,
    caller: Caller,
    _bus: Embedded,
}

impl Hosted {
    async fn start() -> Self {
        let bus = Embedded::start().await;
        let toolbox = json!({
            "command": ["bash", fixture("helpers/toolbox.sh")],
            "config": {"lang": "en"},
            "max_line": "64MiB",
            "max_result": "16MiB",
        });
        let host = Host::start(&json!({"bus": {"url": bus.url}, "toolboxes": {"box": toolbox}})).await;
        let caller = Caller::connect(&bus.url).await;
        Self {
            host,
            caller,
            _bus: bus,
        }
    }

    async fn call(&mut self, tool: &str, kwargs: Value) -> Result<Value, String> {
        self.caller.call("box", tool, &kwargs).await
    }

    /// Runs a piece of Bash as a tool of the toolbox.
    async fn run(&mut self, code: &str) -> Result<Value, String> {
        self.call("run", json!({ "code": code })).await
    }

    /// Ends it, and sees that it was one process all the time.
    async fn stop(self) {
        assert_eq!(self.host.toolbox("box")["restarts"], 0, "{}", self.host.log());
        self.host.stop().await;
    }
}

/// The toolbox without a host, given these bytes.
fn exchange(input: &[u8]) -> Exchange {
    let mut command = Command::new("bash");
    command.arg(fixture("helpers/toolbox.sh"));
    Exchange::of(command, input)
}

fn ok(value: impl Into<Value>) -> Result<Value, String> {
    Ok(value.into())
}

/// Bash reads, runs and answers one thing at a time: while a tool is at work nobody reads its input. So it announces neither
/// `cancel` nor `concurrent`, and the conversation about those is not held.
#[tokio::test]
async fn a_toolbox_with_the_bash_helper_holds_the_conversations_of_every_transcript_but_that_of_cancel() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/helpers");
    let argv = ["bash", "toolbox.sh"].map(str::to_owned).to_vec();
    let config = ToolboxConfig {
        config: Text::from(r#"{"lang":"en"}"#.to_owned()),
        ..ToolboxConfig::new("example", Kind::Command(argv), folder)
    };
    let (held, left): (Vec<_>, Vec<_>) = transcript::EXAMPLE
        .iter()
        .partition(|(name, _)| *name != "capabilities");
    assert_eq!(left.len(), 1);
    // The toolbox has further tools, its capabilities are fewer, and the helper knows parameters as a list only.
    let written = r#""capabilities": ["context", "cancel", "concurrent"], "tools": [{"#;
    let own = r#""capabilities": ["context"], "tools": "<array>"}}}"#;
    let held: Vec<(&str, String)> = held
        .iter()
        .map(|(name, text)| (*name, with_tools_left_open(text, written, own)))
        .collect();
    assert!(held.iter().any(|(_, text)| text.contains(own)));
    let held: Vec<_> = held.iter().map(|(name, text)| (*name, text.as_str())).collect();
    for transcripts in [&held[..], transcript::GENERIC] {
        let report = toolhost::check::replay(&config, transcripts).await;
        assert!(report.is_good() && report.findings.is_empty(), "{report}");
        assert_eq!(report.tools[..3], ["echo", "fail", "wait"]);
    }
}

/// The transcript with `own` in the line that says what the tools are, from `written` on.
fn with_tools_left_open(text: &str, written: &str, own: &str) -> String {
    let line = |line: &str| match line.split_once(written) {
        Some((start, _)) => format!("{start}{own}\n"),
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[tokio::test]
async fn what_is_declared_is_what_callers_see() {
    let mut hosted = Hosted::start().await;
    let described = hosted
        .caller
        .ask(common::caller::DISCOVER, &json!({"toolbox_id": "box"}))
        .await;
    let tools = described["tools"].as_array().unwrap();
    let named = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap();
    assert_eq!(
        named("fail")["argument_schema"],
        json!({
            "type": "object", "properties": {"message": {"type": "string", "description": "What it says."}},
            "required": ["message"], "additionalProperties": false,
        })
    );
    let wait = json!({"type": "number", "default": 1, "minimum": 0, "maximum": 60});
    assert_eq!(named("wait")["argument_schema"]["properties"]["seconds"], wait);
    let list = json!({"type": "array", "items": {"type": "string"}});
    assert_eq!(named("list")["argument_schema"]["properties"]["values"], list);
    assert_eq!(named("echo")["output_schema"], json!({"type": "object"}));
    hosted.stop().await;
}
