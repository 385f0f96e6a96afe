//! Messages of the tracer on standard error.
//!
//! A program may close its standard error, and the next file that it opens gets the number. A message therefore goes to
//! the file that was standard error when the process began: by its number, or by a private copy of the descriptor if
//! the number denotes another file now.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;
use std::{fmt, ptr};

use titr_common::terminal::{self, line_of};

use crate::descriptors::place_high;

/// The device and the inode of standard error as it was first seen; `None` if it was closed.
static IDENTITY: OnceLock<Option<(libc::dev_t, libc::ino_t)>> = OnceLock::new();
/// The copy's number, or -1.
static COPY: AtomicI32 = AtomicI32::new(-1);

/// Notes which file standard error is. To be called when the process begins.
pub(crate) fn remember() {
    IDENTITY.get_or_init(|| identity(libc::STDERR_FILENO));
}

/// Makes the copy, for as long as the process lives.
pub(crate) fn keep_copy() {
    use std::os::fd::{BorrowedFd, IntoRawFd};
    if is_standard_error(libc::STDERR_FILENO) && COPY.load(Ordering::Relaxed) < 0 {
        // SAFETY: it is open, and only borrowed to be copied.
        let stderr = unsafe { BorrowedFd::borrow_raw(libc::STDERR_FILENO) };
        let copy = stderr.try_clone_to_owned().and_then(|copy| place_high(copy.into()));
        COPY.store(copy.map_or(-1, IntoRawFd::into_raw_fd), Ordering::Relaxed);
    }
}

/// Closes the copy in a forked child, which may outlive a reader that waits for the end of standard error. Safe in a
/// signal handler.
pub(crate) fn close_copy() {
    let copy = COPY.swap(-1, Ordering::Relaxed);
    if copy >= 0 && is_standard_error(copy) {
        // SAFETY: the number is the copy's, which is this module's own.
        unsafe { libc::close(copy) };
    }
}

/// Writes one line in a single `write`, so that lines of ranks that write at once do not mix. A closed or broken
/// standard error is ignored. Unlike `libc::write`, this is not a cancellation point.
pub(crate) fn log(message: fmt::Arguments<'_>) {
    remember();
    let numbers = [libc::STDERR_FILENO, COPY.load(Ordering::Relaxed)];
    if let Some(number) = numbers.into_iter().find(|&number| is_standard_error(number)) {
        let line = line_of(format_args!("{}", terminal::message(&format!("titrace: {message}"))));
        // SAFETY: the pointer and the length are of one live string.
        unsafe { libc::syscall(libc::SYS_write, number, line.as_ptr(), line.len()) };
    }
}

/// Writes one line before the process ends, and waits until a launcher has passed it on: Hydra ends once the first process has
/// ended, whatever the others have said.
pub(crate) fn log_last(message: fmt::Arguments<'_>) {
    log(message);
    nap(Duration::from_millis(100));
}

fn is_standard_error(number: i32) -> bool {
    IDENTITY.get().copied().flatten().is_some_and(|known| identity(number) == Some(known))
}

fn identity(number: i32) -> Option<(libc::dev_t, libc::ino_t)> {
    // SAFETY: an all-zero `stat` is a valid object to be filled in.
    let mut status: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: a live local.
    (unsafe { libc::fstat(number, &mut status) } == 0).then_some((status.st_dev, status.st_ino))
}

/// Sleeps. Unlike `std::thread::sleep` this is not a cancellation point (POSIX, XSH 2.9.5): a thread that is cancelled
/// in it would end in the middle of recording an event.
pub(crate) fn nap(time: Duration) {
    let time = libc::timespec { tv_sec: time.as_secs() as _, tv_nsec: time.subsec_nanos().into() };
    // SAFETY: the kernel reads a live `timespec`. A signal may shorten the sleep.
    unsafe { libc::syscall(libc::SYS_nanosleep, &raw const time, ptr::null_mut::<libc::timespec>()) };
}
