//! A time that has passed, for people. Pure.

/// Seconds of each unit and its name, the largest first. There are no months: nobody knows how long one is.
const UNITS: [(u64, &str, &str); 4] = [
    (86_400, "day", "days"),
    (3600, "h", "h"),
    (60, "min", "min"),
    (1, "s", "s"),
];

/// `13 days 4 h`: the two largest units are enough to tell.
pub(crate) fn span(seconds: u64) -> String {
    let mut rest = seconds;
    let mut parts = Vec::new();
    for (size, one, many) in UNITS {
        let count = rest / size;
        rest %= size;
        // Days and minutes without hours would be a strange precision.
        if count > 0 {
            parts.push(format!("{count} {}", if count == 1 { one } else { many }));
        } else if !parts.is_empty() {
            break;
        }
        if parts.len() == 2 {
            break;
        }
    }
    if parts.is_empty() {
        return "0 s".to_owned();
    }
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_told_in_its_two_largest_units() {
        const DAY: u64 = 86_400;
        let table = [
            (0, "0 s"),
            (1, "1 s"),
            (59, "59 s"),
            (60, "1 min"),
            (61, "1 min 1 s"),
            (3600, "1 h"),
            (3601, "1 h"),
            (7260, "2 h 1 min"),
            (DAY, "1 day"),
            (DAY + 3599, "1 day"),
            (14 * DAY, "14 days"),
            (40 * DAY + 5 * 3600 + 59, "40 days 5 h"),
            (400 * DAY, "400 days"),
            (u64::MAX, "213503982334601 days 7 h"),
        ];
        for (seconds, expected) in table {
            assert_eq!(span(seconds), expected, "{seconds}");
        }
    }
}
