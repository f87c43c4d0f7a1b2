//! One `@option`, `@flag` or `@arg` as a property of the tool's schema.
//!
//! The property is called what stands behind `argc_` in the script: the long name with `-`, `.`, `:`
//! and `@` as `_`, so that `--dry-run` is `dry_run` and arrives as `$argc_dry_run`.

use ::argc::{ChoiceValue, DefaultValue, FlagOptionValue, PositionalValue};
use serde_json::{Map, Number, Value, json};

/// How often a counted flag (`@flag -v --verbose*`) may be given.
pub(super) const MOST_OFTEN: u64 = 100;

/// What argc takes for "any number of values".
const MOST_VALUES: usize = 32_767;

/// How a value stands on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// `--name` or nothing: a boolean.
    Flag,
    /// `--name --name`: a count.
    Count,
    /// `--name=value`.
    One,
    /// `--name=a --name=b`: an array.
    Repeated,
    /// `--name a b`: an array, of so many values.
    Spread(usize, usize),
    /// `--name a b --name c d`: an array of arrays.
    Groups(usize, usize),
    /// `--name` and whatever follows: an array.
    Rest,
    /// `-Dkey=value`: an object; `true` for more than one entry.
    Entries(bool),
    /// An argument by its place.
    Place,
    /// Arguments by their place: an array.
    Places,
}

impl Shape {
    pub(super) fn is_positional(self) -> bool {
        matches!(self, Self::Place | Self::Places)
    }
}

/// What the text of a value is read as. To argc it is text in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalar {
    Text,
    Integer,
    Number,
}

impl Scalar {
    /// Of a notation, as in `<INT>`. A name alone is a notation to argc too (`--num` has `NUM`), so one
    /// counts only where the script writes it.
    fn of(notation: &str, source: &str) -> Self {
        let notation = notation.trim_end_matches(['*', '+', '?', '~']);
        let scalar = match notation {
            "INT" | "INTEGER" => Self::Integer,
            "NUM" | "NUMBER" | "FLOAT" => Self::Number,
            _ => return Self::Text,
        };
        let written = source.to_ascii_uppercase().contains(&format!("<{notation}"));
        if written { scalar } else { Self::Text }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::Integer => "integer",
            Self::Number => "number",
        }
    }

    /// `text` as a value of this kind that becomes the same text again.
    fn value(self, text: &str) -> Option<Value> {
        if self == Self::Text {
            return Some(text.into());
        }
        let number = text.parse::<Number>().ok()?;
        let same = number.to_string() == text && (self == Self::Number || text.parse::<i64>().is_ok());
        same.then_some(Value::Number(number))
    }

    /// A checked value as the text the script gets.
    fn text(self, value: &Value) -> Result<String, String> {
        match (self, value) {
            (Self::Text, Value::String(text)) => Ok(text.clone()),
            (Self::Number, Value::Number(number)) => Ok(number.to_string()),
            (Self::Integer, Value::Number(number)) => whole(number),
            _ => Err(format!("expected a {}, got {value}", self.name())),
        }
    }
}

/// An integer in digits: JSON Schema takes `5.0` and `1e3` as integers, Bash does not.
fn whole(number: &Number) -> Result<String, String> {
    let text = number.to_string();
    let digits = text.strip_prefix('-').unwrap_or(&text);
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(text);
    }
    match number.as_f64() {
        // Up to 2^53 a float is the integer it looks like.
        Some(float) if float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_992.0 => Ok(format!("{float:.0}")),
        _ => Err(format!("{text} is no integer that can be written in digits")),
    }
}

/// What a call gives for a parameter, as texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Given {
    Nothing,
    Times(u64),
    Texts(Vec<String>),
    Groups(Vec<Vec<String>>),
    Entries(Vec<(String, String)>),
}

/// One parameter of a tool.
#[derive(Debug, Clone)]
pub(super) struct Parameter {
    /// Its name in the schema.
    pub(super) key: String,
    /// argc's id, under which the value comes out of its parser.
    pub(super) id: String,
    /// What stands on the command line; a positional's notation.
    pub(super) name: String,
    pub(super) shape: Shape,
    /// One, or one for each place of a [`Shape::Spread`].
    pub(super) scalars: Vec<Scalar>,
    pub(super) choices: Option<Vec<String>>,
    pub(super) default: Option<String>,
    /// The defaults of all commands that have it: one of them is what stands where nothing is given.
    pub(super) defaults: Vec<String>,
    pub(super) required: bool,
    pub(super) delimiter: Option<char>,
    /// The variable the script falls back to (`$$`).
    pub(super) env: Option<String>,
    pub(super) description: String,
    /// The commands it is given to, by their depth: 0 is the script itself.
    pub(super) levels: Vec<usize>,
}

