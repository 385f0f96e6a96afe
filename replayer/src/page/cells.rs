//! Time divided into a bounded number of equal intervals, for rows of a picture.
//!
//! The length of a run is not known before its end. When there are too many intervals, pairs are merged.

use titr_common::event::Activity;
use titr_common::time::Time;

/// Intervals at most; between half of them and all are in use in the end.
const INTERVALS: usize = 1024;
/// Activities of a rank.
pub(super) const ACTIVITIES: usize = 6;

/// Picoseconds by row, interval and activity.
#[derive(Clone, Debug, Default)]
pub(super) struct Cells {
    spent: Vec<[u64; ACTIVITIES]>,
    /// Picoseconds that messages were under way by interval, of all messages together.
    under_way: Vec<f64>,
    rows: usize,
    /// The length of an interval in picoseconds.
    interval: u64,
}

impl Cells {
    /// Cells without any time.
    pub(super) fn new(rows: usize) -> Self {
        let (spent, under_way) = (vec![[0; ACTIVITIES]; rows * INTERVALS], vec![0.0; INTERVALS]);
        Self { spent, under_way, rows, interval: 1000 }
    }

    /// Adds a span of `activity` to a row.
    pub(super) fn add(&mut self, row: usize, activity: Activity, from: Time, to: Time) {
        self.parts(from, to, |this, place, time| this.spent[row * INTERVALS + place][activity as usize] += time);
    }

    /// Adds a span in which so many messages are under way.
    pub(super) fn add_messages(&mut self, many: u64, from: Time, to: Time) {
        self.parts(from, to, |this, place, time| this.under_way[place] += many as f64 * time as f64);
    }

    /// Calls `add` with each interval of a span, and the picoseconds in it.
    fn parts(&mut self, from: Time, to: Time, mut add: impl FnMut(&mut Self, usize, u64)) {
        while to.0 / self.interval >= INTERVALS as u64 {
            self.halve();
        }
        for place in from.0 / self.interval..=to.0 / self.interval {
            let (begin, end) = (from.0.max(place * self.interval), to.0.min((place + 1) * self.interval));
            add(self, place as usize, end.saturating_sub(begin));
        }
    }

    /// Makes one interval of two.
    fn halve(&mut self) {
        self.interval *= 2;
        for place in 0..INTERVALS {
            self.under_way[place] = self.under_way.get(2 * place..2 * place + 2).map_or(0.0, |pair| pair.iter().sum());
        }
        for row in self.spent.chunks_mut(INTERVALS) {
            for place in 0..INTERVALS {
                let pair = row.get(2 * place..2 * place + 2).map(|pair| (pair[0], pair[1]));
                row[place] =
                    pair.map_or([0; ACTIVITIES], |(one, other)| std::array::from_fn(|which| one[which] + other[which]));
            }
        }
    }

    pub(super) fn interval(&self) -> Time {
        Time(self.interval)
    }

    /// The number of intervals up to `end`.
    pub(super) fn until(&self, end: Time) -> usize {
        (end.0.div_ceil(self.interval) as usize).clamp(1, INTERVALS)
    }

    /// The mean number of messages under way in each interval until `end`.
    pub(super) fn under_way(&self, end: Time) -> Vec<f64> {
        let rounded = |time: &f64| (10.0 * time / self.interval as f64).round() / 10.0;
        self.under_way[..self.until(end)].iter().map(rounded).collect()
    }

    /// Shares of the activities in each interval until `end`, row by row, in 255ths; `ranks` returns the number of ranks of
    /// a row. They are rounded to 15ths, which are few enough values to compress well.
    pub(super) fn shares(&self, end: Time, ranks: impl Fn(usize) -> u64) -> Vec<u8> {
        let until = self.until(end);
        let mut shares = Vec::with_capacity(self.rows * until * ACTIVITIES);
        for (row, spent) in self.spent.chunks(INTERVALS).enumerate() {
            for cell in &spent[..until] {
                let whole = (self.interval * ranks(row)) as f64;
                shares.extend(cell.map(|spent| 17 * (15.0 * spent as f64 / whole).round().min(15.0) as u8));
            }
        }
        shares
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_when_intervals_become_longer() {
        let mut cells = Cells::new(2);
        cells.add(0, Activity::Compute, Time(500), Time(2_500));
        cells.add(1, Activity::Wait, Time(0), Time(1_000_000_000));
        cells.add(0, Activity::Send, Time(2_500), Time(7_000_000));
        let sum = |row: usize, which: Activity| -> u64 {
            cells.spent[row * INTERVALS..(row + 1) * INTERVALS].iter().map(|cell| cell[which as usize]).sum()
        };
        assert_eq!(sum(0, Activity::Compute), 2_000);
        assert_eq!(sum(0, Activity::Send), 6_997_500);
        assert_eq!(sum(1, Activity::Wait), 1_000_000_000);
        cells.add_messages(3, Time(0), Time(500_000_000));
        cells.add_messages(1, Time(500_000_000), Time(1_000_000_000));
        let under_way = cells.under_way(Time(1_000_000_000));
        assert_eq!((under_way[0], under_way[under_way.len() - 2]), (3.0, 1.0));
        let end = Time(1_000_000_000);
        let shares = cells.shares(end, |_| 1);
        assert_eq!(shares.len(), 2 * cells.until(end) * ACTIVITIES);
        assert!((INTERVALS / 2..=INTERVALS).contains(&cells.until(end)));
        // The second row waits from the beginning to the end.
        let waiting = shares[shares.len() / 2..].chunks(ACTIVITIES).map(|cell| cell[Activity::Wait as usize]);
        assert!(waiting.take(cells.until(end) - 1).all(|share| share == 255));
    }
}
