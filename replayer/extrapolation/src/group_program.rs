//! The calls of a group of ranks as a function of the grid.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::call_rule::{CallRule, Observed};
use crate::failure::{Ambiguity, Failure, StepPlace};
use crate::follow::{Followed, FoundLoop, follow};
use crate::grid::{Grid, MOST_DIMENSIONS};
use crate::group::{ColumnId, Columns, Group};
use crate::outline::{GroupCalls, Item, Stages};
use crate::recording::{Calls, Recording};
use crate::scaling::Scaling;
use crate::work::WorkSums;

/// A part of a group's calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub item: Item,
    /// The first step in the largest recording.
    pub step: usize,
    /// The place in [`GroupProgram::rule_of`] of the rule for the first call.
    pub rule: usize,
}

/// A loop whose number of iterations depends on the grid.
#[derive(Clone, Debug)]
pub(crate) struct VariableLoop {
    /// The number of parts in an iteration.
    pub parts: usize,
    /// The number of iterations in the largest recording.
    pub recorded: usize,
    /// The functions that give the number of iterations in all recordings, at least one.
    iterations: Vec<Iterations>,
    /// The first call in the largest recording.
    place: StepPlace,
}

impl VariableLoop {
    /// The number of iterations in a grid.
    pub(crate) fn iterations(&self, grid: &Grid) -> Result<u64, Failure> {
        let number = self.iterations.first().and_then(|function| function.in_grid(grid));
        number.ok_or_else(|| Failure::NoIterations(self.place, grid.clone()))
    }

    /// Whether the functions give different numbers in a grid.
    fn is_ambiguous(&self, grid: &Grid) -> bool {
        self.iterations.windows(2).any(|pair| pair[0].in_grid(grid) != pair[1].in_grid(grid))
    }
}

/// The calls of a group of ranks in a grid of any size.
pub(crate) struct GroupProgram {
    pub group: Group,
    pub parts: Vec<Part>,
    /// The loops with a variable number of iterations, by their first part.
    pub loops: BTreeMap<usize, VariableLoop>,
    /// For each call of the parts, those of stages once, its place in `rules`.
    pub rule_of: Vec<usize>,
    pub rules: Vec<CallRule>,
    /// The scaling of the computation before the calls of each rule.
    pub work: Vec<Scaling>,
}

/// A group's calls in one recording, along the outline of the largest.
struct Aligned<'r> {
    recording: usize,
    calls: GroupCalls<'r>,
    /// The first step of each item of the outline.
    steps: Vec<Option<usize>>,
}

/// A call of the outline: that of an item, or of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct OutlineCall {
    stages: Option<Stages>,
    /// Its number in the stage.
    number: usize,
}

impl Aligned<'_> {
    /// The steps of a call of an item: one for each stage; none if the recording does not have the item.
    fn steps(&self, item: usize, call: OutlineCall) -> Vec<usize> {
        let Some(first) = self.steps.get(item).copied().flatten() else { return Vec::new() };
        let (length, stages) =
            call.stages.map_or((1, Some(1)), |stages| (stages.calls, stages.number(self.calls.grid)));
        (0..stages.unwrap_or(0)).map(|stage| first + call.number + stage * length).collect()
    }

    /// The call as the group makes it in these steps.
    fn observed<'o>(&'o self, grids: &'o [Grid], group: &'o Group, steps: &[usize]) -> Observed<'o> {
        let column = |&step: &usize| self.calls.columns.calls(self.calls.columns.steps[step]);
        Observed {
            recording: self.recording,
            grid: &grids[self.recording],
            ranks: &group.ranks[self.recording],
            step: steps.first().copied().unwrap_or_default(),
            stages: steps.iter().map(column).collect(),
        }
    }
}

