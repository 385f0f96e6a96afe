//! The time of each rank by activity.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use titr_common::event::Rank;
use titr_common::time::Time;
use titr_common::units::Seconds;

use super::{Activity, Observer};

/// A rank's time by activity, summed over its threads. With one thread the parts add up to `finish`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "Shares_of_{T}", bound = "T: JsonSchema + Default + Serialize")]
pub struct Shares<T = Seconds> {
    /// Computing, or sleeping.
    pub compute: T,
    /// Blocking and non-blocking sends, puts and accumulates.
    pub send: T,
    /// Receives, probes, `sendrecv`, and accesses to windows that return data.
    pub recv: T,
    /// Completion of requests, and every call that is neither a message nor a collective.
    pub wait: T,
    /// Calls on files.
    pub file: T,
    /// Collectives, fences, and calls that create communicators or windows.
    pub collective: T,
    /// The time at which the last thread of the rank finished.
    pub finish: T,
}

impl<T: Copy> Shares<T> {
    /// The share of each activity, by name.
    #[must_use]
    pub fn activities(&self) -> [(&'static str, T); 6] {
        let Self { compute, send, recv, wait, file, collective, finish: _ } = *self;
        [
            ("compute", compute),
            ("send", send),
            ("recv", recv),
            ("wait", wait),
            ("file", file),
            ("collective", collective),
        ]
    }

    /// Joins each of these shares with its counterpart among others.
    #[must_use]
    pub fn zip<U>(&self, other: &Self, join: impl Fn(T, T) -> U) -> Shares<U> {
        Shares {
            compute: join(self.compute, other.compute),
            send: join(self.send, other.send),
            recv: join(self.recv, other.recv),
            wait: join(self.wait, other.wait),
            file: join(self.file, other.file),
            collective: join(self.collective, other.collective),
            finish: join(self.finish, other.finish),
        }
    }
}

impl Shares {
    /// The shares in the mean over the threads that ran: with them, the parts add up to `finish`, however many threads there were.
    #[must_use]
    pub fn per_thread(&self) -> Self {
        let spent: f64 = self.activities().iter().map(|(_, time)| time.0).sum();
        // Sums are rounded.
        if spent <= self.finish.0 * (1.0 + 1e-9) {
            return *self;
        }
        let part = self.finish.0 / spent;
        let scaled = self.zip(self, |time, _| Seconds(time.0 * part));
        Self { finish: self.finish, ..scaled }
    }

    /// The number of rows of a summary.
    pub const ROWS: usize = 7;

    /// The rows of a summary of a program that ends at `end`: each activity, and the time after the end of the rank.
    #[must_use]
    pub fn rows(&self, end: Seconds) -> [(&'static str, Seconds); Self::ROWS] {
        let Self { compute, send, recv, wait, file, collective, finish } = *self;
        [
            ("compute", compute),
            ("send", send),
            ("receive", recv),
            ("wait", wait),
            ("file", file),
            ("collective", collective),
            ("done early", Seconds(end.0 - finish.0)),
        ]
    }
}

/// The shares of all ranks, summed exactly.
#[derive(Clone, Debug)]
pub struct Breakdown(Vec<Sums>);

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    by_activity: [u64; 6],
    finish: Time,
}

impl Breakdown {
    /// The breakdown at the start, without any time, of a world of `ranks` ranks.
    #[must_use]
    pub fn new(ranks: u32) -> Self {
        Self(vec![Sums::default(); ranks as usize])
    }

    /// The time of each rank by activity.
    pub fn per_rank(&self) -> impl Iterator<Item = Shares> + '_ {
        self.0.iter().map(|sums| {
            let [compute, send, recv, wait, file, collective] = sums.by_activity.map(|sum| Time(sum).seconds());
            Shares { compute, send, recv, wait, file, collective, finish: sums.finish.seconds() }
        })
    }
}

impl Observer for Breakdown {
    fn active(&mut self, rank: Rank, activity: Activity, from: Time, to: Time) {
        let sums = &mut self.0[rank.0 as usize];
        sums.by_activity[activity as usize] += to.0.saturating_sub(from.0);
        sums.finish = sums.finish.max(to);
    }
}
