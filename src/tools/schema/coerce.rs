//! Conversions for `coerce: true`: what pydantic's lax mode does, and what models write in its spirit.
//!
//! Only a value that fits none of the types asked for is touched. Asked for, in this order:
//!
//! | to | from |
//! |---|---|
//! | integer | `"3"`, `" -3 "`, `"3.0"`, `3.0`, `true` → 1, `false` → 0 |
//! | number | `"1.5"`, `"1e3"`, `true` → 1, `false` → 0 |
//! | boolean | `"true"` `"t"` `"yes"` `"y"` `"on"` `"1"` and their opposites in any case; `1`, `0` |
//! | object, array | a string that holds one as JSON |
//! | string | a number as it is spelled, `true`, `false` |
//! | null | `""`, `"null"` |
//!
//! Nothing becomes of null, of an array or of an object, and the arguments as a whole are never
//! converted: they must be an object (contract §4).

use serde_json::{Number, Value};

/// A set of JSON types. The empty one is "any".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Types(u8);

const NULL: Types = Types(1);
const BOOLEAN: Types = Types(2);
const INTEGER: Types = Types(4);
const NUMBER: Types = Types(8);
const STRING: Types = Types(16);
const ARRAY: Types = Types(32);
const OBJECT: Types = Types(64);

impl Types {
    /// What a `type` keyword asks for.
    pub(super) fn wanted(keyword: Option<&Value>) -> Self {
        let one = |name: &Value| match name.as_str() {
            Some("null") => NULL,
            Some("boolean") => BOOLEAN,
            Some("integer") => INTEGER,
            Some("number") => NUMBER,
            Some("string") => STRING,
            Some("array") => ARRAY,
            Some("object") => OBJECT,
            _ => Self(0),
        };
        match keyword {
            None => Self(0),
            Some(Value::Array(names)) => Self(names.iter().map(|name| one(name).0).fold(0, |all, one| all | one)),
            Some(name) => one(name),
        }
    }

    /// The type of a value; an integer is a number as well.
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => NULL,
            Value::Bool(_) => BOOLEAN,
            Value::Number(number) if is_integer(number) => Self(INTEGER.0 | NUMBER.0),
            Value::Number(_) => NUMBER,
            Value::String(_) => STRING,
            Value::Array(_) => ARRAY,
            Value::Object(_) => OBJECT,
        }
    }

    /// Asked for by two schemas at once. Where they contradict each other no value fits anyway.
    pub(super) fn both(self, other: Self) -> Self {
        match (self.0, other.0) {
            (0, _) => other,
            (_, 0) => self,
            (one, two) => Self(one & two | integers(one, two)),
        }
    }

    /// Asked for by one of two schemas.
    pub(super) fn any_of(self, other: Self) -> Self {
        if self.0 == 0 || other.0 == 0 {
            return Self(0);
        }
        Self(self.0 | other.0)
    }

    /// Whether a value of the type `kind` can fit.
    pub(super) fn overlaps(self, kind: Self) -> bool {
        self.0 == 0 || self.0 & kind.0 != 0
    }

    fn has(self, one: Self) -> bool {
        self.0 & one.0 != 0
    }
}

/// An integer is what fits both "integer" and "number".
fn integers(one: u8, two: u8) -> u8 {
    let either = |a: u8, b: u8| a & INTEGER.0 != 0 && b & NUMBER.0 != 0;
    if either(one, two) || either(two, one) {
        INTEGER.0
    } else {
        0
    }
}

fn is_integer(number: &Number) -> bool {
    number
        .as_str()
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'-')
}

/// Converts `value` to one of `types` where it fits none and the table above has a way.
pub(super) fn convert(value: &mut Value, types: Types) {
    if types == Types(0) || Types::of(value).0 & types.0 != 0 {
        return;
    }
    let converted = match value {
        Value::String(text) => from_string(text.trim(), types),
        Value::Number(number) => from_number(number, types),
        Value::Bool(yes) => from_bool(*yes, types),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    if let Some(converted) = converted {
        *value = converted;
    }
}

fn from_string(text: &str, types: Types) -> Option<Value> {
    let number = || number(text);
    let integer = || number().and_then(|number| whole(&number));
    let container = |wanted: Types| {
        let parsed: Option<Value> = serde_json::from_str(text).ok();
        parsed.filter(|value| Types::of(value) == wanted)
    };
    None.or_else(|| types.has(INTEGER).then(integer).flatten())
        .or_else(|| types.has(NUMBER).then(number).flatten().map(Value::Number))
        .or_else(|| types.has(BOOLEAN).then(|| boolean(text)).flatten())
        .or_else(|| types.has(OBJECT).then(|| container(OBJECT)).flatten())
        .or_else(|| types.has(ARRAY).then(|| container(ARRAY)).flatten())
        .or_else(|| (types.has(NULL) && (text.is_empty() || text == "null")).then_some(Value::Null))
}

fn from_number(number: &Number, types: Types) -> Option<Value> {
    if let Some(whole) = types.has(INTEGER).then(|| whole(number)).flatten() {
        return Some(whole);
    }
    match number.as_str() {
        "1" | "1.0" if types.has(BOOLEAN) => Some(Value::Bool(true)),
        "0" | "0.0" if types.has(BOOLEAN) => Some(Value::Bool(false)),
        text if types.has(STRING) => Some(Value::String(text.to_owned())),
        _ => None,
    }
}

fn from_bool(yes: bool, types: Types) -> Option<Value> {
    if types.has(INTEGER) || types.has(NUMBER) {
        return Some(Value::from(u8::from(yes)));
    }
    types.has(STRING).then(|| Value::String(yes.to_string()))
}

/// A number as JSON spells it, or with what people put round it: a plus sign, a bare point.
fn number(text: &str) -> Option<Number> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    if let Ok(number) = serde_json::from_str(digits) {
        return Some(number);
    }
    let plain = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    let float: f64 = text.bytes().all(plain).then(|| text.parse().ok()).flatten()?;
    match float {
        // "007" is 7 and not 7.0, and too long a one is left to the check.
        float if float.fract() == 0.0 && float.abs() < 9e15 && !text.contains('.') => Some(Number::from(float as i64)),
        float => Number::from_f64(float),
    }
}

/// The integer `number` is: its digits without a fraction of zeros.
fn whole(number: &Number) -> Option<Value> {
    let text = number.as_str();
    let digits = match text.split_once('.') {
        Some((digits, zeros)) if zeros.bytes().all(|byte| byte == b'0') => digits,
        Some(_) => return None,
        None => text,
    };
    let digits: Number = serde_json::from_str(digits).ok()?;
    is_integer(&digits).then_some(Value::Number(digits))
}

fn boolean(text: &str) -> Option<Value> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "t" | "yes" | "y" | "on" | "1" => Some(Value::Bool(true)),
        "false" | "f" | "no" | "n" | "off" | "0" => Some(Value::Bool(false)),
        _ => None,
    }
}