impl GroupProgram {
    /// The program of a group, and the computation before its calls.
    pub(crate) fn of(
        recordings: &[Recording],
        group: Group,
        grids: &[Grid],
        calls: &Calls,
    ) -> Result<(Self, WorkSums), Failure> {
        let group_calls = |number: usize| {
            let ranks = &group.ranks[number];
            GroupCalls::new(&grids[number], ranks, Columns::of(&recordings[number], ranks), calls)
        };
        let last = recordings.len().saturating_sub(1);
        let largest = group_calls(last);
        let outline = largest.outline();
        let (mut aligned, mut found) = (Vec::new(), Vec::new());
        for number in (0..last).filter(|&number| !group.ranks[number].is_empty()) {
            let other = group_calls(number);
            let Followed { steps, loops } = follow(&outline, &largest, &other).map_err(|parted| {
                let place = |number: usize, step| StepPlace { recording: number, rank: group.ranks[number][0], step };
                Failure::Sizes(place(number, parted.step), place(last, parted.in_largest))
            })?;
            found.push((number, loops));
            aligned.push(Aligned { recording: number, calls: other, steps });
        }
        let steps = outline.iter().map(|(step, _)| Some(*step)).collect();
        aligned.push(Aligned { recording: last, calls: largest, steps });
        let loops = variable_loops(&found, grids, |item| {
            let step = outline.get(item).map_or(0, |(step, _)| *step);
            StepPlace { recording: last, rank: group.ranks[last][0], step }
        })?;
        let sums = WorkSums::new(&group, grids);
        let (parts, rule_of, rules, work) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let program = Self { group, parts, loops, rule_of, rules, work };
        program.with_rules(&outline, &aligned, grids, recordings, calls, sums)
    }

    /// Adds the rule for each call of the outline.
    fn with_rules(
        mut self,
        outline: &[(usize, Item)],
        aligned: &[Aligned<'_>],
        grids: &[Grid],
        recordings: &[Recording],
        calls: &Calls,
        mut sums: WorkSums,
    ) -> Result<(Self, WorkSums), Failure> {
        let mut known: FxHashMap<(OutlineCall, Vec<Vec<ColumnId>>), usize> = FxHashMap::default();
        for (index, &(step, item)) in outline.iter().enumerate() {
            let first_rule = self.rule_of.len();
            let stages = match item {
                Item::Call => None,
                Item::Stages(stages) => Some(stages),
            };
            for number in 0..stages.map_or(1, |stages| stages.calls) {
                let call = OutlineCall { stages, number };
                let steps: Vec<Vec<usize>> = aligned.iter().map(|aligned| aligned.steps(index, call)).collect();
                let rule = match self.first_iteration(index) {
                    // All iterations are equal in the largest recording.
                    Some(first) => self.rule_of[self.parts[first].rule + number],
                    None => {
                        let columns = |(aligned, steps): (&Aligned<'_>, &Vec<usize>)| {
                            steps.iter().map(|&step| aligned.calls.columns.steps[step]).collect()
                        };
                        let key = (call, aligned.iter().zip(&steps).map(columns).collect());
                        match known.get(&key) {
                            Some(&rule) => rule,
                            None => {
                                let all = aligned.iter().zip(&steps);
                                let observed = all.map(|(aligned, steps)| aligned.observed(grids, &self.group, steps));
                                let rule = CallRule::of(&observed.collect::<Vec<_>>(), stages, calls)?;
                                self.rules.push(rule);
                                known.insert(key, self.rules.len() - 1);
                                self.rules.len() - 1
                            }
                        }
                    }
                };
                self.rule_of.push(rule);
                for (steps, aligned) in steps.iter().zip(aligned).filter(|(steps, _)| !steps.is_empty()) {
                    sums.add(rule, aligned.recording, &recordings[aligned.recording], steps);
                }
            }
            self.parts.push(Part { item, step, rule: first_rule });
        }
        Ok((self, sums))
    }

    /// What is known too little to be given in a grid.
    pub(crate) fn ambiguity(&self, largest: &Grid, grid: &Grid) -> Option<(Ambiguity, StepPlace)> {
        let of_call = |rule: &CallRule| Some((rule.ambiguity(largest, grid)?, rule.place));
        let of_loop =
            |varying: &VariableLoop| varying.is_ambiguous(grid).then_some((Ambiguity::Iterations, varying.place));
        self.rules.iter().find_map(of_call).or_else(|| self.loops.values().find_map(of_loop))
    }

    /// The part of the first iteration of a variable loop that a part of another iteration repeats.
    fn first_iteration(&self, part: usize) -> Option<usize> {
        let (&first, found) = self.loops.range(..=part).next_back()?;
        let is_repeated = (first + found.parts..first + found.parts * found.recorded).contains(&part);
        is_repeated.then(|| first + (part - first) % found.parts)
    }
}

/// The loops whose numbers of iterations differ between recordings, by their first item.
fn variable_loops(
    found: &[(usize, Vec<FoundLoop>)],
    grids: &[Grid],
    place: impl Fn(usize) -> StepPlace,
) -> Result<BTreeMap<usize, VariableLoop>, Failure> {
    let mut loops: BTreeMap<usize, FoundLoop> = BTreeMap::new();
    for &one in found.iter().flat_map(|(_, loops)| loops) {
        let known = *loops.entry(one.first).or_insert(one);
        if (known.items, known.in_largest) != (one.items, one.in_largest) {
            return Err(Failure::Iterations(place(one.first)));
        }
    }
    let last = grids.len().saturating_sub(1);
    let function = |(first, one): (usize, FoundLoop)| {
        let in_other = |(number, loops): &(usize, Vec<FoundLoop>)| {
            let here = loops.iter().find(|found| found.first == first);
            (&grids[*number], here.map_or(one.in_largest, |found| found.in_other) as u64)
        };
        let mut numbers: Vec<(&Grid, u64)> = found.iter().map(in_other).collect();
        numbers.push((&grids[last], one.in_largest as u64));
        let (iterations, place) = (Iterations::of(&numbers), place(first));
        if iterations.is_empty() {
            return Err(Failure::Iterations(place));
        }
        Ok((first, VariableLoop { parts: one.items, recorded: one.in_largest, iterations, place }))
    };
    loops.into_iter().map(function).collect()
}

/// The number of iterations of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Iterations {
    /// The same number in any grid.
    Constant(u64),
    /// A size, times the first number, plus the second.
    Linear(Size, i64, i64),
    /// The number divided by a size.
    Inverse(u64, Size),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    Side(usize),
    Ranks,
}

