//! The order of the last events, stored compactly while they are in a loop.
//!
//! A loop of a thousand rounds takes as much memory as one round: the order of its events, and the number of events
//! after the first round.

use std::collections::VecDeque;

use super::reach::Lookback;

/// An event by its slot in a dictionary, and the number of further rounds in which a computation is expected before it.
///
/// A computation is expected before an event if there was one in one of the last [`PastEvent::ROUNDS`] rounds of its
/// loop: measured computations are occasionally zero, and the first event of an inner loop may follow a computation
/// that the others do not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PastEvent(u32);

impl PastEvent {
    const SLOTS: u32 = 1 << 20;
    const ROUNDS: u32 = 31;

    /// The event in `slot`, before which there was or was no computation.
    pub(super) fn new(slot: u32, computed: bool) -> Self {
        Self(slot % Self::SLOTS).again(computed)
    }

    #[inline]
    pub(super) fn slot(self) -> u32 {
        self.0 % Self::SLOTS
    }

    /// Whether a computation is expected before the next occurrence of the event.
    #[inline]
    pub(super) fn is_computing(self) -> bool {
        self.0 >= Self::SLOTS
    }

    /// The event when it comes again, after a computation or without.
    #[inline]
    fn again(self, computed: bool) -> Self {
        match computed {
            true => Self(self.slot() + Self::ROUNDS * Self::SLOTS),
            false => Self(if self.is_computing() { self.0 - Self::SLOTS } else { self.0 }),
        }
    }
}

/// Number of events after a loop from which the loop is spelled out.
const FEW: usize = 16;

/// The round of a loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundInProgress<'h> {
    pub(super) events: &'h [PastEvent],
    /// The index of the next event.
    pub(super) next: usize,
    /// The number of the loop, from 1; no other loop of the history has it.
    pub(super) number: u32,
}

/// The last events, as many as the window has. In a loop, all rounds are as the last one.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    reach: Lookback,
    /// The events up to the first round, oldest first, not more than the window has; none once these are out of the window.
    events: VecDeque<PastEvent>,
    /// The round of the loop that goes: at first, the last of `events`. Empty while no loop goes.
    round: Vec<PastEvent>,
    /// The number of events after `events`: repetitions of the round.
    repeated: usize,
    /// The index in `round` of the next event if the loop continues.
    next: usize,
    /// The events after the loop, if it is over: few, as most programs end soon after their main loop.
    after: Vec<PastEvent>,
    /// The number of loops that have begun.
    loops: u32,
}

impl History {
    /// No events yet.
    pub(super) fn new(reach: Lookback) -> Self {
        Self { reach, ..Self::default() }
    }

    /// The number of remembered events.
    pub(super) fn reach(&self) -> Lookback {
        self.reach
    }

    /// Remembers more events from here on.
    pub(super) fn widen(&mut self, reach: Lookback) {
        self.end_loop();
        self.reach = reach;
    }

    /// The size of the window, in events.
    pub(super) fn known(&self) -> usize {
        (self.events.len() + self.repeated + self.after.len()).min(self.reach.window())
    }

    /// The event `distance` events ago, which is repeated if the loop of this length continues. There [is](Self::known)
    /// one.
    #[inline]
    pub(super) fn expected(&mut self, distance: usize) -> PastEvent {
        self.go_round(distance);
        self.round[self.next]
    }

