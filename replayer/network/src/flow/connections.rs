//! Messages from one process to another that travel one after the other.
//!
//! A TCP connection or an InfiniBand queue pair carries bytes in the order in which they are written: a message waits
//! until the messages before it have been sent, so the first of many arrives early. The whole connection has the share
//! of one flow.

use rustc_hash::FxHashMap;

use crate::Connection;

/// The last message in transit on each connection. The messages themselves know their successors: see [`Turn`].
#[derive(Debug, Default)]
pub(super) struct Connections(FxHashMap<Connection, u32>);

/// The place of a message in its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    /// Whether no message is before it: it is in its transfer phase or its latency phase.
    pub is_first: bool,
    /// The message that was sent after it.
    pub next: Option<u32>,
}

impl Turn {
    /// The place of a message that no other precedes.
    pub(crate) const FIRST: Self = Self { is_first: true, next: None };
}

impl Connections {
    /// `message` is sent. Returns the one before it, which it follows.
    pub(crate) fn send(&mut self, connection: Connection, message: u32) -> Option<u32> {
        self.0.insert(connection, message)
    }

    /// The first message of a connection, which none follows, is complete.
    pub(crate) fn end(&mut self, connection: Connection) {
        self.0.remove(&connection);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_follows_the_last_one_of_its_connection() {
        let mut connections = Connections::default();
        let [there, back] = [(0, 1), (1, 0)].map(|(sender, receiver)| Connection { sender, receiver });
        let sent = [(there, 1), (there, 2), (back, 3), (there, 4)];
        assert_eq!(
            sent.map(|(connection, message)| connections.send(connection, message)),
            [None, Some(1), None, Some(2)]
        );
        connections.end(there);
        assert_eq!([there, back].map(|connection| connections.send(connection, 5)), [None, Some(3)]);
    }
}
