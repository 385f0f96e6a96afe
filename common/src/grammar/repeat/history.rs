//! The order of the last events, in little memory while they go round a loop.
//!
//! A loop of a thousand rounds takes as many places as one round: the order of its events, and how many came after the
//! first round.

use std::collections::VecDeque;

use super::WINDOW;

/// The places, in a dictionary, of the last [`WINDOW`] events.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    /// The places of the events up to the first round, oldest first; [`WINDOW`] at most.
    places: VecDeque<u16>,
    /// How many of the last places are the first round; 0 while no loop goes.
    period: usize,
    /// How many events came after `places`: those of the first round again and again.
    repeated: usize,
    /// The index in `places` of the event that comes again next if the loop goes on.
    next: usize,
}

impl History {
    /// How many events the window has.
    pub(super) fn known(&self) -> usize {
        (self.places.len() + self.repeated).min(WINDOW)
    }

    /// The place of the event that came `distance` events ago, and that comes again now. There [is](Self::known) one.
    #[inline]
    pub(super) fn repeat(&mut self, distance: usize) -> u16 {
        if self.period != distance {
            self.end_loop();
            self.period = distance;
            self.next = self.places.len() - distance;
        }
        let place = self.places[self.next];
        self.repeated += 1;
        self.next += 1;
        if self.next == self.places.len() {
            self.next_round();
        }
        place
    }

    /// Adds an event that is at `place`.
    pub(super) fn push(&mut self, place: u16) {
        self.end_loop();
        self.add(place);
    }

    /// The places of the events of the window.
    pub(super) fn window(&mut self) -> impl Iterator<Item = u16> {
        self.end_loop();
        self.places.iter().copied()
    }

    fn add(&mut self, place: u16) {
        if self.places.len() == WINDOW {
            self.places.pop_front();
        }
        self.places.push_back(place);
    }

    fn next_round(&mut self) {
        // What stood before the first round has left the window, so its memory is free.
        if self.repeated >= WINDOW && self.places.len() > self.period {
            self.places.drain(..self.places.len() - self.period);
            self.places.shrink_to_fit();
        }
        self.next = self.places.len() - self.period;
    }

    /// Spells out the events of the rounds that are in the window.
    fn end_loop(&mut self) {
        let (period, repeated) = (std::mem::take(&mut self.period), std::mem::take(&mut self.repeated));
        // Whole rounds that are before the window need not be spelled.
        let spelled = repeated.checked_sub(WINDOW).map_or(repeated, |before| WINDOW + before % period);
        for _ in 0..spelled {
            self.add(self.places[self.places.len() - period]);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn loops_are_as_if_they_were_spelled(steps in prop::collection::vec((0..WINDOW, 0..3 * WINDOW, any::<u16>()), 1..20)) {
            let (mut history, mut all) = (History::default(), Vec::new());
            for (distance, times, place) in steps {
                history.push(place);
                all.push(place);
                let distance = distance % history.known() + 1;
                for _ in 0..times {
                    let again = all[all.len() - distance];
                    all.push(again);
                    prop_assert_eq!(history.repeat(distance), again);
                }
                prop_assert_eq!(history.known(), all.len().min(WINDOW));
                let window: Vec<u16> = history.clone().window().collect();
                prop_assert_eq!(&window, &all[all.len() - history.known()..]);
            }
        }
    }

    #[test]
    fn a_long_loop_takes_the_memory_of_one_round() {
        let mut history = History::default();
        (0..WINDOW as u16).for_each(|place| history.push(place));
        (0..2 * WINDOW).for_each(|_| assert!(history.repeat(14) >= WINDOW as u16 - 14));
        assert!(history.places.capacity() <= 14);
    }
}
