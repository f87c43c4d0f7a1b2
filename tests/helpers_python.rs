//! The Python helper, `protocol/toolhost.py`: a toolbox made with it holds every conversation of the protocol.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should panic"
)]

use std::path::Path;

use toolhost::config::{Kind, ToolboxConfig};
use toolhost::json::Text;
use toolhost::protocol::transcript;

#[tokio::test]
async fn a_toolbox_with_the_python_helper_holds_the_conversations_of_every_transcript() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/helpers");
    let argv = ["python3", "toolbox.py"].map(str::to_owned).to_vec();
    let config = ToolboxConfig {
        config: Text::from(r#"{"lang":"en"}"#.to_owned()),
        ..ToolboxConfig::new("example", Kind::Command(argv), folder)
    };
    for transcripts in [transcript::EXAMPLE, transcript::GENERIC] {
        let report = toolhost::check::replay(&config, transcripts).await;
        // The call that was cancelled is answered all the same, so that the host knows the process to be free.
        assert!(report.is_good() && report.findings.is_empty(), "{report}");
        assert_eq!(report.tools, ["echo", "fail", "wait"]);
    }
}
