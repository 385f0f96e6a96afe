//! Counts of events that a reader passes over, and the longest loop among them.

use std::ops::{AddAssign, Sub};

use crate::event::{Event, Mark};
use crate::units::{Instructions, Seconds};

/// Whether an event has a letter: a name that is the same for equal events. Computations, sleeps, annotations and the stacks
/// of call sites have none, because they may differ between rounds of a loop that makes the same calls.
#[must_use]
pub fn has_symbol(event: &Event) -> bool {
    !matches!(event, Event::Compute(_) | Event::Sleep(_) | Event::Annotation(_) | Event::Mark(Mark::CallStack(..)))
}

/// Counts of consecutive events of a rank.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EventCounts {
    /// All events.
    pub events: u64,
    /// The events that have [letters](has_letter).
    pub letters: u64,
    /// The events that a replay [executes](Event::is_executed).
    pub executed: u64,
    /// The computation of all.
    pub work: Instructions,
    /// The time of all sleeps.
    pub slept: Seconds,
}

impl EventCounts {
    pub(crate) fn add(&mut self, event: &Event) {
        self.events += 1;
        self.letters += u64::from(has_symbol(event));
        self.executed += u64::from(event.is_executed());
        if let Event::Compute(work) = event {
            self.work.0 += work.0;
        } else if let Event::Sleep(time) = event {
            self.slept.0 += time.0;
        }
    }
}

impl AddAssign for EventCounts {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.events += other.events;
        self.letters += other.letters;
        self.executed += other.executed;
        self.work.0 += other.work.0;
        self.slept.0 += other.slept.0;
    }
}

impl Sub for EventCounts {
    type Output = Self;

    /// The counts of the events after the first ones.
    #[inline]
    fn sub(self, first: Self) -> Self {
        Self {
            events: self.events - first.events,
            letters: self.letters - first.letters,
            executed: self.executed - first.executed,
            work: Instructions(self.work.0 - first.work.0),
            slept: Seconds(self.slept.0 - first.slept.0),
        }
    }
}

/// A round of a loop, or several rounds together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Round {
    /// The computation.
    pub work: Instructions,
    /// The time of sleeps.
    pub slept: Seconds,
    /// The number of events that a replay [executes](Event::is_executed).
    pub executed: u32,
}

impl From<EventCounts> for Round {
    fn from(counts: EventCounts) -> Self {
        Self { work: counts.work, slept: counts.slept, executed: counts.executed as u32 }
    }
}

impl AddAssign for Round {
    fn add_assign(&mut self, other: Self) {
        self.work.0 += other.work.0;
        self.slept.0 += other.slept.0;
        self.executed += other.executed;
    }
}

/// Maximum number of rounds that are kept apart. If there are more, two become one.
const MOST_ROUNDS: usize = 1 << 12;

/// A loop of a rank, round by round.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PassedLoop {
    /// The counts of the events before it.
    pub before: EventCounts,
    /// Events with letters in a round.
    pub period: u64,
    /// The complete rounds, in order.
    pub rounds: Vec<Round>,
}

impl PassedLoop {
    /// The number of its events with letters.
    pub fn letters(&self) -> u64 {
        self.period * self.rounds.len() as u64
    }

    /// Makes one round of each `together` consecutive ones. Rounds that are left over are not part of the loop.
    pub fn join(&mut self, together: usize) {
        let whole = self.rounds.chunks_exact(together);
        let sum = |rounds: &[Round]| {
            let mut sum = Round::default();
            rounds.iter().for_each(|&round| sum += round);
            sum
        };
        self.rounds = whole.map(sum).collect();
        self.period *= together as u64;
    }
}

/// Counts events in order, and finds the longest loop among them.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoopCounter {
    counts: EventCounts,
    /// The counts up to the last event with a letter.
    after_call: EventCounts,
    going: Option<LoopInProgress>,
    longest: PassedLoop,
}

/// A loop that may go on.
#[derive(Clone, Debug)]
struct LoopInProgress {
    /// The number that the reader gave it.
    number: u32,
    found: PassedLoop,
    /// The counts at the beginning of the rounds that are kept as one.
    began: EventCounts,
    /// The number of rounds that are kept as one, and how many of these are complete.
    together: u32,
    complete: u32,
    /// Whether the current round is the first, and began before the loop was noticed.
    is_partial: bool,
}

impl LoopInProgress {
    fn end_round(&mut self, now: EventCounts) {
        if std::mem::take(&mut self.is_partial) {
            (self.found.before, self.began) = (now, now);
            return;
        }
        self.complete += 1;
        if self.complete < self.together {
            return;
        }
        self.found.rounds.push((now - self.began).into());
        (self.complete, self.began) = (0, now);
        if self.found.rounds.len() == MOST_ROUNDS {
            self.found.join(2);
            self.together *= 2;
        }
    }
}

impl LoopCounter {
    pub(crate) fn counts(&self) -> EventCounts {
        self.counts
    }

    /// Counts an event of no loop.
    pub(crate) fn add(&mut self, event: &Event) {
        self.counts.add(event);
        if has_symbol(event) {
            self.after_call = self.counts;
            self.end();
        }
    }

    /// Counts an event of no loop that has a letter and does not compute.
    #[inline]
    pub(crate) fn add_call(&mut self, is_executed: bool) {
        self.counts.events += 1;
        self.counts.letters += 1;
        self.counts.executed += u64::from(is_executed);
        self.after_call = self.counts;
        self.end();
    }

