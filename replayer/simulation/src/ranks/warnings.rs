//! Counts of everything that a replay could not simulate faithfully, and the sentences that report them.

use std::collections::BTreeMap;

use titr_common::event::Other;
use titr_common::units::Bytes;

use titr_common::format::{count, plural, volume};

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
    /// Processes that were spawned.
    pub(super) spawned: u64,
    /// Threads that began at a standstill.
    pub(super) brought_forward: u64,
    /// Successful tests of sends that ended before the sends.
    pub(super) gave_way: u64,
    skipped: BTreeMap<Skipped, (u64, Bytes)>,
}

/// A kind of recorded call that is not simulated: it takes no time, and no thread waits in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Skipped {
    /// A call of this function.
    Other(Box<str>),
}

impl Warnings {
    /// The doubts about the trace: a sentence with a count for each kind that came up.
    pub(super) fn sentences(&self) -> Vec<String> {
        let open = "whose match is not in the trace took the oldest message that fits";
        let schedule = "whose messages were not recorded followed the platform's algorithm";
        let idle = "found no outstanding request with their source, destination and tag, and passed";
        [
            (self.open_wildcards, plural(self.open_wildcards, "wildcard receive", "wildcard receives"), open),
            (self.idle_waits, plural(self.idle_waits, "wait", "waits"), idle),
            (self.redecomposed, plural(self.redecomposed, "collective call", "collective calls"), schedule),
        ]
        .into_iter()
        .filter(|(number, ..)| *number > 0)
        .map(|(number, who, what)| format!("{} {who} {what}", count(number)))
        .collect()
    }

    /// The ways in which a replay of a sound trace of this many events deviates from the program, one sentence each:
    /// threads that began and tests that ended at a standstill, shared memory across hosts, each kind of event that was skipped, and
    /// polling.
    pub(super) fn approximations(&self, events: u64) -> Vec<String> {
        let sentence = |(what, &(calls, bytes)): (&Skipped, &(u64, Bytes))| {
            let number = |one, many| format!("{} {}", count(calls), plural(calls, one, many));
            let who = match what {
                Skipped::Other(function) => format!("{} of {function}", number("call", "calls")),
            };
            let bytes = if bytes == Bytes(0) { String::new() } else { format!(" ({})", volume(bytes)) };
            format!("not simulated: {who}{bytes}")
        };
        let windows = plural(self.scattered_windows, "window of shared memory has", "windows of shared memory have");
        let scattered = (self.scattered_windows > 0).then(|| {
            format!(
                "{} {windows} ranks on several hosts: loads and stores of their memory take no time on the network",
                count(self.scattered_windows)
            )
        });
        let threads = plural(self.brought_forward, "thread", "threads");
        let forward = "began only when nothing else could go on, as calls before the first of each wait for it";
        let forward =
            (self.brought_forward > 0).then(|| format!("{} {threads} {forward}", count(self.brought_forward)));
        let tests = plural(self.gave_way, "test", "tests");
        let gave_way = (self.gave_way > 0).then(|| {
            format!(
                "{} {tests} of sends, which succeeded in the traced run, ended without them: nothing else could go on",
                count(self.gave_way)
            )
        });
        scattered
            .into_iter()
            .chain(forward)
            .chain(gave_way)
            .chain(self.skipped.iter().map(sentence))
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
        self.count(Skipped::Other(other.function.clone()), other.sent + other.received);
    }

    fn count(&mut self, what: Skipped, bytes: Bytes) {
        let (calls, sum) = self.skipped.entry(what).or_default();
        *calls += 1;
        *sum += bytes;
    }
}
