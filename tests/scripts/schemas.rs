//! What the owners' scripts say of their arguments becomes the schema of each tool.

use serde_json::{Value, json};

use crate::owners::{Home, scripts};

/// One tool of each script, and the schema of its arguments without the dialect.
fn schemas() -> Vec<(&'static str, &'static str, Value)> {
    let object = |properties: Value, required: &[&str]| {
        let mut schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        schema
    };
    let unit = json!({"type": "string", "enum": ["ml", "cup", "tbsp", "tsp"]});
    let mut source = unit.clone();
    source["description"] = json!("The unit it is in.");
    let mut target = unit;
    target["description"] = json!("The unit wanted (default ml).");
    target["default"] = json!("ml");
    vec![
        (
            "shopping",
            "add",
            object(
                json!({
                    "item": {"type": "string", "description": "what to buy, e.g. \"milk\""},
                    "count": {"type": "integer", "description": "how many", "default": 1},
                }),
                &["item"],
            ),
        ),
        (
            "kitchen",
            "convert",
            object(
                json!({
                    "amount": {"type": "number", "description": "How much of it."}, "source": source, "target": target,
                }),
                &["amount", "source"],
            ),
        ),
        (
            "reachable",
            "check_many",
            object(
                json!({
                    "hosts": {"type": "array", "items": {"type": "string"}}, "port": {"type": "integer", "default": 22},
                }),
                &["hosts"],
            ),
        ),
        (
            "wordcount",
            "top_words",
            object(
                json!({
                    "text": {"type": "string", "description": "The text"},
                    "n": {"type": "integer", "description": "how many words", "default": 5},
                    "stopwords": {"type": "boolean", "description": "count \"the\", \"and\" ... too", "default": false},
                }),
                &["text"],
            ),
        ),
        (
            "backup",
            "save",
            object(
                json!({
                    "message": {"type": "string", "description": "Why, in a word or two"},
                    "compress": {"type": "string", "enum": ["none", "gzip"], "description": "Compress the copy", "default": "none"},
                    "quiet": {"type": "boolean", "description": "Say nothing"},
                    "file": {"type": "string", "description": "The file"},
                }),
                &["file"],
            ),
        ),
        (
            "playlists",
            "add",
            object(
                json!({
                    "tag": {"type": "array", "items": {"type": "string"}, "description": "Any number of tags"},
                    "shuffle": {"type": "boolean", "description": "Mix the songs"},
                    "name": {"type": "string", "description": "Name of the playlist"},
                    "songs": {"type": "array", "items": {"type": "string"}, "minItems": 1, "description": "The songs"},
                }),
                &["name", "songs"],
            ),
        ),
        (
            "logreport",
            "logreport",
            object(
                json!({
                    "level": {"type": "array", "items": {"type": "string", "enum": ["ERROR", "WARN", "INFO"]},
                        "description": "only these levels"},
                    "since": {"type": "string", "description": "only lines from this time on (text compare!)"},
                    "total": {"type": "boolean", "description": "just the sum"},
                    "log": {"type": "string", "description": "the log file"},
                }),
                &["log"],
            ),
        ),
        (
            "chores",
            "addChore",
            object(
                json!({
                    "what": {"type": "string", "description": "What has to be done"},
                    "who": {"type": "string", "description": "Who does it"},
                    "every": {"type": "string", "enum": ["daily", "weekly", "once"]},
                    "minutes": {"type": "number", "description": "How long it takes", "default": 15},
                }),
                &["what", "every"],
            ),
        ),
        (
            "moon",
            "nextFull",
            object(
                json!({
                    "from": {"type": "string", "format": "date-time", "description": "First day"},
                    "count": {"type": "number", "description": "How many", "default": 3},
                }),
                &["from"],
            ),
        ),
        (
            "next_train",
            "next_train",
            object(
                json!({
                    "station": {"type": "string", "description": "The station to go to, as in the timetable."},
                    "after": {"type": "string", "description": "Not before this time, like 17:30.", "default": "00:00"},
                }),
                &["station"],
            ),
        ),
        (
            "find_contact",
            "find_contact",
            object(
                json!({
                    "name": {"type": "string", "description": "Part of the name"},
                    "field": {"type": "string", "enum": ["phone", "mail"], "description": "What is wanted of them", "default": "phone"},
                    "groups": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}],
                        "description": "Only people of these groups", "default": null},
                }),
                &["name"],
            ),
        ),
        (
            "convert_money",
            "convert_money",
            object(
                json!({
                    "amount": {"type": "number", "description": "How much"},
                    "from": {"type": "string", "description": "Currency code, e.g. EUR"},
                    "to": {"type": "string", "description": "Currency code"},
                    "rounding": {"type": "string", "enum": ["floor", "round"], "description": "How to get to cents"},
                }),
                &["amount", "from", "to"],
            ),
        ),
    ]
}

#[tokio::test]
async fn what_a_script_says_of_its_arguments_is_in_the_schema() {
    let mut home = Home::open().await;
    let tools = home.tools().await;
    assert_eq!(schemas().len(), scripts().len());
    for (toolbox, name, expected) in schemas() {
        let is_it = |tool: &&Value| tool["toolbox_id"] == toolbox && tool["name"] == name;
        let mut schema = tools.iter().find(is_it).unwrap()["argument_schema"].clone();
        schema.as_object_mut().unwrap().remove("$schema");
        assert_eq!(schema, expected, "{toolbox} {name}");
    }
    let undescribed: Vec<_> = tools.iter().filter(|tool| tool["description"] == "").collect();
    assert_eq!(undescribed, Vec::<&Value>::new());
    let mut names: Vec<_> = tools.iter().map(|tool| format!("{}", tool["name"])).collect();
    names.sort();
    assert!(
        !names
            .iter()
            .any(|name| name.contains("main") || name.contains("forget")),
        "{names:?}"
    );
    home.host.stop().await;
}
