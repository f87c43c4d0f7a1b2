//! What argc's own parser makes of a command line, asked before anything is started.

use std::collections::HashMap;

use ::argc::{ArgcValue, Runtime};

use super::parameter::Given;

/// What comes out of argc: what the script will see.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The function that runs.
    pub(super) function: Option<String>,
    /// Each variable by its id, the last one counting, as in Bash.
    values: HashMap<String, Value>,
    /// Arguments that belong to no parameter.
    pub(super) strays: bool,
}

#[derive(Debug)]
enum Value {
    Is(Given),
    /// A function of the script says it.
    Computed,
}

impl Seen {
    /// Whether the variable `id` is what was given. What was not given may be anything: its default,
    /// or what a variable of the environment holds.
    pub(super) fn holds(&self, id: &str, given: &Given) -> bool {
        match (given, self.values.get(id)) {
            (Given::Nothing, _) => true,
            (Given::Times(count), Some(Value::Is(Given::Texts(texts)))) => *texts == [count.to_string()],
            (Given::Groups(groups), Some(Value::Is(Given::Texts(texts)))) => groups.concat() == *texts,
            (given, Some(Value::Is(seen))) => seen == given,
            _ => false,
        }
    }

    /// Whether the variable `id` is nothing but one of `defaults`.
    pub(super) fn is_default(&self, id: &str, defaults: &[String]) -> bool {
        match self.values.get(id) {
            None | Some(Value::Computed) => true,
            Some(Value::Is(Given::Texts(texts))) => matches!(&texts[..], [text] if defaults.contains(text)),
            Some(Value::Is(_)) => false,
        }
    }

    /// Every variable that is set.
    pub(super) fn ids(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    fn take(&mut self, value: ArgcValue) {
        match value {
            ArgcValue::Single(id, text) | ArgcValue::PositionalSingle(id, text) => {
                self.put(id, Value::Is(Given::Texts(vec![text])));
            }
            ArgcValue::SingleFn(id, _) | ArgcValue::PositionalSingleFn(id, _) => self.put(id, Value::Computed),
            // All arguments as they came.
            ArgcValue::Multiple(id, _) if id == "_args" => {}
            ArgcValue::Multiple(id, texts) | ArgcValue::PositionalMultiple(id, texts) => {
                self.put(id, Value::Is(Given::Texts(texts)));
            }
            ArgcValue::Map(id, entries) => {
                let entries = entries.into_iter().map(|(key, values)| (key, values.join("|")));
                self.put(id, Value::Is(Given::Entries(entries.collect())));
            }
            ArgcValue::ExtraPositionalMultiple(_) => self.strays = true,
            ArgcValue::CommandFn(name) => self.function = Some(name),
            // A call of a function by its name: never meant.
            ArgcValue::ParamFn(_) => self.strays = true,
            _ => {}
        }
    }

    fn put(&mut self, id: String, value: Value) {
        self.values.insert(id, value);
    }
}

/// Why argc takes a command line for no call.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It would print its help or version.
    Help,
    /// Its words, on one line.
    Words(String),
}

/// Reads `args`, which begin with the script's name, as `source` says.
pub(super) fn parse(source: &str, args: &[String], variables: &HashMap<String, String>) -> Result<Seen, Refusal> {
    let parse = || ::argc::eval(Nowhere { variables }, source, args, None, None).map_err(|error| error.to_string());
    let values = super::unbroken(parse).map_err(Refusal::Words)?;
    let mut seen = Seen::default();
    for value in values {
        match value {
            ArgcValue::Error((_, 0)) => return Err(Refusal::Help),
            ArgcValue::Error((text, _)) => return Err(Refusal::Words(on_one_line(&text))),
            value => seen.take(value),
        }
    }
    Ok(seen)
}

fn on_one_line(text: &str) -> String {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A world without files and programs, and with no variables but those handed in.
///
/// Functions that name choices do not run in it, so that their choices go unchecked here.
#[derive(Debug, Clone, Copy)]
struct Nowhere<'a> {
    variables: &'a HashMap<String, String>,
}

impl Runtime for Nowhere<'_> {
    fn os(&self) -> String {
        "linux".to_owned()
    }

    fn shell_path(&self) -> anyhow::Result<String> {
        Ok("bash".to_owned())
    }

    fn bash_path(&self) -> Option<String> {
        None
    }

    fn exec_bash_functions(
        &self,
        _: &str,
        _: &[&str],
        _: &[String],
        _: HashMap<String, String>,
    ) -> Option<Vec<String>> {
        None
    }

    fn current_exe(&self) -> Option<String> {
        None
    }

    fn current_dir(&self) -> Option<String> {
        None
    }

    fn env_vars(&self) -> HashMap<String, String> {
        self.variables.clone()
    }

    fn env_var(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn which(&self, _: &str) -> Option<String> {
        None
    }

    fn exist_path(&self, _: &str) -> bool {
        false
    }

    fn parent_path(&self, _: &str) -> Option<String> {
        None
    }

    fn join_path(&self, path: &str, _: &[&str]) -> String {
        path.to_owned()
    }

    fn chdir(&self, _: &str, _: &str) -> Option<String> {
        None
    }

    fn metadata(&self, _: &str) -> Option<(bool, bool, bool)> {
        None
    }

    fn read_dir(&self, _: &str) -> Option<Vec<String>> {
        None
    }

    fn read_to_string(&self, _: &str) -> Option<String> {
        None
    }
}
