//! The arguments of a call, as the texts that templates are filled with.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;

use crate::json::{self, Kind, Members};

/// The arguments of a call by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Values(BTreeMap<String, Value>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Value {
    /// As good as absent.
    Null,
    String(String),
    /// Anything else: compact JSON, numbers spelled as they came.
    Json(String),
}

impl Values {
    /// Reads the arguments, a JSON object. Of a repeated key the last one counts. A number that is an argument
    /// in `integers`, or an item of one, is written as the integer it is: `1.0` as `1`.
    ///
    /// # Errors
    /// `<where>: <why>`, where it is no object, or a string no program can be given.
    pub fn parse(kwargs: &str, integers: &BTreeSet<String>) -> Result<Self, String> {
        let members = Members::parse(kwargs).map_err(|_| "arguments: expected an object".to_owned())?;
        let mut values = BTreeMap::new();
        for (name, raw) in members.iter() {
            let value = match json::kind(raw) {
                Kind::Null => Value::Null,
                Kind::String => match text(raw) {
                    Some(text) => Value::String(text),
                    None => return Err(format!("{name}: holds half a surrogate pair, which is no text")),
                },
                _ if integers.contains(name) => Value::Json(whole(raw)),
                _ => Value::Json(compact(raw.get())),
            };
            values.insert(name.to_owned(), value);
        }
        Ok(Self(values))
    }

    /// The argument as text; `None` where it is absent or null.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.0.get(name)? {
            Value::Null => None,
            Value::String(text) | Value::Json(text) => Some(text),
        }
    }

    /// Every argument that has a value, as text.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.keys().filter_map(|name| Some((name.as_str(), self.text(name)?)))
    }

    /// Whether the argument is true; absent and null are false.
    ///
    /// # Errors
    /// Where it is no boolean.
    pub(super) fn flag(&self, name: &str) -> Result<bool, String> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Json(text)) if text == "true" => Ok(true),
            Some(Value::Json(text)) if text == "false" => Ok(false),
            Some(_) => Err(format!("{name}: expected true or false, for it switches an option")),
        }
    }

    /// The items of an array as texts, `Err` with the whole text where it is none. `None` where it has no value.
    pub(super) fn items(&self, name: &str) -> Option<Result<Vec<String>, &str>> {
        let whole = self.text(name)?;
        match self.0.get(name)? {
            Value::Json(array) if array.starts_with('[') => {
                let items: Vec<&RawValue> = serde_json::from_str(array).unwrap_or_default();
                Some(Ok(items.into_iter().map(item).collect()))
            }
            _ => Some(Err(whole)),
        }
    }
}

/// An item of an array: a string as it is, anything else, null too, as compact JSON.
fn item(raw: &RawValue) -> String {
    text(raw).unwrap_or_else(|| raw.get().to_owned())
}

fn text(raw: &RawValue) -> Option<String> {
    json::string(raw).map(std::borrow::Cow::into_owned)
}

/// The longest integer that is written out; `1e999999999` stays as it is.
const DIGITS: i64 = 1000;

/// A number, or the numbers of an array, as integers where they are integers: JSON knows one kind of
/// number, programs do not.
fn whole(raw: &RawValue) -> String {
    match json::kind(raw) {
        Kind::Number => integer(raw.get()).unwrap_or_else(|| raw.get().to_owned()),
        Kind::Array => {
            let items: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
            format!("[{}]", items.into_iter().map(whole).collect::<Vec<_>>().join(","))
        }
        _ => compact(raw.get()),
    }
}

/// The digits of a JSON number without a fraction, exact whatever its size.
fn integer(number: &str) -> Option<String> {
    let (sign, number) = match number.strip_prefix('-') {
        Some(number) => ("-", number),
        None => ("", number),
    };
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{before}{after}");
    let leading = digits.len() - digits.trim_start_matches('0').len();
    let digits = digits.trim_matches('0');
    if digits.is_empty() {
        return Some("0".to_owned());
    }
    let count = |length: usize| i64::try_from(length).ok();
    let point = exponent
        .parse::<i64>()
        .ok()?
        .checked_add(count(before.len())? - count(leading)?)?;
    let zeros = usize::try_from(point.checked_sub(count(digits.len())?)?).ok()?;
    (point <= DIGITS).then(|| format!("{sign}{digits}{}", "0".repeat(zeros)))
}

/// Valid JSON without the blanks between its parts; a line of it holds no line feed then.
fn compact(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let (mut quoted, mut escaped) = (false, false);
    for char in json.chars() {
        if !quoted && matches!(char, ' ' | '\t' | '\n' | '\r') {
            continue;
        }
        out.push(char);
        if escaped {
            escaped = false;
        } else if quoted && char == '\\' {
            escaped = true;
        } else if char == '"' {
            quoted = !quoted;
        }
    }
    out
}
