//! How a Bash script ends, what it leaves behind and what it may do, with a healthy neighbor beside it.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::Scripts;
use crate::common::caller::{CALL, call};
use crate::common::eventually::eventually;

/// The line that every annotated script ends in.
const EVAL: &str = r#"eval "$(argc --argc-eval "$0" "$@")""#;

fn script(body: &str) -> String {
    format!("#!/usr/bin/env bash\n{body}\n{EVAL}\n")
}

fn output(text: &str) -> Result<Value, String> {
    Ok(json!({ "output": text }))
}

fn error(text: &str) -> Result<Value, String> {
    Err(text.to_owned())
}

const WILD: &str = r#"
# @cmd Prints to both
both() { echo out; echo err >&2; }
# @cmd Leaves
leave() { echo "lost" ; echo "why" >&2; exit 3; }
# @cmd Fails by its last command
last() { false; }
# @cmd Is killed
killed() { kill -9 $$; }
# @cmd Reads
reads() { cat; read -r line || echo "nothing: '$line'"; }
# @cmd Goes away
wander() { cd / && pwd; }
# @cmd Where it is
where() { pwd; }
# @cmd Counts
count() { calls=$((calls + 1)); echo "$calls"; }
# @cmd Closes everything
closes() { exec >&- 2>&- <&-; }
# @cmd Runs what is not there
typo() { no-such-command; }
# @cmd Half a character
bytes() { printf 'a\377b'; }
# @cmd Floods stderr
floods() { yes 'a long line of nothing at all' | head -c 5000000 >&2; echo done; }
"#;

#[tokio::test]
async fn each_call_starts_afresh_and_its_end_is_its_answer() {
    let mut scripts = Scripts::host(&[("wild.sh", &script(WILD))], &json!({})).await;
    let here = format!("{}\n", scripts.host.folder().canonicalize().unwrap().display());
    for (tool, expected) in [
        ("both", output("out\n")),
        ("leave", error("CommandError: exit status 3: why")),
        ("last", error("CommandError: exit status 1")),
        ("killed", error("CommandError: signal 9 (SIGKILL)")),
        ("reads", output("nothing: ''\n")),
        ("wander", output("/\n")),
        ("where", output(&here)),
        ("count", output("1\n")),
        ("count", output("1\n")),
        ("closes", output("")),
        ("floods", output("done\n")),
        ("bytes", output("a\u{fffd}b")),
    ] {
        assert_eq!(scripts.call("wild", tool, json!({})).await, expected, "{tool}");
        scripts.neighbor_is_well().await;
    }
    let missing = scripts.call("wild", "typo", json!({})).await.unwrap_err();
    assert!(
        missing.starts_with("CommandError: exit status 127: ")
            && missing.contains("no-such-command: command not found"),
        "{missing}"
    );
    eventually("stderr is in the log", || scripts.host.log().contains("err")).await;
    scripts.host.stop().await;
}

const LEAVES: &str = r#"
# @cmd A job of the shell
job() { sleep 300 & echo answered; }
# @cmd A daemon with a session of its own
daemon() { setsid sh -c 'echo $$ > daemon; exec sleep 60' & until [[ -s daemon ]]; do sleep 0.01; done; echo answered; }
# @cmd A daemon that lets go of all it had
detached() {
  setsid sh -c 'echo $$ > detached; exec sleep 60' < /dev/null > /dev/null 2>&1 &
  until [[ -s detached ]]; do sleep 0.01; done
  echo answered
}
# @cmd Never ends
stuck() { trap '' TERM; sleep 301 & sleep 302; }
"#;

#[tokio::test]
async fn what_a_script_leaves_running_holds_up_neither_its_answer_nor_the_neighbor() {
    let mut scripts = Scripts::host(&[("leaves.sh", &script(LEAVES))], &json!({"timeout": "20s"})).await;
    for tool in ["job", "daemon", "detached"] {
        assert_eq!(
            scripts.call("leaves", tool, json!({})).await,
            output("answered\n"),
            "{tool}"
        );
        scripts.neighbor_is_well().await;
    }
    scripts.host.what_left_is_gone("daemon").await;
    scripts.host.what_left_is_gone("detached").await;
    eventually("nothing is left", || scripts.host.processes().is_empty()).await;
    scripts.host.stop().await;
}

#[tokio::test]
async fn a_script_past_its_time_goes_with_all_it_started() {
    let mut scripts = Scripts::host(&[("leaves.sh", &script(LEAVES))], &json!({"timeout": "1s"})).await;
    let token = scripts.caller.send(CALL, &call("leaves", "stuck", &json!({}))).await;
    scripts.neighbor_is_well().await;
    let answer = scripts.caller.wait(&token, 1).await.remove(0);
    assert_eq!(answer["error"], "TimeoutError: 'stuck' did not answer within 1s");
    eventually("all of it is gone", || scripts.host.processes().is_empty()).await;
    scripts.neighbor_is_well().await;
    scripts.host.stop().await;
}

