//! What the system's table of processes says: `/proc`, read and nothing more.

use std::fs;

/// A process as the table has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) group: i32,
    /// Whether it has ended, and only waits for its parent to notice.
    pub(super) is_over: bool,
}

/// The children of this process that its first thread has.
///
/// Those are all whose parent has ended, and with it those whose thread has: the system gives them to the first thread. What
/// another thread has started and nobody has lost is not among them, which keeps this short on a host of many toolboxes.
pub(super) fn adopted() -> Vec<i32> {
    let own = std::process::id();
    match fs::read_to_string(format!("/proc/self/task/{own}/children")) {
        Ok(text) => numbers(&text),
        Err(_) => looked_up(),
    }
}

/// The children of this process, of all its threads.
pub(super) fn children() -> Vec<i32> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten();
    let texts: Result<Vec<_>, _> = threads
        .flatten()
        // A thread that ends meanwhile hands its children to the first, which is read again in a moment.
        .filter(|thread| thread.path().exists())
        .map(|thread| fs::read_to_string(thread.path().join("children")))
        .collect();
    match texts {
        Ok(texts) if !texts.is_empty() => texts.iter().flat_map(|text| numbers(text)).collect(),
        _ => looked_up(),
    }
}

/// The same from the whole table: there are kernels that keep no list of children.
fn looked_up() -> Vec<i32> {
    let own = i32::try_from(std::process::id()).unwrap_or_default();
    all()
        .filter(|entry| entry.parent == own)
        .map(|entry| entry.pid)
        .collect()
}

fn numbers(text: &str) -> Vec<i32> {
    text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// Every process there is, each read when it is asked for.
pub(super) fn all() -> impl Iterator<Item = Entry> {
    let folders = fs::read_dir("/proc").into_iter().flatten();
    folders.flatten().filter_map(|folder| {
        let pid = folder.file_name().to_str()?.parse().ok()?;
        entry(pid, &fs::read(folder.path().join("stat")).ok()?)
    })
}

/// `pid (name) state parent group ...`, where the name may hold anything, brackets and blanks too.
fn entry(pid: i32, stat: &[u8]) -> Option<Entry> {
    let behind_name = stat.rsplit(|byte| *byte == b')').next()?;
    let mut words = std::str::from_utf8(behind_name).ok()?.split_whitespace();
    let state = words.next()?;
    Some(Entry {
        pid,
        parent: words.next()?.parse().ok()?,
        group: words.next()?.parse().ok()?,
        is_over: matches!(state, "Z" | "X"),
    })
}

/// What a process was started with, variable by variable, each ended by a zero. Nothing for one that has ended, whose
/// environment was taken away, or that is none of this user's.
pub(super) fn environment(pid: i32) -> Vec<u8> {
    fs::read(format!("/proc/{pid}/environ")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_what_it_likes() {
        let line = b"17 (a) Z (b\n) S 1 5 5 0 -1 4194560";
        let expected = Entry {
            pid: 17,
            parent: 1,
            group: 5,
            is_over: false,
        };
        assert_eq!(entry(17, line), Some(expected));
        assert!(entry(17, b"17 (x) Z 1 5").is_some_and(|entry| entry.is_over));
        assert_eq!(entry(17, b""), None);
        assert_eq!(entry(17, b"17 (x) S"), None);
    }

    #[test]
    fn this_process_is_in_its_own_table() {
        let own = i32::try_from(std::process::id()).unwrap();
        let found = all().find(|entry| entry.pid == own).unwrap();
        assert!(found.parent > 0 && !found.is_over);
        assert!(environment(own).windows(5).any(|text| text == b"PATH="));
        assert_eq!(environment(i32::MAX), b"");
    }
}
