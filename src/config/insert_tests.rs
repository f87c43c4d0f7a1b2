//! Tests of `config::insert`: by table, and by files made at random.

use std::path::Path;

use super::*;
use crate::config::Config;

const ENTRY: &str = "new:\n  command: [./new.py]\n";

fn added(text: &str) -> Result<String, String> {
    insert(&with_toolboxes(text), "new", ENTRY).map(|inserted| {
        let at = inserted.text.lines().position(|line| line.trim() == "new:");
        assert_eq!(at, Some(inserted.line - 1), "{text}");
        inserted.text
    })
}

#[test]
fn a_toolbox_stands_behind_the_others_in_the_style_of_the_file() {
    for (before, after) in [
        // Nothing there yet.
        ("", "toolboxes:\n  new:\n    command: [./new.py]\n"),
        ("toolboxes:", "toolboxes:\n  new:\n    command: [./new.py]\n"),
        ("# mine\n", "# mine\n\ntoolboxes:\n  new:\n    command: [./new.py]\n"),
        ("---\n", "---\ntoolboxes:\n  new:\n    command: [./new.py]\n"),
        (
            "bus: embedded",
            "bus: embedded\n\ntoolboxes:\n  new:\n    command: [./new.py]\n",
        ),
        (
            "\u{feff}bus: embedded\r\n...\r\n",
            "\u{feff}bus: embedded\r\n\r\ntoolboxes:\r\n  new:\r\n    command: [./new.py]\r\n...\r\n",
        ),
        (
            "toolboxes: {}   # soon\nbus: embedded\n",
            "toolboxes:   # soon\n  new:\n    command: [./new.py]\nbus: embedded\n",
        ),
        ("toolboxes: ~\n", "toolboxes:\n  new:\n    command: [./new.py]\n"),
        (
            "defaults:\n    timeout: 5s\ntoolboxes:\n    # a:\n    #   command: [a]\n\n# The bus\nbus: embedded\n",
            "defaults:\n    timeout: 5s\ntoolboxes:\n    # a:\n    #   command: [a]\n    new:\n        command: [./new.py]\n\n# The bus\nbus: embedded\n",
        ),
        // Indentation.
        (
            "toolboxes:\n a:\n   command: [a]\n",
            "toolboxes:\n a:\n   command: [a]\n new:\n   command: [./new.py]\n",
        ),
        (
            "toolboxes:\n    a: {command: [a]}",
            "toolboxes:\n    a: {command: [a]}\n    new:\n        command: [./new.py]\n",
        ),
        (
            "  toolboxes:\n    a:\n      command: [a]\n  bus: embedded\n",
            "  toolboxes:\n    a:\n      command: [a]\n    new:\n      command: [./new.py]\n  bus: embedded\n",
        ),
        // Comments: those that touch the last toolbox are its own, those that touch the next key are not.
        (
            "toolboxes:\n  a:\n    command: [a]\n#    timeout: 5s\n",
            "toolboxes:\n  a:\n    command: [a]\n#    timeout: 5s\n  new:\n    command: [./new.py]\n",
        ),
        (
            "toolboxes:\n  a:\n    command: [a]\n\n    # timeout: 5s\n\n# end\n",
            "toolboxes:\n  a:\n    command: [a]\n\n    # timeout: 5s\n  new:\n    command: [./new.py]\n\n# end\n",
        ),
        (
            "toolboxes:\n  a:\n    command: [a]\n  # b: too\n# The bus\nbus: embedded\n",
            "toolboxes:\n  a:\n    command: [a]\n  # b: too\n  new:\n    command: [./new.py]\n# The bus\nbus: embedded\n",
        ),
        // Blank lines between toolboxes.
        (
            "toolboxes:\n\n  # A\n  a:\n    command: [a]\n\n\nbus: embedded\n",
            "toolboxes:\n\n  # A\n  a:\n    command: [a]\n\n  new:\n    command: [./new.py]\n\n\nbus: embedded\n",
        ),
        // The ends of files and lines.
        (
            "toolboxes:\r\n  a:\r\n    command: [a]",
            "toolboxes:\r\n  a:\r\n    command: [a]\r\n  new:\r\n    command: [./new.py]\r\n",
        ),
        (
            "---\ntoolboxes:\n  a:\n    command: [a]\n... # that was it\n",
            "---\ntoolboxes:\n  a:\n    command: [a]\n  new:\n    command: [./new.py]\n... # that was it\n",
        ),
        // Texts whose end is no comment and no blank line.
        (
            "toolboxes:\n  a:\n    command: [a]\n    config:\n      x: |\n        # text\n",
            "toolboxes:\n  a:\n    command: [a]\n    config:\n      x: |\n        # text\n  new:\n    command: [./new.py]\n",
        ),
        (
            "toolboxes:\n  a:\n    command: [a]\n    config:\n      x: |+\n        text\n\n\nbus: embedded\n",
            "toolboxes:\n  a:\n    command: [a]\n    config:\n      x: |+\n        text\n\n\n  new:\n    command: [./new.py]\nbus: embedded\n",
        ),
        // What an alias or a merge key brings.
        (
            "x-a: &a\n  b: {command: [b]}\ntoolboxes:\n  a:\n    command: [a]\n  <<: *a\n",
            "x-a: &a\n  b: {command: [b]}\ntoolboxes:\n  a:\n    command: [a]\n  <<: *a\n  new:\n    command: [./new.py]\n",
        ),
        (
            "x-a: &a {bus: embedded}\ntoolboxes:\n  a:\n    command: [a]\n<<: *a\n",
            "x-a: &a {bus: embedded}\ntoolboxes:\n  a:\n    command: [a]\n  new:\n    command: [./new.py]\n<<: *a\n",
        ),
        (
            "\"toolboxes\": &t # all\n  'a':\n    command: [a]\n",
            "\"toolboxes\": &t # all\n  'a':\n    command: [a]\n  new:\n    command: [./new.py]\n",
        ),
    ] {
        assert_eq!(added(before).as_deref(), Ok(after), "{before:?}");
    }
}

