//! Traces and hypotheses for the tests.

use std::path::Path;

use titr_common::event::{Event, Rank};
use titr_common::grammar::{Parser, write_event};
use titr_common::trace::{EventSource, RankSources, Trace, TraceError, Transformation};
use titr_hypotheses::Hypotheses;

/// A trace, by the events of each rank.
struct Lists(Vec<Vec<Event>>);

impl RankSources for Lists {
    fn source(&self, Rank(rank): Rank, _: bool) -> Result<Box<dyn EventSource + Send>, TraceError> {
        Ok(Box::new(self.0[rank as usize].clone().into_iter()))
    }
}

/// The trace that these lines of `ranks` ranks are.
pub fn trace(ranks: u32, lines: &str) -> Trace {
    let mut events = vec![Vec::new(); ranks as usize];
    let mut parsers: Vec<Parser> = (0..ranks).map(|_| Parser::new(ranks)).collect();
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let rank: usize = line.split_whitespace().next().unwrap().parse().unwrap();
        let (_, event) = parsers[rank].line(line.as_bytes()).unwrap_or_else(|error| panic!("{line}: {error}")).unwrap();
        events[rank].push(event);
    }
    Trace::new(ranks, Lists(events))
}

/// The lines of a trace.
pub fn lines(trace: &Trace) -> Result<String, TraceError> {
    let mut text = Vec::new();
    for rank in (0..trace.ranks()).map(Rank) {
        let mut stream = trace.stream(rank)?;
        while let Some(event) = stream.next_event()? {
            write_event(&mut text, rank, &event);
        }
    }
    Ok(String::from_utf8(text).unwrap())
}

/// The trace with the changes of a file, or the mistake in it.
pub fn changed(changes: &str, ranks: u32, text: &str) -> Result<String, String> {
    let hypotheses = Hypotheses::parse(Path::new("changes.toml"), changes.to_owned());
    let hypotheses = hypotheses.map_err(|error| error.to_string())?;
    let changed = hypotheses.apply(trace(ranks, text)).map_err(|error| error.to_string())?;
    lines(&changed).map_err(|error| error.to_string())
}

/// Asserts that the changes make of one trace the other.
#[track_caller]
pub fn assert_changed(changes: &str, ranks: u32, before: &str, after: &str) {
    let after: String =
        after.lines().map(str::trim).filter(|line| !line.is_empty()).map(|line| line.to_owned() + "\n").collect();
    assert_eq!(changed(changes, ranks, before).unwrap(), after);
}
