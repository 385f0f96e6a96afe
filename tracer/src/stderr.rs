//! Messages of the tracer on standard error.

use std::fmt;

use titr_common::terminal::line_of;

/// Writes one line. It goes out in a single `write`, so that the lines of ranks that write at once do not mix, and a
/// closed or broken standard error is none of the program's concern. No thread is cancelled in it, unlike in `libc::write`.
pub fn log(message: fmt::Arguments<'_>) {
    let line = line_of(format_args!("titrace: {message}"));
    // SAFETY: the pointer and the length are of one live string.
    unsafe { libc::syscall(libc::SYS_write, libc::STDERR_FILENO, line.as_ptr(), line.len()) };
}
