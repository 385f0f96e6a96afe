//! Placements as text for the user.

use std::io::{self, Write};

use titr_common::format::{counted, significant, uncertain};
use titr_common::units::Seconds;
use titr_studies::placement::{FastestPlacement, PlacementMethod};

/// The width of a method's name.
const NAME: usize = 16;

/// Prints the predicted times of placements, and the saving of the fastest.
///
/// # Errors
/// If `out` cannot be written.
pub(crate) fn summary(found: &FastestPlacement, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{:<NAME$}  predicted time", "Placement")?;
    for one in &found.methods {
        let remark = match one.method {
            PlacementMethod::LocalSearch => format!(" ({})", counted(found.replays, "replay", "replays")),
            PlacementMethod::Block
            | PlacementMethod::RoundRobin
            | PlacementMethod::Mapping
            | PlacementMethod::Random => String::new(),
        };
        writeln!(out, "  {:<NAME$}{}{remark}", name(one.method), uncertain(one.simulated_time, None))?;
    }
    let times = found.random.simulated_times.iter().map(|time| time.0);
    let [least, most] = [times.clone().fold(f64::INFINITY, f64::min), times.fold(0.0, f64::max)].map(Seconds);
    let [least, most, mean] = [least, most, found.random.mean].map(|time| uncertain(time, None));
    let number = found.random.simulated_times.len();
    writeln!(out, "  {:<NAME$}{mean} (mean of {number}: from {least} to {most})", name(PlacementMethod::Random))?;
    let others = found.methods.iter().filter(|one| one.method != found.found_by);
    let others = others.filter(|one| matches!(one.method, PlacementMethod::Block | PlacementMethod::RoundRobin));
    let others = others.map(|one| (name(one.method), one.simulated_time));
    let savings: Vec<String> = others
        .chain([("random placement", found.random.mean)])
        .map(|(name, time)| format!("{} % faster than {name}", percent(found.simulated_time, time)))
        .collect();
    writeln!(out, "\n{}: {}", name(found.found_by), savings.join(", "))
}

/// The saved part of a time in percent.
fn percent(time: Seconds, of: Seconds) -> String {
    significant(100.0 * (1.0 - time.0 / of.0), 3)
}

fn name(method: PlacementMethod) -> &'static str {
    match method {
        PlacementMethod::Block => "block",
        PlacementMethod::RoundRobin => "round robin",
        PlacementMethod::Mapping => "mapping",
        PlacementMethod::Random => "random",
        PlacementMethod::LocalSearch => "local search",
    }
}
