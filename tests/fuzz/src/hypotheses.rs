//! Hypotheses files.

use std::path::Path;

use titr_common::event::{Event, Rank};
use titr_common::grammar::Parser;
use titr_common::trace::{EventSource, RankSources, Trace, TraceError, Transformation};
use titr_hypotheses::Hypotheses;

/// A trace with something for every kind of change.
const TRACE: [&str; 2] = [
    "0 init\n0 region_begin foo\n0 compute 10\n0 send 1 0 0\n0 send 1 1 5000\n0 region_end foo\n0 compute 5\n\
     0 isend 1 1 9000 6 0\n0 wait_of 0\n0 barrier\n0 finalize",
    "1 init\n1 region_begin foo\n1 compute 30\n1 region_end foo\n1 recv 0 0 64\n1 irecv * 1 9000 6 0 any_source\n\
     1 matched 0 0 1\n1 wait_of 0\n1 compute 7\n1 recv 0 1 9000\n1 barrier\n1 finalize",
];

struct Lists;

impl RankSources for Lists {
    fn source(&self, Rank(rank): Rank, _: bool) -> Result<Box<dyn EventSource + Send>, TraceError> {
        let mut parser = Parser::new(TRACE.len() as u32);
        let events = TRACE[rank as usize].lines().map(|line| parser.line(line.as_bytes()).unwrap().unwrap().1);
        Ok(Box::new(events.collect::<Vec<Event>>().into_iter()))
    }
}

/// Reads hypotheses and makes the changes, after which as many messages are sent as received.
pub fn hypotheses(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Hypotheses::parse(Path::new("changes.toml"), text.to_owned()) {
        Ok(hypotheses) => match hypotheses.apply(Trace::new(TRACE.len() as u32, Lists)) {
            Ok(changed) => assert_eq!(balance(&changed), 0),
            Err(error) => assert!(!error.to_string().is_empty()),
        },
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// The number of sent messages less the number of received ones.
fn balance(trace: &Trace) -> i64 {
    let mut balance = 0;
    for mut stream in trace.streams().unwrap() {
        while let Some(event) = stream.next_event().unwrap() {
            let transfers = event.transfers();
            balance += i64::from(transfers.sent.is_some()) - i64::from(transfers.received.is_some());
        }
    }
    balance
}
