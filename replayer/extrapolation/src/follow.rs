//! Reads the calls of one recording along with the outline of the largest.
//!
//! The two may differ in the number of iterations of a loop. Where they part, one of them repeats the calls just before, and the other
//! does not.

use crate::outline::{GroupCalls, Item};

/// The largest number of items in an iteration of a loop.
const LONGEST_ITERATION: usize = 256;

/// A loop whose numbers of iterations differ between two recordings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FoundLoop {
    /// The first item of the first iteration.
    pub first: usize,
    /// The number of items in an iteration.
    pub items: usize,
    /// The number of iterations in the largest recording.
    pub in_largest: usize,
    /// The number of iterations in the other recording.
    pub in_other: usize,
}

/// The items of the outline in another recording.
#[derive(Debug, Default)]
pub(crate) struct Followed {
    /// The first step of each item; `None` for those of iterations that the recording does not have.
    pub steps: Vec<Option<usize>>,
    pub loops: Vec<FoundLoop>,
}

/// The place from which two recordings differ: the step in the other one, and that in the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SplitOutline {
    pub step: usize,
    pub in_largest: usize,
}

/// A recording that is read along with the outline of the largest.
struct Follower<'f> {
    outline: &'f [(usize, Item)],
    largest: &'f GroupCalls<'f>,
    other: &'f GroupCalls<'f>,
    item: usize,
    step: usize,
    followed: Followed,
}

/// Reads `other` along with the `outline` of `largest`.
pub(crate) fn follow(
    outline: &[(usize, Item)],
    largest: &GroupCalls<'_>,
    other: &GroupCalls<'_>,
) -> Result<Followed, SplitOutline> {
    let mut follower = Follower { outline, largest, other, item: 0, step: 0, followed: Followed::default() };
    while follower.item < outline.len() || follower.step < other.columns.steps.len() {
        let is_explained = follower.take_item() || follower.skip_iterations() || follower.repeat_iterations();
        if !is_explained {
            let end = largest.columns.steps.len();
            let in_largest = outline.get(follower.item).map_or(end, |(step, _)| *step);
            return Err(SplitOutline { step: follower.step, in_largest });
        }
    }
    Ok(follower.followed)
}

impl Follower<'_> {
    /// The step after an item that begins at `step`, if the other recording has it there.
    fn after(&self, item: usize, step: usize) -> Option<usize> {
        let &(there, item) = self.outline.get(item)?;
        match item {
            Item::Call => self.other.has_skeleton(step, self.largest, there).then_some(step + 1),
            Item::Stages(stages) => {
                let number = stages.number(self.other.grid)?;
                self.other.are_stages(step, stages, number).then_some(step + stages.calls * number)
            }
        }
    }

    fn take_item(&mut self) -> bool {
        let Some(after) = self.after(self.item, self.step) else { return false };
        self.followed.steps.push(Some(self.step));
        (self.item, self.step) = (self.item + 1, after);
        true
    }

    /// The largest recording repeats what comes before, and the other does not.
    fn skip_iterations(&mut self) -> bool {
        for items in 1..=LONGEST_ITERATION.min(self.item) {
            let is_repeated = |item: usize| self.are_equal(item - items, item, items);
            let more = (0..).take_while(|more| is_repeated(self.item + more * items)).count();
            let next = self.item + more * items;
            let is_end = next == self.outline.len() && self.step == self.other.columns.steps.len();
            if more == 0 || !is_end && self.after(next, self.step).is_none() {
                continue;
            }
            let before = self.iterations_before(items);
            self.found(before, items, before + more, before);
            self.followed.steps.resize(next, None);
            self.item = next;
            return true;
        }
        false
    }

    /// The other recording repeats what comes before, and the largest does not.
    fn repeat_iterations(&mut self) -> bool {
        for items in 1..=LONGEST_ITERATION.min(self.item) {
            let before = self.iterations_before(items);
            let (mut more, mut step) = (0, self.step);
            while let Some(after) = (self.item - items..self.item).try_fold(step, |step, item| self.after(item, step)) {
                if after == step {
                    break;
                }
                (more, step) = (more + 1, after);
            }
            let is_end = self.item == self.outline.len() && step == self.other.columns.steps.len();
            if before < 2 || more == 0 || !is_end && self.after(self.item, step).is_none() {
                continue;
            }
            self.found(before, items, before, before + more);
            self.step = step;
            return true;
        }
        false
    }

    /// The number of equal iterations just before the current item.
    fn iterations_before(&self, items: usize) -> usize {
        let is_repeated = |before: &usize| {
            let end = self.item - before * items;
            end >= 2 * items && self.are_equal(end - 2 * items, end - items, items)
        };
        1 + (0..).take_while(is_repeated).count()
    }

    fn found(&mut self, before: usize, items: usize, in_largest: usize, in_other: usize) {
        let first = self.item - before * items;
        self.followed.loops.push(FoundLoop { first, items, in_largest, in_other });
    }

    /// Whether two runs of items are equal in the largest recording.
    fn are_equal(&self, one: usize, other: usize, items: usize) -> bool {
        (0..items).all(|item| {
            let pair = self.outline.get(one + item).zip(self.outline.get(other + item));
            pair.is_some_and(|(&(here, item), &(there, other))| {
                let steps = match item {
                    Item::Call => Some(1),
                    Item::Stages(stages) => stages.number(self.largest.grid).map(|number| number * stages.calls),
                };
                let columns = |first: usize| self.largest.columns.steps.get(first..first + steps.unwrap_or(0));
                item == other && columns(here) == columns(there)
            })
        })
    }
}
