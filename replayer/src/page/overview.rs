//! A whole run in a bounded number of cells: activities by ranks and time, and messages by pairs of ranks.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;

use schemars::JsonSchema;
use serde::Serialize;
use titr_common::event::{Activity, Rank};
use titr_common::time::Time;
use titr_common::timeline::{Series, TimelineEvent, TimelineWriter};

use super::cells::Cells;
use super::embedded::letters;

/// Rows of the picture of activities at most.
const ROWS: u32 = 512;
/// Rows and columns of the matrix at most.
const GROUPS: u32 = 256;

/// The overview of a run.
#[derive(Clone, Debug, Default)]
pub struct Overview {
    ranks: u32,
    cells: Cells,
    /// Messages and bytes, by groups of senders and receivers.
    pairs: BTreeMap<(u32, u32), (u64, u64)>,
    /// Messages and bytes, by the number of binary digits of a message's size.
    sizes: BTreeMap<u32, (u64, u64)>,
    end: Time,
}

/// The shares of activities as they are serialised.
#[derive(Serialize, JsonSchema)]
pub(super) struct ActivityMap {
    /// The number of ranks in each row; the last row may have fewer.
    ranks_per_row: u32,
    /// The number of rows.
    rows: u32,
    /// The number of intervals in each row.
    intervals: usize,
    /// The length of an interval in seconds.
    interval: f64,
    /// Shares in 255ths, rounded to 15ths, row by row, interval by interval, activity by activity; in base 64.
    shares: String,
    /// The mean number of messages under way in each interval.
    under_way: Vec<f64>,
}

/// The communication matrix as it is serialised.
#[derive(Serialize, JsonSchema)]
pub(super) struct PairMap {
    /// The number of ranks in each group; the last group may have fewer.
    ranks_per_group: u32,
    /// Groups of ranks.
    groups: u32,
    /// The group of the senders, the group of the receivers, messages, bytes.
    cells: Vec<(u32, u32, u64, u64)>,
    /// The number of binary digits of a message's size in bytes, messages, bytes.
    sizes: Vec<(u32, u64, u64)>,
}

impl Overview {
    /// The overview of a world of this many ranks, before anything happens.
    pub(super) fn new(ranks: u32) -> Self {
        let rows = ranks.div_ceil(per_part(ranks, ROWS));
        Self { ranks, cells: Cells::new(rows as usize), ..Self::default() }
    }

    pub(super) fn activities(&self) -> ActivityMap {
        let ranks_per_row = per_part(self.ranks, ROWS);
        let rows = self.ranks.div_ceil(ranks_per_row);
        let ranks = |row: usize| u64::from(ranks_per_row.min(self.ranks - row as u32 * ranks_per_row));
        let shares = self.cells.shares(self.end, ranks);
        let (intervals, interval) = (self.cells.until(self.end), self.cells.interval().seconds().0);
        let under_way = self.cells.under_way(self.end);
        ActivityMap { ranks_per_row, rows, intervals, interval, shares: letters(&shares), under_way }
    }

    pub(super) fn matrix(&self) -> PairMap {
        let ranks_per_group = per_part(self.ranks, GROUPS);
        let cells = self.pairs.iter().map(|(&(from, to), &(messages, bytes))| (from, to, messages, bytes)).collect();
        let sizes = self.sizes.iter().map(|(&digits, &(messages, bytes))| (digits, messages, bytes)).collect();
        PairMap { ranks_per_group, groups: self.ranks.div_ceil(ranks_per_group), cells, sizes }
    }
}

/// The number of ranks in each part, for at most `parts` parts.
fn per_part(ranks: u32, parts: u32) -> u32 {
    ranks.div_ceil(parts).max(1)
}

/// Records the overview.
pub(super) struct OverviewWriter {
    overview: Rc<RefCell<Overview>>,
    /// The activity of each rank, and since when.
    states: Vec<Option<(Activity, Time)>>,
    /// The number of messages under way, and since when.
    under_way: (u64, Time),
}

impl OverviewWriter {
    pub(super) fn new(overview: Rc<RefCell<Overview>>, ranks: u32) -> Self {
        Self { overview, states: vec![None; ranks as usize], under_way: (0, Time::ZERO) }
    }

    fn messages(&mut self, at: Time, next: impl Fn(u64) -> u64) {
        let (many, since) = self.under_way;
        if many > 0 {
            self.overview.borrow_mut().cells.add_messages(many, since, at);
        }
        self.under_way = (next(many), at);
    }

    fn leave(&mut self, rank: Rank, at: Time) {
        let Some((activity, since)) = self.states.get_mut(rank.0 as usize).and_then(Option::take) else { return };
        let overview = &mut *self.overview.borrow_mut();
        let row = rank.0 / per_part(overview.ranks, ROWS);
        overview.cells.add(row as usize, activity, since, at);
        overview.end = overview.end.max(at);
    }
}

impl TimelineWriter for OverviewWriter {
    fn event(&mut self, at: Time, event: TimelineEvent) -> io::Result<()> {
        match event {
            TimelineEvent::Enter(rank, state) => {
                self.leave(rank, at);
                if let Some(entry) = self.states.get_mut(rank.0 as usize) {
                    *entry = Some((state.activity, at));
                }
            }
            TimelineEvent::Leave(rank) => self.leave(rank, at),
            TimelineEvent::Depart(arrow) => {
                self.messages(at, |many| many + 1);
                let overview = &mut *self.overview.borrow_mut();
                let per_group = per_part(overview.ranks, GROUPS);
                let pair = overview.pairs.entry((arrow.from.0 / per_group, arrow.to.0 / per_group)).or_default();
                let size = overview.sizes.entry(u64::BITS - arrow.bytes.0.leading_zeros()).or_default();
                for (messages, bytes) in [pair, size] {
                    *messages += 1;
                    *bytes += arrow.bytes.0;
                }
            }
            TimelineEvent::Arrive(_) => self.messages(at, |many| many.saturating_sub(1)),
            TimelineEvent::InFlight(_) => {}
        }
        Ok(())
    }

    fn series(&mut self, _: &Series) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, end: Time) -> io::Result<()> {
        for rank in (0..self.states.len() as u32).map(Rank) {
            self.leave(rank, end);
        }
        Ok(())
    }
}
