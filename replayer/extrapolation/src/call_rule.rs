//! The rule for one call of a group: its peers, members, volumes and tags as functions of the rank and the grid.

use std::collections::BTreeMap;

use titr_common::event::Rank;

use crate::failure::{Ambiguity, Failure, StepPlace};
use crate::grid::{Grid, Role};
use crate::outline::Stages;
use crate::peer::{self, MembersRule, Pair, PeerRule, RuleRank, differ_in_bit};
use crate::recording::{CallId, Calls, Parts, SkeletonId};
use crate::scaling::{Sample, Scaling, relative_error};

/// The largest relative error of a size. Sizes that the rules miss by more follow another rule.
const ACCEPTED: f64 = 0.2;

/// A call as the ranks of a group make it in one recording.
#[derive(Clone, Debug)]
pub(crate) struct Observed<'o> {
    pub recording: usize,
    pub grid: &'o Grid,
    pub ranks: &'o [Rank],
    /// The step of the call, or that in the first stage.
    pub step: usize,
    /// The call of each rank, for each stage; one entry for a call outside of stages.
    pub stages: Vec<&'o [CallId]>,
}

#[derive(Clone, Debug, PartialEq)]
enum Peers {
    All(PeerRule),
    ByRole(Vec<(Role, PeerRule)>),
    /// The ranks that differ in the bit of the stage.
    Stage,
}

