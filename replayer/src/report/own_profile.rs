//! A profile of titr itself, as text for the user.

use std::io::{self, Write};

use titr_common::format::{count, volume};
use titr_common::units::Bytes;
use titr_simulation::profile::{OwnMemory, OwnProfile, OwnWork};

/// Prints where titr's own time and memory went, in a replay of `events` events if there was one.
///
/// # Errors
/// If `out` cannot be written.
pub(crate) fn summary(profile: &OwnProfile, events: Option<u64>, out: &mut impl Write) -> io::Result<()> {
    let total = profile.total();
    let events = events.filter(|&events| events > 0);
    let per_event = if events.is_some() { "  ns/event" } else { "" };
    writeln!(out, "Own time          CPU s    share{per_event}")?;
    let kinds = profile.times.iter().map(|&(work, time)| (name(work), time));
    for (name, time) in kinds.chain([("profiling", profile.profiling), ("all", total)]) {
        let share = 100.0 * time.as_secs_f64() / total.as_secs_f64().max(f64::MIN_POSITIVE);
        write!(out, "  {name:<10} {:>10.3}  {share:>5.1} %", time.as_secs_f64())?;
        match events {
            Some(events) => writeln!(out, "  {:>8.0}", time.as_secs_f64() * 1e9 / events as f64)?,
            None => writeln!(out)?,
        }
    }
    write!(out, "  {:.3} s on the wall", profile.wall.as_secs_f64())?;
    match profile.waiting.map(|waiting| waiting.as_secs_f64()) {
        Some(waiting) if waiting >= 0.0005 => {
            writeln!(out, ", {waiting:.3} s of it waiting for a processor that did other work")?;
        }
        _ => writeln!(out)?,
    }
    memory(profile.memory, out)
}

fn memory(memory: Option<OwnMemory>, out: &mut impl Write) -> io::Result<()> {
    let Some(memory) = memory else { return writeln!(out, "Own memory      not known: the system does not say") };
    write!(out, "Own memory      {} at most", volume(memory.peak))?;
    let Some(((ranks, before), per_rank)) = memory.before_ranks.zip(memory.per_rank()) else { return writeln!(out) };
    let per_rank = volume(Bytes(per_rank as u64));
    writeln!(out, ": {} before the ranks, {per_rank} for each of {}", volume(before), count(ranks.into()))
}

/// A kind of work in a word.
fn name(work: OwnWork) -> &'static str {
    match work {
        OwnWork::Other => "other",
        OwnWork::Reading => "reading",
        OwnWork::Ranks => "ranks",
        OwnWork::Network => "network",
        OwnWork::Results => "results",
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// A profile of one second, half of it in the network.
    fn profile(memory: Option<OwnMemory>) -> OwnProfile {
        let [tenth, half] = [100, 500].map(Duration::from_millis);
        let time = |work| if work == OwnWork::Network { half } else { tenth };
        let times = OwnWork::ALL.map(|work| (work, time(work))).to_vec();
        OwnProfile { wall: half, times, profiling: tenth, waiting: Some(tenth), memory }
    }

    fn shown(profile: &OwnProfile, events: Option<u64>) -> String {
        let mut out = Vec::new();
        summary(profile, events, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_parts_are_shown_with_their_shares() {
        let memory = OwnMemory { peak: Bytes(3_000_000), before_ranks: Some((1000, Bytes(1_000_000))) };
        assert_eq!(
            shown(&profile(Some(memory)), Some(1_000_000)),
            "\
Own time          CPU s    share  ns/event
  other           0.100   10.0 %       100
  reading         0.100   10.0 %       100
  ranks           0.100   10.0 %       100
  network         0.500   50.0 %       500
  results         0.100   10.0 %       100
  profiling       0.100   10.0 %       100
  all             1.000  100.0 %      1000
  0.500 s on the wall, 0.100 s of it waiting for a processor that did other work
Own memory      3.00 MB at most: 1.00 MB before the ranks, 2.00 kB for each of 1,000
"
        );
    }

    #[test]
    fn what_is_not_known_is_not_shown() {
        let unknown = shown(&OwnProfile { waiting: None, ..profile(None) }, None);
        assert!(
            unknown.ends_with("  0.500 s on the wall\nOwn memory      not known: the system does not say\n"),
            "{unknown}"
        );
        assert!(!unknown.contains("ns/event"), "{unknown}");
        let no_ranks = shown(&profile(Some(OwnMemory { peak: Bytes(3000), before_ranks: None })), Some(0));
        assert!(no_ranks.ends_with("Own memory      3.00 kB at most\n"), "{no_ranks}");
    }
}
