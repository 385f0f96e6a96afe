//! The differences between predictions and measurements: each pattern replayed on the platform, size by size.

use std::sync::Arc;

use titr_common::event::{Event, Rank};
use titr_common::trace::{EventSource, Trace, TraceError};
use titr_common::units::Bytes;
use titr_network::topology::HostId;
use titr_platform::{Platform, Policy};
use titr_simulation::{Simulation, SimulationError};

use crate::events::{irecv, isend, recv, send, waitall};
use crate::measurements::{Measurements, Pattern, Series};
use crate::robust::{MEDIAN_DEVIATION, median, scatter};

/// A series, and the platform's predictions for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Residuals {
    /// The pattern.
    pub pattern: Pattern,
    /// The ranks that took part.
    pub ranks: Vec<u32>,
    /// Whether all of them are on one host.
    pub local: bool,
    /// The sizes.
    pub points: Vec<Residual>,
}

/// The time of one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Residual {
    /// The size of each message.
    pub bytes: Bytes,
    /// The median that was measured, in seconds.
    pub measured: f64,
    /// The time that is predicted, in seconds.
    pub predicted: f64,
    /// By how much the measured time may be off by chance, in seconds.
    pub uncertainty: f64,
}

impl Residual {
    /// The part of the measured time by which the prediction is too long.
    pub(crate) fn error(&self) -> f64 {
        self.predicted / self.measured - 1.0
    }

    /// Whether the platform misses the time.
    pub(crate) fn is_missed(&self) -> bool {
        self.error().abs() > MISSED
    }
}

/// A time that is predicted by more than this part of it too long or too short is missed.
const MISSED: f64 = 0.15;

/// A platform that misses more than this part of the times does not fit.
const ACCEPTED: f64 = 0.1;

/// The measured times that a platform misses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Misses {
    /// Times that it misses.
    pub missed: usize,
    /// All times.
    pub of: usize,
}

impl Misses {
    /// The misses among all patterns.
    pub(crate) fn of(all: &[Residuals]) -> Self {
        let points = all.iter().flat_map(|residuals| &residuals.points);
        points.fold(Self::default(), |Self { missed, of }, point| Self {
            missed: missed + usize::from(point.is_missed()),
            of: of + 1,
        })
    }

    /// Whether the platform does not fit.
    #[must_use]
    pub fn are_too_many(self) -> bool {
        self.missed as f64 > ACCEPTED * self.of as f64
    }
}

/// The standard deviation of the logarithm of a predicted time, where 90 % of the errors in programs are at most this often 1.645
/// times as large: the errors of the flow model on the networks of docs/ACCURACY.md, in the half of its rows that was used for tuning.
const ERROR_IN_PROGRAMS: f64 = 0.138;

/// The error of predictions by a platform as a standard deviation of the logarithm of a time: that in programs, and that of the
/// largest messages in patterns of many ranks, none of which was fitted.
pub(crate) fn error_of_model(all: &[Residuals]) -> f64 {
    let predicted = all.iter().filter(|residuals| !residuals.local && residuals.ranks.len() > 2);
    let largest = predicted.filter_map(|residuals| residuals.points.last());
    let errors: Vec<f64> = largest.map(|point| (point.predicted / point.measured).ln().abs()).collect();
    ERROR_IN_PROGRAMS.hypot(median(&errors).unwrap_or(0.0) / MEDIAN_DEVIATION).min(1.0)
}

impl Residuals {
    /// The median of the absolute errors.
    pub(crate) fn typical(&self) -> f64 {
        median(&self.points.iter().map(|point| point.error().abs()).collect::<Vec<_>>()).unwrap_or(0.0)
    }

    /// The size that is predicted worst.
    pub(crate) fn worst(&self) -> Option<&Residual> {
        self.points.iter().max_by(|one, other| one.error().abs().total_cmp(&other.error().abs()))
    }

