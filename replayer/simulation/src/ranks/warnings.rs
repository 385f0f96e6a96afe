//! Counts of everything that a replay could not simulate faithfully, and the sentences that report them.

use std::collections::BTreeMap;

use titr_common::event::Other;
use titr_common::format::{count, volume};
use titr_common::units::Bytes;

use crate::warnings::many;

#[derive(Clone, Debug, Default)]
pub(super) struct Warnings {
    /// Wildcard receives whose match the trace does not say within reach.
    pub(super) open_wildcards: u64,
    /// Waits for a request that was not there.
    pub(super) idle_waits: u64,
    /// Collectives that were to be the messages recorded, where none are.
    pub(super) redecomposed: u64,
    /// Tests and probes that found nothing.
    pub(super) polls: u64,
    /// Windows of shared memory whose ranks are on several hosts.
    pub(super) scattered_windows: u64,
    pub(super) spawned: u64,
    /// Threads that began at a standstill.
    pub(super) brought_forward: u64,
    /// Successful tests of sends that ended before the sends.
    pub(super) gave_way: u64,
    /// The calls that take no time and in which no thread waits, by their functions, and their bytes.
    skipped: BTreeMap<Box<str>, (u64, Bytes)>,
}

impl Warnings {
    /// The doubts about the trace: a sentence with a count for each kind that came up.
    pub(super) fn sentences(&self) -> Vec<String> {
        let open = "whose match is not in the trace took the oldest message that fits";
        let schedule = "whose messages were not recorded followed the platform's algorithm";
        let idle = "found no outstanding request with their source, destination and tag, and passed";
        [
            sentence(self.open_wildcards, "wildcard receive", "wildcard receives", open),
            sentence(self.idle_waits, "wait", "waits", idle),
            sentence(self.redecomposed, "collective call", "collective calls", schedule),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// The ways in which a replay of a sound trace of this many events deviates from the program, one sentence each:
    /// threads that began and tests that ended at a standstill, shared memory across hosts, each kind of event that was skipped, and
    /// polling.
    pub(super) fn approximations(&self, events: u64) -> Vec<String> {
        let skipped = self.skipped.iter().map(|(function, &(calls, bytes))| {
            let bytes = if bytes == Bytes(0) { String::new() } else { format!(" ({})", volume(bytes)) };
            format!("not simulated: {} of {function}{bytes}", many(calls, "call", "calls"))
        });
        let scattered = "ranks on several hosts: loads and stores of their memory take no time on the network";
        let forward = "began only when nothing else could go on, as calls before the first of each wait for it";
        let gave_way = "of sends, which succeeded in the traced run, ended without them: nothing else could go on";
        let (window, windows) = ("window of shared memory has", "windows of shared memory have");
        sentence(self.scattered_windows, window, windows, scattered)
            .into_iter()
            .chain(sentence(self.brought_forward, "thread", "threads", forward))
            .chain(sentence(self.gave_way, "test", "tests", gave_way))
            .chain(skipped)
            .chain(self.polling(events))
            .collect()
    }

    /// A sentence on polling, if it is a large part of the program's events.
    fn polling(&self, events: u64) -> Option<String> {
        const MANY: u64 = 1000;
        (self.polls >= MANY && self.polls >= events / 10).then(|| {
            format!(
                "{} tests and probes found nothing: the program polled, and the computation between them takes as long as when it was \
                 recorded, however soon a message comes",
                count(self.polls)
            )
        })
    }

    /// Another call was passed over.
    pub(super) fn skip_other(&mut self, other: &Other) {
        let (calls, bytes) = self.skipped.entry(other.function.clone()).or_default();
        *calls += 1;
        *bytes += other.sent + other.received;
    }
}

/// A sentence on a number of things; `None` if there are none.
fn sentence(number: u64, one: &str, more: &str, rest: &str) -> Option<String> {
    (number > 0).then(|| format!("{} {rest}", many(number, one, more)))
}
