//! What a trace has in it, as the tables of its origin count it.

use std::collections::{BTreeMap, BTreeSet};

use titr_common::event::{CollectiveKind, CommId, Event, Incoming, Outgoing, Rank};
use titr_common::trace::{Trace, TraceError};

/// The events of a rank.
pub(crate) fn events(trace: &Trace, rank: u32) -> Result<Vec<Event>, TraceError> {
    let mut stream = trace.stream(Rank(rank))?;
    std::iter::from_fn(|| stream.next_event().transpose()).collect()
}

/// Counts of a trace.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub ranks: u32,
    /// Messages and bytes sent.
    pub messages: u64,
    pub bytes: u64,
    /// Messages received.
    pub received: u64,
    /// Pairs of ranks with messages from the first to the second.
    pub pairs: usize,
    /// Collective calls of all ranks.
    pub collectives: BTreeMap<CollectiveKind, u64>,
    /// Communicators that ranks have made or found.
    pub communicators: usize,
}

impl Counts {
    /// Counts a trace, every rank of which begins with `Init` and ends with `Finalize`.
    pub(crate) fn of(trace: &Trace) -> Self {
        let mut counts = Self { ranks: trace.ranks(), ..Self::default() };
        let (mut sent, mut received) = (BTreeMap::new(), BTreeMap::new());
        for rank in 0..trace.ranks() {
            let events = events(trace, rank).unwrap();
            let executed: Vec<&Event> = events.iter().filter(|event| event.is_executed()).collect();
            assert_eq!(executed.first(), Some(&&Event::Init), "rank {rank}");
            assert_eq!(executed.last(), Some(&&Event::Finalize), "rank {rank}");
            let mut comms = BTreeSet::new();
            for event in executed {
                counts.add(rank, event, &mut sent, &mut received);
                if let Event::CommCreate(_, _, Some(group)) = event {
                    assert!(group.id > CommId::SELF && comms.insert(group.id), "{event:?}");
                    counts.communicators += 1;
                }
            }
        }
        counts.pairs = sent.len();
        received.retain(|_, number| *number > 0);
        // Receives from anyone are counted, but not among pairs.
        for (pair, number) in &received {
            assert!(sent.get(pair).is_some_and(|sent| sent >= number), "{pair:?}: {number} received");
        }
        counts
    }

    fn add(
        &mut self,
        rank: u32,
        event: &Event,
        sent: &mut BTreeMap<(u32, u32), u64>,
        received: &mut BTreeMap<(u32, u32), u64>,
    ) {
        let mut send = |message: &Outgoing| {
            *sent.entry((rank, message.to.0)).or_default() += 1;
            self.messages += 1;
            self.bytes += message.bytes.0;
        };
        let mut receive = |message: &Incoming| {
            self.received += 1;
            if let Some(from) = message.from {
                *received.entry((from.0, rank)).or_default() += 1;
            }
        };
        match event {
            Event::Send(_, message, _) => send(message),
            Event::Recv(message, _) => receive(message),
            Event::Sendrecv(out, back) => {
                out.iter().for_each(&mut send);
                back.iter().for_each(&mut receive);
            }
            Event::Collective(call, _) => *self.collectives.entry(call.kind).or_default() += 1,
            _ => {}
        }
    }
}

/// The computations of rank 0.
pub(crate) fn computed(trace: &Trace) -> Vec<f64> {
    let volume = |event| if let Event::Compute(volume) = event { Some(volume.0) } else { None };
    events(trace, 0).unwrap().into_iter().filter_map(volume).collect()
}