    /// The pattern and its ranks in words.
    #[must_use]
    pub fn title(&self) -> String {
        let place = if self.local { "within a host" } else { "between hosts" };
        match self.ranks[..] {
            [one, two] => format!("{} of ranks {one} and {two}, {place}", self.pattern.name()),
            _ => format!("{} of {} ranks, {place}", self.pattern.name(), self.ranks.len()),
        }
    }
}

/// The residuals of all series that a platform has predictions for. Ranks are where they were measured. `has_bursts`:
/// whether links have token buckets.
pub(crate) fn residuals(
    measurements: &Measurements,
    platform: &mut Platform,
    has_bursts: bool,
) -> Result<Vec<Residuals>, SimulationError> {
    let hosts = measurements.places.iter().map(|&place| HostId(place)).collect();
    platform.policy = Policy::Explicit { hosts, cores: Vec::new(), file: "the measurements".into() };
    let world = measurements.places.len() as u32;
    let mut all = Vec::new();
    for series in &measurements.series {
        let mut points = Vec::new();
        for (point, scatter) in series.points.iter().zip(scatter(&series.curve())) {
            let Some(measured) = median(&point.seconds) else { continue };
            // With token buckets, the time of a round depends on the rounds before it.
            let rounds = if has_bursts { point.repetitions } else { 1 };
            let time = |rounds| {
                let Some((trace, times)) = trace(series, world, point.bytes, rounds) else { return Ok(None) };
                Ok::<_, SimulationError>(Some(Simulation::new(platform, &trace).run()?.simulated_time.0 / times))
            };
            let before = series.pattern.rounds_before();
            let Some(all) = time(before + rounds)? else { break };
            let first = if before > 0 { time(before)?.unwrap_or(0.0) } else { 0.0 };
            let predicted = (all - first) / f64::from(rounds);
            let uncertainty = scatter.max(measured * point.uncertainty());
            points.push(Residual { bytes: point.bytes, measured, predicted, uncertainty });
        }
        if !points.is_empty() {
            let (pattern, ranks, local) = (series.pattern, series.ranks.clone(), measurements.is_local(series));
            all.push(Residuals { pattern, ranks, local, points });
        }
    }
    Ok(all)
}

/// A series whose measured time is more than this often the predicted one, or less than its reciprocal, contradicts the
/// platform.
const CONTRADICTION: f64 = 1.25;

/// The contradictions between measurements and platform: a sentence for each pattern that was not fitted and whose
/// large messages are mispredicted. `bandwidth` is the bandwidth of a cable, in bytes per second.
pub(crate) fn contradictions(all: &[Residuals], bandwidth: f64) -> Vec<String> {
    let sentence = |residuals: &Residuals| {
        let large = residuals.points.iter().filter(|point| {
            point.bytes.0 as f64 / bandwidth >= point.measured / 4.0 && point.uncertainty < point.measured / 4.0
        });
        let ratios: Vec<f64> = large.map(|point| point.measured / point.predicted).collect();
        let ratio = median(&ratios).filter(|ratio| !(1.0 / CONTRADICTION..=CONTRADICTION).contains(ratio))?;
        let slow = ratio > 1.0;
        let why = match (residuals.pattern, slow) {
            (Pattern::Bisection | Pattern::Shift, true) => {
                "messages of several pairs share links that this topology does not share, or share more of them"
            }
            (Pattern::Bisection | Pattern::Shift, false) => {
                "several pairs get more bandwidth than the topology has between them"
            }
            (Pattern::PingPong, true) => "these two are farther apart than the topology says, or have a slower cable",
            (Pattern::PingPong, false) => {
                "these two are nearer to each other than the topology says, or have a faster cable"
            }
            (Pattern::Incast, true) => "messages to one host disturb each other more than by sharing its cable",
            (Pattern::Incast, false) => "one host receives more than its cable is said to carry",
            (Pattern::Scatter, true) => "messages of one host disturb each other more than by sharing its cable",
            (Pattern::Scatter, false) => "one host sends more than its cable is said to carry",
            (Pattern::Exchange | Pattern::LateExchange | Pattern::Opposite, true) => {
                "messages both ways slow each other down"
            }
            (Pattern::Exchange | Pattern::LateExchange | Pattern::Opposite, false) => {
                "messages both ways do not slow each other down as the platform says"
            }
            (Pattern::Train | Pattern::Send | Pattern::Isend | Pattern::Receive, _) => "a call takes another time",
        };

        Some(format!("{}: large messages took {ratio:.2} times as long as predicted: {why}", residuals.title()))
    };
    all.iter().filter(|residuals| !residuals.local).filter_map(sentence).collect()
}

