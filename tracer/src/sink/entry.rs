//! The start of a rank's entry in the manifest: where it runs.

use std::fs;

use titr_common::event::Rank;
use titr_common::trace::manifest::{Counter, RankEntry};

/// The entry of `rank` in the run of this name, whose computation `counter` measures, before anything was recorded.
#[must_use]
pub fn begin(run: String, rank: Rank, counter: Counter) -> RankEntry {
    RankEntry { run, host: host(), cpu: cpu(), pid: std::process::id(), ..RankEntry::new(rank, counter) }
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
    use titr_common::trace::manifest::Ended;

    use super::*;

    /// One that measures CPU time, as good as it gets.
    pub(in crate::sink) fn counter() -> Counter {
        Counter { rate: Some(1e9), ..Counter::exact("cpu") }
    }

    #[test]
    fn an_entry_starts_running_where_this_process_is() {
        let entry = begin(String::new(), Rank(3), counter());
        assert_eq!((entry.rank, entry.pid, entry.ended), (3, std::process::id(), Ended::Running));
        assert!(!entry.host.is_empty());
    }
}
