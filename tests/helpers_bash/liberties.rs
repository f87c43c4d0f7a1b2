//! What a tool may do to itself, to its process and to its output, without harm to its answer or to the next call.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::common::caller::{CALL, call};
use crate::common::eventually::eventually;
use crate::common::host::fixture;
use crate::exchange::Exchange;
use crate::{Hosted, ok};

/// Code of a tool, and its result.
const TAKEN: [(&str, &str); 20] = [
    ("cd /; pwd", "/"),
    ("set -e; x=1; echo fine", "fine"),
    ("set -u; echo \"${nope-unset}\"", "unset"),
    ("cat; read -r line || echo 'nothing to read'", "nothing to read"),
    ("exec echo replaced", "replaced"),
    ("args=([a]=1); echo \"${args[a]}\"", "1"),
    ("unset args kwargs config; echo unset", "unset"),
    (
        "_th_send() { :; }; _th_call() { :; }; printf() { :; }; echo defined",
        "defined",
    ),
    ("reply() { echo mine; }; reply x", "mine"),
    ("fail() { echo never; }; echo fine", "fine"),
    ("bash -c 'echo a child'", "a child"),
    ("echo one; echo two >/dev/stdout; echo three | cat", "two\nthree"),
    ("echo '{\"id\":1,\"result\":2}'", "{\"id\":1,\"result\":2}"),
    ("printf 'a\\377\\376b'", "a\u{fffd}\u{fffd}b"),
    ("printf '\\303'", "\u{fffd}"),
    ("printf 'a\\0b\\n\\0c'", "a\u{fffd}b\n\u{fffd}c"),
    ("trap 'echo at the end' EXIT; echo first", "first\nat the end"),
    (
        "IFS=,; PATH=; LC_ALL=C; shopt -s nullglob nocasematch; set -f; echo changed",
        "changed",
    ),
    ("set -o posix; echo posix", "posix"),
    ("exec 3>&1 4>&1 9<&0 >&2; echo to the log; echo kept >&3", "kept"),
];

#[tokio::test]
async fn nothing_a_tool_does_reaches_its_answer_or_the_next_call() {
    let mut hosted = Hosted::start().await;
    let folder = hosted.run("pwd").await.unwrap();
    let state = "echo \"$PWD ${#args[@]} $- ${LC_ALL-none} $(type -t reply) $(type -t fail) $(type -t printf)\"";
    let expected = hosted.run(state).await.unwrap();
    let folder = folder.as_str().unwrap();
    assert_eq!(expected, format!("{folder} 1 hB none function function builtin"));
    for (code, result) in TAKEN {
        assert_eq!(hosted.run(code).await, ok(result), "{code}");
        assert_eq!(hosted.run(state).await, ok(expected.clone()), "after {code}");
    }
    hosted.stop().await;
}

#[tokio::test]
async fn options_of_the_toolbox_hold_in_its_tools_and_do_not_end_it() {
    for (option, code, error) in [
        ("-e", "false; echo never", "CommandError: exit status 1"),
        ("-u", "echo $nope", "CommandError: exit status 1: "),
        (
            "-f",
            "[[ $(echo /*) == '/*' ]] && exit 7",
            "CommandError: exit status 7",
        ),
        ("-eu", "echo $nope", "CommandError: exit status 1: "),
    ] {
        let mut command = Command::new("bash");
        command
            .arg(fixture("helpers/toolbox.sh"))
            .env("TOOLBOX_OPTIONS", option);
        let requests = [
            json!({"id": 1, "op": "describe", "protocol": 1, "config": {}}),
            json!({"id": 2, "op": "call", "name": "run", "kwargs": {"code": code}}),
            json!({"id": 3, "op": "call", "name": "list", "kwargs": {"values": ["*", "", "\"\\é"]}}),
            json!({"id": 4, "op": "call", "name": "object", "kwargs": {"key": "k"}}),
        ];
        let exchange = Exchange::of(
            command,
            requests.map(|request| format!("{request}\n")).concat().as_bytes(),
        );
        let said = exchange.answer(2)["error"].as_str().unwrap_or_default().to_owned();
        assert!(said.starts_with(error), "{option}: {exchange:?}");
        assert_eq!(exchange.result(3), json!(["*", "", "\"\\é"]), "{option}");
        assert_eq!(exchange.result(4), json!({"text": "k", "n": 1, "k": null}), "{option}");
        assert_eq!(exchange.status, Some(0), "{option}");
    }
}

