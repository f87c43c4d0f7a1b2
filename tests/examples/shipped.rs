//! The calls of the toolboxes that are commands or plain scripts.

use serde_json::{Value, json};

use crate::answers::Expected::{Error, ErrorWith, Result, Satisfies};
use crate::answers::{Call, Expected, calls};

type Table = Vec<(&'static str, Value, Expected)>;

fn value(result: &str, text: &str, exact: bool) -> Expected {
    Result(json!({"result": result, "text": text, "exact": exact}))
}

pub(crate) fn calc() -> Vec<Call> {
    let mut table = evaluations();
    table.extend(conversions());
    table.extend([
        (
            "convert_base",
            json!({"number": "255", "to": 2}),
            Result(json!({"result": "11111111"})),
        ),
        (
            "convert_base",
            json!({"number": 255, "to": 16}),
            Result(json!({"result": "FF"})),
        ),
        (
            "convert_base",
            json!({"number": "0xff", "from": 16, "to": 10}),
            Result(json!({"result": "255"})),
        ),
        (
            "convert_base",
            json!({"number": "0b11", "to": 10}),
            Result(json!({"result": "3"})),
        ),
        (
            "convert_base",
            json!({"number": "-ff", "from": 16, "to": 10}),
            Result(json!({"result": "-255"})),
        ),
        (
            "convert_base",
            json!({"number": "to", "from": 36, "to": 10}),
            Result(json!({"result": "1068"})),
        ),
        (
            "convert_base",
            json!({"number": "89", "from": 8, "to": 10}),
            Error("CommandError: exit status 1: this is no whole number in base 8: '89' (its digits are 01234567)"),
        ),
        (
            "factorize",
            json!({"number": 360}),
            Result(json!({"factors": [2, 2, 2, 3, 3, 5]})),
        ),
        (
            "factorize",
            json!({"number": 2_147_483_647}),
            Result(json!({"factors": [2_147_483_647]})),
        ),
        (
            "factorize",
            json!({"number": 1e2}),
            Result(json!({"factors": [2, 2, 5, 5]})),
        ),
        ("factorize", json!({"number": 1}), Result(json!({"factors": []}))),
        ("factorize", json!({"number": 0}), ErrorWith(&["number"])),
    ]);
    calls("calc", table)
}

fn evaluations() -> Table {
    let big = "1606938044258990275541962092341162602522202993782792835301376";
    let known = [
        ("1 + 2 * 3", "7", true),
        ("-3 + 2", "-1", true),
        ("0.1 + 0.2", "0.3", true),
        ("20 + 15%", "23", true),
        ("20% * 85", "17", true),
        ("2^200", big, true),
        ("sin(30 deg)", "0.5", true),
        ("√16 × 2", "8", true),
        ("mean(1, 2, 3, 4)", "2.5", true),
        ("0xFF + 1e3", "1255", true),
        ("255 to hex", "0xFF", true),
        ("1.5 to fraction", "1 + 1/2", true),
        ("5 km + 300 m", "5.3 km", true),
        ("20 °C to °F", "68 °F", true),
        ("x^2 - 4 = 0", "x = 2 or x = -2", true),
        ("integrate(x^2, 0, 3)", "9", true),
    ];
    // As it is said.
    let said = [
        ("15% of 80", "12", true),
        ("15 percent of 80", "12", true),
        ("12 times 7", "84", true),
        ("What is 2 plus 2?", "4", true),
        ("the square root of 16", "4", true),
        ("Square root of (9 + 7) minus 1", "3", true),
        ("10 divided by 4", "2.5", true),
        ("3 x 4 x 5", "60", true),
        ("5 squared plus 2 cubed", "33", true),
        ("2 to the power of 10", "1024", true),
        ("20 C to F", "68 °F", true),
        ("solve(x^2 - 4 = 0)", "2 or -2", true),
        ("12345678.95 + 1", "12345679.95", true),
    ];
    // The result has more digits than anybody says.
    let long = [
        ("2^0.5", "1.41421356237310", "1.41421", false),
        ("30 days to weeks", "4.28571428571429 weeks", "4.28571 weeks", false),
        ("90 km/h to mph", "55.9234073013601 mph", "55.9234 mph", false),
        ("1/3000", "0.000333333333333333", "0.000333333", false),
    ];
    let refused = [
        ("two plus two", &["unknown word: 'two'; write it in digits"] as &[_]),
        ("1/0", &["has no value"]),
        ("0/0", &["has no value"]),
        ("ln(0)", &["has no value"]),
        // To qalc alone these would be 1, 1, a vector, and a logarithm of another base than expected.
        ("foo + 1", &["unknown word: 'foo'"]),
        ("1 +)", &["Misplaced operator"]),
        ("1,000 + 1", &["write 1000"]),
        ("log(100)", &["log10"]),
        ("9^9^9^9", &["overflow"]),
        ("10^100000", &["too long to return"]),
        ("  ", &["empty"]),
        ("sum(x, 1, 10^9)", &["takes too long"]),
    ];
    let known = known.into_iter().chain(said);
    let known = known.map(|(expression, result, exact)| (expression, value(result, result, exact)));
    let long = long.map(|(expression, result, text, exact)| (expression, value(result, text, exact)));
    let refused = refused.map(|(expression, parts)| (expression, ErrorWith(parts)));
    let all = known.chain(long).chain(refused);
    all.map(|(expression, expected)| ("evaluate", json!({"expression": expression}), expected))
        .collect()
}

fn conversions() -> Table {
    let known = [
        (json!(20), "C", "F", json!(68)),
        (json!(-40), "fahrenheit", "°C", json!(-40)),
        (json!(0), "celsius", "kelvin", json!(273.15)),
        (json!(100), "km/h", "m/s", json!(27.777_777_777_8)),
        (json!(2.5), "gallons", "liters", json!(9.463_529_46)),
        (json!(1e3), "m²", "ft²", json!(10_763.910_416_7)),
        (json!(-5), "miles", "km", json!(-8.04672)),
        // What units alone would not know, or take for something else.
        (json!(20), "degC", "degF", json!(68)),
        (json!(36), "kmph", "m/s", json!(10)),
        (json!(2), "km per h", "kph", json!(2)),
        (json!(8), "fl oz", "cups", json!(1)),
        (json!(8), "fluid ounce", "cups", json!(1)),
        (json!(3), "square feet", "sq in", json!(432)),
        (json!(1), "cubic meter", "L", json!(1000)),
        (json!(5), "L/100km", "mpg", json!(47.042_916_666_7)),
        (json!(2), "KB", "bytes", json!(2000)),
    ];
    let refused: [(&str, &str, &[&str]); 5] = [
        (
            "km",
            "s",
            &["'km' cannot be converted to 's': they measure different things"],
        ),
        ("foo", "m", &["unknown unit: 'foo'"]),
        ("USD", "EUR", &["money is not converted"]),
        ("C", "m", &["cannot be converted"]),
        ("m", "m; ft", &["to: "]),
    ];
    let known = known.map(|(amount, from, to, result)| {
        let asked = json!({"amount": amount, "from": from, "to": to});
        let text = format!("{} {to}", said(&result));
        (asked, Result(json!({"result": result, "unit": to, "text": text})))
    });
    let refused = refused.map(|(from, to, parts)| (json!({"amount": 1, "from": from, "to": to}), ErrorWith(parts)));
    let all = known.into_iter().chain(refused);
    all.map(|(kwargs, expected)| ("convert_units", kwargs, expected))
        .collect()
}

/// A number with six digits.
fn said(number: &Value) -> String {
    let number = number.as_f64().expect("a number");
    let whole = format!("{:.0}", number.abs().trunc());
    let rounded = format!("{number:.*}", 6_usize.saturating_sub(whole.len()).max(2));
    match rounded.contains('.') {
        true => rounded.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => rounded,
    }
}

fn output(text: &str) -> Expected {
    Result(json!({ "output": text }))
}

fn lines(lines: &[&str]) -> Expected {
    Result(json!({ "lines": lines }))
}

fn counts(lines: u64, words: u64, characters: u64) -> Expected {
    Result(json!({"lines": lines, "words": words, "characters": characters}))
}

pub(crate) fn text() -> Vec<Call> {
    let people = r#"[{"name": "Ada", "age": 36}, {"name": "Bob", "age": 7}]"#;
    let query = |json: &str, filter: &str| json!({"json": json, "filter": filter});
    let mut table: Table = vec![
        (
            "query_json",
            query(people, ".[].name"),
            Result(json!({"results": ["Ada", "Bob"]})),
        ),
        (
            "query_json",
            query(people, "def old: .age > 30; map(select(old)) | length # how many"),
            Result(json!({"results": [1]})),
        ),
        ("query_json", query("{}", "empty"), Result(json!({"results": []}))),
        (
            "query_json",
            query("{oops", "."),
            ErrorWith(&["exit status 1: the text is no JSON: Invalid"]),
        ),
        (
            "query_json",
            query("1", ".a | (["),
            Error("CommandError: exit status 1: the filter is wrong: syntax error, unexpected INVALID_CHARACTER"),
        ),
        (
            "query_json",
            query("1", ".a"),
            ErrorWith(&["status 1: the filter does not fit the JSON: Cannot index number"]),
        ),
        (
            "query_json",
            query("1", "reduce range(32) as $i (\"x\"; . + .)"),
            ErrorWith(&["memory"]),
        ),
        ("count_words", json!({"text": "a bé\nc"}), counts(2, 3, 6)),
        ("count_words", json!({"text": "a\n\n"}), counts(2, 1, 3)),
        ("count_words", json!({"text": ""}), counts(0, 0, 0)),
        (
            "sort_lines",
            json!({"text": "10\n9\n9\n-1", "numeric": true, "reverse": true, "unique": true}),
            lines(&["10", "9", "-1"]),
        ),
        ("sort_lines", json!({"text": "é\nb\nA"}), lines(&["A", "b", "é"])),
        (
            "sort_lines",
            json!({"text": "Zebra\npear\nÄpfel\napple", "ignore_case": true}),
            lines(&["apple", "pear", "Zebra", "Äpfel"]),
        ),
        ("unique_lines", json!({"text": "b\na\nb"}), lines(&["b", "a"])),
        (
            "compare_texts",
            json!({"before": "a\nb\n", "after": "a\nc\n"}),
            output("--- before\n+++ after\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"),
        ),
        ("compare_texts", json!({"before": "-x", "after": "-x"}), output("")),
    ];
    table.extend(markup());
    table.extend(matches());
    calls("text", table)
}

fn markup() -> Table {
    let convert = |text: &str, from: &str, to: &str| json!({"text": text, "from": from, "to": to});
    vec![
        (
            "convert_markup",
            convert("# Hi *you*", "markdown", "html"),
            output("<h1 id=\"hi-you\">Hi <em>you</em></h1>\n"),
        ),
        (
            "convert_markup",
            convert("<p>a <b>b</b></p><script>x()</script>", "html", "markdown"),
            output("a **b**\n"),
        ),
        (
            "convert_markup",
            convert("a,b\n1,2", "csv", "org"),
            output("| a | b |\n|---+---|\n| 1 | 2 |\n"),
        ),
        ("convert_markup", convert("x", "docx", "html"), ErrorWith(&["from: "])),
    ]
}

fn matches() -> Table {
    vec![
        (
            "replace_text",
            json!({"text": "ada@example.com", "pattern": r"(\w+)@example\.com", "replacement": "$1@example.org"}),
            output("ada@example.org"),
        ),
        (
            "replace_text",
            json!({"text": "a.b $HOME", "pattern": ".", "replacement": "-", "literal": true}),
            output("a-b $HOME"),
        ),
        (
            "replace_text",
            json!({"text": "a -f b", "pattern": "-F", "replacement": "--pre=id", "ignore_case": true}),
            output("a --pre=id b"),
        ),
        (
            "replace_text",
            json!({"text": "a", "pattern": "z", "replacement": ""}),
            output("a"),
        ),
        (
            "replace_text",
            json!({"text": "a\nb\n\n", "pattern": "b", "replacement": "c"}),
            output("a\nc\n\n"),
        ),
        (
            "replace_text",
            json!({"text": "", "pattern": "b", "replacement": "c"}),
            output(""),
        ),
        (
            "replace_text",
            json!({"text": "a", "pattern": "(", "replacement": ""}),
            Error("CommandError: exit status 1: the pattern is wrong: unclosed group"),
        ),
        (
            "find_matches",
            json!({"text": "from 2026-01-02\nto 2026-02-03", "pattern": r"\d{4}-\d{2}-\d{2}"}),
            lines(&["2026-01-02", "2026-02-03"]),
        ),
        ("find_matches", json!({"text": "abc", "pattern": "--help"}), lines(&[])),
    ]
}

pub(crate) fn notes() -> Vec<Call> {
    let note = |id: u64, text: &str| json!({"id": id, "text": text});
    calls(
        "notes",
        vec![
            ("list_notes", json!({}), Result(json!([]))),
            (
                "add_note",
                json!({"text": "Buy milk and café beans", "tags": ["#Shopping", "shopping"]}),
                Satisfies(a_new_note),
            ),
            (
                "add_note",
                json!({"text": "The Milky Way"}),
                Satisfies(|note| assert_eq!(note["id"], 2)),
            ),
            ("add_note", json!({"text": " "}), Error("ValueError: the note is empty")),
            (
                "add_note",
                json!({"text": "x", "tags": ["two words"]}),
                Error("ValueError: a tag is one word, not 'two words'"),
            ),
            (
                "search_notes",
                json!({"query": "MILK"}),
                Satisfies(|notes| are(notes, &[1, 2])),
            ),
            (
                "search_notes",
                json!({"query": "milk cafe"}),
                Satisfies(|notes| are(notes, &[1])),
            ),
            (
                "search_notes",
                json!({"query": "shopping"}),
                Satisfies(|notes| are(notes, &[1])),
            ),
            (
                "search_notes",
                json!({"query": "\" OR * NEAR( -x"}),
                Satisfies(|notes| are(notes, &[])),
            ),
            (
                "search_notes",
                json!({"query": " "}),
                Error("ValueError: no word to look for"),
            ),
            (
                "list_notes",
                json!({"tag": "shopping"}),
                Satisfies(|notes| are(notes, &[1])),
            ),
            (
                "search_notes",
                json!({"query": "milks"}),
                Satisfies(|notes| are(notes, &[1, 2])),
            ),
            (
                "list_notes",
                json!({"since": "yesterday"}),
                Satisfies(|notes| are(notes, &[1, 2])),
            ),
            (
                "list_notes",
                json!({"since": "2126-01-01"}),
                Satisfies(|notes| are(notes, &[])),
            ),
            ("list_notes", json!({"since": "tomorrow"}), ErrorWith(&["write today"])),
            (
                "list_notes",
                json!({"since": "2126-01-01T00:00:00"}),
                Satisfies(|notes| are(notes, &[])),
            ),
            (
                "list_notes",
                json!({"since": "2026-01-01T00:00:00+00:00"}),
                Satisfies(|notes| are(notes, &[1, 2])),
            ),
            (
                "list_notes",
                json!({"limit": 0}),
                Error("ValueError: limit: from 1 to 100"),
            ),
            (
                "edit_note",
                json!({"id": 1, "text": "Buy tea"}),
                Satisfies(still_tagged),
            ),
            (
                "search_notes",
                json!({"query": "milk"}),
                Satisfies(|notes| are(notes, &[2])),
            ),
            ("read_note", json!({"id": 7}), Error("LookupError: no note 7")),
            ("read_note", json!({"id": 1}), Satisfies(still_tagged)),
            ("delete_note", json!({"id": 1}), Satisfies(still_tagged)),
            ("delete_note", note(1, ""), ErrorWith(&["text"])),
            ("delete_note", json!({"id": 1}), Error("LookupError: no note 1")),
            ("list_notes", json!({"tag": "shopping"}), Result(json!([]))),
        ],
    )
}

fn a_new_note(note: &Value) {
    assert_eq!(
        (&note["id"], &note["text"], &note["tags"]),
        (&json!(1), &json!("Buy milk and café beans"), &json!(["shopping"]))
    );
    let created = note["created"].as_str().expect("a time");
    let offset = created.get(19..20);
    assert!(
        created.starts_with("20") && created.len() == 25 && (offset == Some("+") || offset == Some("-")),
        "{created}"
    );
}

fn still_tagged(note: &Value) {
    assert_eq!(
        (&note["text"], &note["tags"]),
        (&json!("Buy tea"), &json!(["shopping"]))
    );
}

/// Whether these are the notes, in any order: two may be made in the same second.
fn are(notes: &Value, ids: &[u64]) {
    let mut found: Vec<u64> = notes
        .as_array()
        .expect("notes")
        .iter()
        .map(|note| note["id"].as_u64().expect("an id"))
        .collect();
    found.sort_unstable();
    assert_eq!(found, ids, "{notes}");
}

/// The example shows the toolboxes themselves.
pub(crate) fn files() -> Vec<Call> {
    calls(
        "files",
        vec![
            ("list_folder", json!({"folder": "clock"}), Satisfies(clock_folder)),
            (
                "list_folder",
                json!({"folder": "nope"}),
                ErrorWith(&["no such file or folder: 'nope'"]),
            ),
            ("find_files", json!({"name": "WN*.py"}), Satisfies(wndb)),
            ("find_files", json!({"name": "NDB.P"}), Satisfies(wndb)),
            (
                "find_files",
                json!({"name": "w?db"}),
                Satisfies(|found| assert_eq!(found["entries"], json!([]))),
            ),
            (
                "find_files",
                json!({"name": "x", "limit": 0}),
                Error("CommandError: exit status 1: limit must be from 1 to 1000"),
            ),
            (
                "search_files",
                json!({"pattern": "("}),
                Error("CommandError: exit status 1: the pattern or glob is wrong: unclosed group"),
            ),
            (
                "search_files",
                json!({"pattern": "class +Note", "glob": ["*.py"]}),
                Satisfies(|found| assert_eq!(found["lines"][0]["text"], "class Note:")),
            ),
            (
                "read_file",
                json!({"path": "wordnet/README.md", "lines": 1}),
                Result(json!({
                    "path": "wordnet/README.md", "first": 1, "lines": 1, "text": "# wordnet", "more": true,
                })),
            ),
            ("read_file", json!({"path": "../README.md"}), ErrorWith(&["'..'"])),
            (
                "file_info",
                json!({"path": "clock"}),
                Satisfies(|info| assert_eq!(info["kind"], "folder")),
            ),
        ],
    )
}

fn clock_folder(result: &Value) {
    let entries = result["entries"].as_array().expect("entries").iter();
    let paths: Vec<_> = entries.map(|entry| entry["path"].as_str().expect("a path")).collect();
    assert_eq!(paths, ["clock/README.md", "clock/clock.mjs", "clock/zones.mjs"]);
}

fn wndb(result: &Value) {
    let entry = &result["entries"][0];
    assert_eq!(
        (&entry["path"], &entry["kind"]),
        (&json!("wordnet/wndb.py"), &json!("file"))
    );
    let length = std::fs::metadata(crate::root().join("toolboxes/wordnet/wndb.py"))
        .expect("the file")
        .len();
    assert_eq!(entry["size_bytes"], length);
    assert_eq!(result["more"], false);
}
