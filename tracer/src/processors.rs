//! The processors of the host: what part of their time a virtual machine did not get, and how often the process lost one.

use std::fs;

/// Time of all processors of the host since it was started, in ticks of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticks {
    all: u64,
    /// The part that the host of a virtual machine gave to others.
    stolen: u64,
}

impl Ticks {
    /// The ticks until now; `None` if the system does not report them.
    pub(crate) fn now() -> Option<Self> {
        Self::read(&fs::read_to_string("/proc/stat").ok()?)
    }

    /// The ticks in the first line of `/proc/stat` (proc_stat(5)): user, nice, system, idle, iowait, irq, softirq, steal; and
    /// the time of guests, which user and nice include.
    fn read(text: &str) -> Option<Self> {
        let mut words = text.lines().next()?.split_whitespace();
        let ticks: Vec<u64> =
            words.next().filter(|&word| word == "cpu").map(|_| words.map_while(|word| word.parse().ok()))?.collect();
        let stolen = *ticks.get(7)?;
        Some(Self { all: ticks.iter().take(8).sum(), stolen })
    }

    /// The stolen part of the time since `earlier`.
    pub(crate) fn stolen_since(self, earlier: Self) -> f64 {
        let all = self.all.saturating_sub(earlier.all);
        if all > 0 { self.stolen.saturating_sub(earlier.stolen) as f64 / all as f64 } else { 0.0 }
    }
}

/// The number of times that a thread of this process lost its core to another thread.
pub(crate) fn involuntary_switches() -> u64 {
    usage(libc::RUSAGE_SELF).ru_nivcsw.max(0) as u64
}

/// What a process, or its children that were waited for, have used.
pub(crate) fn usage(whose: libc::c_int) -> libc::rusage {
    // SAFETY: an all-zero `rusage` is a valid object to be filled in.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a live local.
    unsafe { libc::getrusage(whose, &mut usage) };
    usage
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stolen_part_is_of_the_time_of_all_processors() {
        let ticks = |text| Ticks::read(text).unwrap();
        let before = ticks("cpu  10 0 10 80 0 0 0 0 0 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n");
        let after = ticks("cpu  40 0 20 110 5 0 0 25 30 0\n");
        assert_eq!(after.stolen_since(before), 0.25);
        assert_eq!((before.stolen_since(before), before.stolen_since(after)), (0.0, 0.0));
    }

    #[test]
    fn a_system_that_reports_less_has_no_ticks() {
        assert_eq!(["", "intr 1 2", "cpu 1 2 3"].map(Ticks::read), [None; 3]);
    }
}
