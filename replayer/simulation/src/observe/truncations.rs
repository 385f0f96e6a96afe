//! Finds messages that are longer than the receives that take them.

use rustc_hash::FxHashMap;
use titr_common::event::Rank;
use titr_common::format::count;
use titr_common::time::Time;
use titr_common::trace::Trace;
use titr_common::units::Bytes;
use titr_network::TransferId;

use super::{Observer, OperationId, Receive, SentMessage};

/// Maximum number of truncated messages that are reported one by one.
const TOLD: usize = 16;

/// Compares each message with the room of its receive.
#[derive(Default)]
pub(crate) struct Truncations {
    /// Receives that are posted, and not matched.
    posted: FxHashMap<OperationId, (Receive, Bytes)>,
    /// Messages that are sent, and not matched.
    sent: FxHashMap<TransferId, (Rank, Bytes)>,
    told: Vec<String>,
    further: u64,
    /// Whether a receive of size zero is known to have no room. SimGrid's traces may have a negative size there, for
    /// any message.
    knows_empty: bool,
}

impl Truncations {
    /// For the messages of a trace.
    pub(crate) fn new(trace: &Trace) -> Self {
        let knows_empty = trace.manifest().is_some_and(|manifest| !manifest.command.is_empty());
        Self { knows_empty, ..Self::default() }
    }

    /// A sentence for each message that is too long.
    pub(crate) fn findings(self) -> Vec<String> {
        let further = (self.further > 0).then(|| format!("and {} further truncated messages", count(self.further)));
        self.told.into_iter().chain(further).collect()
    }
}

impl Observer for Truncations {
    fn posted(&mut self, _: Time, receive: Receive) {
        if let Some(room) = receive.room.filter(|room| self.knows_empty || *room > Bytes(0)) {
            self.posted.insert(receive.id, (receive, room));
        }
    }

    /// A receive that is cancelled completes without a message, and another may have its name then.
    fn completed(&mut self, _: Time, operation: OperationId) {
        self.posted.remove(&operation);
    }

    fn sent(&mut self, _: Time, message: SentMessage) {
        self.sent.insert(message.id, (message.from, message.bytes));
    }

    fn matched(&mut self, _: Time, receive: OperationId, message: TransferId) {
        let (posted, sent) = (self.posted.remove(&receive), self.sent.remove(&message));
        let Some(((receive, room), (from, bytes))) = posted.zip(sent).filter(|((_, room), (_, bytes))| bytes > room)
        else {
            return;
        };
        if self.told.len() == TOLD {
            self.further += 1;
            return;
        }
        let tag = receive.tag.map_or_else(String::new, |tag| format!(", tag {}", tag.0));
        self.told.push(format!(
            "rank {}: a receive of {} bytes takes a message of {} bytes from rank {}{tag}: the message is truncated",
            receive.rank.0, room.0, bytes.0, from.0
        ));
    }
}
