//! The states of a rank in a row, which can be made coarser: short states are joined with their neighbours.

use schemars::JsonSchema;
use serde::Serialize;

use super::cells::ACTIVITIES;

/// Whole of the shares of a joined state.
const WHOLE: u16 = u16::MAX;
/// Whole of the shares in a page's mixture. There are few mixtures of shares as coarse as these.
pub(super) const PARTS: u8 = 15;

/// The states of a rank. Times are ticks.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(super) struct RankStates {
    /// The rank.
    rank: u32,
    /// The beginning of the first state.
    begin: u64,
    /// Alternating numbers: the length of a state, and the number of its name or, after the numbers of all names, of its
    /// mixture.
    spans: Vec<u64>,
}

/// The parts of a joined state: the share of each activity in 15ths.
pub(super) type Mixture = [u8; ACTIVITIES];

/// One state after another.
#[derive(Clone, Debug, Default)]
pub(super) struct StateRow {
    rank: u32,
    begin: u64,
    spans: Vec<Span>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    length: u64,
    content: Content,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// One state: the number of its name, and its activity.
    One(u32, u8),
    /// The shares of the activities in several states.
    Joined([u16; ACTIVITIES]),
}

/// Successive states that become one.
#[derive(Default)]
struct Joined {
    spans: usize,
    length: u64,
    /// The time of each activity, in nanoseconds times [`WHOLE`], so that shares of short states are not lost.
    spent: [u128; ACTIVITIES],
}

impl Joined {
    fn add(&mut self, span: Span) {
        self.spans += 1;
        self.length += span.length;
        let length = u128::from(span.length);
        match span.content {
            Content::One(_, activity) => self.spent[usize::from(activity)] += length * u128::from(WHOLE),
            Content::Joined(shares) => {
                self.spent.iter_mut().zip(shares).for_each(|(sum, share)| *sum += length * u128::from(share));
            }
        }
    }

    fn span(&self) -> Span {
        let whole = self.spent.iter().sum::<u128>().max(1);
        let share = |spent: u128| ((spent * u128::from(WHOLE) + whole / 2) / whole) as u16;
        Span { length: self.length, content: Content::Joined(self.spent.map(share)) }
    }
}

impl StateRow {
    /// A rank without states.
    pub(super) fn new(rank: u32) -> Self {
        Self { rank, begin: 0, spans: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Adds the next state.
    pub(super) fn push(&mut self, since: u64, length: u64, name: u32, activity: u8) {
        if self.spans.is_empty() {
            self.begin = since;
        }
        self.spans.push(Span { length, content: Content::One(name, activity) });
    }

    /// Joins successive states that are shorter than `shortest` until they are as long. Returns the number of states that
    /// remain.
    pub(super) fn join(&mut self, shortest: u64) -> usize {
        if shortest > 0 {
            let mut spans = Vec::with_capacity(self.spans.len());
            let mut joined = Joined::default();
            for &span in &self.spans {
                if span.length >= shortest {
                    end(&mut joined, &mut spans, shortest);
                    spans.push(span);
                    continue;
                }
                joined.add(span);
                if joined.length >= shortest {
                    end(&mut joined, &mut spans, shortest);
                }
            }
            end(&mut joined, &mut spans, shortest);
            self.spans = spans;
        }
        self.spans.len()
    }

    /// The states as the page has them, in ticks of so many nanoseconds. `mixture` returns the number of a mixture.
    pub(super) fn finish(self, tick: u64, mut mixture: impl FnMut(Mixture) -> u64) -> RankStates {
        let mut now = self.begin;
        let spans = self.spans.iter().flat_map(|span| {
            let begin = now / tick;
            now += span.length;
            let length = now / tick - begin;
            match span.content {
                Content::One(name, _) => [length, name.into()],
                Content::Joined(shares) => {
                    let part = |share: u16| (f64::from(share) / f64::from(WHOLE) * f64::from(PARTS)).round() as u8;
                    [length, mixture(shares.map(part))]
                }
            }
        });
        RankStates { rank: self.rank, begin: self.begin / tick, spans: spans.collect() }
    }
}

/// Ends a joined state. A joined state that is too short on its own becomes a part of the last of `spans`.
fn end(joined: &mut Joined, spans: &mut Vec<Span>, shortest: u64) {
    if joined.spans > 0
        && joined.length < shortest
        && let Some(last) = spans.pop()
    {
        joined.add(last);
    }
    if joined.spans > 0 {
        spans.push(joined.span());
    }
    *joined = Joined::default();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lengths, and shares of the first three activities in 15ths; of a state that is not joined, its activity in tens.
    fn joined(states: &[(u64, u8)], shortest: u64) -> Vec<(u64, [u8; 3])> {
        let mut row = StateRow::new(3);
        let mut now = 5;
        for &(length, activity) in states {
            row.push(now, length, activity.into(), activity);
            now += length;
        }
        row.join(shortest);
        let mut mixtures = Vec::new();
        let finished = row.finish(1, |mixture| {
            mixtures.push(mixture);
            99 + mixtures.len() as u64
        });
        assert_eq!((finished.rank, finished.begin), (3, 5));
        assert_eq!(finished.spans.iter().step_by(2).sum::<u64>(), now - 5, "no time is lost");
        let content = |number: u64| match number.checked_sub(100) {
            Some(mixture) => [0, 1, 2].map(|activity| mixtures[mixture as usize][activity]),
            None => [10 * number as u8; 3],
        };
        finished.spans.chunks_exact(2).map(|span| (span[0], content(span[1]))).collect()
    }

    #[test]
    fn short_states_are_joined_and_keep_their_shares() {
        assert_eq!(joined(&[(9, 0), (1, 1), (2, 2), (9, 0)], 3), [(9, [0; 3]), (3, [0, 5, 10]), (9, [0; 3])]);
        assert_eq!(joined(&[(1, 0), (1, 1), (1, 2), (1, 0), (1, 1), (1, 2)], 3), [(3, [5; 3]), (3, [5; 3])]);
    }

    #[test]
    fn a_short_state_between_long_ones_becomes_a_part_of_the_one_before() {
        assert_eq!(joined(&[(8, 0), (2, 1), (9, 2)], 4), [(10, [12, 3, 0]), (9, [20; 3])]);
        assert_eq!(joined(&[(1, 1), (9, 2)], 4), [(1, [0, 15, 0]), (9, [20; 3])]);
    }

    /// A majority among majorities is not a majority of the time.
    #[test]
    fn shares_survive_being_joined_again() {
        let mut row = StateRow::new(0);
        (0..1024).for_each(|at| row.push(at, 1, 0, u8::from(at % 4 == 0)));
        for step in 1..=8 {
            row.join(1 << step);
        }
        let finished = row.finish(1, |mixture| {
            assert_eq!(mixture, [11, 4, 0, 0, 0, 0]);
            7
        });
        assert_eq!(finished.spans.len(), 2 * 4);
    }

    #[test]
    fn ticks_add_up() {
        let mut row = StateRow::new(0);
        (0..10).for_each(|place| row.push(7 * place, 7, 0, 0));
        let finished = row.finish(4, |_| 0);
        assert_eq!(finished.spans.iter().step_by(2).sum::<u64>(), 70 / 4);
    }

    #[test]
    fn nothing_changes_without_a_shortest_time() {
        assert_eq!(joined(&[(1, 1), (0, 2), (3, 1)], 0), [(1, [10; 3]), (0, [20; 3]), (3, [10; 3])]);
    }
}
