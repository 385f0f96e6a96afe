//! Short sleeps of the program's threads while they are in the tracer.

use std::ptr;
use std::time::Duration;

/// Sleeps. Unlike `std::thread::sleep` this is not a cancellation point (POSIX, XSH 2.9.5): a thread that is cancelled
/// in it would end in the middle of recording an event.
pub(crate) fn nap(time: Duration) {
    let time = libc::timespec { tv_sec: time.as_secs() as _, tv_nsec: time.subsec_nanos().into() };
    // SAFETY: the kernel reads a live `timespec`. A signal may shorten the sleep.
    unsafe { libc::syscall(libc::SYS_nanosleep, &raw const time, ptr::null_mut::<libc::timespec>()) };
}
