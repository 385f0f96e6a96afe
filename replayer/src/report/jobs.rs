//! The jobs that shared the machine, as a table.

use std::io::{self, Write};

use titr_common::format::TimeUnit;
use titr_common::terminal::on_one_line;
use titr_common::units::Seconds;
use titr_simulation::{JobResult, SharedLink};

/// Prints a row for each job; nothing if all ranks were of one program.
pub(super) fn table(jobs: &[JobResult], out: &mut impl Write) -> io::Result<()> {
    let Some(longest) = jobs.iter().map(|job| job.simulated_time.0.max(job.alone.0)).reduce(f64::max) else {
        return Ok(());
    };
    let unit = TimeUnit::of(Seconds(longest));
    let width = jobs.iter().map(|job| on_one_line(&job.name).chars().count()).max().unwrap_or_default().max(12);
    let column = width + 2;
    let (start, time, alone) = (format!("start, {}", unit.name), format!("time, {}", unit.name), "alone");
    writeln!(out, "\n{:<column$}  {start:>12}  {time:>12}  {alone:>12}  slowdown  efficiency  ranks", "Jobs")?;
    for JobResult { name, first, ranks, start, simulated_time, alone, slowdown, efficiencies, .. } in jobs {
        let name = on_one_line(name);
        let start = start.map_or("never".to_owned(), |start| unit.show(start));
        let (time, alone) = (unit.show(*simulated_time), unit.show(*alone));
        let slowdown = slowdown.map_or(String::new(), |slowdown| format!("{slowdown:.3}"));
        let efficiency = efficiencies.map_or(String::new(), |found| format!("{:.1} %", 100.0 * found.parallel));
        let which = match ranks {
            1 => first.to_string(),
            ranks => format!("{first}–{}", first + ranks - 1),
        };
        writeln!(
            out,
            "  {name:<width$}  {start:>12}  {time:>12}  {alone:>12}  {slowdown:>8}  {efficiency:>10}  {which}"
        )?;
    }
    shared_links(jobs, unit, out)
}

/// Prints the link that each job shared longest with each other one.
fn shared_links(jobs: &[JobResult], unit: TimeUnit, out: &mut impl Write) -> io::Result<()> {
    for job in jobs {
        let mut last = None;
        for SharedLink { with, link, time } in &job.shared_links {
            if last.replace(with) != Some(with) {
                let (name, with, link) = (on_one_line(&job.name), on_one_line(with), on_one_line(link));
                let time = unit.show(*time);
                writeln!(out, "  {name} met messages of {with}: for {time} {} on {link}", unit.name)?;
            }
        }
    }
    Ok(())
}
