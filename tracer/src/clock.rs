//! The system's clocks, in nanoseconds. A float holds these exactly for a hundred days.

/// The CPU time that this thread has used.
#[inline]
pub(crate) fn thread_ns() -> f64 {
    // Linux has both clocks; without, the time would stay zero.
    nanoseconds(libc::CLOCK_THREAD_CPUTIME_ID).unwrap_or_default() as i64 as f64
}

/// Time that passes evenly.
pub(crate) fn monotonic_ns() -> f64 {
    nanoseconds(libc::CLOCK_MONOTONIC_RAW).unwrap_or_default() as f64
}

/// The time of a clock; `None` if there is no such clock. Safe in a signal handler.
#[inline]
pub(crate) fn nanoseconds(clock: libc::clockid_t) -> Option<u64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a live local. A clock that does not exist is an error.
    let failed = unsafe { libc::clock_gettime(clock, &mut time) };
    (failed == 0).then_some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}
