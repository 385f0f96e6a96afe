//! Tolerances as text for the user.

use std::io::{self, Write};

use titr_analyses::Parameter;
use titr_common::format::{significant, uncertain};
use titr_common::units::Seconds;
use titr_studies::tolerance::{LateRankTolerance, ParameterTolerance, Tolerances, ToleratedDelay, ToleratedFactor};

/// Number of ranks that are shown: those with the smallest tolerance.
const RANKS: usize = 16;

/// The width of a slowdown.
const SLOWDOWN: usize = 8;

/// Prints tolerances.
///
/// # Errors
/// If `out` cannot be written.
pub(crate) fn summary(found: &Tolerances, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "Predicted time  {}", uncertain(found.simulated_time, None))?;
    for tolerance in &found.parameters {
        let (name, direction) = match tolerance.parameter {
            Parameter::Latency => ("Latency", "more latency"),
            Parameter::Bandwidth => ("Bandwidth", "of the bandwidth"),
            Parameter::HostSpeed => ("Hosts", "of the speed of hosts"),
            Parameter::Overheads => ("Overheads", "more MPI overheads"),
        };
        writeln!(out, "\n{name}")?;
        for point in &tolerance.curve {
            writeln!(
                out,
                "  {:>SLOWDOWN$} longer with {}",
                percent(point.slowdown),
                of_factor(tolerance, point, direction)
            )?;
        }
    }
    late_ranks(&found.late_ranks, out)
}

fn of_factor(tolerance: &ParameterTolerance, point: &ToleratedFactor, direction: &str) -> String {
    let Some(factor) = point.factor else { return "no factor up to 10,000".to_owned() };
    let shown = match (tolerance.parameter, tolerance.link_latency) {
        (Parameter::Latency | Parameter::Overheads, Some(latency)) => {
            let [added, all] =
                [latency.0 * (factor - 1.0), latency.0 * factor].map(|time| uncertain(Seconds(time), None));
            format!("{added} more latency of each link, {all}")
        }
        (Parameter::Latency | Parameter::Overheads, None) => {
            format!("{} % {direction}", significant(100.0 * (factor - 1.0), 3))
        }
        (Parameter::Bandwidth | Parameter::HostSpeed, _) => format!("{} % {direction}", significant(100.0 * factor, 3)),
    };
    shown + &jump(point.jumps, point.simulated_time)
}

/// A remark on a time that jumps over the slowdown.
fn jump(jumps: bool, time: Option<Seconds>) -> String {
    match time.filter(|_| jumps) {
        Some(time) => format!(": the time jumps there to {}", uncertain(time, None)),
        None => String::new(),
    }
}

/// Prints the ranks with the smallest tolerance to a late beginning.
fn late_ranks(ranks: &[LateRankTolerance], out: &mut impl Write) -> io::Result<()> {
    let mut sorted: Vec<&LateRankTolerance> = ranks.iter().collect();
    let least = |rank: &LateRankTolerance| {
        rank.curve.first().and_then(|point| point.delay).map_or(f64::INFINITY, |delay| delay.0)
    };
    // Stable: ranks that tolerate as much stay in their order.
    sorted.sort_by(|one, other| least(one).total_cmp(&least(other)));
    if !sorted.is_empty() {
        writeln!(out, "\nLate ranks, the least tolerated first")?;
    }
    for rank in sorted.iter().take(RANKS) {
        let point = |point: &ToleratedDelay| match point.delay {
            Some(delay) => {
                let shown = uncertain(delay, None) + &jump(point.jumps, point.simulated_time);
                format!("{} longer {shown} late", percent(point.slowdown))
            }
            None => format!("{} longer with no delay", percent(point.slowdown)),
        };
        writeln!(out, "  rank {:<6} {}", rank.rank, rank.curve.iter().map(point).collect::<Vec<_>>().join("; "))?;
    }
    match sorted.len().saturating_sub(RANKS) {
        0 => Ok(()),
        more => writeln!(out, "  and {more} other ranks, which may be later"),
    }
}

/// A slowdown in percent.
fn percent(slowdown: f64) -> String {
    format!("{} %", significant(100.0 * slowdown, 3))
}
