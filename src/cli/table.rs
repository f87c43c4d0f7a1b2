//! Aligned columns for people. Pure.

use super::spell;

/// The color of a cell, for those who see it; the text alone says the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tint {
    /// As everything else.
    Plain,
    /// All is well.
    Good,
    /// Not yet.
    Waiting,
    /// Something is wrong.
    Bad,
    /// Headings and side remarks.
    Dim,
}

impl Tint {
    /// The escape sequence that starts it.
    fn start(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Good => "\x1b[32m",
            Self::Waiting => "\x1b[33m",
            Self::Bad => "\x1b[31m",
            Self::Dim => "\x1b[2m",
        }
    }

    /// `text` in this color, where `color` is wanted.
    pub(crate) fn paint(self, text: &str, color: bool) -> String {
        if !color || self == Self::Plain || text.is_empty() {
            return text.to_owned();
        }
        format!("{}{text}\x1b[0m", self.start())
    }
}

/// One cell.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: String,
    tint: Tint,
    right: bool,
}

impl Cell {
    /// A cell that stands left in its column.
    pub(crate) fn left(text: impl AsRef<str>) -> Self {
        Self {
            // A cell is one line, whatever a toolbox put into it.
            text: spell::plain(text.as_ref()).replace(['\n', '\t'], " "),
            tint: Tint::Plain,
            right: false,
        }
    }

    /// A cell that stands right in its column, as numbers do.
    pub(crate) fn right(text: impl AsRef<str>) -> Self {
        Self {
            right: true,
            ..Self::left(text)
        }
    }

    /// The same cell in a color.
    pub(crate) fn tinted(self, tint: Tint) -> Self {
        Self { tint, ..self }
    }

    fn width(&self) -> usize {
        self.text.chars().count()
    }
}

/// The rows under one another, two spaces between the columns, nothing after the last one.
pub(crate) fn render(rows: &[Vec<Cell>], color: bool) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            rows.iter()
                .filter_map(|row| row.get(column))
                .map(Cell::width)
                .max()
                .unwrap_or_default()
        })
        .collect();
    let mut out = String::new();
    for row in rows {
        let last = row
            .iter()
            .rposition(|cell| !cell.text.is_empty())
            .map_or(0, |index| index + 1);
        for (index, (cell, &width)) in row.iter().zip(&widths).take(last).enumerate() {
            if index > 0 {
                out.push_str("  ");
            }
            let padding = " ".repeat(width - cell.width());
            let text = cell.tint.paint(&cell.text, color);
            match (cell.right, index + 1 == last) {
                (true, _) => out.extend([padding.as_str(), &text]),
                (false, false) => out.extend([text.as_str(), &padding]),
                (false, true) => out.push_str(&text),
            }
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_with_and_without_color() {
        let rows = [
            vec![
                Cell::left("name").tinted(Tint::Dim),
                Cell::right("n"),
                Cell::left("why"),
            ],
            vec![
                Cell::left("é\n\u{1b}x").tinted(Tint::Bad),
                Cell::right("100"),
                Cell::left(""),
            ],
        ];
        assert_eq!(render(&rows, false), "name         n  why\né \\u001bx  100\n");
        assert_eq!(
            render(&rows, true),
            "\x1b[2mname\x1b[0m         n  why\n\x1b[31mé \\u001bx\x1b[0m  100\n"
        );
    }
}
