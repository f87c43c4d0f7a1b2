//! The command line of one call.
//!
//! No rule of argc is trusted to hold: every command line is read by argc's own parser before it is
//! handed out, and is refused unless each value comes out as it went in.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::check::{self, Refusal, Seen};
use super::parameter::{Given, Parameter, Shape};
use super::tool::Tool;
use crate::tools::template::LONGEST_ARGUMENT;

/// What all arguments may hold. Linux takes 2 MiB with the environment; a script that calls argc with
/// more would go on without its arguments.
const LONGEST_TOGETHER: usize = 1024 * 1024;

/// A pointer to each argument counts too.
const POINTER: usize = size_of::<usize>();

/// First arguments that make argc run a function by its name.
const RESERVED: [&str; 2] = ["___internal___", "___parallel___"];

/// What to start a script with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Invocation {
    /// What stands after the script's path.
    pub args: Vec<String>,
    /// Variables of this call.
    pub env: Vec<(String, String)>,
}

/// The command line of a call of `tool`.
pub(super) fn build(source: &str, tool: &Tool, kwargs: &Map<String, Value>) -> Result<Invocation, String> {
    let call = Call::read(tool, kwargs)?;
    call.refuse_gaps()?;
    call.refuse_reserved()?;
    call.refuse_equals_signs()?;
    let variables = call.variables();
    let mut refusal = None;
    for order in [Order::Dashes, Order::DashesBetween, Order::Bare] {
        let Some(args) = call.arguments(order)? else { continue };
        match call.check(source, &args, &variables) {
            Ok(()) => return Ok(Invocation { args, env: Vec::new() }),
            Err(why) => refusal = refusal.or(Some(why)),
        }
    }
    Err(refusal.unwrap_or_else(|| "arguments: argc has no command line for them".to_owned()))
}

/// Where the positionals stand. The first that argc reads right is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Behind `--`, where nothing is an option.
    Dashes,
    /// Two arrays: `--` is between them.
    DashesBetween,
    /// As they are. A command that hands everything on takes `--` for a value; and an option that
    /// takes the rest of the line must come last.
    Bare,
}

/// The parameters of a call with what it gives for them.
struct Call<'a> {
    tool: &'a Tool,
    given: Vec<(&'a Parameter, Given)>,
}

impl<'a> Call<'a> {
    fn read(tool: &'a Tool, kwargs: &Map<String, Value>) -> Result<Self, String> {
        if let Some(unknown) = kwargs.keys().find(|key| tool.parameter(key).is_none()) {
            return Err(format!("{unknown}: '{}' has no such parameter", tool.name));
        }
        let read = |parameter: &'a Parameter| Ok((parameter, parameter.given(kwargs.get(&parameter.key))?));
        let given = tool.parameters.iter().map(read).collect::<Result<_, String>>()?;
        Ok(Self { tool, given })
    }

    fn positionals(&self) -> impl Iterator<Item = (&'a Parameter, &[String])> {
        self.given
            .iter()
            .filter(|(parameter, _)| parameter.shape.is_positional())
            .map(|(parameter, given)| match given {
                Given::Texts(texts) => (*parameter, &texts[..]),
                _ => (*parameter, &[][..]),
            })
    }

    /// An argument that counts by its place needs all places before it.
    fn refuse_gaps(&self) -> Result<(), String> {
        let mut missing: Option<&Parameter> = None;
        for (parameter, texts) in self.positionals() {
            match missing {
                Some(missing) if !texts.is_empty() => {
                    let (key, missing) = (&parameter.key, &missing.key);
                    return Err(format!(
                        "{key}: cannot be given without '{missing}', which stands before it"
                    ));
                }
                None if texts.is_empty() => missing = Some(parameter),
                _ => {}
            }
        }
        Ok(())
    }

    /// Words that mean something to argc in the first place, behind `--` too.
    fn refuse_reserved(&self) -> Result<(), String> {
        let Some((parameter, [first, ..])) = self.positionals().next() else {
            return Ok(());
        };
        let hands_on = self.tool.path.is_empty() && parameter.shape == Shape::Places && self.given.len() == 1;
        if first == "help" || (hands_on && RESERVED.contains(&first.as_str())) {
            return Err(format!(
                "{}: argc keeps '{first}' in this place to itself",
                parameter.key
            ));
        }
        Ok(())
    }

