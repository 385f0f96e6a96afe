//! The messages of one channel, in order.

use titr_common::event::{Rank, Tag};
use titr_common::program::Context;

/// Names a channel: messages of one communicator from one rank to another with one tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Channel {
    /// The context of the communicator; none for `MPI_COMM_SELF`.
    pub context: Option<Context>,
    /// The sender.
    pub from: Rank,
    /// The receiver.
    pub to: Rank,
    /// The tag.
    pub tag: Tag,
}

/// Which messages of a channel are selected: how many in a row are, or are not.
#[derive(Clone, Debug, Default)]
pub struct Runs(Vec<(bool, u32)>);

impl Runs {
    /// Adds the next message.
    pub fn push(&mut self, is_selected: bool) {
        match self.0.last_mut() {
            Some((last, count)) if *last == is_selected && *count < u32::MAX => *count += 1,
            Some(_) | None => self.0.push((is_selected, 1)),
        }
    }

    /// Whether any message is selected.
    pub fn has_any(&self) -> bool {
        self.0.iter().any(|&(is_selected, _)| is_selected)
    }
}

/// A place in the messages of a channel.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cursor {
    run: usize,
    passed: u32,
}

impl Cursor {
    /// Whether the next message is selected; a message that the runs do not have is not.
    pub fn peek(&self, Runs(runs): &Runs) -> bool {
        runs.get(self.run).is_some_and(|&(is_selected, _)| is_selected)
    }

    /// Passes the next message; whether it is selected.
    pub fn pass(&mut self, runs: &Runs) -> bool {
        let is_selected = self.peek(runs);
        self.passed += 1;
        if runs.0.get(self.run).is_some_and(|&(_, count)| self.passed >= count) {
            *self = Self { run: self.run + 1, passed: 0 };
        }
        is_selected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_finds_the_messages_in_order() {
        let messages = [true, true, false, true, false, false, false];
        let mut runs = Runs::default();
        messages.iter().for_each(|&is_selected| runs.push(is_selected));
        assert_eq!(runs.0.len(), 4);
        let mut cursor = Cursor::default();
        assert!(cursor.peek(&runs));
        assert_eq!(messages.map(|_| cursor.pass(&runs)), messages);
        assert!(!cursor.pass(&runs));
    }
}
