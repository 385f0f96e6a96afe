//! The receiving end at rank 0: first a manifest, then an archive.
//!
//! If writing the archive fails, rank 0 still continues to receive: otherwise the senders would wait forever.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use flate2::Crc;
use titr_common::event::Rank;
use titr_common::trace::manifest::{Manifest, RankEntry};
use titr_common::trace::{ArchiveWriter, directory};

use super::relay::{Broken, Receiver};
use crate::descriptors::place_high;

/// The entries of all ranks, as text.
#[derive(Default)]
pub(super) struct Entries(Vec<Vec<u8>>);

impl Receiver for Entries {
    fn begin(&mut self, _: u32, _: u64) -> Result<(), Broken> {
        self.0.push(Vec::new());
        Ok(())
    }

    fn piece(&mut self, bytes: &[u8]) -> Result<(), Broken> {
        self.0.last_mut().ok_or(Broken)?.extend_from_slice(bytes);
        Ok(())
    }
}

impl Entries {
    pub(super) fn manifest(&self, run: &Manifest) -> Result<Manifest, String> {
        let entry = |(rank, text): (usize, &Vec<u8>)| {
            serde_json::from_slice(text).map_err(|_| format!("the trace of rank {rank} is not complete"))
        };
        Ok(Manifest { per_rank: self.0.iter().enumerate().map(entry).collect::<Result<_, _>>()?, ..run.clone() })
    }
}

/// The archive, while streams arrive.
pub(super) struct Archive {
    path: PathBuf,
    writer: ArchiveWriter,
    entries: Vec<RankEntry>,
    /// The rank whose stream arrives, and the checksum of the data so far.
    current: Option<usize>,
    crc: Crc,
    /// The error because of which there will be no archive.
    problem: Option<String>,
}

impl Archive {
    /// Creates it with the manifest in it, where there is nothing yet.
    pub(super) fn create(path: &Path, manifest: &Manifest) -> io::Result<Self> {
        let written = || {
            let text = manifest.to_json()?;
            let mut writer = ArchiveWriter::create_at(path, place_high)?;
            writer.begin(&directory::manifest(Path::new("")), text.len() as u64)?;
            writer.write(&text)?;
            Ok(writer)
        };
        let writer = written().inspect_err(|error: &io::Error| {
            if error.kind() != ErrorKind::AlreadyExists {
                let _ = std::fs::remove_file(path);
            }
        })?;
        let (path, entries) = (path.to_owned(), manifest.per_rank.clone());
        Ok(Self { path, writer, entries, current: None, crc: Crc::new(), problem: None })
    }

    /// Ends it, once all streams are there.
    pub(super) fn finish(mut self) -> Result<(), String> {
        self.check();
        match self.problem {
            Some(problem) => Err(problem),
            None => self.writer.finish().map_err(|error| error.to_string()),
        }
    }

    /// Compares the received stream with the data that its rank has written.
    fn check(&mut self) {
        let crc = std::mem::replace(&mut self.crc, Crc::new());
        let said = self.current.and_then(|rank| self.entries.get(rank)?.crc32.map(|said| (rank, said)));
        if let Some((rank, said)) = said.filter(|(_, said)| *said != crc.sum()) {
            self.fail(format!("the stream of rank {rank} has the checksum {:08x}, and it wrote {said:08x}", crc.sum()));
        }
    }

    fn fail(&mut self, problem: String) {
        if self.problem.is_none() {
            // The space that it takes may be missing elsewhere.
            let _ = std::fs::remove_file(&self.path);
            self.problem = Some(problem);
        }
    }

    fn write(&mut self, write: impl FnOnce(&mut ArchiveWriter) -> std::io::Result<()>) {
        if self.problem.is_none()
            && let Err(error) = write(&mut self.writer)
        {
            self.fail(error.to_string());
        }
    }
}

impl Receiver for Archive {
    fn begin(&mut self, rank: u32, length: u64) -> Result<(), Broken> {
        self.check();
        self.current = Some(rank as usize);
        self.write(|writer| writer.begin(&directory::stream(Path::new(""), Rank(rank)), length));
        Ok(())
    }

    fn piece(&mut self, bytes: &[u8]) -> Result<(), Broken> {
        self.crc.update(bytes);
        self.write(|writer| writer.write(bytes));
        Ok(())
    }
}

/// Runs `body` such that a write beyond the file-size limit is an error, and not a signal that ends the program.
pub(super) fn with_file_size_errors<T>(body: impl FnOnce() -> T) -> T {
    // SAFETY: an all-zero `sigset_t` is a valid object to be filled in.
    let (mut one, mut before): (libc::sigset_t, libc::sigset_t) = unsafe { std::mem::zeroed() };
    // SAFETY: both sets are live locals.
    let blocked = unsafe {
        libc::sigemptyset(&mut one);
        libc::sigaddset(&mut one, libc::SIGXFSZ);
        libc::pthread_sigmask(libc::SIG_BLOCK, &one, &mut before) == 0
    };
    let result = body();
    // SAFETY: `before` was filled in above.
    if blocked && unsafe { libc::sigismember(&before, libc::SIGXFSZ) } == 0 {
        let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: live locals; the signals that came in between are taken, and then the mask is as it was.
        unsafe {
            while libc::sigtimedwait(&one, std::ptr::null_mut(), &now) >= 0 {}
            libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_beyond_the_limit_is_no_signal() {
        // In a process of its own: the limit applies to all threads. SAFETY: the child calls nothing that needs another
        // thread, and leaves without running any of the parent's handlers.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let file = tempfile::tempfile().unwrap();
            let limit = libc::rlimit { rlim_cur: 1000, rlim_max: 1000 };
            let full = with_file_size_errors(|| {
                // SAFETY: a live local.
                unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &limit) };
                std::io::Write::write_all(&mut &file, &[0; 2000]).is_err()
            });
            // SAFETY: leaves at once.
            unsafe { libc::_exit(i32::from(full)) };
        }
        let mut status = 0;
        // SAFETY: the child above, and a live local.
        unsafe { libc::waitpid(child, &mut status, 0) };
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 1, "{status}");
    }
}
