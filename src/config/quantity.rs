//! Times and sizes as people write them.

use std::time::Duration;

/// The longest time a key takes: adding it to any clock cannot overflow.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// `200ms`, `10s`, `1m 30s`; a bare number counts seconds.
pub(super) fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let bare = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let written = if bare { format!("{text}s") } else { text.to_owned() };
    humantime::parse_duration(&written).ok().filter(|time| *time <= LONGEST)
}

/// `16MiB`, `8MB`, `512kB`; a bare number counts bytes.
pub(super) fn size(text: &str) -> Option<usize> {
    let text = text.trim();
    let (digits, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let factor = match unit.trim_start().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        _ => return None,
    };
    digits.parse::<usize>().ok()?.checked_mul(factor)
}

/// A whole number in decimal digits, without sign or separators.
pub(super) fn count(text: &str) -> Option<usize> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, millis) in [
            ("200ms", Some(200)),
            ("10s", Some(10_000)),
            ("1m 30s", Some(90_000)),
            ("1h30m", Some(5_400_000)),
            ("5", Some(5_000)),
            ("0.5", Some(500)),
            ("1.5s", Some(1_500)),
            ("0", Some(0)),
            (" 3 s ", Some(3_000)),
            ("", None),
            (".", None),
            ("1.2.3", None),
            ("-5", None),
            ("1e3", None),
            ("12:30", None),
            ("1_000", None),
            ("ten", None),
            ("10 lightyears", None),
            ("99999999999999999999", None),
            ("2y", None),
        ] {
            assert_eq!(duration(text), millis.map(Duration::from_millis), "{text}");
        }
    }

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("16MiB", Some(16 << 20)),
            ("8MB", Some(8_000_000)),
            ("8 mb", Some(8_000_000)),
            ("512kB", Some(512_000)),
            ("1024", Some(1024)),
            ("1024B", Some(1024)),
            ("1GiB", Some(1 << 30)),
            ("", None),
            ("MiB", None),
            ("1.5MiB", None),
            ("-1", None),
            ("8M", None),
            ("99999999999999999999", None),
            ("99999999999999999GiB", None),
        ] {
            assert_eq!(size(text), bytes, "{text}");
        }
    }

    #[test]
    fn counts() {
        for (text, expected) in [
            ("1", Some(1)),
            ("007", Some(7)),
            ("+1", None),
            ("1.0", None),
            ("", None),
            ("1_0", None),
        ] {
            assert_eq!(count(text), expected, "{text}");
        }
    }
}