#[test]
fn what_cannot_be_added_to_is_left_alone_and_told_why() {
    for (text, why) in [
        (
            "toolboxes:\n  a:\n    command: [a]\n  'new': {command: [b]}\n",
            "has a toolbox 'new' already, on line 4",
        ),
        ("toolboxes: {a: {command: [a]}}\n", "between { and }"),
        ("toolboxes: {\n  a: {command: [a]},\n}\n", "between { and }"),
        ("toolboxes: # {\n  {a: {command: [a]}}\n", "between { and }"),
        ("{toolboxes: {a: {command: [a]}}}\n", "between { and }"),
        ("{toolboxes: {}}\n", "in one piece"),
        ("x-t: &t {a: {command: [a]}}\ntoolboxes: *t\n", "in one piece"),
        ("toolboxes:\n  ? a\n  : command: [a]\n", "laid out"),
        ("toolboxes:\r  a: {command: [a]}\r", "carriage return"),
    ] {
        let error = added(text).unwrap_err();
        assert!(error.contains(why), "{text:?}: {error}");
    }
}

/// A file made of pieces that people write, chosen at random.
fn random_file(random: &mut fastrand::Rng) -> String {
    let margin = random.usize(1..=5);
    let step = random.usize(1..=4);
    let mut file = String::new();
    let key = |random: &mut fastrand::Rng, file: &mut String, keys: &[&str]| {
        for key in keys {
            if random.bool() {
                file.push_str(key);
                noise(random, file, 0);
            }
        }
    };
    file.push_str(["", "\u{feff}", "---\n", "# first\n\n", "\n"][random.usize(0..5)]);
    key(
        random,
        &mut file,
        &["bus: embedded\n", "x-one: [1,\n  2]\n", "defaults:\n   timeout: 5s\n"],
    );
    file.push_str(["toolboxes:\n", "toolboxes:   # all of them\n", "\"toolboxes\":\n"][random.usize(0..3)]);
    noise(random, &mut file, margin);
    for number in 0..random.usize(0..4) {
        let name = [format!("box{number}"), format!("'box{number}'")][random.usize(0..2)].clone();
        file.push_str(&format!("{:margin$}{name}:", ""));
        toolbox(random, &mut file, margin, step);
    }
    key(
        random,
        &mut file,
        &[
            "tool_service: auto\n",
            "x-two: |\n  # text\n\n",
            "predecessor_topics: warn\n",
        ],
    );
    file.push_str(["", "...\n", "... # over\n"][random.usize(0..3)]);
    if random.u8(..4) == 0 {
        file.pop();
    }
    if random.bool() {
        file.replace('\n', "\r\n")
    } else {
        file
    }
}

fn noise(random: &mut fastrand::Rng, file: &mut String, margin: usize) {
    for _ in 0..random.usize(0..3) {
        let depth = [0, margin, margin + 2][random.usize(0..3)];
        match random.u8(..3) {
            0 => file.push('\n'),
            1 => file.push_str(&format!("{:depth$}# a: {{comment\n", "")),
            _ => {}
        }
    }
}

