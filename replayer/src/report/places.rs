//! The places of the program that explain a result, if an analysis has found them.

use std::collections::BTreeMap;
use std::io::{self, Write};

use titr_analyses::AnalysedResult;
use titr_analyses::{CriticalPath, Findings, ProgramPlace, SegmentKind, WaitFindings};
use titr_common::format::TimeUnit;
use titr_common::units::Seconds;

/// Number of places that are shown.
const SHOWN: usize = 3;

/// Prints the main causes of waiting, and the parts of the critical path, from the requested analyses.
pub(super) fn explained(report: &AnalysedResult, out: &mut impl Write) -> io::Result<()> {
    let Some(Findings { critical_path, wait_states, interval: _, matrix: _ }) = &report.analyses else { return Ok(()) };
    if let Some(WaitFindings { waiting, causes, .. }) = wait_states {
        let causes = causes.iter().map(|cause| (name(cause.kind, cause.with.as_deref(), &cause.place), cause.seconds));
        parts("Ranks wait because of", *waiting, causes, out)?;
    }
    if let Some(CriticalPath { length, segments, .. }) = critical_path {
        let segments = segments
            .iter()
            .map(|segment| (name(segment.kind, segment.with.as_deref(), &segment.place), segment.seconds));
        parts("On the critical path", *length, segments, out)?;
    }
    Ok(())
}

/// Prints the largest parts of a time by their names.
fn parts(
    title: &str,
    whole: Seconds,
    parts: impl Iterator<Item = (String, Seconds)>,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut sums = BTreeMap::<String, f64>::new();
    for (name, seconds) in parts {
        *sums.entry(name).or_default() += seconds.0;
    }
    if whole.0 <= 0.0 || sums.is_empty() {
        return Ok(());
    }
    let unit = TimeUnit::of(whole);
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    writeln!(out, "\n{title:<24}{:>16} = 100 %", format!("{} {}", unit.show(whole), unit.name))?;
    // A value that rounds to zero explains nothing.
    for (name, seconds) in sums.into_iter().take(SHOWN).filter(|(_, seconds)| *seconds >= 0.0005 * whole.0) {
        writeln!(out, "  {:>5.1} %  {name}", 100.0 * seconds / whole.0)?;
    }
    Ok(())
}

/// The kind and the place of a cause or a segment, and the other job whose messages it is due to.
fn name(kind: SegmentKind, with: Option<&str>, ProgramPlace { region, call_site }: &ProgramPlace) -> String {
    let kind = match kind {
        SegmentKind::Compute => "computation",
        SegmentKind::Overhead => "overheads of messages",
        SegmentKind::Latency => "latencies of messages",
        SegmentKind::Transfer => "the bytes of messages",
        SegmentKind::Contention => "messages that share links",
        SegmentKind::Storage => "accesses to files",
        SegmentKind::Other => "other",
    };
    let site = call_site.as_ref().map_or(String::new(), |site| format!(" at {site}"));
    let region = region.as_ref().map_or(String::new(), |region| format!(" in region {region}"));
    let with = with.map_or(String::new(), |with| format!(" with messages of {with}"));
    format!("{kind}{with}{site}{region}")
}
