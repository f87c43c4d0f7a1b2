//! What one line of the log looks like.

use std::fmt::{self, Write as _};
use std::time::SystemTime;

use tracing::field::{Field, Visit};
use tracing::{Event, Level as TracingLevel, Subscriber};
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;

use super::sink::Sink;
use super::{Format, Level};
use crate::json::push_string;

/// Makes events go to `sink` from now on.
pub(super) fn install(look: Lines, level: Level, silent: Option<&'static str>, sink: Sink) {
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(level.0)
        .with_ansi(look.color)
        .with_writer(sink)
        // It would report a failing stream with `eprintln!`, which panics where stderr is that stream.
        .log_internal_errors(false)
        .fmt_fields(Fields(look.format))
        .event_format(look)
        .finish();
    // Only a second call fails; then the first logger stays.
    match silent {
        None => tracing::subscriber::set_global_default(subscriber).unwrap_or_default(),
        Some(room) => {
            let heard = filter_fn(move |event| !event.target().starts_with(room));
            tracing::subscriber::set_global_default(subscriber.with(heard)).unwrap_or_default();
        }
    }
}

/// Formats the fields of spans and events, each with its separator before it.
struct Fields(Format);

impl<'writer> FormatFields<'writer> for Fields {
    fn format_fields<R: RecordFields>(&self, mut writer: Writer<'writer>, fields: R) -> fmt::Result {
        let mut visitor = Visitor::new(self.0);
        fields.record(&mut visitor);
        writer.write_str(&visitor.fields)
    }
}

/// What whole lines look like.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lines {
    pub(super) format: Format,
    pub(super) color: bool,
    /// They go to the journal, and say how grave they are in its way.
    pub(super) journal: bool,
}

impl Lines {
    fn write(self, line: &Line<'_>, mut out: impl fmt::Write) -> fmt::Result {
        if self.journal {
            out.write_str(priority(line.level))?;
        }
        match self.format {
            Format::Text => out.write_str(&line.text(self.color)),
            Format::Json => out.write_str(&line.json()),
        }
    }

    /// The line that says that `n` lines were left out, since nobody took them.
    pub(super) fn dropped(self, n: u64) -> String {
        let mut fields = Visitor::new(self.format);
        fields.number("dropped", &n);
        let line = Line {
            time: SystemTime::now(),
            level: TracingLevel::WARN,
            target: module_path!(),
            message: "log lines were dropped, stderr was too slow",
            fields: &fields.fields,
        };
        let mut out = String::new();
        // Writing into a `String` cannot fail.
        self.write(&line, &mut out).unwrap_or_default();
        out
    }
}

/// How a level is written for the journal.
pub(super) fn priority(level: TracingLevel) -> &'static str {
    match level {
        TracingLevel::ERROR => "<3>",
        TracingLevel::WARN => "<4>",
        TracingLevel::INFO => "<6>",
        _ => "<7>",
    }
}

impl<S, N> FormatEvent<S, N> for Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, out: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut visitor = Visitor::new(self.format);
        event.record(&mut visitor);
        let mut fields = String::new();
        for span in context.event_scope().into_iter().flat_map(|scope| scope.from_root()) {
            if let Some(formatted) = span.extensions().get::<FormattedFields<N>>() {
                fields.push_str(&formatted.fields);
            }
        }
        fields.push_str(&visitor.fields);
        let line = Line {
            time: SystemTime::now(),
            level: *event.metadata().level(),
            target: event.metadata().target(),
            message: &visitor.message,
            fields: &fields,
        };
        self.write(&line, out)
    }
}

/// What a line says.
struct Line<'a> {
    time: SystemTime,
    level: TracingLevel,
    target: &'a str,
    message: &'a str,
    fields: &'a str,
}

impl Line<'_> {
    fn text(&self, color: bool) -> String {
        let Self {
            level,
            target,
            message,
            fields,
            ..
        } = self;
        // In UTC and saying so: the time zone of the machine takes a library of its own to know.
        let time = humantime::format_rfc3339_millis(self.time)
            .to_string()
            .replacen('T', " ", 1);
        let (start, end) = if color { (paint(*level), "\x1b[0m") } else { ("", "") };
        format!(
            "{time} {start}{level:<5}{end} {target}: {}{fields}\n",
            one_line(message)
        )
    }

    fn json(&self) -> String {
        let mut out = format!(
            "{{\"time\":\"{}\",\"level\":\"{}\",\"target\":",
            humantime::format_rfc3339_millis(self.time),
            self.level
        );
        push_string(&mut out, self.target);
        out.push_str(",\"message\":");
        push_string(&mut out, self.message);
        out.push_str(self.fields);
        out.push_str("}\n");
        out
    }
}

fn paint(level: TracingLevel) -> &'static str {
    match level {
        TracingLevel::ERROR => "\x1b[31m",
        TracingLevel::WARN => "\x1b[33m",
        TracingLevel::INFO => "\x1b[32m",
        _ => "\x1b[2m",
    }
}

