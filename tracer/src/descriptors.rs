//! Descriptors of the tracer, separate from those of the program.
//!
//! A program may close descriptors that it has not opened, use their numbers for files of its own, lower the limit of
//! their number, or change its root. If the kernel permits it, the flush thread therefore has a table of descriptors, a
//! root and a mask of its own; otherwise a descriptor of the tracer has a number that programs do not reach.
//!
//! The flush thread also runs foreign code, such as a preloaded allocator. That code may keep the number of a
//! descriptor for the whole process: libunwind, which tcmalloc uses, has its own pipe, which it opens again when
//! reading from it fails. In a table with free low numbers it would get numbers that belong to the program's files
//! elsewhere, and close those next. The low numbers of the thread's table are therefore occupied, by a descriptor that
//! fails like a closed one.

use std::cell::Cell;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};

/// The lowest number of a descriptor of the tracer, if the limit allows it: programs that close all possible
/// descriptors stop at 1024, or at the limit.
const HIGH: libc::rlim_t = 4096;
/// The number of descriptors below the limit that the tracer takes, where the limit is lower.
const LAST: libc::rlim_t = 32;

/// The descriptors of a thread.
const FIRST: libc::c_uint = 3;

/// Gives the calling thread its own table of descriptors, with only standard error in it, and also its own working
/// directory, root and file mask. Returns whether that was possible.
pub(crate) fn separate() -> bool {
    // SAFETY: concerns this thread alone; where it is refused, the program's changes of its root apply here, too.
    unsafe { libc::unshare(libc::CLONE_FS) };
    let separate = close_range() || close_copies();
    if separate {
        // SAFETY: numbers of this thread's own table, which no other code uses.
        unsafe {
            libc::close(libc::STDIN_FILENO);
            libc::close(libc::STDOUT_FILENO);
        }
        occupy();
    }
    separate
}

thread_local! {
    /// The numbers below this one are taken in the thread's own table.
    static OCCUPIED: Cell<libc::c_int> = const { Cell::new(0) };
}

/// Takes all low numbers of the thread's own table.
fn occupy() {
    // SAFETY: the path is a C string. Nothing can be read from or written to such a descriptor (`EBADF`).
    let nothing = unsafe { libc::open(c"/".as_ptr(), libc::O_PATH | libc::O_CLOEXEC) };
    if nothing < 0 {
        return;
    }
    let end = least_high() as libc::c_int;
    // SAFETY: takes a number.
    let has_stderr = unsafe { libc::fcntl(libc::STDERR_FILENO, libc::F_GETFD) } >= 0;
    let is_kept = |number: libc::c_int| number == nothing || has_stderr && number == libc::STDERR_FILENO;
    for number in (0..end).rev().filter(|&number| !is_kept(number)) {
        // SAFETY: a number of this thread's own table, which no other code uses.
        unsafe { libc::dup3(nothing, number, libc::O_CLOEXEC) };
    }
    OCCUPIED.set(end);
}

/// Frees the low numbers of the thread's own table if no others are available any more, because the program has lowered
/// their limit. To be called before the thread opens a file.
pub(crate) fn make_room() {
    let occupied = OCCUPIED.get();
    if occupied > 0 && limit() <= occupied as libc::rlim_t + LAST / 2 {
        OCCUPIED.set(0);
        for number in (0..occupied).filter(|&number| number != libc::STDERR_FILENO) {
            // SAFETY: a number of this thread's own table, which `occupy` has taken.
            unsafe { libc::close(number) };
        }
    }
}

fn limit() -> libc::rlim_t {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: a live local.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) };
    limit.rlim_cur
}

/// The least number of a descriptor of the tracer.
fn least_high() -> libc::rlim_t {
    HIGH.min(limit().saturating_sub(LAST))
}

/// Copies no descriptor but the first into a table of the thread's own (Linux 5.9).
fn close_range() -> bool {
    // SAFETY: the flag first gives the thread a table of its own, so no descriptor of the program is closed.
    unsafe { libc::syscall(libc::SYS_close_range, FIRST, libc::c_uint::MAX, libc::CLOSE_RANGE_UNSHARE) == 0 }
}

