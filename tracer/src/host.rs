//! The host of this process, as the manifest names it.

use std::fs;

/// The name of this host; empty where the system does not tell.
pub(crate) fn name() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned()
}

/// The model of the host's processor; empty where the system does not tell.
pub(crate) fn cpu() -> String {
    let all = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| Some(all.lines().find_map(|line| line.strip_prefix(name)?.split_once(':'))?.1.trim());
    // Arm's have no names, only numbers.
    let numbers = || Some(format!("implementer {} part {}", field("CPU implementer")?, field("CPU part")?));
    field("model name").map(str::to_owned).or_else(numbers).unwrap_or_default()
}
