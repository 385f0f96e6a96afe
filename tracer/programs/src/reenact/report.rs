//! Compares the time of the traced program with the time of its reenactment.

use serde::Serialize;
use titr_common::event::Rank;
use titr_common::terminal;
use titr_common::trace::Trace;
use titr_common::units::Nanoseconds;

use super::calls::{self, ActivityOfAll};
use super::reenactment::Reenacted;
use crate::{Comm, MpiError};

/// The object that `--json` prints. Times are in seconds.
#[derive(Debug, Serialize)]
struct Report {
    ranks: u32,
    /// The time that the program took when it was traced; `null` where the trace has no times.
    recorded_time: Option<f64>,
    /// The time that its reenactment took.
    reenacted_time: f64,
    /// The relative deviation of the second time from the first.
    deviation: Option<f64>,
    /// Each activity of all ranks; none where the trace has no times.
    activities: Vec<ActivityOfAll>,
    /// The errors of all activities, summed.
    aggregate_error: Option<f64>,
}

/// When a rank of an extended trace began and ended, in nanoseconds by the clock of rank 0.
#[derive(Clone, Copy)]
pub(crate) struct Recorded {
    /// The beginning of the rank's own clock.
    began: i64,
    /// The end of its last call.
    ended: i64,
}

/// The beginning and end of a rank; `None` if the trace has no times.
pub(crate) fn recorded(trace: &Trace, rank: Rank, ended: Option<Nanoseconds>) -> Option<Recorded> {
    let clock = trace.manifest()?.of_rank(rank)?.clock.as_ref()?;
    let ended = ended?.0 as f64;
    let at = |time: f64| (time + clock.offset + clock.drift * time) as i64;
    Some(Recorded { began: at(0.0), ended: at(ended) })
}

/// The beginning of the first rank and the end of the last; `None` if a rank does not know its own. Collective.
pub(crate) fn of_all(world: Comm<'_>, own: Option<Recorded>) -> Result<Option<Recorded>, MpiError> {
    if world.max(own.is_none().into())? != 0 {
        return Ok(None);
    }
    let Recorded { began, ended } = own.unwrap_or(Recorded { began: 0, ended: 0 });
    Ok(Some(Recorded { began: -world.max(-began)?, ended: world.max(ended)? }))
}

/// Seconds from the beginning of the first rank to the beginning of a rank.
pub(crate) fn delay(own: Option<Recorded>, all: Option<Recorded>) -> f64 {
    own.zip(all).map_or(0.0, |(own, all)| (own.began - all.began).max(0) as f64 * 1e-9)
}

/// Rank 0 prints the longest time of all ranks, beside the program's, and each activity. Collective.
pub(crate) fn print(
    world: Comm<'_>,
    is_json: bool,
    recorded: Option<Recorded>,
    own: &Reenacted,
) -> Result<(), MpiError> {
    let reenacted = world.max((own.seconds * 1e9) as i64)? as f64 * 1e-9;
    let activities = calls::activities(&calls::of_all(world, &own.calls)?);
    if world.rank != 0 {
        return Ok(());
    }
    let recorded = recorded.map(|all| (all.ended - all.began) as f64 * 1e-9);
    let deviation = recorded.map(|recorded| reenacted / recorded - 1.0).filter(|deviation| deviation.is_finite());
    let error: f64 = activities.iter().map(|activity| activity.error).sum();
    if is_json {
        let report = Report {
            ranks: world.size,
            recorded_time: recorded,
            reenacted_time: reenacted,
            deviation,
            aggregate_error: (!activities.is_empty()).then_some(error),
            activities,
        };
        terminal::print(format_args!("{}", serde_json::json!(report)));
        return Ok(());
    }
    terminal::print(format_args!("Reenacted time  {reenacted:.6} s   {} ranks", world.size));
    if let Some(recorded) = recorded {
        terminal::print(format_args!("Recorded time   {recorded:.6} s"));
    }
    if let Some(deviation) = deviation {
        terminal::print(format_args!("Deviation       {:+.2} %", deviation * 100.0));
    }
    if !activities.is_empty() {
        terminal::print(format_args!("\nall ranks       recorded, s   reenacted, s   error"));
        for ActivityOfAll { name, times, error } in &activities {
            terminal::print(format_args!(
                "{name:<14} {:>12.6}   {:>12.6}   {:>4.1} %",
                times.recorded,
                times.reenacted,
                error * 100.0
            ));
        }
        terminal::print(format_args!("{:<14} {:>12}   {:>12}   {:>4.1} %", "all", "", "", error * 100.0));
    }
    Ok(())
}
