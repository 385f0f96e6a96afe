//! Counts of events that are changed or lost in SimGrid's format.

use titr_common::format::{count, plural, volume};
use titr_common::units::Bytes;

/// Events of a trace that SimGrid's format cannot express exactly, counted by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Probes that found a message.
    pub probes: u64,
    /// Synchronous sends of fewer bytes than the eager threshold.
    pub synchronous: u64,
    /// Non-blocking collectives.
    pub background: u64,
    /// Collectives of inter-communicators.
    pub inter: u64,
    /// Operations on windows and files, and other events that no model simulates.
    pub skipped: u64,
    /// Receives with an unknown source or tag.
    pub open: u64,
    /// Sends that the program cancelled.
    pub cancelled_sends: u64,
    /// Waits for an older request than the one meant.
    pub reordered: u64,
    /// Waits for requests that were not there.
    pub idle: u64,
    /// Receives that nothing came for.
    pub unanswered: u64,
    /// Messages too long for SimGrid.
    pub cut: u64,
    /// Events of a graph.
    pub tasks: u64,
    /// Events of further threads.
    pub threads: u64,
}

impl Differences {
    /// A sentence for each kind; `limit` is the longest message.
    pub(super) fn sentences(&self, limit: Bytes) -> Vec<String> {
        let cut = format!("became messages of {}: SimGrid counts in 32 bits", volume(limit));
        let told: [(u64, &str, &str, &str); 13] = [
            (self.probes, "probe", "probes", "left out: the receive that follows waits instead"),
            (self.synchronous, "synchronous send", "synchronous sends", "below the eager threshold became plain sends"),
            (
                self.background,
                "non-blocking collective",
                "non-blocking collectives",
                "became messages that go on only while the rank waits for them",
            ),
            (
                self.inter,
                "collective on an inter-communicator",
                "collectives on inter-communicators",
                "left out: no library's schedule is known",
            ),
            (
                self.skipped,
                "one-sided, file or other call",
                "one-sided, file and other calls",
                "left out: a trace of SimGrid's has no words for them",
            ),
            (self.open, "wildcard receive", "wildcard receives", "left out: the trace does not say what was matched"),
            (self.cancelled_sends, "cancelled send", "cancelled sends", "sent all the same"),
            (
                self.reordered,
                "wait",
                "waits",
                "added, each for an older request with the same source, destination and tag: SimGrid takes that first",
            ),
            (self.idle, "wait", "waits", "left out: the request was never made, or is complete"),
            (
                self.unanswered,
                "receive",
                "receives",
                "that may have got nothing: each gets an empty message in the end, as SimGrid waits for all",
            ),
            (self.cut, "message", "messages", &cut),
            (
                self.tasks,
                "task",
                "tasks",
                "of a graph became one after another: SimGrid's ranks may wait for each other for ever",
            ),
            (
                self.threads,
                "event of a further thread is",
                "events of further threads are",
                "among those of the first one, which waits for a call only before the next event of its thread",
            ),
        ];
        let told = told.into_iter().filter(|(number, ..)| *number > 0);
        told.map(|(number, one, many, what)| format!("{} {} {what}", count(number), plural(number, one, many)))
            .collect()
    }
}