    /// Counts a computation.
    #[inline]
    pub(crate) fn compute(&mut self, work: Instructions) {
        self.counts.events += 1;
        self.counts.executed += 1;
        self.counts.work.0 += work.0;
    }

    /// Starts or continues loop `number`, a round of which has these counts apart from computation, and may be in progress.
    pub(crate) fn go_round(&mut self, number: u32, round: EventCounts, is_in_progress: bool) {
        if self.going.as_ref().is_some_and(|going| going.number == number) {
            return;
        }
        self.end();
        // A computation before the first event is part of the first round.
        let now = self.after_call;
        self.going = Some(LoopInProgress {
            number,
            found: PassedLoop { before: now, period: round.letters, rounds: Vec::new() },
            began: now,
            together: 1,
            complete: 0,
            is_partial: is_in_progress,
        });
    }

    /// Counts events of the loop, apart from computation.
    #[inline]
    pub(crate) fn add_in_round(&mut self, events: EventCounts) {
        self.counts += events;
        self.after_call = self.counts;
    }

    /// The round of the loop is over.
    pub(crate) fn end_round(&mut self) {
        if let Some(going) = &mut self.going {
            going.end_round(self.counts);
        }
    }

    /// Counts equal rounds of the loop.
    pub(crate) fn add_rounds(&mut self, round: EventCounts, rounds: usize) {
        for _ in 0..rounds {
            self.counts += round;
            self.end_round();
        }
        self.after_call = self.counts;
    }

    /// The loop ends before the next event.
    #[inline]
    fn end(&mut self) {
        if self.going.is_some() {
            self.end_loop();
        }
    }

    #[cold]
    fn end_loop(&mut self) {
        if let Some(going) = self.going.take()
            && going.found.letters() > self.longest.letters()
        {
            self.longest = going.found;
        }
    }

    /// The longest loop. There is none if it has no rounds.
    pub(crate) fn longest(&mut self) -> &PassedLoop {
        self.end();
        &self.longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The counts of a round, apart from computation.
    const ROUND: EventCounts =
        EventCounts { events: 2, letters: 2, executed: 2, work: Instructions(0.0), slept: Seconds(0.0) };

    fn pass(counter: &mut LoopCounter, work: f64) {
        counter.compute(Instructions(work));
        counter.add_in_round(ROUND);
        counter.end_round();
    }

    /// The longest of loops with these numbers, whose rounds compute this much.
    fn longest(loops: &[(u32, &[f64])]) -> PassedLoop {
        let mut counter = LoopCounter::default();
        for (number, rounds) in loops {
            counter.go_round(*number, ROUND, false);
            rounds.iter().for_each(|&work| pass(&mut counter, work));
        }
        counter.longest().clone()
    }

    #[test]
    fn the_longest_loop_is_kept_round_by_round() {
        let found = longest(&[(1, &[1.0, 2.0]), (2, &[3.0, 4.0, 5.0]), (3, &[6.0])]);
        assert_eq!((found.before.letters, found.period), (4, 2));
        assert_eq!(found.rounds.iter().map(|round| round.work.0).collect::<Vec<_>>(), [3.0, 4.0, 5.0]);
        assert_eq!(longest(&[(1, &[1.0, 2.0]), (1, &[3.0]), (2, &[4.0])]).rounds.len(), 3);
    }

    #[test]
    fn a_call_between_ends_a_loop_and_a_computation_does_not() {
        let rounds = |between: &Event| {
            let mut counter = LoopCounter::default();
            for _ in 0..2 {
                counter.go_round(1, ROUND, false);
                pass(&mut counter, 1.0);
                counter.add(between);
            }
            counter.longest().rounds.len()
        };
        assert_eq!((rounds(&Event::Init), rounds(&Event::Compute(Instructions(1.0)))), (1, 2));
    }

    #[test]
    fn a_loop_that_is_noticed_within_a_round_begins_with_the_next() {
        let mut counter = LoopCounter::default();
        counter.go_round(1, ROUND, true);
        (1..=3).for_each(|work| pass(&mut counter, f64::from(work)));
        let found = counter.longest();
        assert_eq!((found.before.work.0, found.rounds.len(), found.rounds[0].work.0), (1.0, 2, 2.0));
    }

    #[test]
    fn rounds_beyond_a_number_are_kept_together() {
        let works: Vec<f64> = (0..2 * MOST_ROUNDS + 3).map(|work| work as f64).collect();
        let found = longest(&[(1, &works)]);
        assert_eq!((found.period, found.rounds.len()), (8, MOST_ROUNDS / 2));
        let expected = |index: usize| (4 * index..4 * index + 4).map(|work| work as f64).sum::<f64>();
        assert!(found.rounds.iter().enumerate().all(|(index, round)| round.work.0 == expected(index)));
    }

    #[test]
    fn equal_rounds_are_as_if_each_was_passed() {
        let mut counter = LoopCounter::default();
        counter.go_round(1, ROUND, false);
        pass(&mut counter, 1.0);
        counter.add_rounds(counter.counts(), 4);
        assert_eq!((counter.counts().work.0, counter.counts().letters), (5.0, 10));
        assert_eq!(counter.longest().rounds, [Round { work: Instructions(1.0), slept: Seconds(0.0), executed: 3 }; 5]);
    }
}
