//! The fenced blocks of a Markdown text.

/// A fenced block.
pub(crate) struct Block {
    /// The line it opens on.
    pub(crate) at: usize,
    pub(crate) language: String,
    /// What stands after the language.
    pub(crate) note: String,
    pub(crate) body: String,
}

/// A command, and what is shown below it.
pub(crate) struct Command {
    pub(crate) line: String,
    pub(crate) shown: String,
}

impl Block {
    pub(crate) fn commands(&self) -> Vec<Command> {
        let mut commands: Vec<Command> = Vec::new();
        for line in self.body.lines() {
            match (line.strip_prefix("$ "), commands.last_mut()) {
                (Some(line), _) => commands.push(Command {
                    line: line.to_owned(),
                    shown: String::new(),
                }),
                (None, Some(command)) => command.shown.push_str(&format!("{line}\n")),
                (None, None) => panic!("line {}: output without a command", self.at),
            }
        }
        commands
    }
}

pub(crate) fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (index, line) in text.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(opening)) => {
                let (language, note) = opening.split_once(' ').unwrap_or((opening, ""));
                open = Some(Block {
                    at: index + 1,
                    language: language.to_owned(),
                    note: note.to_owned(),
                    body: String::new(),
                });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(block), None) => block.body.push_str(&format!("{line}\n")),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block does not end");
    blocks
}
