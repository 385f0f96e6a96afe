//! Numbers as runs in which each is by the same step larger than the one before.

/// A sequence of numbers that grows at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NumberRuns {
    all: Vec<Run>,
}

/// Numbers that change by equal steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// The index of the first number in the sequence.
    pub(super) at: usize,
    pub(super) first: i64,
    pub(super) count: usize,
    pub(super) step: i64,
}

impl NumberRuns {
    /// The number of numbers.
    pub(super) fn count(&self) -> usize {
        self.all.last().map_or(0, |last| last.at + last.count)
    }

    /// The number of runs.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// The number of runs if `number` is added.
    pub(super) fn len_with(&self, number: i64) -> usize {
        self.all.len() + usize::from(!self.all.last().is_some_and(|last| last.is_continued_by(number)))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Run> {
        self.all.iter().copied()
    }

    pub(super) fn push(&mut self, number: i64) {
        let at = self.count();
        match self.all.last_mut().filter(|last| last.is_continued_by(number)) {
            Some(last) => {
                if last.count == 1 {
                    last.step = number - last.first;
                }
                last.count += 1;
            }
            None => self.all.push(Run { at, first: number, count: 1, step: 0 }),
        }
    }
}

impl Run {
    /// Two numbers are always a run.
    fn is_continued_by(&self, number: i64) -> bool {
        self.count == 1 || self.first + self.step * self.count as i64 == number
    }
}