/// Copies all descriptors into a table of the thread's own, and closes the copies.
fn close_copies() -> bool {
    const TABLE: &str = "/proc/thread-self/fd";
    // SAFETY: concerns this thread alone.
    if fs::metadata(TABLE).is_err() || unsafe { libc::unshare(libc::CLONE_FILES) } != 0 {
        return false;
    }
    let open: Vec<i32> = fs::read_dir(TABLE)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|&number| number >= FIRST as i32)
        .collect();
    for number in open {
        // SAFETY: a number of this thread's own table, which no other code uses.
        unsafe { libc::close(number) };
    }
    true
}

/// Moves a file that was just opened to a high number, which a program that is started does not inherit.
pub(crate) fn place_high(file: File) -> io::Result<File> {
    // SAFETY: takes numbers and returns one.
    let number = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_DUPFD_CLOEXEC, least_high() as libc::c_int) };
    if number < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just returned this descriptor, which has no other owner.
    Ok(unsafe { File::from_raw_fd(number) })
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::atomic::{AtomicI32, Ordering};

    use titr_common::event::Rank;
    use titr_common::trace::{StreamWriter, directory};

    use super::*;

    /// The descriptor that [`place_and_tell`] has chosen last.
    static PLACED: AtomicI32 = AtomicI32::new(-1);

    fn place_and_tell(file: File) -> io::Result<File> {
        let file = place_high(file)?;
        PLACED.store(file.as_raw_fd(), Ordering::Relaxed);
        Ok(file)
    }

    /// If a thread cannot have its own table.
    #[test]
    fn a_descriptor_that_has_become_another_file_is_neither_written_to_nor_closed() {
        let folder = tempfile::tempdir().unwrap();
        let path = directory::stream(folder.path(), Rank(0));
        let mut stream = StreamWriter::create_at(folder.path(), Rank(0), 3, place_and_tell).unwrap();
        let others = tempfile::tempfile().unwrap();
        let take_over = || {
            let number = PLACED.load(Ordering::Relaxed);
            // SAFETY: both are this test's, and the stream has to cope.
            assert_eq!(unsafe { libc::dup2(others.as_raw_fd(), number) }, number);
            number
        };
        let lost = take_over();
        stream.write_member(b"0 init\n").unwrap();
        // The file is opened again, as it has its name still.
        assert_ne!(PLACED.load(Ordering::Relaxed), lost);
        let before = fs::read(&path).unwrap();
        take_over();
        fs::rename(&path, folder.path().join("elsewhere")).unwrap();
        let error = stream.write_member(b"0 finalize\n").unwrap_err();
        let lost_again = PLACED.load(Ordering::Relaxed);
        drop(stream);
        assert_eq!(fs::read(folder.path().join("elsewhere")).unwrap(), before, "{error}");
        assert_eq!(others.metadata().unwrap().len(), 0);
        for number in [lost, lost_again] {
            // SAFETY: takes a number.
            assert!(unsafe { libc::fcntl(number, libc::F_GETFD) } >= 0, "{number} was closed");
        }
    }

    #[test]
    fn a_placed_file_is_out_of_the_way_and_is_not_inherited() {
        let mut file = place_high(tempfile::tempfile().unwrap()).unwrap();
        // SAFETY: takes a number.
        let flags = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFD) };
        assert!(file.as_raw_fd() > 500 && flags & libc::FD_CLOEXEC != 0, "{file:?} {flags}");
        file.write_all(b"text").unwrap();
    }

    /// Like libunwind's pipe, whose number is known to all threads.
    #[test]
    fn a_separate_thread_opens_nothing_at_a_low_number_and_reads_nothing_there() {
        let mut mine = tempfile::tempfile().unwrap();
        mine.write_all(b"text").unwrap();
        let other = std::thread::spawn({
            let number = mine.as_raw_fd();
            move || {
                let mut byte = 0u8;
                // SAFETY: the pointer refers to a live local.
                separate()
                    .then(|| (unsafe { libc::pread(number, (&raw mut byte).cast(), 1, 0) }, io::Error::last_os_error()))
            }
        });
        if let Some((read, error)) = other.join().unwrap() {
            assert_eq!((read, error.raw_os_error()), (-1, Some(libc::EBADF)));
        }
        let opened = std::thread::spawn(|| separate().then(|| tempfile::tempfile().unwrap().as_raw_fd()));
        assert!(opened.join().unwrap().is_none_or(|number| number > 500));
    }
}