/// Collects the message and the other fields of an event or a span.
struct Visitor {
    format: Format,
    message: String,
    fields: String,
}

impl Visitor {
    fn new(format: Format) -> Self {
        let (message, fields) = (String::new(), String::new());
        Self {
            format,
            message,
            fields,
        }
    }

    /// Adds a value that is text.
    fn text(&mut self, field: &Field, value: &str) {
        match (field.name(), self.format) {
            ("message", _) => value.clone_into(&mut self.message),
            (name, Format::Text) => {
                self.fields.push_str(&format!(" {name}="));
                push_value(&mut self.fields, value);
            }
            (name, Format::Json) => {
                self.key(name);
                push_string(&mut self.fields, value);
            }
        }
    }

    /// Adds a value that is a JSON number or boolean as it stands.
    fn literal(&mut self, field: &Field, value: &dyn fmt::Display) {
        self.number(field.name(), value);
    }

    fn number(&mut self, name: &str, value: &dyn fmt::Display) {
        match self.format {
            // Writing into a `String` cannot fail.
            Format::Text => write!(self.fields, " {name}={value}").unwrap_or_default(),
            Format::Json => {
                self.key(name);
                write!(self.fields, "{value}").unwrap_or_default();
            }
        }
    }

    fn key(&mut self, name: &str) {
        self.fields.push(',');
        push_string(&mut self.fields, name);
        self.fields.push(':');
    }
}

impl Visit for Visitor {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.text(field, &format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.text(field, value);
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        self.text(field, &value.to_string());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.literal(field, &value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.literal(field, &value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        if value.is_finite() {
            self.literal(field, &value);
        } else {
            self.text(field, &value.to_string());
        }
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.literal(field, &value);
    }
}

/// A value of a text line: in quotes where it is empty, has spaces or quotes, or could forge a line.
fn push_value(out: &mut String, value: &str) {
    let bare = |character: char| !character.is_whitespace() && !character.is_control() && character != '"';
    if !value.is_empty() && value.chars().all(bare) {
        out.push_str(value);
    } else {
        out.push('"');
        out.push_str(&one_line(value).replace('"', "\\\""));
        out.push('"');
    }
}

/// `text` with control characters escaped: what a toolbox writes cannot forge a second line or steer a terminal.
fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Memory(Arc<Mutex<Vec<u8>>>);

    impl Write for Memory {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// What one event in a span looks like, without its time.
    fn logged(format: Format, color: bool, journal: bool) -> String {
        let memory = Memory::default();
        let writer = memory.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(color)
            .with_writer(move || writer.clone())
            .fmt_fields(Fields(format))
            .event_format(Lines { format, color, journal })
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            let span = tracing::info_span!(target: "t", "call", toolbox = "wordnet", call_id = 7u64);
            let _entered = span.enter();
            tracing::warn!(target: "t", line = "a\n\u{1b}[31m \"b\"", ok = false, error = %"no", n = -1, f = 0.5, "said");
        });
        let bytes = memory.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_text_line_is_one_line() {
        let line = logged(Format::Text, false, false);
        let (time, rest) = line.split_at("2026-01-31 12:00:00.000Z".len());
        assert!(time.ends_with('Z') && time.as_bytes()[10] == b' ', "{time}");
        assert_eq!(
            rest,
            " WARN  t: said toolbox=wordnet call_id=7 line=\"a\\n\\u{1b}[31m \\\"b\\\"\" ok=false error=no n=-1 f=0.5\n"
        );
        assert!(logged(Format::Text, true, false).contains("\x1b[33mWARN \x1b[0m t: said"));
    }

    #[test]
    fn a_json_line_is_one_object() {
        let line = logged(Format::Json, false, false);
        let mut value: serde_json::Value = serde_json::from_str(&line).unwrap();
        let time = value["time"].take();
        assert!(time.as_str().unwrap().ends_with('Z'));
        let expected = serde_json::json!({"time": null, "level": "WARN", "target": "t", "message": "said", "toolbox": "wordnet",
            "call_id": 7, "line": "a\n\u{1b}[31m \"b\"", "ok": false, "error": "no", "n": -1, "f": 0.5});
        assert_eq!(value, expected);
    }

    #[test]
    fn the_journal_gets_the_priority_in_front_of_either_format() {
        for format in [Format::Text, Format::Json] {
            let line = logged(format, false, true);
            let rest = line.strip_prefix("<4>").expect("a priority");
            assert_eq!(rest.len(), logged(format, false, false).len(), "and nothing else");
        }
    }

    #[test]
    fn lines_that_were_dropped_are_told_in_the_format_of_the_others() {
        let look = |format| Lines {
            format,
            color: false,
            journal: false,
        };
        let text = look(Format::Text).dropped(7);
        assert!(
            text.ends_with(" log lines were dropped, stderr was too slow dropped=7\n"),
            "{text}"
        );
        let json: serde_json::Value = serde_json::from_str(&look(Format::Json).dropped(7)).unwrap();
        assert_eq!((&json["level"], &json["dropped"]), (&"WARN".into(), &7.into()));
    }
}
