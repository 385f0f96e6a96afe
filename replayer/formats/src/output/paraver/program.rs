//! The lines of all ranks' calls, in the order in which the calls were made.

use std::collections::BTreeSet;

use titr_common::event::{Collective, CollectiveKind, Completion, Event, Rank, ThreadId};
use titr_common::program::{Communicators, Fault};
use titr_common::trace::Trace;

use super::body::PrvBody;
use super::communicators::PrvCommunicators;
use super::functions::{PrvFunction, PrvFunctions};
use super::messages::{PrvMessage, PrvMessages, PrvRequests, PrvSpan};
use super::state_of;
use crate::input::notes::{Notes, NotesOfRanks};
use crate::input::paraver::names::{COMMUNICATOR, INSTRUCTIONS, RECEIVED, ROOT, SENT};
use crate::output::ConvertError;
use crate::output::otf2::sum;
use crate::output::timed_calls::{TimedCall, TimedCalls};

/// The least time of a call and between two calls, in nanoseconds: readers find the call of a message by its time.
const SPACING: u64 = 1;

/// The unit in which a manifest says that the counter of a rank counts.
const COUNTED_IN: &str = "instructions";

/// A program about to be written.
pub(super) struct PrvProgram {
    ranks: Vec<PrvRank>,
    /// The beginning of the next call of each rank.
    order: BTreeSet<(u64, u32)>,
    /// Whether the trace counts instructions.
    is_counted: bool,
    program: Communicators,
    communicators: PrvCommunicators,
    functions: PrvFunctions,
    messages: PrvMessages,
    body: PrvBody,
    written: u64,
}

/// The reading of a rank.
struct PrvRank {
    calls: TimedCalls,
    next: Option<TimedCall>,
    requests: PrvRequests,
    threads: u32,
}

pub(super) struct WrittenProgram {
    pub end: u64,
    /// The number of threads of each rank.
    pub threads: Vec<u32>,
    pub calls: u64,
    pub messages: u64,
    pub communicators: PrvCommunicators,
    pub functions: PrvFunctions,
    pub differences: Vec<String>,
}

impl PrvProgram {
    pub(super) fn open(trace: &Trace, body: PrvBody) -> Result<Self, ConvertError> {
        let (mut ranks, mut order) = (Vec::new(), BTreeSet::new());
        for rank in 0..trace.ranks() {
            let mut calls = TimedCalls::of(trace, Rank(rank), SPACING)?;
            let next = calls.next()?;
            order.extend(next.as_ref().map(|call| (call.begin, rank)));
            ranks.push(PrvRank { calls, next, requests: PrvRequests::default(), threads: 1 });
        }
        let is_counted = trace
            .manifest()
            .is_none_or(|manifest| manifest.per_rank.iter().all(|entry| entry.counter.unit == COUNTED_IN));
        Ok(Self {
            ranks,
            order,
            is_counted,
            program: Communicators::new(trace.ranks() as usize),
            communicators: PrvCommunicators::new(trace.ranks()),
            functions: PrvFunctions::default(),
            messages: PrvMessages::default(),
            body,
            written: 0,
        })
    }

    /// Writes all calls.
    pub(super) fn write(mut self) -> Result<WrittenProgram, ConvertError> {
        let mut calls = 0;
        for &(begin, rank) in &self.order {
            self.body.line(0, state(&row(Rank(rank), ThreadId::MAIN), 0, begin, RUNNING));
        }
        while let Some((_, rank)) = self.order.pop_first() {
            let reading = &mut self.ranks[rank as usize];
            let Some(call) = reading.next.take() else { continue };
            let told = self.call(Rank(rank), &call);
            let reading = &mut self.ranks[rank as usize];
            told.map_err(|fault| reading.calls.fault(fault))?;
            reading.next = reading.calls.next()?;
            if let Some(next) = &reading.next {
                self.order.insert((next.begin, rank));
                self.body.line(call.end, state(&row(Rank(rank), next.thread), call.end, next.begin, RUNNING));
            }
            calls += 1;
            if let Some(&(next, _)) = self.order.first() {
                self.body.write_until(next)?;
            }
        }
        let threads = self.ranks.iter().map(|rank| rank.threads).collect();
        let notes = NotesOfRanks::default();
        for (rank, reading) in (0..).map(Rank).zip(self.ranks) {
            notes.keep(rank, reading.calls.notes);
        }
        let mut differences = notes.sentences();
        let unreceived = self.messages.pairs.unreceived().count();
        if unreceived > 0 {
            differences
                .push(format!("{unreceived} sends have no line, because the trace has no receive of their messages"));
        }
        Ok(WrittenProgram {
            end: self.body.finish()?,
            threads,
            calls,
            messages: self.written,
            communicators: self.communicators,
            functions: self.functions,
            differences,
        })
    }

