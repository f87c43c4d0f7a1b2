//! A toolbox in Rust with one tool, which gives back what it gets: next to no cost of its own, so
//! that what is measured is the host.

use std::io::{self, BufRead, Write};

use serde::Deserialize;
use serde_json::value::RawValue;

const TOOLS: &str = r#"{"tools":[{"name":"echo","description":"Gives back what it gets.","parameters":[{"name":"text","type":"string","required":true}]}],"capabilities":["concurrent"]}"#;

#[derive(Deserialize)]
struct Request<'a> {
    id: u64,
    #[serde(borrow)]
    kwargs: Option<&'a RawValue>,
}

/// Serves until its input ends. What came together is answered together.
pub(crate) fn serve() -> io::Result<()> {
    let mut input = io::BufReader::with_capacity(64 << 10, io::stdin().lock());
    let mut output = io::stdout().lock();
    let (mut line, mut answers) = (Vec::new(), Vec::new());
    while input.read_until(b'\n', &mut line)? > 0 {
        let request: Request<'_> = serde_json::from_slice(&line)?;
        // A call has arguments, a describe has none.
        let result = request.kwargs.map_or(TOOLS, RawValue::get);
        writeln!(answers, r#"{{"id":{},"result":{result}}}"#, request.id)?;
        if input.buffer().is_empty() {
            output.write_all(&answers)?;
            output.flush()?;
            answers.clear();
        }
        line.clear();
    }
    Ok(())
}
