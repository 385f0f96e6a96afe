//! Extended traces, and the messages of collectives in them.

use std::collections::BTreeMap;
use std::path::Path;

use titr_common::collectives::{CallMode, Library, Selection};
use titr_common::event::{Annotation, Collective, CommId, Completion, Event, Group, Message, Rank, Span};
use titr_common::trace::{Manifest, Trace};
use titr_common::units::Nanoseconds;

use crate::{Family, Traced, traced_as, traced_only};

/// Asks the tracer for an extended trace.
pub const EXTENDED: (&str, &str) = ("TITRACE_MODE", "extended");

/// An extended trace of `programs/SOURCE`, which gives the results that it gives untraced.
///
/// # Panics
/// If it does not.
pub fn extended(family: Family, ranks: u32, source: &str) -> Traced {
    let program = family.build(source, &["-pthread"]);
    let trace = traced_as(&[EXTENDED], family, ranks, &program, &[], str::to_owned);
    assert_eq!(trace.run.status, Some(0), "{family:?} {source}: {}", trace.run.stderr);
    trace
}

/// An extended trace of `programs/SOURCE`, whose results another test compares.
///
/// # Panics
/// If the program fails.
pub fn extended_only(family: Family, ranks: u32, source: &str) -> Traced {
    traced_only(&[EXTENDED], family, ranks, &family.build(source, &["-pthread"]))
}

/// The algorithms that the tracer uses in the place of a family's own.
pub fn like(family: Family) -> Selection {
    Selection::from(match family {
        Family::OpenMpi => Library::OpenMpi,
        Family::Mpich => Library::Mpich,
    })
}

/// A collective in a trace, its place there, and the messages recorded for it.
pub struct Recorded {
    /// The members of its communicator.
    pub members: Vec<Rank>,
    /// The rank that recorded it.
    pub me: Rank,
    /// The collective itself.
    pub collective: Collective,
    /// Whether its call returns when it is done.
    pub mode: CallMode,
    /// Its number among the collectives of its communicator.
    pub number: u64,
    /// Its messages, in the order in which they ended.
    pub messages: Vec<Message>,
}

/// All collectives of all ranks.
///
/// # Panics
/// If the trace cannot be read, or a message lies outside of its collective.
pub fn recorded(trace: &Path) -> Vec<Recorded> {
    let source = Trace::open(trace).unwrap();
    let world = (0..source.ranks()).map(Rank).collect::<Vec<_>>();
    let mut all: Vec<Recorded> = Vec::new();
    for (me, mut stream) in (0..).map(Rank).zip(source.streams().unwrap()) {
        let mut groups = vec![Some(world.clone()), Some(vec![me])];
        let mut numbers = vec![0_u64; 2];
        // Since when those go on that were started, and where they are among all; messages of those that are to come.
        // (`None` for those of neighbours, and persistent ones).
        let mut started: BTreeMap<(u32, u64), (Nanoseconds, Option<usize>)> = BTreeMap::new();
        let (mut messages, mut last) = (Vec::new(), Span::default());
        while let Some(event) = stream.next_event().unwrap() {
            match event {
                Event::Annotation(Annotation::Call(span)) => {
                    assert!(last.end <= span.begin && span.begin <= span.end, "{last:?} {span:?}");
                    last = span;
                }
                Event::Annotation(Annotation::Message(message)) => {
                    let Span { begin, end } = message.span;
                    let background = started.get(&(message.comm.0, message.number));
                    let since = background.map_or(last.begin, |&(since, _)| since);
                    assert!(since <= begin && begin <= end && end <= last.end, "{message:?} in {last:?}");
                    match background {
                        None => messages.push(message),
                        Some(&(_, Some(at))) => all[at].messages.push(message),
                        Some((_, None)) => {}
                    }
                }
                Event::CommCreate(_, _, Some(Group { id: CommId(id), members, .. })) => {
                    let at = id as usize;
                    if groups.len() <= at {
                        groups.resize(at + 1, None);
                        numbers.resize(at + 1, 0);
                    }
                    (groups[at], numbers[at]) = (Some(members), 0);
                }
                Event::Neighborhood(call, completion) => {
                    let number = numbers[call.comm.0 as usize];
                    numbers[call.comm.0 as usize] += 1;
                    messages.clear();
                    if completion != Completion::Blocking {
                        started.insert((call.comm.0, number), (last.begin, None));
                    }
                }
                Event::Collective(collective, Completion::Persistent(_)) => {
                    let comm = collective.comm.0;
                    started.insert((comm, numbers[comm as usize]), (last.begin, None));
                    numbers[comm as usize] += 1;
                }
                Event::Collective(collective, completion) => {
                    let at = collective.comm.0 as usize;
                    let members = groups[at].clone().unwrap();
                    let (number, messages) = (numbers[at], std::mem::take(&mut messages));
                    numbers[at] += 1;
                    if let Completion::Request(_) = completion {
                        started.insert((collective.comm.0, number), (last.begin, Some(all.len())));
                    }
                    all.push(Recorded { members, me, collective, mode: completion.into(), number, messages });
                }
                _ => {}
            }
        }
        assert!(messages.is_empty(), "messages of no collective");
    }
    all
}

/// Every collective in the trace has its messages.
///
/// # Panics
/// If one does not.
pub fn nothing_is_opaque(trace: &Path) {
    for entry in Manifest::read(trace).unwrap().per_rank {
        assert!(entry.opaque.is_empty() && entry.untraced.is_empty(), "{entry:?}");
    }
}