    /// What the check takes for set: variables the script needs, as if somebody had set them.
    fn variables(&self) -> HashMap<String, String> {
        let stand_in = |choices: Option<&Vec<String>>| {
            let first = choices.and_then(|choices| choices.first());
            first.map_or("1", String::as_str).to_owned()
        };
        let needed = self.tool.variables.iter().filter(|variable| variable.required);
        let mut all: HashMap<_, _> = needed
            .map(|variable| (variable.name.clone(), stand_in(variable.choices.as_ref())))
            .collect();
        for (parameter, given) in &self.given {
            if let (Some(name), true, Given::Nothing) = (&parameter.env, parameter.required, given) {
                all.insert(name.clone(), stand_in(parameter.choices.as_ref()));
            }
        }
        all
    }

    /// The arguments in this order; none where it makes no difference.
    fn arguments(&self, order: Order) -> Result<Option<Vec<String>>, String> {
        let positionals: Vec<_> = self.positionals().collect();
        let to_the_end = self.given.iter().any(|(parameter, given)| takes_rest(parameter, given));
        let mut line = Line::default();
        match order {
            Order::Dashes if to_the_end => return Ok(None),
            Order::DashesBetween if to_the_end || positionals.len() != 2 => return Ok(None),
            Order::Bare if !to_the_end && positionals.iter().all(|(_, texts)| texts.is_empty()) => return Ok(None),
            _ => {}
        }
        self.push_options(&mut line)?;
        let dashes_before = match order {
            Order::Dashes => Some(0),
            Order::DashesBetween => Some(1),
            Order::Bare => None,
        };
        for (place, (parameter, texts)) in positionals.iter().enumerate() {
            // At the end `--` would be a value of its own to some.
            if dashes_before == Some(place) && positionals[place..].iter().any(|(_, texts)| !texts.is_empty()) {
                line.push(parameter, "--".to_owned())?;
            }
            for text in *texts {
                line.push(parameter, text.clone())?;
            }
        }
        for (parameter, given) in self
            .given
            .iter()
            .filter(|(parameter, given)| takes_rest(parameter, given))
        {
            line.push_option(parameter, given)?;
        }
        line.finish().map(Some)
    }

    /// The names of the commands, each with the options that belong to it.
    fn push_options(&self, line: &mut Line) -> Result<(), String> {
        for level in 0..=self.tool.path.len() {
            if let Some(name) = level.checked_sub(1).and_then(|above| self.tool.path.get(above)) {
                line.args.push(name.clone());
            }
            for (parameter, given) in &self.given {
                let here = parameter.levels.contains(&level) && !parameter.shape.is_positional();
                if here && !takes_rest(parameter, given) {
                    line.push_option(parameter, given)?;
                }
            }
        }
        Ok(())
    }

    /// Whether argc reads `args` as the call means them.
    fn check(&self, source: &str, args: &[String], variables: &HashMap<String, String>) -> Result<(), String> {
        if args.first().is_some_and(|first| RESERVED.contains(&first.as_str())) {
            return Err("arguments: argc would run a function by its name".to_owned());
        }
        let whole: Vec<_> = std::iter::once(self.tool.script.clone())
            .chain(args.iter().cloned())
            .collect();
        match check::parse(source, &whole, variables) {
            Ok(seen) => self.compare(&seen),
            Err(Refusal::Help) => Err(self.changed_by("a question about the script")),
            Err(Refusal::Words(words)) => Err(self.said_by_argc(&words)),
        }
    }

    fn compare(&self, seen: &Seen) -> Result<(), String> {
        for (parameter, given) in &self.given {
            if !seen.holds(&parameter.id, given) {
                return Err(changed(parameter));
            }
            let may_be_anything = *given != Given::Nothing || parameter.env.is_some();
            if !may_be_anything && !seen.is_default(&parameter.id, &parameter.defaults) {
                return Err(self.changed_by(&parameter.key));
            }
        }
        let known = |id: &str| self.given.iter().any(|(parameter, _)| parameter.id == id);
        if seen.strays || seen.function != self.tool.function || !seen.ids().all(known) {
            return Err(self.changed_by("something else"));
        }
        Ok(())
    }

    /// A value went where none was given. Whose it was can only be guessed.
    fn changed_by(&self, taker: &str) -> String {
        let giver = |fits: fn(Shape) -> bool| {
            let mut given = self.given.iter();
            given.find(|(parameter, given)| *given != Given::Nothing && fits(parameter.shape))
        };
        match giver(several_words).or_else(|| giver(Shape::is_positional)) {
            Some((giver, _)) if several_words(giver.shape) => changed(giver),
            Some((giver, _)) => format!("{}: argc would take a value of it for {taker}", giver.key),
            None => format!("arguments: argc would take a value for {taker}"),
        }
    }

