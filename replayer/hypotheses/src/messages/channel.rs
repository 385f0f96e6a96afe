//! The messages of one channel, in order.

use titr_common::event::{Rank, Tag};
use titr_common::program::Context;
use titr_common::units::Bytes;

/// Names a channel: messages of one communicator from one rank to another with one tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Channel {
    /// The context of the communicator; none for `MPI_COMM_SELF`.
    pub context: Option<Context>,
    /// The sender.
    pub from: Rank,
    /// The receiver.
    pub to: Rank,
    /// The tag.
    pub tag: Tag,
}

/// The selected messages of a channel, and the total sizes of their groups.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChannelMessages {
    /// The lengths of alternating runs of selected and other messages.
    runs: Vec<(bool, u32)>,
    /// The number of selected messages.
    selected: u32,
    /// The bytes of a group, and how many groups in a row have as many. The last group may be incomplete.
    groups: Vec<(Bytes, u32)>,
    /// The bytes of the group that is not complete yet.
    begun: Bytes,
}

/// The position of a selected message in its group. If messages are not grouped, each is a group of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    /// Whether the message is the first of its group.
    pub is_first: bool,
    /// Whether the message is the last of its group.
    pub is_last: bool,
    /// The bytes of the group, where messages are put in groups.
    pub bytes: Bytes,
}

impl Turn {
    /// The place of a message that is a group of its own.
    pub(crate) const ALONE: Self = Self { is_first: true, is_last: true, bytes: Bytes(0) };
}

impl ChannelMessages {
    /// Adds the next message; `group` selected ones in a row are a group.
    pub(crate) fn push(&mut self, is_selected: bool, bytes: Bytes, group: Option<u32>) {
        match self.runs.last_mut() {
            Some((last, count)) if *last == is_selected && *count < u32::MAX => *count += 1,
            Some(_) | None => self.runs.push((is_selected, 1)),
        }
        if let (true, Some(group)) = (is_selected, group) {
            self.selected += 1;
            self.begun = Bytes(self.begun.0.saturating_add(bytes.0));
            if self.selected.is_multiple_of(group) {
                self.close_group();
            }
        }
    }

    /// There are no more messages; whether any is selected.
    pub(crate) fn finish(&mut self, group: Option<u32>) -> bool {
        if group.is_some_and(|group| !self.selected.is_multiple_of(group)) {
            self.close_group();
        }
        self.runs.iter().any(|&(is_selected, _)| is_selected)
    }

    fn close_group(&mut self) {
        let bytes = std::mem::take(&mut self.begun);
        match self.groups.last_mut() {
            Some((last, count)) if *last == bytes => *count += 1,
            Some(_) | None => self.groups.push((bytes, 1)),
        }
    }
}

/// A place in the messages of a channel.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cursor {
    /// The run, and how many messages of it are passed.
    run: (usize, u32),
    /// The number of selected messages that were passed.
    selected: u32,
    /// The entry of groups, and how many groups of it are passed.
    group: (usize, u32),
}

impl Cursor {
    /// The place of the next message, if it is selected; a message that the channel does not have is not.
    pub(crate) fn peek(&self, messages: &ChannelMessages, group: Option<u32>) -> Option<Turn> {
        let is_selected = messages.runs.get(self.run.0).is_some_and(|&(is_selected, _)| is_selected);
        let turn = |group: u32| Turn {
            is_first: self.selected.is_multiple_of(group),
            is_last: (self.selected + 1).is_multiple_of(group) || self.selected + 1 == messages.selected,
            bytes: messages.groups.get(self.group.0).map_or(Bytes(0), |&(bytes, _)| bytes),
        };
        is_selected.then(|| group.map_or(Turn::ALONE, turn))
    }

    /// Passes the next message; its place, if it is selected.
    pub(crate) fn pass(&mut self, messages: &ChannelMessages, group: Option<u32>) -> Option<Turn> {
        let turn = self.peek(messages, group);
        step(&mut self.run, |entry| messages.runs.get(entry).map(|&(_, count)| count));
        if let (Some(turn), Some(_)) = (turn, group) {
            self.selected += 1;
            if turn.is_last {
                step(&mut self.group, |entry| messages.groups.get(entry).map(|&(_, count)| count));
            }
        }
        turn
    }
}

/// Advances by one in run-length entries, whose lengths `count` returns.
fn step((entry, passed): &mut (usize, u32), count: impl FnOnce(usize) -> Option<u32>) {
    *passed += 1;
    if count(*entry).is_some_and(|count| *passed >= count) {
        (*entry, *passed) = (*entry + 1, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(messages: &[(bool, u64)], group: Option<u32>) -> ChannelMessages {
        let mut channel = ChannelMessages::default();
        messages.iter().for_each(|&(is_selected, bytes)| channel.push(is_selected, Bytes(bytes), group));
        channel.finish(group);
        channel
    }

    #[test]
    fn a_cursor_finds_the_messages_in_order() {
        let messages = [true, true, false, true, false, false, false];
        let channel = channel(&messages.map(|is_selected| (is_selected, 8)), None);
        assert_eq!(channel.runs.len(), 4);
        let mut cursor = Cursor::default();
        assert_eq!(cursor.peek(&channel, None), Some(Turn::ALONE));
        assert_eq!(messages.map(|_| cursor.pass(&channel, None).is_some()), messages);
        assert_eq!(cursor.pass(&channel, None), None);
    }

    #[test]
    fn selected_messages_are_put_in_groups_of_which_the_last_may_be_smaller() {
        let channel = channel(&[(true, 1), (false, 100), (true, 2), (true, 3), (true, 4), (true, 5)], Some(2));
        let mut cursor = Cursor::default();
        let turns = [0; 6].map(|_| cursor.pass(&channel, Some(2)));
        let turn = |is_first, is_last, bytes| Some(Turn { is_first, is_last, bytes: Bytes(bytes) });
        let expected = [turn(true, false, 3), None, turn(false, true, 3), turn(true, false, 7), turn(false, true, 7)];
        assert_eq!(turns[..5], expected);
        assert_eq!(turns[5], turn(true, true, 5));
    }
}
