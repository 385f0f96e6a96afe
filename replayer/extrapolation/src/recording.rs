//! The calls of a recording, in memory: each different call once, and for each rank the calls that it makes.
//!
//! A *call* is every event except computation, the events of a program that waits by polling, and call sites. A *step* is a
//! call and the computation before it. A call consists of a *skeleton*, which does not depend on the number of ranks, and of what
//! may depend on it: peers, members, volumes and tags.

use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use titr_common::event::{CommId, Event, Group, Mark, Partitioned, Rank, Tag, ThreadId, Volumes};
use titr_common::grammar::write_event;
use titr_common::trace::manifest::Ended;
use titr_common::trace::{EventSource as _, Trace};
use titr_common::units::{Bytes, Instructions};

use crate::error::ExtrapolationError;
use crate::volumes::{Volume, visit_tags, visit_volumes};

/// A call, by its number among the different calls of all recordings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CallId(u32);

/// A skeleton, by its number among those of all recordings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SkeletonId(u32);

/// What may depend on the number of ranks in a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parts {
    pub skeleton: SkeletonId,
    pub peers: Vec<Rank>,
    /// The members of a new communicator.
    pub members: Option<Vec<Rank>>,
    pub volumes: Vec<f64>,
    pub tags: Vec<i32>,
}

/// All different calls of the recordings.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    parts: Vec<Parts>,
    skeletons: Vec<Event>,
    by_text: FxHashMap<Vec<u8>, CallId>,
    skeletons_by_text: FxHashMap<Vec<u8>, SkeletonId>,
    text: Vec<u8>,
}

/// A call of a rank and the computation before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub call: CallId,
    pub work: f64,
}

/// The calls of a recording.
pub(crate) struct Recording {
    pub path: PathBuf,
    pub trace: Trace,
    /// The steps of each rank.
    pub ranks: Vec<Vec<Step>>,
    /// The computation of each rank after its last call.
    pub tails: Vec<f64>,
}

fn is_call(event: &Event) -> bool {
    !event.is_polling() && !matches!(event, Event::Mark(Mark::CallSite(_) | Mark::CallStack(..)))
}

/// Why an event cannot be extrapolated.
fn unsupported(event: &Event) -> Option<&'static str> {
    let joins_groups = |group: &Option<Group>| group.as_ref().is_some_and(|group| !group.remote.is_empty());
    if matches!(event, Event::CommCreate(call, _, group) if call.joins_worlds() || joins_groups(group)) {
        return Some("communicators between two groups cannot be extrapolated");
    }
    if matches!(event, Event::Mark(Mark::PartBegin | Mark::PartEnd | Mark::Unrecorded(_))) {
        return Some("a part of a program cannot be extrapolated: record the whole program");
    }
    matches!(event, Event::Task(_)).then_some("a trace that is a graph cannot be extrapolated")
}

impl Calls {
    /// The call that `event` is, of a rank whose communicators have these sizes.
    fn intern(&mut self, mut event: Event, sizes: &FxHashMap<CommId, usize>) -> CallId {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        write_event(&mut text, Rank(0), &event);
        // An equal list for each member is another call in a communicator of another size.
        if let Event::Collective(call, _) = &event {
            text.extend_from_slice(&sizes.get(&call.comm).copied().unwrap_or_default().to_le_bytes());
        }
        let known = self.by_text.get(&text).copied();
        let id = known.unwrap_or_else(|| {
            let parts = self.take_apart(&mut event, sizes);
            self.parts.push(parts);
            let id = CallId(self.parts.len() as u32 - 1);
            self.by_text.insert(text.clone(), id);
            id
        });
        self.text = text;
        id
    }

    fn take_apart(&mut self, event: &mut Event, sizes: &FxHashMap<CommId, usize>) -> Parts {
        let mut members = None;
        if let Event::CommCreate(_, _, Some(group)) = event {
            members = Some(std::mem::take(&mut group.members));
        }
        if let Event::Collective(call, _) = event {
            let size = sizes.get(&call.comm).copied();
            for volumes in [&mut call.send, &mut call.recv] {
                if let Volumes::PerMember(list) = volumes
                    && size == Some(list.len())
                    && list.windows(2).all(|pair| pair[0] == pair[1])
                {
                    list.truncate(1);
                }
            }
        }
        let (mut peers, mut amounts, mut tags) = (Vec::new(), Vec::new(), Vec::new());
        event.ranks(|rank| peers.push(std::mem::take(rank)));
        visit_volumes(event, |volume| match volume {
            Volume::Bytes(bytes) => amounts.push(std::mem::take(bytes).0 as f64),
            Volume::Work(Instructions(work)) => amounts.push(std::mem::take(work)),
        });
        visit_tags(event, |tag| tags.push(std::mem::take(tag).0));
        let mut text = Vec::new();
        write_event(&mut text, Rank(0), event);
        let next = SkeletonId(self.skeletons.len() as u32);
        let skeleton = *self.skeletons_by_text.entry(text).or_insert(next);
        if skeleton == next {
            self.skeletons.push(event.clone());
        }
        Parts { skeleton, peers, members, volumes: amounts, tags }
    }

    pub(crate) fn parts(&self, CallId(id): CallId) -> &Parts {
        &self.parts[id as usize]
    }

