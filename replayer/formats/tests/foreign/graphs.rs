//! The contents of a trace whose ranks are graphs.

use std::collections::BTreeMap;
use std::path::Path;

use titr_common::event::{Completion, Event, Rank, Task};
use titr_common::trace::{Trace, TraceError};

use crate::samples::open;

/// A task and its event.
pub(crate) type Node = (Task, Event);

/// The counts of all ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub ranks: u32,
    pub sends: u64,
    pub receives: u64,
    pub times: u64,
    pub collectives: u64,
    /// The number of dependences on the end of a task, and on its beginning; without those on the first task.
    pub ended: u64,
    pub begun: u64,
    pub bytes: u64,
    pub nanoseconds: u64,
}

/// The tasks of a rank.
pub(crate) fn nodes(trace: &Trace, rank: u32) -> Result<Vec<Node>, TraceError> {
    let mut stream = trace.stream(Rank(rank))?;
    let (mut nodes, mut task) = (Vec::new(), None);
    while let Some(event) = stream.next_event()? {
        match event {
            Event::Task(next) => task = Some(next),
            event => nodes.extend(task.take().map(|task| (task, event))),
        }
    }
    Ok(nodes)
}

/// The counts of a trace. Fails if a task does not say how many others depend on it.
pub(crate) fn counts(trace: &Trace) -> Result<Counts, TraceError> {
    let mut counts = Counts { ranks: trace.ranks(), ..Counts::default() };
    for rank in 0..trace.ranks() {
        let nodes = nodes(trace, rank)?;
        let mut dependents: BTreeMap<usize, u32> = BTreeMap::new();
        for (number, (task, event)) in nodes.iter().enumerate() {
            for back in task.ended.iter().chain(&task.begun) {
                *dependents.entry(number - *back as usize).or_default() += 1;
            }
            counts.ended += task.ended.iter().filter(|back| **back as usize != number).count() as u64;
            counts.begun += task.begun.len() as u64;
            match event {
                Event::Send(_, message, Completion::Blocking) => {
                    counts.sends += 1;
                    counts.bytes += message.bytes.0;
                }
                Event::Recv(..) => counts.receives += 1,
                Event::Sleep(time) if number > 0 => {
                    counts.times += 1;
                    counts.nanoseconds += (time.0 * 1e9).round() as u64;
                }
                Event::Collective(..) => counts.collectives += 1,
                Event::Init | Event::Sleep(_) => {}
                other => panic!("{other:?}"),
            }
        }
        for (number, (task, _)) in nodes.iter().enumerate() {
            assert_eq!(task.dependents, dependents.get(&number).copied().unwrap_or(0), "rank {rank}, task {number}");
        }
    }
    Ok(counts)
}

/// The error of opening and reading a trace with this content, with the name `FILE` for the file.
pub(crate) fn fault(path: &Path) -> String {
    let error = match open(path) {
        Ok(trace) => counts(&trace).unwrap_err(),
        Err(error) => error,
    };
    error.to_string().replace(&path.display().to_string(), "FILE")
}
