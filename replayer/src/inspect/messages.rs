//! The messages that ranks send outside of collectives.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use titr_analyses::Pair;
use titr_common::event::{Event, Outgoing, Partitioned, Rank, RequestId, Transfers};
use titr_common::trace::{Trace, TraceError};
use titr_common::units::Bytes;

/// Finds the messages that one rank sends, in its events from the first on. A persistent request sends one with each start.
#[derive(Clone, Debug, Default)]
pub(super) struct SentMessages {
    persistent: FxHashMap<RequestId, Outgoing>,
}

impl SentMessages {
    /// Visits each message that the rank sends in its next event.
    pub(super) fn visit(&mut self, event: &Event, mut visit: impl FnMut(Outgoing)) {
        let Self { persistent } = self;
        let Transfers { sent, at_start_of, .. } = event.transfers();
        match (at_start_of, sent) {
            (Some(request), Some(message)) => _ = persistent.insert(request, message),
            (Some(request), None) => _ = persistent.remove(&request),
            (None, Some(message)) => visit(message),
            (None, None) => {}
        }
        match event {
            Event::Start(requests) => {
                requests.iter().filter_map(|request| persistent.get(request)).for_each(|&message| visit(message));
            }
            &Event::Partitioned(Partitioned::SendInit(message, _, request)) => _ = persistent.insert(request, message),
            // The number may next be used by a persistent collective.
            Event::RequestFree(request) => _ = persistent.remove(request),
            Event::Partitioned(Partitioned::RecvInit(..) | Partitioned::Ready(..) | Partitioned::Arrived(..)) => {}
            Event::Send(..) | Event::Recv(..) | Event::Sendrecv(..) | Event::Probe(_) | Event::Iprobe(..) => {}
            Event::Wait(..) | Event::Test(..) | Event::Cancel(_) | Event::Matched(..) => {}
            Event::Collective(..) | Event::Neighborhood(..) | Event::OneSided(_) | Event::File(_) => {}
            Event::Init | Event::Finalize | Event::Compute(_) | Event::Sleep(_) | Event::Other(_) => {}
            Event::CommCreate(..) | Event::CommFree(_) | Event::Mark(_) | Event::Task(_) | Event::Annotation(_) => {}
        }
    }
}

/// The messages outside of collectives that a rank sends, for each receiver in order: a row of the communication matrix.
pub(crate) fn sent_by(trace: &Trace, rank: Rank) -> Result<Vec<Pair>, TraceError> {
    let (mut stream, mut sent) = (trace.stream(rank)?, SentMessages::default());
    let mut by_receiver: BTreeMap<Rank, (u64, Bytes)> = BTreeMap::new();
    while let Some(event) = stream.next_event()? {
        sent.visit(&event, |message| {
            let (messages, bytes) = by_receiver.entry(message.to).or_default();
            *messages += 1;
            *bytes += message.bytes;
        });
    }
    let pair = |(Rank(to), (messages, bytes))| Pair { from: rank.0, to, messages, bytes };
    Ok(by_receiver.into_iter().map(pair).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use titr_common::event::{CommId, Completion, SendMode, Tag};

    #[test]
    fn a_persistent_request_sends_with_each_start() {
        let message = Outgoing { comm: CommId::WORLD, to: Rank(3), tag: Tag(0), bytes: Bytes(8) };
        let events = [
            Event::Send(SendMode::Standard, message, Completion::Persistent(RequestId(2))),
            Event::Start(vec![RequestId(2)]),
            Event::Start(vec![RequestId(2), RequestId(5)]),
            Event::RequestFree(RequestId(2)),
            Event::Start(vec![RequestId(2)]),
            Event::Send(SendMode::Standard, message, Completion::Blocking),
        ];
        let mut sent = SentMessages::default();
        let numbers = events.map(|event| {
            let mut number = 0;
            sent.visit(&event, |_| number += 1);
            number
        });
        assert_eq!(numbers, [0, 1, 1, 0, 0, 1]);
    }
}