    /// Whether calls with this skeleton are collectives, whose only peer is the root.
    pub(crate) fn is_collective(&self, SkeletonId(id): SkeletonId) -> bool {
        matches!(self.skeletons[id as usize], Event::Collective(..))
    }

    /// The volume of calls with this skeleton that is the room for a message, by its number.
    pub(crate) fn received(&self, SkeletonId(id): SkeletonId) -> Option<usize> {
        let event = &self.skeletons[id as usize];
        if let Event::Sendrecv(sent, Some(_)) = event {
            return Some(usize::from(sent.is_some()));
        }
        matches!(event, Event::Recv(..) | Event::Partitioned(Partitioned::RecvInit(..))).then_some(0)
    }

    /// The event of a skeleton with these parts, of a rank whose communicators have these sizes.
    pub(crate) fn event(&self, parts: Parts, sizes: impl Fn(CommId) -> usize) -> Event {
        let mut event = self.skeletons[parts.skeleton.0 as usize].clone();
        let (mut peers, mut amounts, mut tags) = (parts.peers.iter(), parts.volumes.iter(), parts.tags.iter());
        event.ranks(|rank| *rank = peers.next().copied().unwrap_or_default());
        visit_volumes(&mut event, |volume| {
            let amount = amounts.next().copied().unwrap_or_default();
            match volume {
                Volume::Bytes(bytes) => *bytes = Bytes(amount as u64),
                Volume::Work(work) => *work = Instructions(amount),
            }
        });
        visit_tags(&mut event, |tag| *tag = Tag(tags.next().copied().unwrap_or_default()));
        if let Event::CommCreate(_, _, Some(group)) = &mut event {
            group.members = parts.members.unwrap_or_default();
        }
        if let Event::Collective(call, _) = &mut event {
            for volumes in [&mut call.send, &mut call.recv] {
                if let Volumes::PerMember(list) = volumes
                    && let [one] = list[..]
                {
                    *list = vec![one; sizes(call.comm)];
                }
            }
        }
        event
    }
}

impl Recording {
    /// Reads all ranks of `trace`, which was found at `path`.
    pub(crate) fn read(path: &Path, trace: &Trace, calls: &mut Calls) -> Result<Self, ExtrapolationError> {
        let mut recording = Self { path: path.into(), trace: trace.clone(), ranks: Vec::new(), tails: Vec::new() };
        for rank in (0..trace.ranks()).map(Rank) {
            recording.read_rank(rank, calls)?;
        }
        Ok(recording)
    }

    fn read_rank(&mut self, rank: Rank, calls: &mut Calls) -> Result<(), ExtrapolationError> {
        let world = self.trace.ranks() as usize;
        let mut sizes: FxHashMap<CommId, usize> = [(CommId::WORLD, world), (CommId::SELF, 1)].into_iter().collect();
        let mut stream = self.trace.stream(rank)?;
        let (mut steps, mut work, mut is_finished) = (Vec::new(), 0.0, false);
        while let Some(event) = stream.next_event()? {
            let refused = if stream.location().thread != ThreadId::MAIN {
                Some(
                    "calls of several threads have no order that could be extrapolated: record the program with one thread",
                )
            } else {
                unsupported(&event)
            };
            if let Some(what) = refused {
                let place = self.place(rank, Some((&event, stream.location().line)))?;
                return Err(ExtrapolationError::Unsupported { place, what });
            }
            if let Event::Compute(Instructions(volume)) = event {
                work += volume;
            }
            if let Event::CommCreate(_, _, Some(group)) = &event {
                sizes.insert(group.id, group.members.len());
            }
            is_finished |= event == Event::Finalize;
            if is_call(&event) {
                steps.push(Step { call: calls.intern(event, &sizes), work: std::mem::take(&mut work) });
            }
        }
        if !is_finished {
            let path = stream.path().unwrap_or_else(|| self.path.clone());
            return Err(ExtrapolationError::Unfinished { path, rank: rank.0, ended: Ended::Exit });
        }
        self.ranks.push(steps);
        self.tails.push(work);
        Ok(())
    }

    /// The place of a step of a rank, for a message.
    pub(crate) fn place_of(&self, rank: Rank, step: usize) -> Result<String, ExtrapolationError> {
        let mut stream = self.trace.stream(rank)?;
        let mut next = 0;
        while let Some(event) = stream.next_event()? {
            if is_call(&event) {
                if next == step {
                    return self.place(rank, Some((&event, stream.location().line)));
                }
                next += 1;
            }
        }
        self.place(rank, None)
    }

    /// The file, the rank and the call as the trace has it, with its line; without a call, that the rank ends.
    fn place(&self, rank: Rank, found: Option<(&Event, Option<u64>)>) -> Result<String, ExtrapolationError> {
        let path = self.trace.stream(rank)?.path().unwrap_or_else(|| self.path.clone());
        let Some((event, line)) = found else { return Ok(format!("{}: rank {} ends", path.display(), rank.0)) };
        let mut text = Vec::new();
        write_event(&mut text, rank, event);
        let line = line.map_or_else(String::new, |line| format!(":{line}"));
        Ok(format!("{}{line}: rank {}: `{}`", path.display(), rank.0, String::from_utf8_lossy(&text).trim_end()))
    }
}