impl Parameter {
    pub(super) fn of_option(option: &FlagOptionValue, source: &str, level: usize) -> Self {
        let scalars = option.notations.iter().map(|notation| Scalar::of(notation, source));
        Self {
            key: ::argc::utils::sanitize_var_name(&option.id),
            id: option.id.clone(),
            name: option.long_name.clone(),
            shape: shape_of(option),
            scalars: scalars.collect(),
            choices: values_of(option.choice.as_ref()),
            default: literal(option.default.as_ref()),
            defaults: literal(option.default.as_ref()).into_iter().collect(),
            required: option.required,
            delimiter: option.delimiter,
            env: option.env.clone(),
            description: option.describe.clone(),
            levels: vec![level],
        }
    }

    pub(super) fn of_positional(positional: &PositionalValue, source: &str, level: usize) -> Self {
        Self {
            key: ::argc::utils::sanitize_var_name(&positional.id),
            id: positional.id.clone(),
            name: positional.notation.clone(),
            shape: if positional.multiple {
                Shape::Places
            } else {
                Shape::Place
            },
            scalars: vec![Scalar::of(&positional.notation, source)],
            choices: values_of(positional.choice.as_ref()),
            default: literal(positional.default.as_ref()),
            defaults: literal(positional.default.as_ref()).into_iter().collect(),
            required: positional.required,
            delimiter: positional.delimiter,
            env: positional.env.clone(),
            description: positional.describe.clone(),
            levels: vec![level],
        }
    }

    /// Whether a call must give it. A variable may stand in for it, if argc takes it from there.
    pub(super) fn must_be_given(&self) -> bool {
        let from_variable = self.env.is_some() && !matches!(self.shape, Shape::Spread(2.., _) | Shape::Groups(..));
        self.required && !from_variable
    }

    /// Its property in the schema.
    pub(super) fn schema(&self) -> Value {
        let mut schema = self.typed();
        if !self.description.is_empty() {
            schema.insert("description".into(), self.description.as_str().into());
        }
        if let Some(default) = self.default_value() {
            schema.insert("default".into(), default);
        }
        Value::Object(schema)
    }

    fn typed(&self) -> Map<String, Value> {
        let schema = match self.shape {
            Shape::Flag => json!({"type": "boolean"}),
            Shape::Count => json!({"type": "integer", "minimum": 0, "maximum": MOST_OFTEN}),
            Shape::One | Shape::Place => return self.item(self.scalar()),
            Shape::Repeated | Shape::Places | Shape::Rest => {
                json!({"type": "array", "items": self.item(self.scalar())})
            }
            Shape::Spread(min, max) => self.spread(min, max),
            Shape::Groups(min, max) => json!({"type": "array", "items": self.spread(min, max)}),
            Shape::Entries(many) => {
                let mut schema = json!({"type": "object", "additionalProperties": self.item(self.scalar()),
                    "propertyNames": {"pattern": "^[A-Za-z0-9_.-]+$"}});
                if !many {
                    schema["maxProperties"] = json!(1);
                }
                schema
            }
        };
        let mut schema = as_object(schema);
        let several = matches!(self.shape, Shape::Repeated | Shape::Places | Shape::Groups(..));
        if self.must_be_given() && several {
            schema.insert("minItems".into(), json!(1));
        } else if self.must_be_given() && matches!(self.shape, Shape::Entries(_)) {
            schema.insert("minProperties".into(), json!(1));
        }
        schema
    }

    fn spread(&self, min: usize, max: usize) -> Value {
        let alike = self.scalars.iter().all(|scalar| *scalar == self.scalar());
        let mut schema = if alike {
            json!({"type": "array", "items": self.item(self.scalar())})
        } else {
            let places: Vec<_> = self.scalars.iter().map(|scalar| self.item(*scalar)).collect();
            // What goes beyond the places is of the last one's kind.
            json!({"type": "array", "prefixItems": places, "items": self.item(self.scalar_at(usize::MAX))})
        };
        if min > 0 {
            schema["minItems"] = json!(min);
        }
        if max < MOST_VALUES {
            schema["maxItems"] = json!(max);
        }
        schema
    }

    /// One value: its type, and its choices where the script lists them.
    fn item(&self, scalar: Scalar) -> Map<String, Value> {
        let choices = self.choices.as_deref();
        let typed = choices.map(|choices| {
            choices
                .iter()
                .map(|choice| scalar.value(choice))
                .collect::<Option<Vec<_>>>()
        });
        as_object(match typed {
            None => json!({"type": scalar.name()}),
            Some(Some(choices)) => json!({"type": scalar.name(), "enum": choices}),
            // `<INT>` with the choices `01|02`: their spelling counts.
            Some(None) => json!({"type": "string", "enum": choices}),
        })
    }

    fn scalar(&self) -> Scalar {
        self.scalar_at(0)
    }

    fn scalar_at(&self, place: usize) -> Scalar {
        let scalar = self.scalars.get(place).or(self.scalars.last());
        let scalar = scalar.copied().unwrap_or(Scalar::Text);
        let choices = self.choices.as_deref().unwrap_or_default();
        let all_fit = choices.iter().all(|choice| scalar.value(choice).is_some());
        if all_fit { scalar } else { Scalar::Text }
    }

