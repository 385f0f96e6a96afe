//! A program as a function of the grid: the rules for the calls of each group of ranks.

use std::collections::BTreeMap;

use titr_common::event::Rank;

use crate::call_rule::CallRule;
use crate::failure::{Ambiguity, Failure};
use crate::grid::Grid;
use crate::group::groups;
use crate::group_program::GroupProgram;
use crate::growth::Growth;
use crate::recording::{Calls, Recording};
use crate::scaling::{Scaling, relative_error};
use crate::work::WorkSums;

/// A program on a grid that was not recorded.
pub(crate) struct Program {
    pub grids: Vec<Grid>,
    pub target: Grid,
    pub groups: Vec<GroupProgram>,
    /// The scaling of all computation.
    pub total_work: Scaling,
    /// The relative error of the computation by the rules in the recordings.
    pub work_error: f64,
    /// The largest relative error of a size by the rules in the recordings.
    pub volume_error: f64,
    /// The factor by which receives are larger than the rules say, so that each has room for its message although the rules average
    /// sizes.
    pub room: f64,
    /// What the recordings leave open in the target.
    pub unknown: Option<Failure>,
}

impl Program {
    /// The program of these recordings, if its grid grows like this.
    pub(crate) fn of(recordings: &[Recording], growth: &Growth, calls: &Calls) -> Result<Self, Failure> {
        let grids = &growth.recorded;
        let mut programs = Vec::new();
        let mut sums = Vec::new();
        for group in groups(recordings, grids, calls)? {
            let (program, its_sums) = GroupProgram::of(recordings, group, grids, calls)?;
            programs.push(program);
            sums.push(its_sums);
        }
        let is_uniform = programs.iter().flat_map(|program| &program.rules).all(CallRule::is_uniform);
        if growth.has_short_side() && (programs.len() > 1 || !is_uniform) {
            return Err(Failure::Short);
        }
        let (Some(target), Some(largest)) = (growth.target.clone(), grids.last()) else { return Err(Failure::NoGrid) };
        complete(&mut programs);
        let total_work = WorkSums::total(recordings, grids);
        // The recorded computation, and its differences from the fitted one.
        let (mut work, mut residuals) = (0.0, 0.0);
        let mut ambiguity = programs.iter().find_map(|program| program.ambiguity(largest, &target));
        for (program, sums) in programs.iter_mut().zip(&sums) {
            let mut add = |residual, volume| (work, residuals) = (work + volume, residuals + residual);
            let scalings = sums.scalings(&total_work, grids, &mut add);
            let is_open = |rule: &usize| sums.matters(*rule) && Scaling::differ(&scalings[*rule], largest, &target);
            let open = (0..scalings.len()).find(is_open).and_then(|rule| program.rules.get(rule));
            ambiguity = ambiguity.or(open.map(|rule| (Ambiguity::Work, rule.place)));
            program.work = scalings.iter().filter_map(|scalings| scalings.first().copied()).collect();
        }
        let unknown = growth.unvaried().map(|side| Failure::Unvaried(side, target.clone()));
        let unknown = unknown.or(ambiguity.map(|(what, place)| Failure::Ambiguous(what, place, target.clone())));
        let rules = || programs.iter().flat_map(|program| &program.rules);
        let volume_error = rules().map(|rule| rule.error).fold(0.0, f64::max);
        let spread = rules().map(|rule| rule.spread).fold(0.0, f64::max);
        let program = Self {
            grids: grids.clone(),
            target,
            total_work: total_work.first().copied().unwrap_or(Scaling::CONSTANT),
            work_error: relative_error(work + residuals, work),
            volume_error,
            room: (1.0 + spread) / (1.0 - spread),
            unknown,
            groups: programs,
        };
        program.check()?;
        Ok(program)
    }

    /// The group of a rank of the target.
    pub(crate) fn group_of(&self, rank: Rank) -> Option<&GroupProgram> {
        let role = self.target.role(rank);
        let has_role = self.groups.iter().find(|program| program.group.roles.contains(&role));
        // If all ranks make the same calls, a rank anywhere makes them.
        has_role.or(self.groups.first().filter(|_| self.groups.len() == 1))
    }

    /// The largest recorded grid.
    pub(crate) fn largest(&self) -> &Grid {
        self.grids.last().unwrap_or(&self.target)
    }

    /// Whether all rules for peers are simple.
    pub(crate) fn is_simple(&self) -> bool {
        self.groups.iter().flat_map(|program| &program.rules).all(CallRule::is_simple)
    }

    /// Checks that the target's loops have a number of iterations, and that every call of every rank is in the target's grid.
    fn check(&self) -> Result<(), Failure> {
        for varying in self.groups.iter().flat_map(|program| program.loops.values()) {
            varying.iterations(&self.target)?;
        }
        for rank in (0..self.target.places()).map(Rank) {
            let Some(program) = self.group_of(rank) else {
                return Err(Failure::NoSuchPlace(rank, self.target.clone()));
            };
            for rule in &program.rules {
                rule.check(rank, &self.target)?;
            }
        }
        Ok(())
    }
}

/// Sets the scaling of volumes that only the largest recording has to that of the same volume elsewhere, and otherwise to the most
/// frequent scaling.
fn complete(programs: &mut [GroupProgram]) {
    let mut by_volume: BTreeMap<u64, Vec<Scaling>> = BTreeMap::new();
    for rule in programs.iter().flat_map(|program| &program.rules) {
        for (volume, scalings) in rule.scalings() {
            if let Some(scalings) = scalings {
                by_volume.entry(volume.to_bits()).or_insert_with(|| scalings.to_vec());
            }
        }
    }
    let constant = vec![Scaling::CONSTANT];
    let of_volume = |volume: f64| {
        let nearest = by_volume.iter().min_by(|(one, _), (other, _)| {
            let distance = |bits: u64| (f64::from_bits(bits) - volume).abs();
            distance(**one).total_cmp(&distance(**other))
        });
        nearest.map_or_else(|| constant.clone(), |(_, scalings)| scalings.clone())
    };
    for rule in programs.iter_mut().flat_map(|program| &mut program.rules) {
        rule.complete(of_volume);
    }
}
