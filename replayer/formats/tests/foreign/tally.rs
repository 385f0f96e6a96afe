//! Counts of a trace.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use titr_common::event::{Completion, Event, Rank, RequestId};
use titr_common::trace::{Trace, TraceError};

use crate::samples::open;

/// The counts of a trace.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub ranks: u32,
    pub messages: u64,
    pub bytes: u64,
    /// The number of receives that got a message.
    pub receives: u64,
    /// The number of pairs of a sender and a receiver.
    pub pairs: usize,
    /// The number of calls of each collective, with the number of members of its communicator.
    pub collectives: BTreeMap<(String, usize), u64>,
}

/// The counts of the trace at a path.
pub(crate) fn of(path: &Path) -> Counts {
    let trace = open(path).unwrap_or_else(|error| panic!("{error}"));
    counted(&trace).unwrap_or_else(|error| panic!("{error}"))
}

/// The collectives of a trace, written as `kind members calls`.
pub(crate) fn collectives(list: &[(&str, usize, u64)]) -> BTreeMap<(String, usize), u64> {
    list.iter().map(|&(kind, members, calls)| ((kind.to_owned(), members), calls)).collect()
}

/// The counts of the program `stencil`, however it was traced.
pub(crate) fn stencil() -> Counts {
    let collectives = collectives(&[("allreduce", 9, 18), ("barrier", 9, 9)]);
    Counts { ranks: 9, messages: 480, bytes: 245_760, receives: 480, pairs: 24, collectives }
}

/// The counts of the program `lu`.
pub(crate) fn lu() -> Counts {
    let collectives = collectives(&[("bcast", 8, 16), ("allreduce", 8, 8)]);
    Counts { ranks: 8, messages: 1640, bytes: 512_000, receives: 1640, pairs: 20, collectives }
}

/// The counts of the programs whose traces are in the repository. The bytes of `wildcards` differ from run to run.
pub(crate) fn programs(bytes_of_wildcards: u64) -> [(&'static str, Counts); 5] {
    let of_collectives = collectives(&[
        ("bcast", 8, 40),
        ("bcast", 4, 20),
        ("barrier", 8, 40),
        ("barrier", 4, 20),
        ("reduce", 8, 40),
        ("reduce_scatter", 8, 40),
        ("allreduce", 4, 40),
        ("gather", 4, 40),
        ("scatter", 4, 40),
        ("allgather", 4, 40),
        ("alltoall", 4, 40),
        ("scan", 4, 20),
    ]);
    let vectors = ["alltoallv", "allgatherv", "gatherv", "scatterv"].map(|kind| (kind, 6, 48));
    let persistent = Counts { ranks: 6, messages: 288, bytes: 612_000, receives: 288, pairs: 12, ..Counts::default() };
    let wildcards = Counts {
        ranks: 6,
        messages: 75,
        bytes: bytes_of_wildcards,
        receives: 75,
        pairs: 10,
        collectives: collectives(&[("barrier", 6, 6)]),
    };
    [
        ("stencil", stencil()),
        ("collectives", Counts { ranks: 8, collectives: of_collectives, ..Counts::default() }),
        ("persistent", persistent),
        ("vectors", Counts { ranks: 6, collectives: collectives(&vectors), ..Counts::default() }),
        ("wildcards", wildcards),
    ]
}

/// The counts of a trace.
pub(crate) fn counted(trace: &Trace) -> Result<Counts, TraceError> {
    let mut counts = Counts { ranks: trace.ranks(), ..Counts::default() };
    let mut pairs = BTreeSet::new();
    for rank in (0..trace.ranks()).map(Rank) {
        let mut stream = trace.stream(rank)?;
        let mut communicators = BTreeMap::from([(0, trace.ranks() as usize), (1, 1)]);
        let mut persistent: BTreeMap<RequestId, Option<(Rank, u64)>> = BTreeMap::new();
        let mut sent = |counts: &mut Counts, to: Rank, bytes: u64| {
            counts.messages += 1;
            counts.bytes += bytes;
            pairs.insert((rank, to));
        };
        let (mut first, mut last) = (None, None);
        while let Some(event) = stream.next_event()? {
            let is_call = !matches!(event, Event::Annotation(_) | Event::Compute(_));
            if is_call {
                first.get_or_insert_with(|| event.clone());
                last = Some(event.clone());
            }
            match event {
                Event::Send(_, message, Completion::Persistent(id)) => {
                    persistent.insert(id, Some((message.to, message.bytes.0)));
                }
                Event::Recv(_, Completion::Persistent(id)) => _ = persistent.insert(id, None),
                Event::Send(_, message, _) => sent(&mut counts, message.to, message.bytes.0),
                Event::Recv(..) => counts.receives += 1,
                Event::Sendrecv(send, recv) => {
                    send.into_iter().for_each(|message| sent(&mut counts, message.to, message.bytes.0));
                    counts.receives += u64::from(recv.is_some());
                }
                Event::Start(ids) => {
                    for id in ids {
                        match persistent[&id] {
                            Some((to, bytes)) => sent(&mut counts, to, bytes),
                            None => counts.receives += 1,
                        }
                    }
                }
                Event::CommCreate(_, _, Some(group)) => _ = communicators.insert(group.id.0, group.members.len()),
                Event::Collective(operation, _) => {
                    let members = communicators[&operation.comm.0];
                    *counts.collectives.entry((operation.kind.name().to_owned(), members)).or_default() += 1;
                }
                _ => {}
            }
        }
        assert_eq!((first, last), (Some(Event::Init), Some(Event::Finalize)), "rank {}", rank.0);
    }
    counts.pairs = pairs.len();
    Ok(counts)
}

/// Reads a trace that may be damaged: errors are expected, and a panic is not.
pub(crate) fn read_damaged(path: &Path) {
    let Ok(trace) = open(path) else { return };
    for rank in (0..trace.ranks()).map(Rank) {
        let Ok(mut stream) = trace.stream(rank) else { continue };
        while let Ok(Some(_)) = stream.next_event() {}
    }
    assert!(trace.untranslated().iter().all(|sentence| !sentence.is_empty()));
}

/// Some bytes of a file, replaced by others.
pub(crate) fn damage(bytes: &mut [u8], places: &[(proptest::sample::Index, u8)]) {
    for (place, byte) in places {
        let at = place.index(bytes.len());
        bytes[at] = *byte;
    }
}

/// A text in a gzipped sample.
pub(crate) fn unpacked(path: &Path) -> String {
    let mut lines = titr_common::trace::Lines::open(path).unwrap();
    let mut text = String::new();
    while let Some(line) = lines.next().unwrap() {
        text += &String::from_utf8_lossy(line);
        text.push('\n');
    }
    text
}
