//! Tests of `tools::schema`.

use super::*;

fn compile(raw: &str) -> Schema {
    Schema::compile(raw).unwrap_or_else(|why| panic!("{raw}: {why}"))
}

fn check(schema: &str, value: &str) -> Result<(), String> {
    compile(schema).check(&serde_json::from_str(value).unwrap(), "arguments")
}

fn faults(schema: &str, value: &str) -> String {
    check(schema, value).unwrap_err()
}

#[test]
fn each_dialect_has_its_own_rules() {
    let table = [
        // (keywords, fits, does not fit)
        (
            "http://json-schema.org/draft-04/schema#",
            r#""type":"integer""#,
            "1",
            "1.0",
        ),
        (
            "http://json-schema.org/draft-04/schema",
            r#""minimum":1,"exclusiveMinimum":true"#,
            "2",
            "1",
        ),
        (
            "https://json-schema.org/draft-04/schema#",
            r#""items":[{"type":"string"}]"#,
            r#"["a"]"#,
            "[1]",
        ),
        (
            "http://json-schema.org/draft-06/schema#",
            r#""type":"integer""#,
            "1.0",
            "1.5",
        ),
        (
            "https://json-schema.org/draft-06/schema",
            r#""exclusiveMinimum":1"#,
            "2",
            "1",
        ),
        (
            "http://json-schema.org/draft-07/schema#",
            r#""if":{"type":"string"},"then":{"minLength":1}"#,
            "3",
            r#""""#,
        ),
        (
            "https://json-schema.org/draft-07/schema",
            r#""items":[{"type":"string"}]"#,
            r#"["a"]"#,
            "[1]",
        ),
        (
            "http://json-schema.org/draft-07/schema",
            r#""format":"ipv4""#,
            r#""1.2.3.4""#,
            r#""x""#,
        ),
        (
            "https://json-schema.org/draft/2019-09/schema",
            r#""dependentRequired":{"a":["b"]}"#,
            "{}",
            r#"{"a":1}"#,
        ),
        (
            "http://json-schema.org/draft/2019-09/schema#",
            r#""items":[{"type":"string"}]"#,
            r#"["a"]"#,
            "[1]",
        ),
        (
            "https://json-schema.org/draft/2020-12/schema",
            r#""prefixItems":[{"type":"string"}]"#,
            r#"["a"]"#,
            "[1]",
        ),
        (
            "https://json-schema.org/draft/2020-12/schema#",
            r#""type":"integer""#,
            "1.0",
            "true",
        ),
        (
            "http://json-schema.org/draft/2020-12/schema",
            r#""format":"ipv4","minLength":1"#,
            r#""x""#,
            r#""""#,
        ),
    ];
    for (dialect, keywords, good, bad) in table {
        let schema = format!(r#"{{"$schema":"{dialect}",{keywords}}}"#);
        assert_eq!(compile(&schema).warning(), None, "{schema}");
        assert_eq!(check(&schema, good), Ok(()), "{schema}");
        assert!(check(&schema, bad).is_err(), "{schema} {bad}");
    }
    assert!(check(r#"{"prefixItems":[{"type":"string"}]}"#, "[1]").is_err());
    let unknown = compile(r#"{"$schema":"https://example.org/mine","prefixItems":[{"type":"string"}]}"#);
    assert_eq!(
        unknown.warning(),
        Some("unknown $schema 'https://example.org/mine': read as 2020-12")
    );
    assert!(unknown.check(&serde_json::json!([1]), "arguments").is_err());
    assert_eq!(check("true", "1"), Ok(()));
    assert_eq!(faults("false", "1"), "arguments: no value is allowed here");
}

#[test]
fn references_inside_work_and_circles_are_refused() {
    let good = [
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}"##,
        r##"{"$ref":"#a","$defs":{"x":{"$anchor":"a","type":"string"}}}"##,
        r##"{"$id":"https://x.org/s","$ref":"t","$defs":{"x":{"$id":"t","type":"string"}}}"##,
        r##"{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#a","definitions":{"x":{"$id":"#a","type":"string"}}}"##,
        r##"{"$dynamicRef":"#a","$defs":{"x":{"$dynamicAnchor":"a","type":"string"}}}"##,
        r##"{"anyOf":[{"type":"string"},{"properties":{"x":{"$ref":"#"}},"type":"object"}]}"##,
        r##"{"type":"string","properties":{"$ref":{"type":"string"},"not":{"$ref":"#"}}}"##,
        r##"{"$ref":"http://json-schema.org/draft-07/schema#/definitions/nonNegativeInteger","type":"string","$schema":"http://json-schema.org/draft-07/schema#","definitions":{}}"##,
    ];
    for schema in &good[..7] {
        assert_eq!(check(schema, r#""x""#), Ok(()), "{schema}");
        assert!(check(schema, "3").is_err(), "{schema}");
    }
    assert_eq!(check(good[7], "3"), Ok(()));
    let circles = [
        r##"{"$ref":""}"##,
        r##"{"$ref":"#"}"##,
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}"##,
        r##"{"properties":{"x":{"$ref":"#/$defs/a"}},"$defs":{"a":{"allOf":[{"$ref":"#/$defs/a"}]}}}"##,
        r##"{"anyOf":[{"type":"string"},{"$ref":"#"}]}"##,
        r##"{"oneOf":[{"type":"string"},{"$ref":"#"}]}"##,
        r##"{"not":{"$ref":"#"}}"##,
        r##"{"if":{"$ref":"#"}}"##,
        r##"{"if":true,"then":{"$ref":"#"}}"##,
        r##"{"if":true,"else":{"$ref":"#"}}"##,
        r##"{"dependentSchemas":{"x":{"$ref":"#"}}}"##,
        r##"{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"x":{"$ref":"#"}}}"##,
        r##"{"$dynamicAnchor":"a","$dynamicRef":"#a"}"##,
        r##"{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveRef":"#"}"##,
        r##"{"$id":"https://x.org/s","properties":{"a":{"$ref":"s#/properties/a"}}}"##,
    ];
    for schema in circles {
        assert_eq!(
            Schema::compile(schema).unwrap_err(),
            "a $ref leads back to itself without going deeper into the value",
            "{schema}"
        );
    }
}

#[test]
fn what_is_no_schema_is_told_why() {
    let table = [
        ("3", "expected an object or a boolean"),
        (r#"{"type":"strin"}"#, "type: "),
        (
            r#"{"properties":{"a":{"minimum":"1"}}}"#,
            "properties.a.minimum: expected number, got string",
        ),
        (r#"{"pattern":"["}"#, "pattern: the pattern [ is no regular expression"),
        (
            r#"{"pattern":"x{0,100000}"}"#,
            "pattern: the pattern x{0,100000} is too large: repeat less often, or say maxLength instead",
        ),
        (
            r#"{"patternProperties":{"^(?=a)(x|y){0,1000000}":true}}"#,
            r#"patternProperties["^(?=a)(x|y){0,1000000}"]: the pattern ^(?=a)(x|y){0,1000000} is too large"#,
        ),
        (r##"{"$ref":"#/$defs/x"}"##, "the reference to '/$defs/x' leads nowhere"),
        (r##"{"$ref":"#x"}"##, "the reference to '#x' leads nowhere"),
        (
            r#"{"properties":{"a":{"$ref":"https://example.org/x.json"}}}"#,
            "the reference to 'https://example.org/x.json' leads out of the schema, and nothing is ever fetched: copy \
             it into $defs",
        ),
        (r#"{"$ref":"other.json"}"#, "the reference to 'other.json' leads out"),
        (
            r#"{"$ref":"file:///etc/passwd"}"#,
            "the reference to 'file:///etc/passwd' leads out",
        ),
    ];
    for (schema, expected) in table {
        let why = Schema::compile(schema).unwrap_err();
        assert!(why.starts_with(expected), "{schema}: {why}");
    }
    let deep = |n: usize| format!("{}true{}", r#"{"not":"#.repeat(n), "}".repeat(n));
    assert!(Schema::compile(&deep(50)).is_ok());
    assert_eq!(
        Schema::compile(&deep(128)).unwrap_err(),
        "nested too deeply (limit 127)"
    );
    assert_eq!(
        Schema::compile(&deep(100_000)).unwrap_err(),
        "nested too deeply (limit 127)"
    );
    let items = |n: usize| format!("{}true{}", r#"{"items":"#.repeat(n), "}".repeat(n));
    assert_eq!(check(&items(126), "[[[[]]]]"), Ok(()));
}

#[test]
fn work_is_bounded_whatever_the_schema() {
    // A chain of references, a doubling, and a long way through properties.
    let defs = |n: usize, body: &dyn Fn(usize) -> String| {
        let all: Vec<_> = (0..n).map(|i| format!(r#""d{i}":{}"#, body(i + 1))).collect();
        format!(
            r##"{{"$ref":"#/$defs/d0","$defs":{{{},"d{n}":{{"type":"object"}}}}}}"##,
            all.join(",")
        )
    };
    let chain = defs(10_000, &|i| format!(r##"{{"$ref":"#/$defs/d{i}"}}"##));
    assert!(
        Schema::compile(&chain)
            .unwrap_err()
            .starts_with("more than 64 schemas one inside the other")
    );
    let double = defs(30, &|i| {
        format!(r##"{{"allOf":[{{"$ref":"#/$defs/d{i}"}},{{"$ref":"#/$defs/d{i}"}}]}}"##)
    });
    assert!(Schema::compile(&double).unwrap_err().starts_with("more than "));
    let long = defs(3_000, &|i| {
        format!(r##"{{"properties":{{"x":{{"$ref":"#/$defs/d{i}"}}}}}}"##)
    });
    assert_eq!(check(&long, r#"{"x":{"x":{}}}"#), Ok(()));
    // The longest chain a tree may have, on the deepest value: refused before it takes the stack.
    let steps: Vec<_> = (0..50)
        .map(|i| format!(r##""d{i}":{{"allOf":[{{"$ref":"#/$defs/d{}"}}]}}"##, i + 1))
        .collect();
    let tree = format!(
        r##"{{"$ref":"#/$defs/d0","$defs":{{{},"d50":{{"properties":{{"x":{{"$ref":"#/$defs/d0"}}}}}}}}}}"##,
        steps[..30].join(",").replace("d30", "d50")
    );
    let nested = |n: usize| format!("{}1{}", r#"{"x":"#.repeat(n), "}".repeat(n));
    assert_eq!(check(&tree, &nested(3)), Ok(()));
    assert_eq!(
        faults(&tree, &nested(100)),
        "arguments: nested too deeply for the schema"
    );
}

#[test]
fn a_tree_of_any_depth_is_checked() {
    let tree = r##"{"type":"object","properties":{"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#"}}},"required":["name"]}"##;
    let nested = |n: usize, leaf: &str| format!("{}{leaf}{}", r#"{"name":"x","children":["#.repeat(n), "]}".repeat(n));
    assert_eq!(check(tree, &nested(60, r#"{"name":"leaf"}"#)), Ok(()));
    assert_eq!(
        faults(tree, &nested(2, "{}")),
        "children[0].children[0].name: is required"
    );
}

#[test]
fn patterns_follow_ecma_and_end_in_time() {
    let table = [
        (r"^(?=.*\\d).+$", "a1", true),
        (r"^(?=.*\\d).+$", "a", false),
        (r"^\\d$", "\u{663}", false),
        (r"^\\p{L}+$", "ñé", true),
        (r"^a\\/b$", "a/b", true),
        (r"^a\/b$", "a/b", true),
        ("b", "abc", true),
    ];
    for (pattern, text, fits) in table {
        let schema = format!(r#"{{"pattern":"{pattern}"}}"#);
        assert_eq!(check(&schema, &format!("\"{text}\"")).is_ok(), fits, "{pattern} {text}");
    }
    let started = std::time::Instant::now();
    let bad = format!("\"{}!\"", "a".repeat(40));
    assert!(check(r#"{"pattern":"^(a+)+$"}"#, &bad).is_err());
    assert_eq!(
        faults(r#"{"pattern":"^(?=(a+)+$)x"}"#, &bad).split(' ').next(),
        Some("arguments:")
    );
    assert_eq!(
        faults(r#"{"pattern":"^((?=a)a+)+$"}"#, &bad),
        "arguments: takes too many steps to match the pattern"
    );
    // Either way: no panic, no blow-up.
    Schema::compile(r#"{"pattern":"x{0,100000}"}"#).ok();
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
}

#[test]
fn numbers_are_exact() {
    let table = [
        (r#"{"type":"integer"}"#, "18446744073709551616", true),
        (r#"{"type":"integer"}"#, "1e2", true),
        (r#"{"type":"integer"}"#, "0.1", false),
        (r#"{"type":"number"}"#, "true", false),
        (r#"{"type":"integer"}"#, "\"2\"", false),
        (r#"{"type":"boolean"}"#, "1", false),
        (r#"{"maximum":9007199254740993}"#, "9007199254740993", true),
        (r#"{"maximum":9007199254740992}"#, "9007199254740993", false),
        (r#"{"maximum":18446744073709551616}"#, "18446744073709551617", false),
        (r#"{"const":1}"#, "1.0", true),
        (r#"{"multipleOf":0.1}"#, "0.3", true),
    ];
    for (schema, value, fits) in table {
        assert_eq!(check(schema, value).is_ok(), fits, "{schema} {value}");
    }
    let started = std::time::Instant::now();
    for keywords in [
        r#""type":"integer""#,
        r#""maximum":5"#,
        r#""multipleOf":3"#,
        r#""const":3"#,
        r#""enum":[3]"#,
    ] {
        for value in ["1e400", "1e999999999", "-1e-999999999", "1e99999999999999999999"] {
            check(&format!("{{{keywords}}}"), value).ok();
            check(r#"{"uniqueItems":true}"#, &format!("[1,{value},{value}]")).ok();
        }
    }
    assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
}

#[test]
fn faults_name_place_and_rule_in_plain_words() {
    let object = r#"{"type":"object","properties":{"word":{"type":"string"},"options":{"properties":{"depth":{"type":"integer","minimum":1}}},
        "items":{"type":"array","items":{"required":["name"]}}},"required":["word"],"additionalProperties":false}"#;
    let table = [
        (object, "{}", "word: is required"),
        (object, r#"{"word":3}"#, "word: expected string, got integer"),
        (
            object,
            r#"{"word":"x","options":{"depth":0}}"#,
            "options.depth: is below the minimum 1",
        ),
        (
            object,
            r#"{"word":"x","items":[{"name":1},{}]}"#,
            "items[1].name: is required",
        ),
        (
            object,
            r#"{"word":"x","lnag":"s3cr3t"}"#,
            "lnag: is not allowed (known: word, options, items)",
        ),
        (
            r#"{"properties":{"a.b":{"type":"null"}}}"#,
            r#"{"a.b":1}"#,
            "arguments[\"a.b\"]: expected null, got integer",
        ),
        (r#"{"type":"object"}"#, "[]", "arguments: expected object, got array"),
        (
            r#"{"items":{"type":"string"}}"#,
            "[1]",
            "arguments[0]: expected string, got integer",
        ),
        (
            r#"{"enum":["a",2]}"#,
            r#""s3cr3t""#,
            "arguments: expected one of \"a\", 2",
        ),
        (r#"{"const":"a"}"#, r#""s3cr3t""#, "arguments: expected \"a\""),
        (r#"{"maximum":1.50}"#, "2", "arguments: is above the maximum 1.50"),
        (r#"{"exclusiveMaximum":2}"#, "2", "arguments: must be below 2"),
        (r#"{"exclusiveMinimum":2}"#, "2", "arguments: must be above 2"),
        (r#"{"multipleOf":3}"#, "2", "arguments: is no multiple of 3"),
        (
            r#"{"minLength":2}"#,
            r#""s""#,
            "arguments: is shorter than 2 characters",
        ),
        (
            r#"{"maxLength":1}"#,
            r#""s3cr3t""#,
            "arguments: is longer than 1 character",
        ),
        (r#"{"minItems":1}"#, "[]", "arguments: has fewer than 1 item"),
        (r#"{"maxItems":1}"#, "[1,2]", "arguments: has more than 1 item"),
        (r#"{"minProperties":1}"#, "{}", "arguments: has no property"),
        (
            r#"{"maxProperties":0}"#,
            r#"{"a":1}"#,
            "arguments: has more than 0 properties",
        ),
        (r#"{"uniqueItems":true}"#, "[1,1]", "arguments: has an item twice"),
        (
            r#"{"contains":{"type":"null"}}"#,
            "[1]",
            "arguments: has no fitting item, or too many of them",
        ),
        (
            r#"{"pattern":"^a"}"#,
            r#""s3cr3t""#,
            "arguments: does not match the pattern ^a",
        ),
        (
            r#"{"not":{"type":"string"}}"#,
            r#""s3cr3t""#,
            "arguments: has a form the schema excludes",
        ),
        (
            r#"{"$schema":"http://json-schema.org/draft-07/schema#","format":"email"}"#,
            r#""s3cr3t""#,
            "arguments: is no valid email",
        ),
        (
            r#"{"propertyNames":{"maxLength":1}}"#,
            r#"{"ab":1}"#,
            "arguments: has a property whose name is longer than 1 character",
        ),
        (r#"{"prefixItems":[true],"items":false}"#, "[1,2]", "arguments"),
        (r#"{"unevaluatedProperties":false}"#, r#"{"a":1}"#, "a: is not allowed"),
        (r#"{"dependentRequired":{"a":["b"]}}"#, r#"{"a":1}"#, "b: is required"),
        (
            r#"{"anyOf":[{"type":"integer"},{"type":"null"}]}"#,
            r#""s3cr3t""#,
            "arguments: expected integer or null, got string",
        ),
        (
            r#"{"type":["integer","null"]}"#,
            r#""s3cr3t""#,
            "arguments: expected integer or null, got string",
        ),
        (
            r#"{"oneOf":[{"type":"null"},{"type":"object","required":["a"]},{"properties":{"b":{"type":"string"}},"required":["b"]}]}"#,
            r#"{"b":1}"#,
            "arguments: fits no alternative (a is required, or b expected string, got integer)",
        ),
        (
            r#"{"oneOf":[{"type":"integer"},{"minimum":1}]}"#,
            "2",
            "arguments: fits several alternatives, expected exactly one",
        ),
    ];
    for (schema, value, expected) in table {
        let text = faults(schema, value);
        if expected == "arguments" {
            assert!(text.starts_with(expected), "{text}");
        } else {
            assert_eq!(text, expected, "{schema} {value}");
        }
        assert!(!text.contains("s3cr3t"), "{text}");
    }
}

#[test]
fn many_faults_are_clipped() {
    let many: Vec<_> = (0..50).map(|_| "\"s3cr3t\"").collect();
    let text = faults(r#"{"items":{"type":"integer"}}"#, &format!("[{}]", many.join(",")));
    assert!(text.ends_with("; and 40 more"), "{text}");
    assert_eq!(text.matches("; ").count(), 10, "{text}");
    let names: Vec<_> = (0..50).map(|i| format!("\"{}{i}\":1", "n".repeat(500))).collect();
    let text = faults(r#"{"additionalProperties":false}"#, &format!("{{{}}}", names.join(",")));
    assert!(text.len() < 1_100, "{}", text.len());
    let huge = format!("[{}1]", "1,".repeat(100_000));
    assert!(faults(r#"{"items":{"type":"string"}}"#, &huge).ends_with("; and at least 990 more"));
}

#[test]
fn the_deepest_recursion_allowed_fits_a_small_stack() {
    // Threads of the runtime have 2 MiB; a debug build needs the most of it.
    for chain in [1, 3, 7, 20, 30] {
        let steps: Vec<_> = (0..chain)
            .map(|i| format!(r##""d{i}":{{"anyOf":[false,{{"$ref":"#/$defs/d{}"}}]}}"##, i + 1))
            .collect();
        let schema = compile(&format!(
            r##"{{"$ref":"#/$defs/d0","$defs":{{{},"d{chain}":{{"properties":{{"x":{{"$ref":"#/$defs/d0","default":1}}}},"required":["y"]}}}}}}"##,
            steps.join(",")
        ));
        let depth = (MAX_RECURSION / schema.chain).min(126) - 1;
        let nested = format!("{}1{}", r#"{"y":1,"x":"#.repeat(depth), "}".repeat(depth));
        let broken = nested.replacen(r#"{"y":1,"x":1}"#, "{}", 1);
        let work = move || {
            let plan = schema.plan(true);
            for (text, fits) in [(nested, true), (broken, false)] {
                let mut value: Value = serde_json::from_str(&text).unwrap();
                plan.apply(&mut value);
                assert_eq!(schema.check(&value, "arguments").is_ok(), fits, "{chain} {depth}");
            }
        };
        let small = std::thread::Builder::new().stack_size(2 << 20);
        small.spawn(work).unwrap().join().unwrap();
    }
}

#[test]
fn what_may_take_long_is_known_before() {
    let heavy = |raw: &str| Schema::compile(raw).unwrap().is_heavy();
    assert!(heavy(r#"{"properties": {"a": {"pattern": "^(a+)+$"}}}"#));
    assert!(heavy(r##"{"anyOf": [{"type": "string"}, {"items": {"$ref": "#"}}]}"##));
    assert!(!heavy(
        r#"{"properties": {"word": {"type": "string"}}, "required": ["word"]}"#
    ));
}
