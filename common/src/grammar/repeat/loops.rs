//! The recent loops of a program: the earlier event from which the sequence is likely to continue when a loop ends.

use std::collections::VecDeque;

use super::history::PastEvent;

/// Number of recent loops that are remembered.
const LOOPS: usize = 3;
/// Number of preceding events that are compared with those before an earlier event.
const CONTEXT: usize = 16;
/// Maximum difference in length between two long rounds; after a short round, the next is found as quickly without
/// this.
const DETOUR: usize = 8;

/// The recent loops of a program.
///
/// A program leaves a loop when an inner loop ends, when a round has an event more or less than the one before, or for
/// good. The next event may be found at several distances: its last occurrence; its last occurrence after an end like
/// this one; or the length of an earlier loop. The preceding events show which one is likely; a wrong choice costs a
/// line.
#[derive(Debug, Default)]
pub(super) struct Loops {
    /// The distance and the end of each loop, in events; the last one first.
    loops: [(usize, usize); LOOPS],
    /// The number of the event that the program began the present passage with.
    begun: usize,
}

impl Loops {
    /// Records that a passage at this distance has ended before the event number `count`.
    pub(super) fn end(&mut self, distance: usize, count: usize) {
        if distance > 0 && count - self.begun >= 2 * distance {
            let known = self.loops.iter().position(|&(of, _)| of == distance).unwrap_or(LOOPS - 1);
            self.loops[..=known].rotate_right(1);
            self.loops[0] = (distance, count);
        }
    }

    /// The distance from which event number `count`, which is in `slot`, is likely to continue; `None` if the window
    /// does not have the event. `ago` are distances of its earlier occurrences, and `left` is the distance of the
    /// passage that it ends.
    pub(super) fn resume(
        &mut self,
        slot: u32,
        ago: [usize; 2],
        left: usize,
        count: usize,
        window: &VecDeque<PastEvent>,
    ) -> Option<usize> {
        let events = |distance: usize| window.get(window.len().checked_sub(distance)?).map(|place| place.slot());
        let mut best = None;
        let mut consider = |distance: usize, least: usize| {
            if distance > 0 && events(distance) == Some(slot) {
                let alike = |&back: &usize| events(distance + back).is_some_and(|event| events(back) == Some(event));
                let likely = (1..=CONTEXT).take_while(alike).count().max(least);
                if best.is_none_or(|(most, _)| likely >= most) {
                    best = Some((likely, distance));
                }
            }
        };
        ago.into_iter().for_each(|distance| consider(distance, 0));
        let longest_detour = |distance: usize| DETOUR.min(distance / 4);
        for (distance, end) in self.loops {
            // The events since then were a detour.
            let detour = count - end;
            consider(distance + detour, if detour <= longest_detour(distance) { CONTEXT / 2 } else { 0 });
            let is_left = left != distance && left.abs_diff(distance) <= longest_detour(distance);
            consider(distance, if is_left { CONTEXT } else { 0 });
        }
        if count - self.begun >= DETOUR {
            (1..=longest_detour(left)).rev().for_each(|skipped| consider(left - skipped, CONTEXT / 2));
        }
        self.begun = count;
        best.map(|(_, distance)| distance)
    }
}
