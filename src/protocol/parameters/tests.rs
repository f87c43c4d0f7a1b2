//! Tests of `protocol::parameters`.

use super::*;

#[test]
fn all_fifteen_fields_and_both_forms() {
    let fields = r#""description":"Any path","required":true,"type":"string","default":"/","enum":["/","/srv"],
            "pattern":"^/","minimum":1.0,"maximum":2e3,"minLength":1,"maxLength":9,"format":"uri",
            "examples":["/"],"metadata":{"a":1}"#;
    let word = r#"{"type":"object","properties":{"path":{"type":"string","description":"Any path","default":"/","enum":["/","/srv"],"pattern":"^/","minimum":1.0,"maximum":2e3,"minLength":1,"maxLength":9,"format":"uri","examples":["/"],"x-metadata":{"a":1}}},"required":["path"],"additionalProperties":false}"#;
    let table = [
        (format!(r#"[{{"name":"path",{fields}}}]"#), word),
        (format!(r#"{{"path":{{{fields}}}}}"#), word),
        (
            r#"[{"name":"a","type":"array","items":"integer"},{"name":"b","type":"array","items":{"enum":[1]}}]"#
                .to_owned(),
            r#"{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer"}},"b":{"type":"array","items":{"enum":[1]}}},"additionalProperties":false}"#,
        ),
        (
            r#"[{"name":"a","type":"object","items":null,"default":null,"enum":null,"required":false}]"#.to_owned(),
            r#"{"type":"object","properties":{"a":{"type":"object"}},"additionalProperties":false}"#,
        ),
        (
            "[]".to_owned(),
            r#"{"type":"object","properties":{},"additionalProperties":false}"#,
        ),
    ];
    for (parameters, expected) in table {
        let derived = derive(&parameters).unwrap();
        assert_eq!(derived.schema, expected);
        assert_eq!(derived.warnings, [""; 0]);
    }
}

#[test]
fn faults_name_parameter_and_field() {
    let table = [
        ("3", "'parameters' that is neither a list nor an object"),
        (r#"[{"type":"string"}]"#, "parameter 1 without a name"),
        (r#"["a"]"#, "parameter 1 without a name"),
        (
            r#"{"a":"string"}"#,
            "parameter 'a' that is a string, expected an object",
        ),
        (r#"{"":{"type":"string"}}"#, "parameter '' without a name"),
        (
            r#"{"a":{"type":"string"},"a":{"type":"string"}}"#,
            "parameter 'a' twice",
        ),
        (
            r#"{"a":{}}"#,
            "parameter 'a' that has no type, expected one of string, number, integer, boolean, array, object",
        ),
        (
            r#"{"a":{"type":"str"}}"#,
            "parameter 'a' that has the type \"str\", expected one of string, number, integer, boolean, array, object",
        ),
        (
            r#"{"a":{"type":"array","items":"str"}}"#,
            "parameter 'a' that has 'items' that are neither the name of a type nor a schema",
        ),
        (
            r#"{"a":{"type":"string","minLength":-1}}"#,
            "parameter 'a' that has a 'minLength' that is a number, expected a whole number, 0 or more",
        ),
        (
            r#"{"a":{"type":"string","enum":[ ]}}"#,
            "parameter 'a' that has a 'enum' that is an array, expected an array with at least one value",
        ),
        (
            r#"{"a":{"type":"string","required":"yes"}}"#,
            "parameter 'a' that has a 'required' that is no boolean",
        ),
    ];
    for (parameters, expected) in table {
        assert_eq!(derive(parameters).unwrap_err(), [expected], "{parameters}");
    }
    let derived = derive(r#"{"a":{"type":"string","items":"string","multipleOf":2}}"#).unwrap();
    assert_eq!(derived.warnings.len(), 2);
}