#[tokio::test]
async fn a_background_job_neither_holds_its_call_up_nor_writes_into_another() {
    let mut hosted = Hosted::start().await;
    let job = "(until [[ -e go ]]; do sleep 0.01; done; echo late; echo late >&2; touch gone) & echo started";
    assert_eq!(
        hosted.run(&format!("cd {}; {job}", folder(&hosted))).await,
        ok("started")
    );
    assert_eq!(
        hosted.run(&format!("touch {}/go; echo next", folder(&hosted))).await,
        ok("next")
    );
    let mark = hosted.host.folder().join("gone");
    eventually("the job is done", || mark.exists()).await;
    eventually("its stderr is in the log", || hosted.host.log().contains("late")).await;
    assert_eq!(hosted.run("echo last").await, ok("last"));
    // A job that stays is ended with the toolbox.
    assert_eq!(hosted.run("sleep 1000 & echo started").await, ok("started"));
    hosted.stop().await;
}

fn folder(hosted: &Hosted) -> String {
    hosted.host.folder().display().to_string()
}

#[tokio::test]
async fn the_stderr_of_a_tool_is_the_log_while_it_runs() {
    let mut hosted = Hosted::start().await;
    let wait = format!(
        "echo at work >&2; until [[ -e {}/seen ]]; do sleep 0.01; done; echo done",
        folder(&hosted)
    );
    let token = hosted
        .caller
        .send(CALL, &call("box", "run", &json!({"code": wait})))
        .await;
    eventually("it is logged", || hosted.host.log().contains("at work")).await;
    std::fs::write(hosted.host.folder().join("seen"), "").unwrap();
    assert_eq!(hosted.caller.wait(&token, 1).await[0]["result"], "done");
    hosted.stop().await;
}

#[tokio::test]
async fn two_hundred_calls_leave_no_process_and_no_file() {
    let mut hosted = Hosted::start().await;
    let mut temporary = Value::Null;
    for number in 0..200 {
        let answer = hosted
            .run(&format!("ls >/dev/null; (true) & echo {number} | cat"))
            .await;
        assert_eq!(answer, ok(number.to_string()));
        if number == 0 {
            temporary = hosted.run("echo \"$_th_folder\"").await.unwrap();
        }
    }
    let temporary = Path::new(temporary.as_str().unwrap()).to_owned();
    let files = std::fs::read_dir(&temporary).unwrap().count();
    assert!(files < 200, "{files} files in {}", temporary.display());
    // The toolbox, and the process that hands the tools' stderr on.
    eventually("the children are gone", || hosted.host.processes().len() == 2).await;
    hosted.stop().await;
    assert!(!temporary.exists());
}

#[tokio::test]
async fn a_folder_for_temporary_files_that_is_cleared_away_is_made_again() {
    let mut hosted = Hosted::start().await;
    assert_eq!(
        hosted.run("rm -rf \"$_th_folder\"; echo lost").await,
        Err("OSError: the folder for temporary files was removed during the call".to_owned())
    );
    assert_eq!(hosted.run("echo there").await, ok("there"));
    assert_eq!(
        hosted.run("echo why >&2; exit 3").await,
        Err("CommandError: exit status 3: why".to_owned())
    );
    hosted.stop().await;
}

#[tokio::test]
async fn a_tool_that_ends_its_own_toolbox_is_told_so_and_the_next_call_is_served() {
    let mut hosted = Hosted::start().await;
    let temporary = hosted.run("echo \"$_th_folder\"").await.unwrap();
    let error = hosted.run("kill -9 $$; sleep 1000").await.unwrap_err();
    // Nobody is left who could.
    std::fs::remove_dir_all(temporary.as_str().unwrap()).unwrap();
    assert!(error.contains("SIGKILL"), "{error}");
    assert_eq!(hosted.run("echo again").await, ok("again"));
    hosted.host.stop().await;
}