#[derive(Clone, Debug, PartialEq)]
struct VolumeRule {
    /// The volume in the largest recording by role, in the first stage.
    largest: BTreeMap<Role, f64>,
    /// The factor from one stage to the next.
    per_stage: f64,
    /// The scalings, each of which explains the recordings; none if no other recording has the call.
    scalings: Vec<Scaling>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TagRule {
    /// The tag in the first stage of the largest recording.
    first: i64,
    /// The difference from one stage to the next.
    per_stage: i64,
    /// The difference for each stage more than in the largest recording.
    per_number: i64,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CallRule {
    skeleton: SkeletonId,
    stages: Option<Stages>,
    /// The number of stages in the largest recording.
    number: usize,
    peers: Vec<Peers>,
    pub members: Option<MembersRule>,
    volumes: Vec<VolumeRule>,
    tags: Vec<TagRule>,
    /// The volume that is the room for a message, if the call receives one.
    received: Option<usize>,
    /// The largest relative error of a volume.
    pub error: f64,
    /// The largest relative difference of a volume from the mean of the ranks with the same role.
    pub spread: f64,
    /// The place of the call in the largest recording.
    pub place: StepPlace,
}

impl CallRule {
    /// The rule for a call that is `observed`; the largest recording comes last.
    pub(crate) fn of(observed: &[Observed<'_>], stages: Option<Stages>, calls: &Calls) -> Result<Self, Failure> {
        let Some((largest, others)) = observed.split_last() else { return Err(Failure::NoGrid) };
        let place =
            |observed: &Observed<'_>, rank| StepPlace { recording: observed.recording, rank, step: observed.step };
        let here = place(largest, largest.ranks.first().copied().unwrap_or_default());
        let first = |observed: &Observed<'_>| {
            observed.stages.first().and_then(|column| column.first()).map(|&call| calls.parts(call).clone())
        };
        let Some(parts) = first(largest) else { return Err(Failure::NoGrid) };
        let peers = (0..parts.peers.len()).map(|peer| Peers::of(observed, peer, stages, calls));
        let peers = peers.collect::<Option<Vec<_>>>().ok_or(Failure::Peer(here))?;
        let members = match parts.members {
            Some(_) => Some(members_rule(observed, calls).ok_or(Failure::Members(here))?),
            None => None,
        };
        let tags = (0..parts.tags.len()).map(|tag| TagRule::of(largest, others, tag, calls));
        let tags = tags.collect::<Option<Vec<_>>>().ok_or(Failure::Tag(here))?;
        let (mut volumes, mut error, mut spread) = (Vec::new(), 0.0_f64, 0.0_f64);
        for volume in 0..parts.volumes.len() {
            let (rule, its_error, its_spread) = VolumeRule::of(largest, others, volume, calls);
            volumes.push(rule);
            (error, spread) = (error.max(its_error), spread.max(its_spread));
        }
        error = error.max(spread);
        if error > ACCEPTED {
            return Err(Failure::Volume(here, (100.0 * error).round() as u64));
        }
        let (skeleton, number) = (parts.skeleton, largest.stages.len());
        let received = calls.received(skeleton);
        let place = here;
        Ok(Self { skeleton, stages, number, peers, members, volumes, tags, received, error, spread, place })
    }

    /// The volumes in the largest recording, each with its scaling.
    pub(crate) fn scalings(&self) -> impl Iterator<Item = (f64, Option<&[Scaling]>)> {
        self.volumes.iter().flat_map(|rule| {
            let scalings = (!rule.scalings.is_empty()).then_some(rule.scalings.as_slice());
            rule.largest.values().map(move |&volume| (volume, scalings))
        })
    }

    /// Sets the scaling of volumes that only the largest recording has.
    pub(crate) fn complete(&mut self, scalings: impl Fn(f64) -> Vec<Scaling>) {
        for rule in self.volumes.iter_mut().filter(|rule| rule.scalings.is_empty()) {
            rule.scalings = scalings(rule.largest.values().copied().fold(0.0, f64::max));
        }
    }

    /// What the rules that explain the recordings equally well give differently in `grid`.
    pub(crate) fn ambiguity(&self, largest: &Grid, grid: &Grid) -> Option<Ambiguity> {
        let has_other_peers = |peers: &Peers| match peers {
            Peers::All(rule) => rule.is_ambiguous(grid),
            Peers::ByRole(rules) => rules.iter().any(|(_, rule)| rule.is_ambiguous(grid)),
            Peers::Stage => false,
        };
        if self.peers.iter().any(has_other_peers) {
            return Some(Ambiguity::Peer);
        }
        let differs = |rule: &VolumeRule| Scaling::differ(&rule.scalings, largest, grid);
        self.volumes.iter().any(differs).then_some(Ambiguity::Volume)
    }

    /// Whether all ranks have their peers by the same rule.
    pub(crate) fn is_uniform(&self) -> bool {
        self.peers.iter().all(|rule| matches!(rule, Peers::All(_) | Peers::Stage))
    }

    /// Whether all ranks have their peers by the same rule, and none by a single bit outside of stages.
    pub(crate) fn is_simple(&self) -> bool {
        self.peers.iter().all(|peers| match peers {
            Peers::All(rule) => !rule.has_bit(),
            Peers::ByRole(_) => false,
            Peers::Stage => true,
        })
    }

    /// Checks that the peers of `rank` are in `grid`.
    pub(crate) fn check(&self, rank: Rank, grid: &Grid) -> Result<(), Failure> {
        let is_inside = |rule: &Peers| match rule {
            Peers::All(rule) => rule.peer(rank, grid).is_some(),
            Peers::ByRole(rules) => {
                let rule = rules.iter().find(|(of, _)| *of == grid.role(rank));
                rule.is_some_and(|(_, rule)| rule.peer(rank, grid).is_some())
            }
            Peers::Stage => self.stages.is_some_and(|stages| stages.number(grid).is_some()),
        };
        let all = self.peers.iter().all(is_inside);
        if all { Ok(()) } else { Err(Failure::Outside(rank, grid.clone(), self.place)) }
    }

    /// The call of `rank` in `grid`; in stages, that in a stage. A receive has `room` for so many times the volume by the rule.
    pub(crate) fn call(
        &self,
        rank: Rank,
        grid: &Grid,
        largest: &Grid,
        stage: usize,
        room: f64,
    ) -> Result<Parts, Failure> {
        let number = self.stages.and_then(|stages| stages.number(grid)).unwrap_or(1);
        let role = grid.role(rank);
        let outside = || Failure::Outside(rank, grid.clone(), self.place);
        let peers = self.peers.iter().map(|rule| match rule {
            Peers::All(rule) => rule.peer(rank, grid),
            Peers::ByRole(rules) => rules.iter().find(|(of, _)| *of == role)?.1.peer(rank, grid),
            Peers::Stage => {
                let stages = self.stages?;
                let mut place = grid.coordinates(rank);
                place[stages.dimension] ^= 1 << stages.bit(stage, number);
                grid.rank(place)
            }
        });
        let peers = peers.collect::<Option<Vec<_>>>().ok_or_else(outside)?;
        let members = self.members.map(|rule| rule.members(rank, grid));
        let volumes = self.volumes.iter().enumerate().map(|(number, rule)| {
            let volume = rule.volume(role, grid, largest, stage);
            if self.received == Some(number) && room > 1.0 { (volume * room).ceil() } else { volume.round() }
        });
        let volumes = volumes.collect();
        let tag = |rule: &TagRule| rule.tag(stage, number as i64 - self.number as i64) as i32;
        let tags = self.tags.iter().map(tag).collect();
        Ok(Parts { skeleton: self.skeleton, peers, members, volumes, tags })
    }
}

impl Peers {
    fn of(observed: &[Observed<'_>], peer: usize, stages: Option<Stages>, calls: &Calls) -> Option<Self> {
        let has_bits = |stages: Stages| {
            observed.iter().all(|observed| {
                let number = observed.stages.len();
                observed.stages.iter().enumerate().all(|(stage, column)| {
                    let bit = stages.bit(stage, number);
                    observed.ranks.iter().zip(*column).all(|(&rank, &call)| {
                        differ_in_bit(observed.grid, rank, calls.parts(call).peers[peer], stages.dimension, bit)
                    })
                })
            })
        };
        if stages.is_some_and(has_bits) {
            return Some(Self::Stage);
        }
        let first = observed.last().and_then(|largest| largest.stages.first()?.first());
        let is_root = first.is_some_and(|&call| calls.is_collective(calls.parts(call).skeleton));
        let likely = if is_root { RuleRank::Place } else { RuleRank::Distance };
        let largest_first = || observed.iter().rev();
        let pairs = || {
            largest_first().flat_map(move |observed| {
                let columns = observed.stages.iter().flat_map(|column| observed.ranks.iter().zip(*column));
                columns.map(move |(&rank, &call)| Pair {
                    grid: observed.grid,
                    rank,
                    peer: calls.parts(call).peers[peer],
                })
            })
        };
        if let Some(rule) = peer::rule(pairs(), likely) {
            return Some(Self::All(rule));
        }
        let mut roles: Vec<Role> = pairs().map(|pair| pair.grid.role(pair.rank)).collect();
        roles.sort_unstable();
        roles.dedup();
        let of_role = |role: Role| {
            let rule = peer::rule(pairs().filter(move |pair| pair.grid.role(pair.rank) == role), likely)?;
            Some((role, rule))
        };
        roles.into_iter().map(of_role).collect::<Option<Vec<_>>>().map(Self::ByRole)
    }
}

fn members_rule(observed: &[Observed<'_>], calls: &Calls) -> Option<MembersRule> {
    MembersRule::all().find(|rule| {
        observed.iter().all(|observed| {
            let columns = observed.stages.iter().flat_map(|column| observed.ranks.iter().zip(*column));
            columns.into_iter().all(|(&rank, &call)| {
                let members = calls.parts(call).members.as_ref();
                members.is_some_and(|members| {
                    members.len() == rule.size(observed.grid) && *members == rule.members(rank, observed.grid)
                })
            })
        })
    })
}

impl TagRule {
    fn of(largest: &Observed<'_>, others: &[Observed<'_>], tag: usize, calls: &Calls) -> Option<Self> {
        let of_stage = |observed: &Observed<'_>, stage: usize| {
            let mut tags = observed.stages.get(stage)?.iter().map(|&call| calls.parts(call).tags[tag]);
            let first = tags.next()?;
            tags.all(|tag| tag == first).then_some(i64::from(first))
        };
        let more = |observed: &Observed<'_>| observed.stages.len() as i64 - largest.stages.len() as i64;
        let first = of_stage(largest, 0)?;
        let per_stage = if largest.stages.len() > 1 { of_stage(largest, 1)? - first } else { 0 };
        let mut rule = Self { first, per_stage, per_number: 0 };
        let differing = others.iter().find(|other| !other.stages.is_empty() && more(other) != 0);
        if let Some(other) = differing {
            let (difference, more) = (of_stage(other, 0)? - first, more(other));
            rule.per_number = (difference % more == 0).then_some(difference / more)?;
        }
        let holds = |observed: &Observed<'_>| {
            let is_right = |stage| of_stage(observed, stage) == Some(rule.tag(stage, more(observed)));
            (0..observed.stages.len()).all(is_right)
        };
        (holds(largest) && others.iter().all(holds)).then_some(rule)
    }

    /// The tag in a stage, if there are so many more stages than in the largest recording.
    fn tag(self, stage: usize, more: i64) -> i64 {
        self.first + self.per_stage * stage as i64 + self.per_number * more
    }
}

impl VolumeRule {
    /// The rule, the largest relative error by it of the mean volume of a role in the recordings, and the largest relative
    /// difference of a volume from that mean.
    fn of(largest: &Observed<'_>, others: &[Observed<'_>], volume: usize, calls: &Calls) -> (Self, f64, f64) {
        let (in_largest, mut spread) = by_role(largest, 0, volume, calls);
        let mut error = 0.0_f64;
        let per_stage = (largest.stages.len() > 1)
            .then(|| {
                let (second, _) = by_role(largest, 1, volume, calls);
                let (one, other) = (in_largest.values().next()?, second.values().next()?);
                (*one > 0.0 && [0.5, 2.0].contains(&(other / one))).then_some(other / one)
            })
            .flatten()
            .unwrap_or(1.0);
        for observed in others.iter().chain([largest]) {
            let (first, _) = by_role(observed, 0, volume, calls);
            for stage in 1..observed.stages.len() {
                let (volumes, its_spread) = by_role(observed, stage, volume, calls);
                let expected = |first: f64| first * per_stage.powi(stage as i32);
                let errors =
                    volumes.iter().filter_map(|(role, volume)| Some(relative(expected(*first.get(role)?), *volume)));
                (error, spread) = (errors.fold(error, f64::max), spread.max(its_spread));
            }
        }
        let mut samples = Vec::new();
        for other in others.iter().filter(|other| !other.stages.is_empty()) {
            let (volumes, its_spread) = by_role(other, 0, volume, calls);
            spread = spread.max(its_spread);
            let sample = |(role, &volume): (&Role, &f64)| {
                let largest = *in_largest.get(role)?;
                Some(Sample { grid: other.grid, volume, largest })
            };
            samples.extend(volumes.iter().filter_map(sample));
        }
        let mut scalings = Vec::new();
        if !samples.is_empty() {
            scalings = Scaling::exact(&samples, largest.grid);
            if scalings.is_empty() {
                let fit = Scaling::fitted(&samples, largest.grid);
                (scalings, error) = (fit.scalings, error.max(fit.error));
            }
        }
        (Self { largest: in_largest, per_stage, scalings }, error, spread)
    }