    /// Adds the lines of a call.
    fn call(&mut self, rank: Rank, call: &TimedCall) -> Result<(), Fault> {
        let PrvRank { calls, requests, threads, .. } = &mut self.ranks[rank.0 as usize];
        for event in &call.before {
            requests.before(event);
            if let Event::CommCreate(function, parent, Some(group)) = event {
                self.program.create(rank, *function, *parent, group)?;
            }
            if let Event::Mark(_) = event {
                calls.notes.add("marks of the program are left out");
            }
        }
        let TimedCall { begin, end, event, thread, .. } = call;
        *threads = (*threads).max(thread.0 + 1);
        let span = PrvSpan { begin: *begin, end: *end, thread: *thread };
        // Extrae records no tests and probes in vain.
        if matches!(event, Event::Test(_, None) | Event::Iprobe(_, false)) {
            calls.notes.add("tests and probes in vain are left out");
            return Ok(());
        }
        requests.call(rank, event, span, &mut self.program, &mut self.messages)?;
        note(event, &mut calls.notes);
        let PrvFunction { kind, value } = self.functions.of(event);
        let row = row(rank, *thread);
        let mut line = format!("2:{row}:{begin}:{kind}:{value}");
        if let Event::Collective(collective, Completion::Blocking | Completion::Request(_)) = event {
            line += &self.collective(rank, collective)?;
        }
        if self.is_counted {
            line += &format!(":{INSTRUCTIONS}:{}", call.instructions as u64);
        }
        let activity = event.activity().map_or(0, state_of);
        self.body.line(*begin, state(&row, *begin, *end, activity));
        self.body.line(*begin, line);
        self.body.line(*end, format!("2:{row}:{end}:{kind}:0"));
        for PrvMessage { from, to, send, receive } in std::mem::take(&mut self.messages.found) {
            let tag = send.tag.0.cast_unsigned();
            let sender = format!("{}:{}:{}", self::row(from, send.thread), send.begin, send.end);
            let receiver = format!("{}:{}:{}", self::row(to, receive.thread), receive.posted, receive.completed);
            self.body.line(send.begin, format!("3:{sender}:{receiver}:{}:{tag}", send.bytes));
            self.written += 1;
        }
        if let Event::CommCreate(function, parent, Some(group)) = event {
            self.program.create(rank, *function, *parent, group)?;
        }
        if let Event::CommFree(id) = event {
            self.program.free(rank, *id)?;
        }
        Ok(())
    }

    /// The events of a collective beside its function.
    fn collective(&mut self, rank: Rank, call: &Collective) -> Result<String, Fault> {
        let index = self.program.find(rank, call.comm)?;
        let communicator = self.program.get(index);
        let members = &communicator.members;
        let me = members.member(rank)?;
        let is_root = call.root == Some(rank);
        let (sent, received) = bytes(call, members.len() as u64, me, is_root);
        let root = if is_root { me } else { 0 };
        let number = self.communicators.number(communicator.context, members);
        Ok(format!(":{SENT}:{sent}:{RECEIVED}:{received}:{ROOT}:{root}:{COMMUNICATOR}:{number}"))
    }
}

/// The state of a rank between two calls.
const RUNNING: u32 = 1;

/// The processor, the application, the task and the thread in a line.
fn row(rank: Rank, thread: ThreadId) -> String {
    let (task, thread) = (rank.0 + 1, thread.0 + 1);
    format!("{task}:1:{task}:{thread}")
}

/// The line of a state.
fn state(row: &str, begin: u64, end: u64, state: u32) -> String {
    format!("1:{row}:{begin}:{end}:{state}")
}

/// Takes note of what Paraver does not say of a call.
fn note(event: &Event, notes: &mut Notes) {
    match event {
        Event::Collective(_, Completion::Request(_) | Completion::Persistent(_)) => {
            notes.add("collectives that do not block have no event of their completion");
        }
        Event::Neighborhood(..) => notes.add("neighbourhood collectives have no neighbours"),
        Event::Partitioned(_) => notes.add("calls of partitioned messages have no message"),
        Event::OneSided(_) => notes.add("calls of one-sided communication have no window, target or bytes"),
        Event::File(_) => notes.add("calls on files have no file and no bytes"),
        Event::Init | Event::Finalize | Event::Compute(_) | Event::Sleep(_) | Event::Send(..) => {}
        Event::Recv(..) | Event::Sendrecv(..) | Event::Probe(_) | Event::Iprobe(..) | Event::Start(_) => {}
        Event::RequestFree(_) | Event::Cancel(_) | Event::Matched(..) | Event::Wait(..) | Event::Test(..) => {}
        Event::Collective(_, Completion::Blocking) | Event::Other(_) | Event::CommCreate(..) => {}
        Event::CommFree(_) | Event::Mark(_) | Event::Task(_) | Event::Annotation(_) => {}
    }
}

/// The bytes that a rank sends and receives in a collective among this number of members, as the one in this place.
pub(super) fn bytes(call: &Collective, members: u64, me: u32, is_root: bool) -> (u64, u64) {
    use CollectiveKind as K;
    let (send, recv) = (sum(&call.send), sum(&call.recv));
    let of_root = |bytes: u64| if is_root { bytes } else { 0 };
    let times_members = |bytes: u64| bytes.saturating_mul(members);
    match call.kind {
        K::Barrier => (0, 0),
        K::Bcast if is_root => (send, 0),
        K::Bcast => (0, send),
        K::Reduce if is_root => (0, send),
        K::Reduce => (send, 0),
        K::Allreduce | K::Scan | K::Exscan => (send, send),
        // The sum of what all members get, and the own part.
        K::ReduceScatter => (recv, call.recv.per_member().get(me as usize).map_or(0, |bytes| bytes.0)),
        K::ReduceScatterBlock => (times_members(recv), recv),
        K::Gather => (send, of_root(times_members(recv))),
        K::Scatter => (of_root(times_members(send)), recv),
        K::Allgather => (send, times_members(recv)),
        K::Alltoall => (times_members(send), times_members(recv)),
        K::Gatherv => (send, of_root(recv)),
        K::Scatterv => (of_root(send), recv),
        K::Allgatherv | K::Alltoallv | K::Alltoallw => (send, recv),
    }
}
