//! A timeline as one table (RFC 4180) for scripts and spreadsheets: a row for each state, for each message, and for each
//! change of a counter, in the order in which they end.

use std::io::{self, Write};

use rustc_hash::FxHashMap;
use titr_common::event::{Activity, Rank};
use titr_common::format::cell;
use titr_common::output::OutputFile;
use titr_common::time::Time;
use titr_common::timeline::{Arrow, Series, State, Subject, TimelineEvent, TimelineWriter};

use super::{Decimal, TimelineFormat};

/// The table.
pub(super) const CSV: TimelineFormat = TimelineFormat {
    name: "timeline-csv",
    viewers: "scripts and spreadsheets: a table of states, messages and counters, with seconds",
    begin: |path, subject| Ok(Box::new(Table::new(OutputFile::create(path)?, subject)?)),
};

struct Table {
    out: OutputFile,
    /// The last column of each rank, with its job; empty if all ranks are of one program.
    jobs: Vec<String>,
    /// The state of each rank, and since when.
    states: Vec<Option<(State, Time)>>,
    /// The departure time of each message in transit.
    departed: FxHashMap<u64, Time>,
}

impl Table {
    fn new(mut out: OutputFile, subject: &Subject) -> io::Result<Self> {
        let jobs: Vec<String> = match subject.jobs.is_empty() {
            true => Vec::new(),
            false => (0..subject.ranks).map(|rank| column(subject.job(Rank(rank)).unwrap_or_default())).collect(),
        };
        writeln!(out, "kind,rank,to,begin,end,name,activity,value{}", if jobs.is_empty() { "" } else { ",job" })?;
        Ok(Self { jobs, out, states: vec![None; subject.ranks as usize], departed: FxHashMap::default() })
    }

    fn end_state(&mut self, rank: Rank, at: Time) -> io::Result<()> {
        let Some((state, since)) = self.states[rank.0 as usize].take() else { return Ok(()) };
        let (name, activity) = (state.name(), activity(state.activity));
        let job = self.jobs.get(rank.0 as usize).map_or("", String::as_str);
        writeln!(self.out, "state,{},,{},{},{name},{activity},{job}", rank.0, Decimal(since), Decimal(at))
    }

    /// The last column of a row that is of no job.
    fn no_job(&self) -> &'static str {
        if self.jobs.is_empty() { "" } else { "," }
    }
}

fn activity(activity: Activity) -> &'static str {
    match activity {
        Activity::Compute => "compute",
        Activity::Send => "send",
        Activity::Recv => "receive",
        Activity::Wait => "wait",
        Activity::File => "file",
        Activity::Collective => "collective",
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", cell(text).replace('"', "\"\""))
}

fn column(job: &str) -> String {
    format!(",{}", quoted(job))
}

impl TimelineWriter for Table {
    fn event(&mut self, at: Time, event: TimelineEvent) -> io::Result<()> {
        match event {
            TimelineEvent::Enter(rank, state) => {
                self.end_state(rank, at)?;
                self.states[rank.0 as usize] = Some((state, at));
                Ok(())
            }
            TimelineEvent::Leave(rank) => self.end_state(rank, at),
            TimelineEvent::Depart(arrow) => {
                self.departed.insert(arrow.key, at);
                Ok(())
            }
            TimelineEvent::Arrive(Arrow { key, from, to, bytes, in_collective }) => {
                let departed = Decimal(self.departed.remove(&key).unwrap_or(at));
                let name = if in_collective { "message of a collective" } else { "message" };
                let job = self.jobs.get(from.0 as usize).map_or("", String::as_str);
                writeln!(self.out, "message,{},{},{departed},{},{name},,{}{job}", from.0, to.0, Decimal(at), bytes.0)
            }
            TimelineEvent::InFlight(bytes) => {
                let job = self.no_job();
                writeln!(self.out, "counter,,,{},,bytes in flight,,{}{job}", Decimal(at), bytes.0)
            }
        }
    }

    fn series(&mut self, series: &Series) -> io::Result<()> {
        let (name, job) = (quoted(&series.name), self.no_job());
        let mut samples = series.samples.iter();
        samples.try_for_each(|&(at, number)| writeln!(self.out, "counter,,,{},,{name},,{number}{job}", Decimal(at)))
    }

    fn finish(&mut self, end: Time) -> io::Result<()> {
        for rank in (0..self.states.len() as u32).map(Rank) {
            self.end_state(rank, end)?;
        }
        self.out.finish()
    }
}
