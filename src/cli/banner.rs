//! What `toolhost run` shows a person once the toolboxes are up. Pure.

use serde_json::Value;

use super::address::DEFAULT_BUS_URL as DEFAULT_URL;
use super::example;
use super::listing::counted;
use super::spell;
use super::table::{Cell, Tint, render};

/// One toolbox, as it came out of the start.
#[derive(Debug, Clone)]
pub struct Toolbox {
    /// Its toolbox_id.
    pub toolbox_id: String,
    /// What became of it.
    pub state: State,
}

/// What became of a toolbox.
#[derive(Debug, Clone)]
pub enum State {
    /// It is up with these definitions, as published.
    Up(Vec<Value>),
    /// Its next call starts it; these definitions are published meanwhile.
    Asleep(Vec<Value>),
    /// It is not up, and why; also when it is tried again, where it is.
    Down(String),
}

/// Where the tools are answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bus {
    /// A bus elsewhere, and toolhost is on it.
    Joined(String),
    /// A bus elsewhere that is not reached yet.
    Unreached(String),
    /// toolhost serves it.
    Embedded(String),
}

/// The banner, several lines.
pub fn banner(bus: &Bus, toolboxes: &[Toolbox], color: bool) -> String {
    let rows: Vec<_> = toolboxes.iter().map(row).collect();
    let mut out = summary(toolboxes);
    out.push_str(&match bus {
        Bus::Joined(url) => format!(" on {}\n", spell::plain(url)),
        Bus::Embedded(url) => format!(" on {}, served by this toolhost\n", spell::plain(url)),
        Bus::Unreached(url) => format!(
            "; {}\n",
            Tint::Bad.paint(&format!("{} is not reached yet, trying on", spell::plain(url)), color)
        ),
    });
    out.push_str(&render(&rows, color));
    if let Some(line) = toolboxes.iter().find_map(example) {
        let url = match bus {
            Bus::Embedded(url) | Bus::Joined(url) | Bus::Unreached(url) if *url != DEFAULT_URL => {
                format!(" --bus {}", spell::plain(url))
            }
            _ => String::new(),
        };
        out.push_str(&spell::plain(&format!("Call one: {line}{url}\n")));
    }
    out
}

/// `2 of 3 toolboxes up, 7 tools`.
fn summary(toolboxes: &[Toolbox]) -> String {
    let n_up = toolboxes
        .iter()
        .filter(|toolbox| !matches!(toolbox.state, State::Down(_)))
        .count();
    let n_tools = toolboxes
        .iter()
        .map(|toolbox| match &toolbox.state {
            State::Up(tools) | State::Asleep(tools) => tools.len(),
            State::Down(_) => 0,
        })
        .sum();
    let of = if n_up == toolboxes.len() {
        if n_up == 1 {
            "1 toolbox".to_owned()
        } else {
            format!("{n_up} toolboxes")
        }
    } else {
        format!("{n_up} of {} toolboxes", toolboxes.len())
    };
    format!("{of} up, {}", counted(n_tools, "tool"))
}

fn row(toolbox: &Toolbox) -> Vec<Cell> {
    let (word, tint, remark) = match &toolbox.state {
        State::Up(tools) => ("up", Tint::Good, counted(tools.len(), "tool")),
        State::Asleep(tools) => {
            let n_tools = counted(tools.len(), "tool");
            ("asleep", Tint::Good, format!("{n_tools}; its first call starts it"))
        }
        State::Down(why) => ("down", Tint::Bad, why.clone()),
    };
    vec![
        Cell::left(""),
        Cell::left(word).tinted(tint),
        Cell::left(&toolbox.toolbox_id),
        Cell::left(remark),
    ]
}

fn example(toolbox: &Toolbox) -> Option<String> {
    match &toolbox.state {
        State::Up(tools) | State::Asleep(tools) => example::call_line(&toolbox.toolbox_id, tools.first()?),
        State::Down(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn toolbox(toolbox_id: &str, state: State) -> Toolbox {
        let toolbox_id = toolbox_id.to_owned();
        Toolbox { toolbox_id, state }
    }

    fn wordnet() -> Toolbox {
        let tool = json!({"name": "define_word", "argument_schema": {"required": ["word"]}});
        toolbox("wordnet", State::Up(vec![tool, json!({"name": "relations"})]))
    }

    #[test]
    fn the_banner_tells_what_is_up_what_is_not_and_what_to_type() {
        let down = toolbox("wiki", State::Down("program 'ovos' not found\nx".to_owned()));
        let table = [
            (
                Bus::Joined(DEFAULT_URL.to_owned()),
                vec![wordnet()],
                "1 toolbox up, 2 tools on ws://127.0.0.1:8181/core\n  \
                   up  wordnet  2 tools\n\
                 Call one: toolhost call wordnet define_word word=…\n",
            ),
            (
                Bus::Embedded("ws://127.0.0.1:9000/core".to_owned()),
                vec![
                    toolbox("big", State::Asleep(vec![json!({"name": "render"})])),
                    down.clone(),
                    wordnet(),
                ],
                "2 of 3 toolboxes up, 3 tools on ws://127.0.0.1:9000/core, served by this toolhost\n  \
                   asleep  big      1 tool; its first call starts it\n  \
                   down    wiki     program 'ovos' not found x\n  \
                   up      wordnet  2 tools\n\
                 Call one: toolhost call big render --bus ws://127.0.0.1:9000/core\n",
            ),
            (
                Bus::Unreached(DEFAULT_URL.to_owned()),
                vec![down],
                "0 of 1 toolboxes up, 0 tools; ws://127.0.0.1:8181/core is not reached yet, trying on\n  \
                   down  wiki  program 'ovos' not found x\n",
            ),
            (
                Bus::Joined(DEFAULT_URL.to_owned()),
                vec![],
                "0 toolboxes up, 0 tools on ws://127.0.0.1:8181/core\n",
            ),
        ];
        for (bus, toolboxes, expected) in table {
            assert_eq!(banner(&bus, &toolboxes, false), expected);
        }
    }

    #[test]
    fn color_adds_nothing_but_color() {
        let toolboxes = [wordnet()];
        let bus = Bus::Unreached(DEFAULT_URL.to_owned());
        let colored = banner(&bus, &toolboxes, true);
        let bare = colored
            .replace("\x1b[32m", "")
            .replace("\x1b[31m", "")
            .replace("\x1b[0m", "");
        assert_ne!(colored, bare);
        assert_eq!(bare, banner(&bus, &toolboxes, false));
    }
}