    fn said_by_argc(&self, words: &str) -> String {
        let named = self.given.iter().find(|(parameter, _)| {
            let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '-' || c == '_');
            words
                .match_indices(&parameter.name)
                .any(|(at, name)| ends(&words[at + name.len()..]))
        });
        match named {
            Some((parameter, Given::Nothing)) => format!("{}: {words}", parameter.key),
            Some((parameter, _)) if several_words(parameter.shape) => changed(parameter),
            Some((parameter, _)) => format!("{}: {words}", parameter.key),
            None => match self
                .given
                .iter()
                .find(|(parameter, given)| *given != Given::Nothing && several_words(parameter.shape))
            {
                Some((parameter, _)) => changed(parameter),
                None => format!("arguments: {words}"),
            },
        }
    }

    /// What `argc --argc-build` writes drops all up to the last `=` of an option's value.
    fn refuse_equals_signs(&self) -> Result<(), String> {
        let holds = |(parameter, given): &&(&Parameter, Given)| {
            let holds = matches!(given, Given::Texts(texts) if texts.iter().any(|text| text.contains('=')));
            holds && !parameter.shape.is_positional()
        };
        match self.given.iter().find(holds) {
            Some((parameter, _)) if self.tool.is_built => Err(format!(
                "{}: a value with '=' does not get through what `argc --argc-build` wrote; host the script it was built from",
                parameter.key
            )),
            _ => Ok(()),
        }
    }
}

/// Values of these stand as arguments of their own, where argc looks for options.
fn several_words(shape: Shape) -> bool {
    matches!(shape, Shape::Spread(..) | Shape::Groups(..) | Shape::Rest)
}

/// An option that takes everything behind it; a single value can be joined to it instead.
fn takes_rest(parameter: &Parameter, given: &Given) -> bool {
    parameter.shape == Shape::Rest && matches!(given, Given::Texts(texts) if texts.len() != 1)
}

/// Why a value would not arrive as it is.
fn changed(parameter: &Parameter) -> String {
    let why = match parameter.shape {
        Shape::Spread(..) | Shape::Groups(..) => {
            "argc would take a value that begins with '-' or '+' for an option, and reads a fixed number of values"
        }
        Shape::Rest => "it takes the rest of the command line, and something else has to stand behind it",
        Shape::Place | Shape::Places => "argc would hand a value of it to another argument; give all of them",
        Shape::Entries(_) => "argc would read its keys as another option",
        Shape::Flag | Shape::Count | Shape::One | Shape::Repeated => "argc would read it as another option",
    };
    format!("{}: {why}", parameter.key)
}

/// A command line as far as it is written.
#[derive(Default)]
struct Line {
    args: Vec<String>,
}

impl Line {
    fn push_option(&mut self, parameter: &Parameter, given: &Given) -> Result<(), String> {
        let name = &parameter.name;
        match given {
            Given::Nothing => Ok(()),
            Given::Times(count) => (0..*count).try_for_each(|_| self.push(parameter, name.clone())),
            Given::Entries(entries) => {
                let mut entries = entries.iter();
                entries.try_for_each(|(key, text)| self.push(parameter, format!("{name}{key}={text}")))
            }
            Given::Texts(texts) => self.push_values(parameter, texts),
            Given::Groups(groups) => groups.iter().try_for_each(|group| self.push_group(parameter, group)),
        }
    }

    /// Joined by `=` wherever one value is enough: nothing in it can be taken for an option then.
    fn push_values(&mut self, parameter: &Parameter, texts: &[String]) -> Result<(), String> {
        let joined = match parameter.shape {
            Shape::Spread(min, _) => min <= 1 && texts.len() == 1,
            Shape::Rest => texts.len() == 1,
            _ => true,
        };
        if joined {
            let mut texts = texts.iter();
            return texts.try_for_each(|text| self.push(parameter, format!("{}={text}", parameter.name)));
        }
        self.push_group(parameter, texts)
    }

    fn push_group(&mut self, parameter: &Parameter, texts: &[String]) -> Result<(), String> {
        self.push(parameter, parameter.name.clone())?;
        let mut texts = texts.iter();
        texts.try_for_each(|text| self.push(parameter, text.clone()))
    }

    fn push(&mut self, parameter: &Parameter, arg: String) -> Result<(), String> {
        if arg.len() > LONGEST_ARGUMENT {
            return Err(format!(
                "{}: {} bytes are too long for an argument of a program, which may have {LONGEST_ARGUMENT}; let the script read a file",
                parameter.key,
                arg.len()
            ));
        }
        self.args.push(arg);
        Ok(())
    }

    fn finish(self) -> Result<Vec<String>, String> {
        let bytes: usize = self.args.iter().map(|arg| arg.len() + 1 + POINTER).sum();
        if bytes > LONGEST_TOGETHER {
            return Err(format!(
                "arguments: {bytes} bytes are too many for the command line of a program, which may have {LONGEST_TOGETHER}"
            ));
        }
        Ok(self.args)
    }
}
