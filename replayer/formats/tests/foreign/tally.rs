//! Counts of a trace.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use titr_common::event::{Completion, Event, Rank, RequestId};
use titr_common::trace::{Trace, TraceError};
use titr_formats::input;

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

/// A sample in the repository.
pub(crate) fn sample(format: &str, name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/foreign").join(format).join(name)
}

/// Opens a trace of one file or directory.
pub(crate) fn open(path: &Path) -> Result<Trace, TraceError> {
    input::open(&[path])
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