#[tokio::test]
async fn a_slow_start_is_paid_by_each_call_and_by_nobody_else() {
    let slow = script("until [[ -e go ]]; do sleep 0.01; done\n# @cmd Quick in itself\nquick() { echo quick; }");
    let mut scripts = Scripts::host(&[("slow.sh", &slow)], &json!({})).await;
    // To tell its tools nothing of it is run.
    assert_eq!(scripts.tools("slow").await, ["quick"]);
    let token = scripts.caller.send(CALL, &call("slow", "quick", &json!({}))).await;
    eventually("it runs", || !scripts.host.processes().is_empty()).await;
    scripts.neighbor_is_well().await;
    assert_eq!(scripts.caller.answers(&token).len(), 0, "the neighbor was not held up");
    std::fs::write(scripts.host.folder().join("go"), "").unwrap();
    let answer = scripts.caller.wait(&token, 1).await.remove(0);
    assert_eq!(answer["result"], json!({"output": "quick\n"}));
    scripts.host.stop().await;
}

const CHANNEL: &str = r#"
# @env LLM_OUTPUT=/dev/stdout The output
# @cmd Writes
written() { echo printed; echo one > "$LLM_OUTPUT"; echo two >> "$LLM_OUTPUT"; }
# @cmd Does not
silent() { echo printed; }
# @cmd Removes it
removed() { echo printed; rm -- "$LLM_OUTPUT"; }
# @cmd Puts a folder there
folder() { echo printed; rm -- "$LLM_OUTPUT"; mkdir -- "$LLM_OUTPUT"; }
# @cmd Puts a pipe there
pipe() { echo printed; rm -- "$LLM_OUTPUT"; mkfifo -- "$LLM_OUTPUT"; }
# @cmd Writes too much
floods() { yes | head -c 100000 > "$LLM_OUTPUT"; }
# @cmd Writes and fails
fails() { echo half > "$LLM_OUTPUT"; echo why >&2; exit 4; }
# @cmd Where it is
where() { printf %s "$LLM_OUTPUT"  > "$LLM_OUTPUT"; }
"#;

#[tokio::test]
async fn what_stands_in_llm_output_is_the_result_and_else_what_was_printed() {
    let keys = json!({"max_result": "1KiB"});
    let mut scripts = Scripts::host(&[("channel.sh", &script(CHANNEL))], &keys).await;
    for (tool, expected) in [
        ("written", output("one\ntwo\n")),
        ("silent", output("printed\n")),
        ("removed", output("printed\n")),
        ("pipe", output("printed\n")),
        ("fails", error("CommandError: exit status 4: why")),
    ] {
        assert_eq!(scripts.call("channel", tool, json!({})).await, expected, "{tool}");
    }
    let error = scripts.call("channel", "folder", json!({})).await.unwrap_err();
    assert!(
        error.starts_with("CommandError: its LLM_OUTPUT cannot be read: "),
        "{error}"
    );
    let error = scripts.call("channel", "floods", json!({})).await.unwrap_err();
    assert!(
        error.starts_with("ResultTooLarge: result too large (100000 bytes"),
        "{error}"
    );
    let path = scripts.call("channel", "where", json!({})).await.unwrap();
    let path = path["output"].as_str().unwrap().to_owned();
    assert!(path.starts_with('/') && !std::path::Path::new(&path).exists(), "{path}");
    scripts.neighbor_is_well().await;
    scripts.host.stop().await;
}

#[tokio::test]
async fn an_edited_script_shows_its_new_tool_and_runs_its_new_text() {
    let first = script("# @cmd One\none() { echo first; }");
    let mut scripts = Scripts::host(&[("edited.sh", &first)], &json!({})).await;
    assert_eq!(scripts.call("edited", "one", json!({})).await, output("first\n"));
    let second = script("# @cmd One\none() { echo second; }\n# @cmd Two\n# @arg x!\ntwo() { echo \"two $argc_x\"; }");
    std::fs::write(scripts.path().join("edited.sh"), second).unwrap();
    assert_eq!(scripts.call("edited", "one", json!({})).await, output("second\n"));
    assert_eq!(scripts.discovered("edited").await, ["one", "two"]);
    assert_eq!(
        scripts.call("edited", "two", json!({"x": "-v"})).await,
        output("two -v\n")
    );
    scripts.neighbor_is_well().await;
    scripts.host.stop().await;
}

