//! The seeds and findings of fuzzing (`found-…`): no reader panics or hangs on them, or exceeds its memory limit.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// The largest memory of a reader in addition to its result: a line of 64 MiB, and the list of 2²⁴ numbers that it may
/// stand for, each while it grows. `ci/fuzz` checks every input against it.
const MOST_MEMORY_KIB: u64 = 512 << 10;

#[test]
fn no_reader_fails_at_what_fuzzing_found() {
    let mut inputs = 0;
    for (name, read) in titr_fuzz::ALL {
        for seed in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(name)).unwrap() {
            let path = seed.unwrap().path();
            let start = Instant::now();
            read(&fs::read(&path).unwrap());
            assert!(start.elapsed() < Duration::from_secs(20), "{} takes {:?}", path.display(), start.elapsed());
            inputs += 1;
        }
    }
    assert!(inputs > 30);
    assert!(peak_kib() < MOST_MEMORY_KIB, "{} KiB", peak_kib());
}

/// The most memory that this process has had.
fn peak_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}