impl Size {
    fn of(self, grid: &Grid) -> u64 {
        u64::from(match self {
            Self::Side(dimension) => grid.side(dimension),
            Self::Ranks => grid.places(),
        })
    }

    fn all() -> impl Iterator<Item = Self> {
        (0..MOST_DIMENSIONS).map(Self::Side).chain([Self::Ranks])
    }
}

impl Iterations {
    /// The simplest functions that give these numbers in these grids. They are equally simple.
    pub(crate) fn of(numbers: &[(&Grid, u64)]) -> Vec<Self> {
        let Some((&(one_grid, one), &(other_grid, other))) = numbers.first().zip(numbers.last()) else {
            return Vec::new();
        };
        let linear = Size::all().filter_map(|size| {
            let (from, to) = (size.of(one_grid) as i64, size.of(other_grid) as i64);
            let (more, by) = (other as i64 - one as i64, to - from);
            let times = (by != 0 && more % by == 0).then(|| more / by)?;
            let constant = one as i64 - times * from;
            Some((times.abs() + constant.abs(), Self::Linear(size, times, constant)))
        });
        let inverse = Size::all().map(|size| (0, Self::Inverse(one * size.of(one_grid), size)));
        let candidates = std::iter::once((-1, Self::Constant(one))).chain(inverse).chain(linear);
        let holds = |candidate: Self| numbers.iter().all(|&(grid, number)| candidate.in_grid(grid) == Some(number));
        let holding: Vec<(i64, Self)> = candidates.filter(|&(_, candidate)| holds(candidate)).collect();
        let simplest = holding.iter().map(|(complexity, _)| *complexity).min();
        let simplest = holding.into_iter().filter(|(complexity, _)| Some(*complexity) == simplest);
        simplest.map(|(_, candidate)| candidate).collect()
    }

    /// The number in a grid; `None` if it is negative.
    pub(crate) fn in_grid(self, grid: &Grid) -> Option<u64> {
        match self {
            Self::Constant(number) => Some(number),
            Self::Linear(size, times, more) => u64::try_from(size.of(grid) as i64 * times + more).ok(),
            Self::Inverse(number, size) => Some((number + size.of(grid) / 2) / size.of(grid)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_constant_linear_or_inverse() {
        let grids: Vec<Grid> = [[2, 4], [4, 8], [16, 8]].iter().filter_map(|sides| Grid::new(sides)).collect();
        let functions = |one, other| Iterations::of(&[(&grids[0], one), (&grids[1], other)]);
        let number = |one, other| functions(one, other).first().and_then(|found| found.in_grid(&grids[2]));
        assert_eq!(number(5, 5), Some(5));
        assert_eq!(number(1, 3), Some(15));
        assert_eq!(number(3, 7), Some(7));
        assert_eq!(number(60, 30), Some(8));
        assert_eq!(number(7, 31), Some(127));
        assert_eq!(number(7, 8), None);
    }
}