#[tokio::test]
async fn a_script_broken_or_removed_while_it_is_hosted_says_so_and_is_well_when_it_is_mended() {
    let good = script("# @cmd One\none() { echo first; }");
    let mut scripts = Scripts::host(&[("edited.sh", &good)], &json!({})).await;
    let path = scripts.path().join("edited.sh");
    std::fs::write(&path, good.replace("@cmd", "@cmmd")).unwrap();
    assert_eq!(scripts.discovered("edited").await, ["one"], "as it was");
    let said = scripts.call("edited", "one", json!({})).await.unwrap_err();
    assert!(
        said.starts_with("CommandError: exit status 1: ") && said.contains("@cmmd(line 2) is unknown tag"),
        "{said}"
    );
    std::fs::remove_file(&path).unwrap();
    let said = scripts.call("edited", "one", json!({})).await.unwrap_err();
    assert!(
        said.starts_with("CommandError: ")
            && said.contains("edited.sh")
            && said.to_lowercase().contains("no such file"),
        "{said}"
    );
    scripts.neighbor_is_well().await;
    std::fs::write(&path, good.replace("first", "mended")).unwrap();
    assert_eq!(scripts.call("edited", "one", json!({})).await, output("mended\n"));
    scripts.host.stop().await;
}

#[tokio::test]
async fn a_script_need_not_be_executable() {
    let text = script("# @cmd Runs\nruns() { echo \"$0\"; }");
    let mut scripts = Scripts::host(&[("plain.sh", &text)], &json!({})).await;
    let path = scripts.path().join("plain.sh");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o111, 0);
    let said = scripts.call("plain", "runs", json!({})).await;
    assert_eq!(said, output(&format!("{}\n", path.display())));
    scripts.host.stop().await;
}

#[tokio::test]
async fn annotated_scripts_are_bash_whatever_sh_is_here() {
    let body = "# @cmd Says\n# @option --x*\nsay() { echo \"${#argc_x[@]} ${argc_x[1]}\"; }";
    for first in [
        "#!/bin/sh",
        "#!/usr/bin/env dash",
        "# no first line",
        "#!/usr/bin/env -S bash -e",
    ] {
        let text = script(body).replace("#!/usr/bin/env bash", first);
        let mut scripts = Scripts::host(&[("plain.sh", &text)], &json!({})).await;
        let said = scripts.call("plain", "say", json!({"x": ["a b", "c"]})).await;
        assert_eq!(said, output("2 c\n"), "{first}");
        scripts.host.stop().await;
    }
}

#[tokio::test]
async fn a_variable_the_script_needs_may_come_from_the_yaml() {
    let text = script("# @env KEY!\n# @cmd Says\nsay() { echo \"$KEY\"; }");
    let mut scripts = Scripts::host(&[("needy.sh", &text)], &json!({"env": {"KEY": "a $(b) c"}})).await;
    assert_eq!(scripts.call("needy", "say", json!({})).await, output("a $(b) c\n"));
    scripts.host.stop().await;
}

#[tokio::test]
async fn a_cache_that_is_cleaned_while_a_script_is_hosted_loses_no_argument() {
    let text = "# @cmd Says\n# @option --word!\nsay() { echo \"$argc_word\"; }";
    let mut scripts = Scripts::host(&[("say.sh", &script(text))], &json!({})).await;
    let say = json!({"word": "hello"});
    assert_eq!(scripts.call("say", "say", say.clone()).await, output("hello\n"));
    std::fs::remove_dir_all(scripts.host.folder().join(".cache")).unwrap();
    assert_eq!(scripts.call("say", "say", say).await, output("hello\n"));
    scripts.host.stop().await;
}

#[tokio::test]
async fn a_script_with_a_path_of_its_own_gets_its_arguments() {
    let body = "# @cmd Says\n# @option --word!\nsay() { echo \"$argc_word\"; }";
    let own_path = script(&format!("PATH=/usr/bin:/bin\n{body}"));
    let login = format!("#!/bin/bash -l\n{body}\n{EVAL}\n");
    let nested = script(&format!(
        "{body}\n[ -n \"${{AGAIN:-}}\" ] || {{ AGAIN=1 exec bash \"$0\" \"$@\"; }}"
    ));
    let files = [
        ("own_path.sh", &*own_path),
        ("login.sh", &login),
        ("nested.sh", &nested),
    ];
    let mut scripts = Scripts::host(&files, &json!({})).await;
    for toolbox in ["own_path", "login", "nested"] {
        let said = scripts.call(toolbox, "say", json!({"word": "it's \"hello\""})).await;
        assert_eq!(said, output("it's \"hello\"\n"), "{toolbox}");
    }
    scripts.host.stop().await;
}
