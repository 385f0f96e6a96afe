//! Extended traces, and the messages of collectives in them.

use std::path::Path;

use titr_common::collectives::{Library, Selection};
use titr_common::event::{Annotation, Collective, CommId, Completion, Event, Group, Message, Rank, Span};
use titr_common::trace::{Manifest, Trace};

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
    /// Its number among the collectives of its communicator.
    pub number: u64,
    /// Its messages, in the order in which they ended.
    pub messages: Vec<Message>,
}

/// All blocking collectives of all ranks.
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
        let (mut messages, mut last) = (Vec::new(), Span::default());
        while let Some(event) = stream.next_event().unwrap() {
            match event {
                Event::Annotation(Annotation::Call(span)) => {
                    assert!(last.end <= span.begin && span.begin <= span.end, "{last:?} {span:?}");
                    last = span;
                }
                Event::Annotation(Annotation::Message(message)) => {
                    let Span { begin, end } = message.span;
                    assert!(last.begin <= begin && begin <= end && end <= last.end, "{message:?} in {last:?}");
                    messages.push(message);
                }
                Event::CommCreate(_, _, Some(Group { id: CommId(id), members, .. })) => {
                    let at = id as usize;
                    if groups.len() <= at {
                        groups.resize(at + 1, None);
                        numbers.resize(at + 1, 0);
                    }
                    (groups[at], numbers[at]) = (Some(members), 0);
                }
                Event::Neighborhood(call, _) => {
                    numbers[call.comm.0 as usize] += 1;
                    messages.clear();
                }
                Event::Collective(collective, Completion::Request(_) | Completion::Persistent(_)) => {
                    assert!(messages.is_empty(), "a collective that does not block has messages");
                    numbers[collective.comm.0 as usize] += 1;
                }
                Event::Collective(collective, Completion::Blocking) => {
                    let at = collective.comm.0 as usize;
                    let members = groups[at].clone().unwrap();
                    let (number, messages) = (numbers[at], std::mem::take(&mut messages));
                    numbers[at] += 1;
                    all.push(Recorded { members, me, collective, number, messages });
                }
                _ => {}
            }
        }
        assert!(messages.is_empty(), "messages of no collective");
    }
    all
}

/// Every blocking collective in the trace has its messages, and only others were left to the library.
///
/// # Panics
/// If one does not.
pub fn no_blocking_collective_is_opaque(trace: &Path) {
    for entry in Manifest::read(trace).unwrap().per_rank {
        let is_blocking = |call: &String| !call.starts_with("MPI_I") && !call.ends_with("_init");
        assert!(!entry.opaque.keys().any(is_blocking) && entry.untraced.is_empty(), "{entry:?}");
    }
}
