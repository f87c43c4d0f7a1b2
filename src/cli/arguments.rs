//! The arguments of a tool, from what was typed to the text of one JSON object. Pure.

use serde_json::value::RawValue;

use crate::error::Error;
use crate::json::{Members, push_string};

/// What is wrong with the arguments of a tool as they were typed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Neither `key=text` nor `key:=json`.
    #[error("argument '{0}' is neither key=text nor key:=json")]
    NoEquals(String),
    /// `=text`
    #[error("argument '{0}' has no key before the '='")]
    NoKey(String),
    /// A key given twice.
    #[error("argument '{0}' is given twice")]
    Repeated(String),
    /// `key:=` followed by something that is not JSON.
    #[error("argument '{argument}' is not JSON after ':=': {why}")]
    NotJson {
        /// As typed.
        argument: String,
        /// The parser's words.
        why: String,
    },
    /// `--json` with something else than an object.
    #[error("{0} is not one JSON object: {1}")]
    NotAnObject(String, String),
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        let error = Self::usage(fault.to_string());
        match fault {
            Fault::NotJson { argument, .. } => match argument.split_once(":=") {
                Some((key, text)) => error.with_hint(format!("for the text '{text}', write {key}={text}")),
                None => error,
            },
            Fault::NoEquals(argument) => error.with_hint(format!("such as {argument}=text, or {argument}:=42")),
            Fault::NotAnObject(..) => error.with_hint("such as --json '{\"word\": \"tool\"}'"),
            Fault::NoKey(_) | Fault::Repeated(_) => error,
        }
    }
}

/// The object that `arguments`, each `key=text` or `key:=json`, say.
///
/// The JSON of `key:=json` is kept as it was typed, so that no number loses a digit.
///
/// # Errors
/// The first [`Fault`].
pub fn from_pairs(arguments: &[String]) -> Result<String, Fault> {
    let mut object = String::from("{");
    let mut keys = Vec::with_capacity(arguments.len());
    for argument in arguments {
        let (key, value) = pair(argument)?;
        if keys.contains(&key) {
            return Err(Fault::Repeated(key.to_owned()));
        }
        if !keys.is_empty() {
            object.push(',');
        }
        keys.push(key);
        push_string(&mut object, key);
        object.push(':');
        object.push_str(&value);
    }
    object.push('}');
    Ok(object)
}

/// The key of one argument, and its value as JSON.
fn pair(argument: &str) -> Result<(&str, String), Fault> {
    let Some((left, right)) = argument.split_once('=') else {
        return Err(Fault::NoEquals(argument.to_owned()));
    };
    let (key, raw) = match left.strip_suffix(':') {
        Some(key) => (key, true),
        None => (left, false),
    };
    if key.is_empty() {
        return Err(Fault::NoKey(argument.to_owned()));
    }
    if raw {
        let value: &RawValue = serde_json::from_str(right).map_err(|error| Fault::NotJson {
            argument: argument.to_owned(),
            why: error.to_string(),
        })?;
        return Ok((key, value.get().to_owned()));
    }
    let mut value = String::with_capacity(right.len() + 2);
    push_string(&mut value, right);
    Ok((key, value))
}

/// The object in `text`, which came from `origin`, spelled as it was.
///
/// # Errors
/// [`Fault::NotAnObject`].
pub fn from_object(text: &str, origin: &str) -> Result<String, Fault> {
    let text = text.trim_start_matches('\u{feff}').trim();
    match Members::parse(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(error) => Err(Fault::NotAnObject(origin.to_owned(), error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(arguments: &[&str]) -> Result<String, String> {
        let owned: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        from_pairs(&owned).map_err(|fault| fault.to_string())
    }

    #[test]
    fn arguments_become_one_object() {
        let table: [(&[&str], &str); 9] = [
            (&[], "{}"),
            (
                &["word=serendipity", "lang=en"],
                r#"{"word":"serendipity","lang":"en"}"#,
            ),
            (&["a="], r#"{"a":""}"#),
            (&["a=b=c"], r#"{"a":"b=c"}"#),
            (&["a=x:=1"], r#"{"a":"x:=1"}"#),
            (&["text=say \"hi\"\n"], r#"{"text":"say \"hi\"\n"}"#),
            (
                &["n:=123456789012345678901234567890", "f:=1.50e3"],
                r#"{"n":123456789012345678901234567890,"f":1.50e3}"#,
            ),
            (
                &["l:=[1, {\"a\": null}]", "b:= true "],
                r#"{"l":[1, {"a": null}],"b":true}"#,
            ),
            (&["a.b=1", "ключ=да"], r#"{"a.b":"1","ключ":"да"}"#),
        ];
        for (arguments, expected) in table {
            assert_eq!(pairs(arguments).as_deref(), Ok(expected), "{arguments:?}");
        }
    }

    #[test]
    fn faults_name_the_argument() {
        let table: [(&[&str], &str); 6] = [
            (&["word"], "argument 'word' is neither key=text nor key:=json"),
            (&["=x"], "argument '=x' has no key before the '='"),
            (&[":=1"], "argument ':=1' has no key before the '='"),
            (&["a=1", "a:=2"], "argument 'a' is given twice"),
            (
                &["a:=yes"],
                "argument 'a:=yes' is not JSON after ':=': expected value at line 1 column 1",
            ),
            (
                &["a:="],
                "argument 'a:=' is not JSON after ':=': EOF while parsing a value at line 1 column 0",
            ),
        ];
        for (arguments, expected) in table {
            assert_eq!(pairs(arguments), Err(expected.to_owned()), "{arguments:?}");
        }
    }

    #[test]
    fn an_object_is_kept_as_it_was_typed() {
        assert_eq!(from_object(" {\"a\": 1.0}\n", "--json").as_deref(), Ok("{\"a\": 1.0}"));
        assert!(from_object("[1]", "--json").is_err());
        assert!(from_object("{} {}", "--json").is_err());
        assert!(from_object("", "--json").is_err());
    }

    #[test]
    fn a_hint_says_how_to_pass_text() {
        let error = Error::from(from_pairs(&["a:=yes".to_owned()]).unwrap_err());
        assert_eq!(error.hint(), Some("for the text 'yes', write a=yes"));
    }
}
