//! The `config` of a toolbox: any YAML → JSON.
//!
//! The only place where YAML types apply, those of its 1.2 core schema: `true` is a boolean, `5` a
//! number, `no` and `12:30` are texts, and so is anything in quotes. A number keeps its spelling
//! where JSON has the same. One with leading zeros is refused: YAML 1.1 reads `0777` as 511, YAML
//! 1.2 as 777, and whoever typed it may have meant the text.

use super::read::Reader;
use super::scalars::quoted;
use super::yaml::{Entry, Node, Scalar, Value, below};
use crate::json;

impl Reader<'_> {
    /// Appends `node` to `out` as JSON. Where a fault was found, what is appended is of no use.
    fn json(&mut self, node: &Node, path: &str, out: &mut String) {
        match &node.value {
            Value::Scalar(scalar) => match plain(scalar) {
                Ok(Some(literal)) => out.push_str(&literal),
                Ok(None) => json::push_string(out, scalar.text()),
                Err(why) => self.fault(node.at, path, format!("{} {why}", quoted(&scalar.typed))),
            },
            Value::Sequence(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    comma(out, index);
                    self.json(item, &format!("{path}[{index}]"), out);
                }
                out.push(']');
            }
            Value::Mapping(entries) => self.object(entries, path, out),
            Value::Broken => out.push_str("null"),
        }
    }

    /// Appends a mapping to `out` as a JSON object.
    pub(super) fn object(&mut self, entries: &[Entry], path: &str, out: &mut String) {
        out.push('{');
        for (index, entry) in entries.iter().enumerate() {
            comma(out, index);
            json::push_string(out, &entry.key);
            out.push(':');
            self.json(&entry.value, &below(path, &entry.key), out);
        }
        out.push('}');
    }
}

fn comma(out: &mut String, index: usize) {
    if index > 0 {
        out.push(',');
    }
}

/// The JSON of a scalar that is no text.
fn plain(scalar: &Scalar) -> Result<Option<String>, &'static str> {
    if !scalar.plain {
        return Ok(None);
    }
    Ok(Some(match scalar.text() {
        "" | "~" | "null" | "Null" | "NULL" => "null".into(),
        "true" | "True" | "TRUE" => "true".into(),
        "false" | "False" | "FALSE" => "false".into(),
        text => return number(text),
    }))
}

fn number(text: &str) -> Result<Option<String>, &'static str> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Err("is no number JSON has; quote it for the text");
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        // The core schema knows these without a sign only.
        if let Some(digits) = text
            .strip_prefix(prefix)
            .filter(|digits| digits.chars().all(|c| c.is_digit(radix)))
        {
            if digits.is_empty() {
                return Ok(None);
            }
            let value = u128::from_str_radix(digits, radix).map_err(|_| "is too large; quote it for the text")?;
            return Ok(Some(value.to_string()));
        }
    }
    let Some((whole, fraction, exponent)) = decimal(unsigned) else {
        return Ok(None);
    };
    if whole.len() > 1 && whole.starts_with('0') {
        return Err("has a leading zero, which YAML versions read as different numbers; quote it for the text");
    }
    if unsigned.parse::<f64>().is_ok_and(f64::is_infinite) && (fraction.is_some() || !exponent.is_empty()) {
        return Err("is too large; quote it for the text");
    }
    let sign = if text.starts_with('-') { "-" } else { "" };
    let whole = if whole.is_empty() { "0" } else { whole };
    let fraction = fraction.map(|digits| format!(".{}", if digits.is_empty() { "0" } else { digits }));
    Ok(Some(format!("{sign}{whole}{}{exponent}", fraction.unwrap_or_default())))
}

/// Whole digits, digits after a point, and the exponent with its `e`, where `text` is a decimal number.
fn decimal(text: &str) -> Option<(&str, Option<&str>, &str)> {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) = text.split_at(text.find(['e', 'E']).unwrap_or(text.len()));
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let power = exponent
        .get(1..)
        .map(|power| power.strip_prefix(['-', '+']).unwrap_or(power));
    let some = !whole.is_empty() || fraction.is_some_and(|fraction| !fraction.is_empty());
    let fits = some && digits(whole) && fraction.is_none_or(digits) && power.is_none_or(|p| !p.is_empty() && digits(p));
    fits.then_some((whole, fraction, exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> String {
        let scalar = Scalar {
            typed: text.into(),
            expanded: None,
            plain: true,
        };
        match plain(&scalar) {
            Ok(Some(json)) => {
                assert!(
                    serde_json::from_str::<serde_json::Value>(&json).is_ok(),
                    "{text}: {json}"
                );
                json
            }
            Ok(None) => format!("'{text}'"),
            Err(_) => "fault".into(),
        }
    }

    #[test]
    fn plain_scalars_have_the_types_of_yaml_1_2() {
        for (text, json) in [
            ("~", "null"),
            ("", "null"),
            ("True", "true"),
            ("tRUE", "'tRUE'"),
            ("no", "'no'"),
            ("y", "'y'"),
            ("on", "'on'"),
            ("5", "5"),
            ("-0", "-0"),
            ("+5", "5"),
            ("1.10", "1.10"),
            ("9007199254740993", "9007199254740993"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("1e3", "1e3"),
            ("1E+3", "1E+3"),
            (".5", "0.5"),
            ("-.5e1", "-0.5e1"),
            ("5.", "5.0"),
            ("0x1F", "31"),
            ("0o17", "15"),
            ("-0x1F", "'-0x1F'"),
            ("0x", "'0x'"),
            ("0b1", "'0b1'"),
            ("1_000", "'1_000'"),
            ("12:30", "'12:30'"),
            ("2024-01-01", "'2024-01-01'"),
            (".", "'.'"),
            ("-", "'-'"),
            ("e5", "'e5'"),
            ("1e", "'1e'"),
            ("1.2.3", "'1.2.3'"),
            ("0777", "fault"),
            ("-0127", "fault"),
            ("00", "fault"),
            ("01.5", "fault"),
            (".inf", "fault"),
            ("-.INF", "fault"),
            (".NaN", "fault"),
            ("1e999", "fault"),
            ("0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF", "fault"),
        ] {
            assert_eq!(typed(text), json, "{text:?}");
        }
    }
}
