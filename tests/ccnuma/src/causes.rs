//! The receptions that an action depends on: its time is the latest of their arrivals, each with the delay since.

use titr_common::time::Time;
use titr_simulation::network_traces::{Label, Trigger};

/// Receptions that are kept of those that a message depends on; the ones that bind least are dropped.
const KEPT: usize = 4;

/// Receptions, and the start of the program, with the time of work since each.
///
/// The delay is not the time since the reception: waiting for another reception is not part of it, so that each reception binds
/// as much on another network as it did here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Causes {
    receptions: Vec<Reception>,
    /// Work since the start of the program, if that is among the causes.
    start: Option<u64>,
}

/// A reception and the work since, in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reception {
    label: Label,
    at: u64,
    work: u64,
}

impl Causes {
    /// The start of the program.
    pub(crate) fn start() -> Self {
        Self { receptions: Vec::new(), start: Some(0) }
    }

    /// The reception of a message.
    pub(crate) fn reception(label: Label, at: Time) -> Self {
        Self { receptions: vec![Reception { label, at: at.0, work: 0 }], start: None }
    }

    /// Adds this many picoseconds of work.
    pub(crate) fn work(&mut self, work: u64) {
        self.receptions.iter_mut().for_each(|reception| reception.work += work);
        self.start = self.start.map(|start| start + work);
    }

    /// The causes of an action that follows this one after this many picoseconds of work.
    pub(crate) fn after(mut self, work: u64) -> Self {
        self.work(work);
        self
    }

    /// Adds the causes of another action, for an action that depends on both.
    pub(crate) fn join(&mut self, other: &Self) {
        self.join_all(other);
        if self.receptions.len() > KEPT {
            self.receptions.sort_unstable_by_key(|reception| (u64::MAX - reception.due(), reception.label));
            self.receptions.truncate(KEPT);
        }
    }

    /// Adds the causes of another action, for an action that depends on both, without a limit to their number.
    pub(crate) fn join_all(&mut self, other: &Self) {
        self.start = self.start.max(other.start);
        for new in &other.receptions {
            match self.receptions.iter_mut().find(|old| old.label == new.label) {
                Some(old) => old.work = old.work.max(new.work),
                None => self.receptions.push(*new),
            }
        }
    }

    /// The triggers of a message with these causes: none if it was the start of the program that it waited for.
    pub(crate) fn triggers(&self) -> Vec<Trigger> {
        let due = self.receptions.iter().map(|reception| reception.due()).max().unwrap_or_default();
        if self.start.is_some_and(|start| start > due) {
            return Vec::new();
        }
        self.receptions.iter().map(|&Reception { label, work, .. }| Trigger { label, delay: Time(work) }).collect()
    }
}

impl Reception {
    /// The time when the work since it is over.
    fn due(&self) -> u64 {
        self.at + self.work
    }
}
