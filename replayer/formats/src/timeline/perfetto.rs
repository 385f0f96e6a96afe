//! The trace event format of Chrome, in JSON, which <https://ui.perfetto.dev> opens (N. Duca, D. Sinclair, "Trace Event
//! TimelineWriter", 2016).
//!
//! Ranks are threads of one process, states are complete slices (`X`), and a message is a flow (`s` to `f`) between two
//! slices of no length that say what it is: an arrow begins and ends in a slice. Times are microseconds with three
//! decimals: whole nanoseconds, as the viewer counts them, so that one slice ends where the next begins.

use std::io::{self, Write};

use titr_common::event::Rank;
use titr_common::time::Time;

use super::{Activity, Arrow, State, TimelineEvent, TimelineFormat, TimelineWriter};

/// The format of Chrome and Perfetto.
pub(super) const PERFETTO: TimelineFormat = TimelineFormat {
    name: "perfetto",
    viewers: "https://ui.perfetto.dev (Chrome's JSON)",
    begin: |out, subject| Ok(Box::new(Perfetto::new(out, subject.ranks, subject.time)?)),
};

/// A Chrome JSON file.
struct Perfetto<W> {
    out: W,
    /// The state of each rank, and since when it is in it.
    states: Vec<Option<(State, Time)>>,
}

impl<W: Write> Perfetto<W> {
    /// Begins a file of so many ranks of a process called `name`.
    fn new(mut out: W, ranks: u32, name: &str) -> io::Result<Self> {
        let name = serde_json::Value::from(name);
        writeln!(out, r#"{{"displayTimeUnit":"ns","traceEvents":["#)?;
        write!(out, r#"{{"ph":"M","pid":1,"name":"process_name","args":{{"name":{name}}}}}"#)?;
        for rank in (0..ranks).map(Rank) {
            let thread = Thread(rank);
            writeln!(out, ",")?;
            write!(out, r#"{{"ph":"M",{thread},"name":"thread_name","args":{{"name":"rank {}"}}}}"#, rank.0)?;
        }
        Ok(Self { out, states: vec![None; ranks as usize] })
    }

    /// Writes what `rank` was at until `at`.
    fn end_state(&mut self, rank: Rank, at: Time) -> io::Result<()> {
        let Some((state, since)) = self.states.get_mut(rank.0 as usize).and_then(Option::take) else { return Ok(()) };
        let (thread, span) = (Thread(rank), Micros(nanoseconds(at) - nanoseconds(since)));
        let (since, name, kind) = (Micros(nanoseconds(since)), state.name(), category(state.activity));
        writeln!(self.out, ",")?;
        write!(self.out, r#"{{"ph":"X",{thread},"ts":{since},"dur":{span},"name":"{name}","cat":"{kind}"}}"#)
    }

    /// Writes one end of a message, at `rank`: the slice with what is said of it, and the end of the flow.
    fn end_of(&mut self, arrow: Arrow, rank: Rank, at: Time, name: &str, flow: &str) -> io::Result<()> {
        let (thread, at) = (Thread(rank), Micros(nanoseconds(at)));
        let Arrow { key, from, to, bytes, in_collective } = arrow;
        let kind = if in_collective { "message of a collective" } else { "message" };
        writeln!(self.out, ",")?;
        write!(self.out, r#"{{"ph":"X",{thread},"ts":{at},"dur":0,"name":"{name}","cat":"{kind}","#)?;
        write!(self.out, r#""args":{{"from":{},"to":{},"bytes":{}}}}},"#, from.0, to.0, bytes.0)?;
        writeln!(self.out)?;
        write!(self.out, r#"{{{flow},{thread},"ts":{at},"id":{key},"name":"message","cat":"{kind}"}}"#)
    }
}

fn nanoseconds(at: Time) -> u64 {
    at.0 / 1000
}

fn category(activity: Activity) -> &'static str {
    match activity {
        Activity::Compute => "compute",
        Activity::Send => "send",
        Activity::Recv => "recv",
        Activity::Wait => "wait",
        Activity::File => "file",
        Activity::Collective => "collective",
    }
}

/// The viewer takes thread 0 for an idle processor.
struct Thread(Rank);

impl std::fmt::Display for Thread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, r#""pid":1,"tid":{}"#, u64::from(self.0.0) + 1)
    }
}

/// A time in nanoseconds, shown in microseconds.
struct Micros(u64);

impl std::fmt::Display for Micros {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

impl<W: Write> TimelineWriter for Perfetto<W> {
    fn event(&mut self, at: Time, event: TimelineEvent) -> io::Result<()> {
        match event {
            TimelineEvent::Enter(rank, state) => {
                self.end_state(rank, at)?;
                if let Some(entry) = self.states.get_mut(rank.0 as usize) {
                    *entry = Some((state, at));
                }
                Ok(())
            }
            TimelineEvent::Leave(rank) => self.end_state(rank, at),
            TimelineEvent::Depart(arrow) => {
                self.end_of(arrow, arrow.from, at, &format!("to {}", arrow.to.0), r#""ph":"s""#)
            }
            // Bound to the slice that encloses it, not to the next one.
            TimelineEvent::Arrive(arrow) => {
                self.end_of(arrow, arrow.to, at, &format!("from {}", arrow.from.0), r#""ph":"f","bp":"e""#)
            }
        }
    }

    fn finish(&mut self, end: Time) -> io::Result<()> {
        for rank in (0..self.states.len() as u32).map(Rank) {
            self.end_state(rank, end)?;
        }
        writeln!(self.out, "\n]}}")?;
        self.out.flush()
    }
}
