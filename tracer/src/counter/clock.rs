//! The system's clocks, in nanoseconds. A float holds these exactly for a hundred days.

/// The CPU time that this thread has used.
pub(super) fn thread_ns() -> f64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Time that passes evenly.
pub(super) fn monotonic_ns() -> f64 {
    read(libc::CLOCK_MONOTONIC_RAW)
}

fn read(clock: libc::clockid_t) -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a live local. Linux has both clocks; without, the time would stay zero.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}