fn toolbox(random: &mut fastrand::Rng, file: &mut String, margin: usize, step: usize) {
    let inner = margin + step;
    if random.u8(..5) == 0 {
        file.push_str(" {command: [a,\n         'b # c'], timeout: 1s} # flow\n");
        return noise(random, file, margin);
    }
    file.push_str(["\n", "  # note\n"][random.usize(0..2)]);
    noise(random, file, margin);
    file.push_str(&format!("{:inner$}command: [a, \"b\"]\n", ""));
    noise(random, file, margin);
    let deep = inner + step;
    for key in [
        format!("{:inner$}env:\n{:deep$}A: \"two\n\n{:deep$}  lines\"\n", "", "", ""),
        format!(
            "{:inner$}config:\n{:deep$}text: |\n{:deep$}  # no comment\n",
            "", "", ""
        ),
        format!("{:inner$}allow:\n{:inner$}- a\n{:inner$}- b   # too\n", "", "", ""),
        format!("{:inner$}rename: {{a: b,\n{:deep$}c: d}}\n", "", ""),
        format!("{:inner$}restart:\n{:deep$}when: never\n", "", ""),
    ] {
        if random.u8(..3) == 0 {
            file.push_str(&key);
            noise(random, file, margin);
        }
    }
    // Its blank lines are part of the text.
    if random.u8(..6) == 0 {
        file.push_str(&format!(
            "{:inner$}config:\n{:deep$}text: |+\n{:deep$}  kept\n\n\n",
            "", "", ""
        ));
    }
}

#[test]
fn whatever_the_file_looks_like_only_the_new_lines_are_new() {
    let mut random = fastrand::Rng::with_seed(20_260_101);
    let mut read = 0;
    for _ in 0..1000 {
        let text = random_file(&mut random);
        let parse = |text: &str| Config::parse(text, Path::new("/etc/toolhost.yaml"), &|_| None);
        let Ok(before) = parse(&text) else { continue };
        read += 1;
        let inserted = insert(&text, "new", ENTRY).unwrap_or_else(|why| panic!("{why}:\n{text}"));
        let mut after =
            parse(&inserted.text).unwrap_or_else(|faults| panic!("{faults}:\n{text}\n=>\n{}", inserted.text));
        let new = after.toolboxes.pop().unwrap();
        assert_eq!(new.id, "new");
        assert_eq!(after, before, "{text}");
        assert_only_added(&text, &inserted);
    }
    assert!(read > 600, "{read} of 1000 files are good");
}

/// The new text is the old one, cut in two, with nothing but the entry between.
fn assert_only_added(before: &str, inserted: &Inserted) {
    let after = &inserted.text;
    let rows: Vec<&str> = after.split_inclusive('\n').collect();
    let (above, rest) = rows.split_at(inserted.line - 1);
    let below = rest[2..].concat();
    let above = above.concat();
    let end = if before.contains("\r\n") { "\r\n" } else { "\n" };
    let whole = format!("{above}{below}");
    let variants = [before.to_owned(), format!("{before}{end}")];
    // Where toolboxes are set apart, a blank line came along.
    let spaced = above.strip_suffix(end).map(|above| format!("{above}{below}"));
    let is_kept = variants.contains(&whole) || spaced.is_some_and(|spaced| variants.contains(&spaced));
    assert!(is_kept, "{before}\n=>\n{after}");
    assert!(rest[0].trim() == "new:" && rest[1].trim() == "command: [./new.py]");
    assert!(rest[..2].iter().all(|row| row.ends_with(end)), "{after:?}");
}

#[test]
fn no_text_is_too_broken_to_be_refused_in_words() {
    const ODD: [&str; 14] = [
        "\r", "\n", "\t", "{", "}", ":", "? ", "- ", "&a ", "*a", "\u{85}", "\u{2028}", "\u{feff}", "\"",
    ];
    let mut random = fastrand::Rng::with_seed(7);
    let (mut good, mut refused) = (0, 0);
    for _ in 0..1000 {
        let mut text = random_file(&mut random);
        for _ in 0..random.usize(1..4) {
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            let at = places[random.usize(..places.len())];
            match random.bool() {
                true => text.insert_str(at, ODD[random.usize(..ODD.len())]),
                false => drop(text.remove(at)),
            }
        }
        match insert(&with_toolboxes(&text), "new", ENTRY) {
            Ok(_) => good += 1,
            Err(why) => {
                assert!(!why.is_empty());
                refused += 1;
            }
        }
    }
    assert!(good > 100 && refused > 100, "{good} good, {refused} refused");
}