/// The events of each rank.
pub(crate) struct Programs(pub Arc<[Vec<Event>]>);

impl titr_common::trace::RankSources for Programs {
    fn source(&self, rank: Rank, _partial: bool) -> Result<Box<dyn EventSource + Send>, TraceError> {
        Ok(Box::new(self.0.get(rank.0 as usize).cloned().unwrap_or_default().into_iter()))
    }
}

/// A trace of some rounds of a series' pattern, in a world of `world` ranks, and how many of the pattern's times a round
/// takes. `None` of a pattern that is a part of a call, or whose times are within a round.
pub(crate) fn trace(series: &Series, world: u32, bytes: Bytes, rounds: u32) -> Option<(Trace, f64)> {
    let (pattern, ranks) = (series.pattern, &series.ranks[..]);
    let mut programs = vec![vec![Event::Init]; world as usize];
    let mut of = |rank: u32, events: Vec<Event>| {
        if let Some(program) = programs.get_mut(rank as usize) {
            program.extend(events);
        }
    };
    let times = match pattern {
        Pattern::PingPong => {
            ping_pong(*ranks.first()?, *ranks.get(1)?, bytes, &mut of);
            2.0
        }
        Pattern::Opposite => {
            ranks.as_chunks().0.iter().for_each(|&[one, two]| ping_pong(one, two, bytes, &mut of));
            2.0
        }
        Pattern::Bisection => {
            let (half, other) = ranks.split_at(ranks.len() / 2);
            half.iter().zip(other).for_each(|(&one, &two)| ping_pong(one, two, bytes, &mut of));
            2.0
        }
        Pattern::Incast => {
            let (&root, others) = ranks.split_first()?;
            let receives = (0..).zip(others).map(|(request, &from)| irecv(from, bytes, request));
            let answers = others.iter().map(|&to| send(to, Bytes(0)));
            of(root, receives.chain([waitall()]).chain(answers).collect());
            others.iter().for_each(|&me| of(me, vec![send(root, bytes), recv(root, Bytes(0))]));
            1.0
        }
        Pattern::Scatter => {
            let (&root, others) = ranks.split_first()?;
            let sends = (0..).zip(others).map(|(request, &to)| isend(to, bytes, request));
            let answers = others.iter().map(|&from| recv(from, Bytes(0)));
            of(root, sends.chain([waitall()]).chain(answers).collect());
            others.iter().for_each(|&me| of(me, vec![recv(root, bytes), send(root, Bytes(0))]));
            1.0
        }
        Pattern::Exchange | Pattern::LateExchange | Pattern::Shift => {
            for (at, &me) in ranks.iter().enumerate() {
                if series.late.0 > 0.0 && at == 1 {
                    of(me, vec![Event::Sleep(series.late)]);
                }
                let (next, before) = (ranks[(at + 1) % ranks.len()], ranks[(at + ranks.len() - 1) % ranks.len()]);
                of(me, vec![irecv(before, bytes, 0), isend(next, bytes, 1), waitall()]);
            }
            1.0
        }
        Pattern::Train | Pattern::Send | Pattern::Isend | Pattern::Receive => return None,
    };
    for program in &mut programs {
        let round = program.split_off(1);
        program.extend((0..rounds).flat_map(|_| round.iter().cloned()));
        program.push(Event::Finalize);
    }
    Some((Trace::new(world, Programs(programs.into())), times))
}

fn ping_pong(one: u32, two: u32, bytes: Bytes, of: &mut impl FnMut(u32, Vec<Event>)) {
    of(one, vec![send(two, bytes), recv(two, bytes)]);
    of(two, vec![recv(one, bytes), send(one, bytes)]);
}
