//! Medians over blocks, and how they are shown.

/// What was measured of one way, in blocks.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) blocks: Vec<Vec<u64>>,
}

impl Row {
    pub(crate) fn new(name: &'static str) -> Self {
        Self {
            name,
            blocks: Vec::new(),
        }
    }

    /// The median over the blocks of their medians, in ns.
    pub(crate) fn median(&self) -> u64 {
        percentile(
            self.blocks.iter().map(|block| percentile(block.iter().copied(), 50)),
            50,
        )
    }

    fn p99(&self) -> u64 {
        percentile(
            self.blocks.iter().map(|block| percentile(block.iter().copied(), 99)),
            50,
        )
    }

    /// Ratio to `base` first, then the numbers it comes from.
    pub(crate) fn show(&self, base: &Self) -> String {
        let ratio = self.median() as f64 / base.median() as f64;
        let (median, p99) = (micros(self.median()), micros(self.p99()));
        format!("{ratio:>9.2}  {median:>10}  {p99:>10}  {}", self.name)
    }

    /// The same with what the median is above that of `base`.
    pub(crate) fn show_with_difference(&self, base: &Self) -> String {
        let difference = (self.median() as f64 - base.median() as f64) / 1000.0;
        format!("{}, {difference:+.1} us", self.show(base))
    }
}

/// The heading of rows.
pub(crate) fn heading(what: &str) -> String {
    format!("\n{what}\n{:>9}  {:>10}  {:>10}", "ratio", "median us", "p99 us")
}

/// One number of toolhost's beside the peer's, where there is one.
pub(crate) fn pair(name: &str, ours: f64, theirs: Option<f64>, unit: &str) -> String {
    let ratio = theirs.map_or("-".to_owned(), |theirs| format!("{:.2}", theirs / ours));
    let theirs = theirs.map_or("-".to_owned(), |theirs| format!("{theirs:.2}"));
    format!("{ratio:>9}  {ours:>10.2}  {theirs:>10}  {name}, {unit}")
}

/// The value below which `percent` of 100 lie.
pub(crate) fn percentile(values: impl Iterator<Item = u64>, percent: usize) -> u64 {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    let last = values.len().saturating_sub(1);
    values.get(last * percent / 100).copied().unwrap_or_default()
}

fn micros(nanos: u64) -> String {
    format!("{:.1}", nanos as f64 / 1000.0)
}
