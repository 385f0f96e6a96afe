//! Paraver's format: a trace (`.prv`), the meaning of its numbers (`.pcf`), and the names of its rows (`.row`)
//! (Barcelona Supercomputing Center, "Paraver: Parallel Program Visualization and Analysis tool, version 3.1,
//! Traceformat Description", 2001).
//!
//! Each rank is a task with one thread on its own processor. A rank has a state and events: its current call and, on
//! the first rank, the payload of all messages in transit. A message is a communication with equal logical and physical
//! times. Records are ordered by their beginning, and the first line has the time of the last one, so all are kept
//! until the end.

use std::io::{self, Write};
use std::path::Path;

use titr_common::event::Rank;
use titr_common::output::OutputFile;
use titr_common::time::Time;
use titr_common::units::Bytes;
use titr_timeline::{Arrow, Series, State, Subject, TimelineEvent, TimelineWriter};

use super::TimelineFormat;
use crate::output::paraver::{files, state_of, write_rows, write_states};

/// The format of Paraver.
pub(super) const PARAVER: TimelineFormat = TimelineFormat {
    name: "paraver",
    viewers: "Paraver; .pcf and .row are written beside the .prv",
    begin: |path, subject| Ok(Box::new(Paraver::new(path, subject)?)),
    files: |path| files(path).to_vec(),
};

/// Types of events. Other tools have given none of these a meaning.
const CALL: u32 = 77_000_001;
const IN_FLIGHT: u32 = 77_000_002;

/// A record of the trace. Times are nanoseconds.
#[derive(Clone, Copy, Debug)]
enum Record {
    State { row: u32, to: u64, state: u32 },
    Call { row: u32, value: u32 },
    InFlight(Bytes),
    Message { from: u32, to: u32, arrival: u64, bytes: Bytes, tag: u32 },
}

/// The files of a trace.
struct Paraver {
    trace: OutputFile,
    config: OutputFile,
    rows: OutputFile,
    /// The row of each rank, from 1; `None` if it is not shown.
    row_of: Vec<Option<u32>>,
    /// The name of each row.
    names: Vec<String>,
    /// The state of each rank, and since when.
    states: Vec<Option<(State, u64)>>,
    /// Records, and when each begins.
    records: Vec<(u64, Record)>,
    /// The departure time of each message in transit.
    departed: rustc_hash::FxHashMap<u64, u64>,
    /// The calls so far: a call's value is its place, from 1.
    calls: Vec<State>,
}

impl Paraver {
    fn new(path: &Path, subject: &Subject) -> io::Result<Self> {
        let [path, config, rows] = files(path);
        let mut row_of = vec![None; subject.ranks as usize];
        let mut names = Vec::new();
        for (row, rank) in (1..).zip(subject.shown()) {
            row_of[rank.0 as usize] = Some(row);
            names.push(subject.rank_name(rank));
        }
        Ok(Self {
            trace: OutputFile::create(&path)?,
            config: OutputFile::create(&config)?,
            rows: OutputFile::create(&rows)?,
            states: vec![None; row_of.len()],
            row_of,
            names,
            records: Vec::new(),
            departed: rustc_hash::FxHashMap::default(),
            calls: Vec::new(),
        })
    }

    fn row(&self, rank: Rank) -> Option<u32> {
        self.row_of.get(rank.0 as usize).copied().flatten()
    }

    fn enter(&mut self, rank: Rank, state: State, at: u64) {
        self.leave(rank, at);
        self.states[rank.0 as usize] = Some((state, at));
        let Some(row) = self.row(rank) else { return };
        if state.word != State::COMPUTING.word {
            let known = self.calls.iter().position(|call| call.word == state.word);
            let place = known.unwrap_or_else(|| {
                self.calls.push(state);
                self.calls.len() - 1
            });
            self.records.push((at, Record::Call { row, value: place as u32 + 1 }));
        }
    }

    fn leave(&mut self, rank: Rank, at: u64) {
        let Some((state, since)) = self.states[rank.0 as usize].take() else { return };
        let Some(row) = self.row(rank) else { return };
        self.records.push((since, Record::State { row, to: at, state: state_of(state.activity) }));
        if state.word != State::COMPUTING.word {
            self.records.push((at, Record::Call { row, value: 0 }));
        }
    }

    /// Writes the trace, whose records are sorted.
    fn write_trace(&mut self, end: u64) -> io::Result<()> {
        let (out, rows) = (&mut self.trace, self.row_of.iter().flatten().count());
        let tasks = vec!["1:1"; rows].join(",");
        // A date would make two files of one replay differ.
        writeln!(out, "#Paraver (01/01/1970 at 00:00):{end}_ns:1({rows}):1:{rows}({tasks})")?;
        for &(at, record) in &self.records {
            match record {
                Record::State { row, to, state } => writeln!(out, "1:{row}:1:{row}:1:{at}:{to}:{state}"),
                Record::Call { row, value } => writeln!(out, "2:{row}:1:{row}:1:{at}:{CALL}:{value}"),
                Record::InFlight(bytes) => writeln!(out, "2:1:1:1:1:{at}:{IN_FLIGHT}:{}", bytes.0),
                Record::Message { from, to, arrival, bytes, tag } => {
                    writeln!(out, "3:{from}:1:{from}:1:{at}:{at}:{to}:1:{to}:1:{arrival}:{arrival}:{}:{tag}", bytes.0)
                }
            }?;
        }
        Ok(())
    }

    fn write_config(&mut self) -> io::Result<()> {
        let out = &mut self.config;
        write_states(out)?;
        writeln!(out, "\nEVENT_TYPE\n0    {CALL}    MPI call\nVALUES\n0      End")?;
        for (value, call) in (1..).zip(&self.calls) {
            writeln!(out, "{value:<6} {}", call.name())?;
        }
        writeln!(out, "\nEVENT_TYPE\n0    {IN_FLIGHT}    Bytes in flight, all ranks")?;
        Ok(())
    }

    fn write_rows(&mut self) -> io::Result<()> {
        write_rows(&mut self.rows, &self.names, &self.names)
    }
}

impl TimelineWriter for Paraver {
    fn event(&mut self, at: Time, event: TimelineEvent) -> io::Result<()> {
        let at = at.0 / 1000;
        match event {
            TimelineEvent::Enter(rank, state) => self.enter(rank, state, at),
            TimelineEvent::Leave(rank) => self.leave(rank, at),
            TimelineEvent::Depart(arrow) => {
                self.departed.insert(arrow.key, at);
            }
            TimelineEvent::Arrive(Arrow { key, from, to, bytes, in_collective }) => {
                let departure = self.departed.remove(&key).unwrap_or(at);
                if let (Some(from), Some(to)) = (self.row(from), self.row(to)) {
                    let tag = u32::from(in_collective);
                    self.records.push((departure, Record::Message { from, to, arrival: at, bytes, tag }));
                }
            }
            TimelineEvent::InFlight(bytes) => self.records.push((at, Record::InFlight(bytes))),
        }
        Ok(())
    }

    /// Paraver's events are of ranks and not of links.
    fn series(&mut self, _: &Series) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, end: Time) -> io::Result<()> {
        let end = end.0 / 1000;
        for rank in (0..self.states.len() as u32).map(Rank) {
            self.leave(rank, end);
        }
        // Stable: a call ends before the next begins at the same time.
        self.records.sort_by_key(|(at, _)| *at);
        self.write_trace(end)?;
        self.write_config()?;
        self.write_rows()?;
        [&mut self.trace, &mut self.config, &mut self.rows].into_iter().try_for_each(OutputFile::finish)
    }
}
