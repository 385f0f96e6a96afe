//! The patterns as programs of all ranks, whose time can be predicted on a platform.

use std::sync::Arc;

use titr_common::event::{
    CommId, Completed, Completion, Event, Incoming, Outgoing, Quantifier, Rank, RequestId, SendMode, Tag, Wildcard,
};
use titr_common::trace::{EventSource, Trace, TraceError};
use titr_common::units::Bytes;

use crate::measurements::{Pattern, Series};

/// The events of each rank.
pub(crate) struct Programs(pub Arc<[Vec<Event>]>);

impl titr_common::trace::RankSources for Programs {
    fn source(&self, rank: Rank, _partial: bool) -> Result<Box<dyn EventSource + Send>, TraceError> {
        Ok(Box::new(self.0.get(rank.0 as usize).cloned().unwrap_or_default().into_iter()))
    }
}

/// A trace of some rounds of a series' pattern, in a world of `world` ranks, and how many of the pattern's times a round
/// takes. `None` of a pattern that is a part of a call, or whose times are within a round.
pub(crate) fn trace(series: &Series, world: u32, bytes: Bytes, rounds: u32) -> Option<(Trace, f64)> {
    let (pattern, ranks) = (series.pattern, &series.ranks[..]);
    let mut programs = vec![vec![Event::Init]; world as usize];
    let mut of = |rank: u32, events: Vec<Event>| {
        if let Some(program) = programs.get_mut(rank as usize) {
            program.extend(events);
        }
    };
    let times = match pattern {
        Pattern::PingPong => {
            ping_pong(*ranks.first()?, *ranks.get(1)?, bytes, &mut of);
            2.0
        }
        Pattern::Opposite => {
            ranks.as_chunks().0.iter().for_each(|&[one, two]| ping_pong(one, two, bytes, &mut of));
            2.0
        }
        Pattern::Bisection => {
            let (half, other) = ranks.split_at(ranks.len() / 2);
            half.iter().zip(other).for_each(|(&one, &two)| ping_pong(one, two, bytes, &mut of));
            2.0
        }
        Pattern::Incast => {
            let (&root, others) = ranks.split_first()?;
            let receives = (0..).zip(others).map(|(request, &from)| irecv(from, bytes, request));
            let answers = others.iter().map(|&to| send(to, Bytes(0)));
            of(root, receives.chain([waitall()]).chain(answers).collect());
            others.iter().for_each(|&me| of(me, vec![send(root, bytes), recv(root, Bytes(0))]));
            1.0
        }
        Pattern::Scatter => {
            let (&root, others) = ranks.split_first()?;
            let sends = (0..).zip(others).map(|(request, &to)| isend(to, bytes, request));
            let answers = others.iter().map(|&from| recv(from, Bytes(0)));
            of(root, sends.chain([waitall()]).chain(answers).collect());
            others.iter().for_each(|&me| of(me, vec![recv(root, bytes), send(root, Bytes(0))]));
            1.0
        }
        Pattern::Exchange | Pattern::LateExchange | Pattern::Shift => {
            for (at, &me) in ranks.iter().enumerate() {
                if series.late.0 > 0.0 && at == 1 {
                    of(me, vec![Event::Sleep(series.late)]);
                }
                let (next, before) = (ranks[(at + 1) % ranks.len()], ranks[(at + ranks.len() - 1) % ranks.len()]);
                of(me, vec![irecv(before, bytes, 0), isend(next, bytes, 1), waitall()]);
            }
            1.0
        }
        Pattern::Train | Pattern::Send | Pattern::Isend | Pattern::Receive => return None,
    };
    for program in &mut programs {
        let round = program.split_off(1);
        program.extend((0..rounds).flat_map(|_| round.iter().cloned()));
        program.push(Event::Finalize);
    }
    Some((Trace::new(world, Programs(programs.into())), times))
}

fn ping_pong(one: u32, two: u32, bytes: Bytes, of: &mut impl FnMut(u32, Vec<Event>)) {
    of(one, vec![send(two, bytes), recv(two, bytes)]);
    of(two, vec![recv(one, bytes), send(one, bytes)]);
}

pub(crate) fn send(to: u32, bytes: Bytes) -> Event {
    Event::Send(SendMode::Standard, outgoing(to, bytes), Completion::Blocking)
}

pub(crate) fn recv(from: u32, bytes: Bytes) -> Event {
    Event::Recv(incoming(from, bytes), Completion::Blocking)
}

fn isend(to: u32, bytes: Bytes, request: u32) -> Event {
    Event::Send(SendMode::Standard, outgoing(to, bytes), Completion::Request(Some(RequestId(request))))
}

fn irecv(from: u32, bytes: Bytes, request: u32) -> Event {
    Event::Recv(incoming(from, bytes), Completion::Request(Some(RequestId(request))))
}

fn waitall() -> Event {
    Event::Wait(Quantifier::All, Completed::Outstanding(None))
}

fn outgoing(to: u32, bytes: Bytes) -> Outgoing {
    Outgoing { comm: CommId::WORLD, to: Rank(to), tag: Tag(0), bytes }
}

fn incoming(from: u32, bytes: Bytes) -> Incoming {
    let (from, tag) = (Some(Rank(from)), Some(Tag(0)));
    Incoming { comm: CommId::WORLD, from, tag, bytes, wildcard: Wildcard::NONE }
}
