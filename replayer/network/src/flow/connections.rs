//! Messages that one process sends another one after the other.
//!
//! A TCP connection carries the bytes that it is given in their order, and so does a queue pair of InfiniBand: a message waits
//! until those before it have been sent, and the first of many arrives early. The connection as a whole has the share of one flow.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::Connection;

/// The messages under way on each connection, in the order in which they were sent. The first is in its transfer phase, or pays its
/// latency still.
#[derive(Debug, Default)]
pub(super) struct Connections(FxHashMap<Connection, VecDeque<u32>>);

impl Connections {
    /// A message is sent.
    pub fn send(&mut self, connection: Connection, message: u32) {
        self.0.entry(connection).or_default().push_back(message);
    }

    /// Whether it is a message's turn.
    pub fn is_first(&self, connection: Connection, message: u32) -> bool {
        self.0.get(&connection).and_then(VecDeque::front) == Some(&message)
    }

    /// The first message is complete. Returns the next one.
    pub fn end(&mut self, connection: Connection) -> Option<u32> {
        let messages = self.0.get_mut(&connection)?;
        messages.pop_front();
        let next = messages.front().copied();
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
        for (connection, message) in [(there, 1), (there, 2), (back, 3)] {
            connections.send(connection, message);
        }
        assert!(connections.is_first(there, 1) && !connections.is_first(there, 2) && connections.is_first(back, 3));
        assert_eq!([there, back, there].map(|connection| connections.end(connection)), [Some(2), None, None]);
        assert!(!connections.is_first(there, 2));
    }
}