    /// The volume of a rank with this role.
    fn volume(&self, role: Role, grid: &Grid, largest: &Grid, stage: usize) -> f64 {
        let mean = || self.largest.values().sum::<f64>() / self.largest.len().max(1) as f64;
        let first = self.largest.get(&role).copied().unwrap_or_else(mean);
        let factor = self.scalings.first().map_or(1.0, |scaling| scaling.factor(largest, grid));
        first * factor * self.per_stage.powi(stage as i32)
    }
}

/// The mean volume of the ranks with each role in a stage, and the largest relative difference of a rank from it.
fn by_role(observed: &Observed<'_>, stage: usize, volume: usize, calls: &Calls) -> (BTreeMap<Role, f64>, f64) {
    let mut sums: BTreeMap<Role, (f64, f64)> = BTreeMap::new();
    let each = || {
        let column = observed.stages.get(stage).copied().unwrap_or_default();
        let of_rank = |(&rank, &call): (&Rank, &CallId)| {
            (observed.grid.role(rank), calls.parts(call).volumes.get(volume).copied().unwrap_or_default())
        };
        observed.ranks.iter().zip(column).map(of_rank)
    };
    for (role, volume) in each() {
        let (sum, number) = sums.entry(role).or_default();
        (*sum, *number) = (*sum + volume, *number + 1.0);
    }
    let means: BTreeMap<Role, f64> = sums.into_iter().map(|(role, (sum, number))| (role, sum / number)).collect();
    let spread =
        each().filter_map(|(role, volume)| Some(relative_error(*means.get(&role)?, volume))).fold(0.0, f64::max);
    (means, spread)
}

/// The relative error of a volume, beyond the rounding to whole numbers.
fn relative(expected: f64, volume: f64) -> f64 {
    if (expected - volume).abs() < 1.0 { 0.0 } else { relative_error(expected, volume) }
}