    /// The round of the loop of this length that goes, or that begins here; `distance` events ago there [is](Self::known) an
    /// event.
    pub(super) fn round(&mut self, distance: usize) -> RoundInProgress<'_> {
        self.go_round(distance);
        RoundInProgress { events: &self.round, next: self.next, number: self.loops }
    }

    /// Begins the loop of this length, unless it goes.
    #[inline]
    fn go_round(&mut self, distance: usize) {
        if self.round.len() != distance || !self.after.is_empty() {
            self.begin_loop(distance);
        }
    }

    #[cold]
    fn begin_loop(&mut self, distance: usize) {
        self.end_loop();
        self.loops = self.loops.wrapping_add(1);
        self.round.reserve_exact(distance);
        self.round.extend(self.events.range(self.events.len() - distance..));
    }

    /// Adds the [expected](Self::expected) event, before which there was or was no computation.
    #[inline]
    pub(super) fn repeat(&mut self, expected: PastEvent, computed: bool) {
        if computed || expected.is_computing() {
            self.round[self.next] = expected.again(computed);
        }
        self.advance(1);
    }

    /// Says whether there was a computation before the event at `place` of the round, which comes again. Returns whether one
    /// is still expected there.
    #[inline]
    pub(super) fn repeat_at(&mut self, place: usize, computed: bool) -> bool {
        self.round[place] = self.round[place].again(computed);
        self.round[place].is_computing()
    }

    /// Adds the next events of the loop that goes.
    #[inline]
    pub(super) fn advance(&mut self, events: usize) {
        self.repeated += events;
        self.next += events;
        if self.next >= self.round.len() {
            self.next %= self.round.len();
            if self.repeated >= self.reach.window() && !self.events.is_empty() {
                self.forget_before_loop();
            }
        }
    }

    /// Adds an event.
    pub(super) fn push(&mut self, event: PastEvent) {
        if self.round.is_empty() {
            return self.add(event);
        }
        self.after.push(event);
        if self.after.len() == FEW {
            self.end_loop();
        }
    }

    /// The events of the window, the oldest first.
    pub(super) fn window(&mut self) -> &VecDeque<PastEvent> {
        self.end_loop();
        &self.events
    }

    /// Forgets all but the last `known` events.
    pub(super) fn forget_before(&mut self, known: usize) {
        self.end_loop();
        self.events.drain(..self.events.len().saturating_sub(known));
    }

    fn add(&mut self, event: PastEvent) {
        let window = self.reach.window();
        if self.events.len() == window {
            self.events.pop_front();
        }
        if self.events.len() == self.events.capacity() {
            let known = self.events.len();
            self.events.reserve_exact(known.max(4).min(window - known));
        }
        self.events.push_back(event);
    }

    /// Frees the memory of the events before the loop, which have left the window.
    #[cold]
    fn forget_before_loop(&mut self) {
        self.events = VecDeque::new();
        self.round.shrink_to_fit();
    }

    /// Spells out the events of the rounds that are in the window.
    fn end_loop(&mut self) {
        let (repeated, mut round) = (std::mem::take(&mut self.repeated), std::mem::take(&mut self.round));
        if round.is_empty() {
            return;
        }
        self.next = 0;
        // The first round is as the last one, too.
        self.events.iter_mut().rev().zip(round.iter().rev()).for_each(|(first, last)| *first = *last);
        // Whole rounds that are before the window need not be spelled.
        let window = self.reach.window();
        let spelled = repeated.checked_sub(window).map_or(repeated, |before| window + before % round.len());
        for &event in round.iter().cycle().take(spelled) {
            self.add(event);
        }
        round.clear();
        self.round = round;
        for event in std::mem::take(&mut self.after) {
            self.add(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WINDOW: usize = 2 * Lookback::LEAST;

    proptest! {
        #[test]
        fn loops_are_as_if_they_were_spelled(
            steps in prop::collection::vec((0..WINDOW, 0..3 * WINDOW, 0..2000_u32), 1..20)
        ) {
            let (mut history, mut all) = (History::default(), Vec::new());
            for (distance, times, slot) in steps {
                for slot in slot..=slot + slot % 40 {
                    history.push(PastEvent(slot));
                    all.push(PastEvent(slot));
                }
                let distance = distance % history.known() + 1;
                for _ in 0..times {
                    let again = all[all.len() - distance];
                    all.push(again);
                    prop_assert_eq!(history.expected(distance), again);
                    history.repeat(again, false);
                }
                prop_assert_eq!(history.known(), all.len().min(WINDOW));
                let mut window = history.clone();
                prop_assert_eq!(window.window(), &&all[all.len() - history.known()..]);
            }
        }
    }

    #[test]
    fn a_long_loop_takes_the_memory_of_one_round() {
        let mut history = History::default();
        (0..2048).for_each(|slot| history.push(PastEvent(slot)));
        for round in 0..2 * WINDOW {
            let expected = history.expected(14);
            history.repeat(expected, round % 3 == 0);
        }
        assert!(history.events.capacity() + history.round.capacity() <= 14);
    }

    #[test]
    fn computation_is_expected_for_some_rounds_after_the_last() {
        let mut history = History::default();
        history.push(PastEvent::new(7, true));
        for round in 0..100 {
            let expected = history.expected(1);
            assert_eq!((expected.slot(), expected.is_computing()), (7, round < 10 + PastEvent::ROUNDS), "{round}");
            history.repeat(expected, round == 9);
        }
    }
}
