//! The start of a rank's entry in the manifest: where it runs.

use std::fs;

use titr_common::event::Rank;
use titr_common::trace::manifest::{Counter, Ended, RankEntry};
use titr_common::units::Bytes;

/// The entry of `rank` in the run of this name, whose computation `counter` measures, before anything was recorded.
#[must_use]
pub fn begin(run: String, rank: Rank, counter: Counter) -> RankEntry {
    RankEntry {
        run,
        rank: rank.0,
        host: host(),
        cpu: cpu(),
        pid: std::process::id(),
        ended: Ended::Running,
        events: 0,
        text: Bytes(0),
        disk: Bytes(0),
        crc32: None,
        counter,
        clock: None,
        threads: 1,
        stalls: 0,
        lost_events: 0,
        error: None,
        untraced: Default::default(),
        opaque: Default::default(),
        local: Default::default(),
        null_peer: Default::default(),
    }
}

/// The name of this host; empty where the system does not tell.
#[must_use]
pub fn host() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned()
}

/// The model of its processor, likewise.
fn cpu() -> String {
    let all = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| Some(all.lines().find_map(|line| line.strip_prefix(name)?.split_once(':'))?.1.trim());
    // Arm's have no names, only numbers.
    let numbers = || Some(format!("implementer {} part {}", field("CPU implementer")?, field("CPU part")?));
    field("model name").map(str::to_owned).or_else(numbers).unwrap_or_default()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// One that measures CPU time, as good as it gets.
    pub(in crate::sink) fn counter() -> Counter {
        Counter {
            kind: "cpu".into(),
            unit: "instruction".into(),
            rate: Some(1e9),
            resolution: 1.0,
            precision: 0.0,
            hook: 0.0,
            yardstick: None,
        }
    }

    #[test]
    fn an_entry_starts_running_where_this_process_is() {
        let entry = begin(String::new(), Rank(3), counter());
        assert_eq!((entry.rank, entry.pid, entry.ended), (3, std::process::id(), Ended::Running));
        assert!(!entry.host.is_empty());
    }
}