    /// The default as a value. None where the host, which fills defaults in, would change what the
    /// script sees: a variable comes before the default, and argc takes no default apart.
    fn default_value(&self) -> Option<Value> {
        let text = self.default.as_deref().filter(|_| self.env.is_none())?;
        let value = self.scalar().value(text)?;
        match self.shape {
            Shape::One | Shape::Place => Some(value),
            Shape::Repeated | Shape::Places if self.delimiter.is_none_or(|delimiter| !text.contains(delimiter)) => {
                Some(json!([value]))
            }
            _ => None,
        }
    }

    /// What `value` gives for it.
    ///
    /// # Errors
    /// `<parameter>: <why>`.
    pub(super) fn given(&self, value: Option<&Value>) -> Result<Given, String> {
        let value = match value {
            None | Some(Value::Null) => return Ok(Given::Nothing),
            Some(value) => value,
        };
        self.texts(value).map_err(|why| format!("{}: {why}", self.key))
    }

    fn texts(&self, value: &Value) -> Result<Given, String> {
        Ok(match (self.shape, value) {
            (Shape::Flag, Value::Bool(false)) => Given::Nothing,
            (Shape::Flag, Value::Bool(true)) => Given::Times(1),
            (Shape::Count, Value::Number(number)) => self.times(number)?,
            (Shape::One | Shape::Place, value) => Given::Texts(vec![self.text(0, value)?]),
            (Shape::Groups(..), Value::Array(groups)) if !groups.is_empty() => {
                Given::Groups(groups.iter().map(|group| self.list(group)).collect::<Result<_, _>>()?)
            }
            (Shape::Spread(0, _), Value::Array(list)) if list.is_empty() => Given::Texts(Vec::new()),
            (_, Value::Array(list)) if list.is_empty() => Given::Nothing,
            (Shape::Repeated | Shape::Places | Shape::Rest | Shape::Spread(..), value) => {
                Given::Texts(self.list(value)?)
            }
            (Shape::Entries(_), Value::Object(entries)) if entries.is_empty() => Given::Nothing,
            (Shape::Entries(_), Value::Object(entries)) => self.entries(entries)?,
            (_, value) => return Err(format!("cannot be {value}")),
        })
    }

    fn times(&self, number: &Number) -> Result<Given, String> {
        let count = whole(number)?.parse().unwrap_or(u64::MAX);
        match count {
            0 => Ok(Given::Nothing),
            1..=MOST_OFTEN => Ok(Given::Times(count)),
            _ => Err(format!("{number} is no count from 0 to {MOST_OFTEN}")),
        }
    }

    fn list(&self, value: &Value) -> Result<Vec<String>, String> {
        let Value::Array(values) = value else {
            return Err(format!("expected an array, got {value}"));
        };
        values
            .iter()
            .enumerate()
            .map(|(place, value)| self.text(place, value))
            .collect()
    }

    fn entries(&self, entries: &Map<String, Value>) -> Result<Given, String> {
        let entry = |(key, value): (&String, &Value)| {
            // argc writes the key into Bash unquoted: anything else could run there.
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
            if key.is_empty() || !key.chars().all(plain) {
                return Err(format!(
                    "the key {key:?} may hold letters, digits, '_', '.' and '-' only"
                ));
            }
            Ok((key.clone(), self.text(0, value)?))
        };
        Ok(Given::Entries(entries.iter().map(entry).collect::<Result<_, _>>()?))
    }

    fn text(&self, place: usize, value: &Value) -> Result<String, String> {
        let text = self.scalar_at(place).text(value)?;
        if text.contains('\0') {
            return Err("has a NUL character, which no argument of a program can hold".to_owned());
        }
        match self.delimiter {
            Some(delimiter) if text.contains(delimiter) => Err(format!(
                "a value with {delimiter:?} in it cannot be passed: the script separates values there"
            )),
            _ => Ok(text),
        }
    }
}

fn shape_of(option: &FlagOptionValue) -> Shape {
    let (min, max) = option.num_args;
    match option {
        _ if option.flag && option.multiple_occurs => Shape::Count,
        _ if option.flag => Shape::Flag,
        _ if option.prefixed => Shape::Entries(option.multiple_occurs),
        _ if option.terminated => Shape::Rest,
        _ if option.multiple_occurs && min <= 1 => Shape::Repeated,
        _ if option.multiple_occurs => Shape::Groups(min, max),
        _ if max > 1 => Shape::Spread(min, max),
        _ => Shape::One,
    }
}

fn values_of(choice: Option<&ChoiceValue>) -> Option<Vec<String>> {
    match choice {
        Some(ChoiceValue::Values(values)) => Some(values.clone()),
        // Known to a function of the script only, which checks for itself.
        Some(ChoiceValue::Fn(..)) | None => None,
    }
}

fn literal(default: Option<&DefaultValue>) -> Option<String> {
    match default {
        Some(DefaultValue::Value(value)) => Some(value.clone()),
        Some(DefaultValue::Fn(_)) | None => None,
    }
}

fn as_object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}
