//! Messages that one process sends another one after the other.
//!
//! A TCP connection carries the bytes that it is given in their order, and so does a queue pair of InfiniBand: a message waits
//! until those before it have been sent, and the first of many arrives early. The connection as a whole has the share of one flow.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::Connection;

/// The connections on which a message is in its transfer phase, each with the messages that wait behind it.
#[derive(Debug, Default)]
pub(super) struct Connections(FxHashMap<Connection, VecDeque<u32>>);

impl Connections {
    /// A message comes to its transfer phase. Returns whether it begins; if not, it waits for its turn.
    pub fn begin(&mut self, connection: Connection, message: u32) -> bool {
        let mut begins = false;
        let waiting = self.0.entry(connection).or_insert_with(|| {
            begins = true;
            VecDeque::new()
        });
        if !begins {
            waiting.push_back(message);
        }
        begins
    }

    /// The message in its transfer phase is complete. Returns the next one, whose turn it is.
    pub fn end(&mut self, connection: Connection) -> Option<u32> {
        let next = self.0.get_mut(&connection)?.pop_front();
        if next.is_none() {
            self.0.remove(&connection);
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_a_connection_take_turns() {
        let mut connections = Connections::default();
        let [there, back] = [(0, 1), (1, 0)].map(|(sender, receiver)| Connection { sender, receiver });
        assert_eq!([1, 2, 3].map(|message| connections.begin(there, message)), [true, false, false]);
        assert!(connections.begin(back, 4));
        assert_eq!(
            [there, back, there, there].map(|connection| connections.end(connection)),
            [Some(2), None, Some(3), None]
        );
        assert!(connections.begin(there, 5));
    }
}
