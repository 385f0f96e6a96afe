//! The spread of a predicted time, in the text summary.

use std::io::{self, Write};

use titr_common::format::{TimeUnit, count, significant};
use titr_common::units::Seconds;
use titr_simulation::spread::{ActivitySpread, PredictedSpread, Quantiles, RunGroup};

/// Prints the quantiles of the predicted time, and its groups.
pub(super) fn time(spread: &PredictedSpread, out: &mut impl Write) -> io::Result<()> {
    let PredictedSpread { time, runs, groups, activities: _ } = spread;
    let (unit, runs) = (TimeUnit::of(time.median), count(*runs as u64));
    if !spread.differs() {
        return writeln!(out, "                the same in {runs} replays");
    }
    let Quantiles { median, interval_50, interval_90 } = time;
    writeln!(
        out,
        "                {runs} replays: median {} {1}, half of them {2} {1}, 90 % {3} {1}",
        unit.show(*median),
        unit.name,
        range(unit, interval_50),
        range(unit, interval_90)
    )?;
    for RunGroup { share, interval, .. } in groups {
        let share = significant(100.0 * share, 2);
        writeln!(out, "                a group of {share} % of them: {} {}", range(unit, interval), unit.name)?;
    }
    Ok(())
}

/// Prints the quantiles of each row of the summary.
pub(super) fn activities(spread: &PredictedSpread, out: &mut impl Write) -> io::Result<()> {
    if !spread.differs() {
        return Ok(());
    }
    let unit = TimeUnit::of(spread.time.median);
    let heading = format!("median, {}", unit.name);
    writeln!(out, "\nSpread         {heading:>10}  {:>19}  {:>19}", "half of replays", "90 % of replays")?;
    for ActivitySpread { activity, time: Quantiles { median, interval_50, interval_90 } } in &spread.activities {
        let (half, most) = (range(unit, interval_50), range(unit, interval_90));
        writeln!(out, "  {activity:<12} {:>10}  {half:>19}  {most:>19}", unit.show(*median))?;
    }
    Ok(())
}

/// An interval in a unit.
fn range(unit: TimeUnit, [from, to]: &[Seconds; 2]) -> String {
    format!("{}–{}", unit.show(*from), unit.show(*to))
}
