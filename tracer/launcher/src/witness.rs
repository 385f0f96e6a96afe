//! A process beside the program that reports, when the program has ended, that nothing was traced.
//!
//! `titrace` becomes the program, which may be a wrapper or a script. A program started by it may be one into which
//! nothing can be preloaded, and then no tracer could report this. If the program itself is not linked with MPI, a
//! process therefore remains and receives the tracer's [words](titr_config::launched). It is not a child of the
//! program, has no open file but standard error, and ends with the program, or as soon as MPI is called.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, WaitOptions, getpid, pidfd_open, waitpid};
use titr_common::terminal::say;
use titr_config::launched::{LEFT, LOADED, SEEN, VARIABLE};

/// Variables in which launchers tell a process its rank.
pub(crate) const RANK: [&str; 4] = ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"];

/// Variables in which launchers tell a process its rank among those of its host.
pub(crate) const LOCAL_RANK: [&str; 4] =
    ["OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PALS_LOCAL_RANKID", "SLURM_LOCALID"];

/// Time that a process waits before it ends in silence, as a launcher may then end the one that speaks.
const SILENCE: Duration = Duration::from_secs(1);

/// Whether this process says what all ranks with the same variables would: the first does. The others wait until it has spoken.
pub(crate) fn speaks(names: &[&str]) -> bool {
    let is_first = names.iter().find_map(std::env::var_os).is_none_or(|rank| rank == "0");
    if !is_first {
        std::thread::sleep(SILENCE);
    }
    is_first
}

/// Whether this process is a rank that a launcher has started.
pub(crate) fn is_rank() -> bool {
    RANK.iter().any(|name| std::env::var_os(name).is_some())
}

/// The witness of this process.
#[derive(Debug)]
pub(crate) struct UntracedWatcher {
    name: OsString,
}

impl UntracedWatcher {
    /// A witness that is not started yet, under a new name. Of two `titrace`, the inner one speaks.
    pub(crate) fn new() -> Self {
        if let Some(outer) = std::env::var_os(VARIABLE) {
            Self { name: outer }.dismiss();
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { name: format!("{}/titrace-{}", getpid(), now.as_nanos()).into() }
    }

    /// Starts the witness of a program; `None` if the system does not support it, and in all ranks of a job but the
    /// first.
    pub(crate) fn start(&self, program: &str, starts_ranks: bool) -> Option<()> {
        let rank = RANK.iter().find_map(std::env::var_os);
        if rank.is_some_and(|rank| rank != "0") {
            return None;
        }
        let socket = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(self.name.as_bytes()).ok()?).ok()?;
        let watched = pidfd_open(getpid(), PidfdFlags::empty()).ok()?;
        // SAFETY: there is one thread, so the child may call anything.
        match unsafe { libc::fork() } {
            // A child of the child is not a child of the program's.
            // SAFETY: as above.
            0 => match unsafe { libc::fork() } {
                0 => {
                    let _ = watch(&socket, &watched, program, starts_ranks);
                    exit()
                }
                _ => exit(),
            },
            child => {
                waitpid(Pid::from_raw(child), WaitOptions::empty()).ok()?;
                Some(())
            }
        }
    }

    /// The variable that the tracer finds the witness by.
    pub(crate) fn setting(&self) -> (OsString, OsString) {
        (VARIABLE.into(), self.name.clone())
    }

    /// Has the witness end without a word.
    pub(crate) fn dismiss(&self) {
        let address = SocketAddr::from_abstract_name(self.name.as_bytes());
        if let (Ok(address), Ok(socket)) = (address, UnixDatagram::unbound()) {
            let _ = socket.send_to_addr(&[SEEN], &address);
        }
    }
}

/// Ends a forked process without running the handlers and flushing the buffers of its parent.
fn exit() -> ! {
    // SAFETY: takes a number.
    unsafe { libc::_exit(0) }
}

/// Waits until MPI is called or the program has ended, and says that nothing was traced in the second case.
fn watch(socket: &UnixDatagram, watched: &OwnedFd, program: &str, starts_ranks: bool) -> io::Result<()> {
    close_all_but(&[2, socket.as_raw_fd(), watched.as_raw_fd()])?;
    std::env::set_current_dir("/")?;
    socket.set_nonblocking(true)?;
    let mut loaded = None;
    loop {
        let has_ended = wait(socket.as_fd(), watched.as_fd())?;
        let mut word = [0; 4097];
        while let Ok(length) = socket.recv(&mut word) {
            match word[..length].split_first() {
                Some((&SEEN, _)) => return Ok(()),
                Some((&LOADED, path)) => loaded = Some(OsStr::from_bytes(path).to_owned()),
                Some((&LEFT, _)) => loaded = None,
                _ => {}
            }
        }
        if has_ended {
            say(format_args!("titrace: {}", message(program, loaded.as_deref(), starts_ranks)));
            return Ok(());
        }
    }
}

/// Waits for a word or for the end of the process; true if it has ended.
fn wait(socket: BorrowedFd<'_>, watched: BorrowedFd<'_>) -> io::Result<bool> {
    let mut both = [socket, watched].map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN));
    match poll(&mut both, None) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(!both[1].revents().is_empty()),
        Err(error) => Err(error.into()),
    }
}

/// Closes the program's open files, so that their users do not wait for this process.
fn close_all_but(kept: &[i32]) -> io::Result<()> {
    let all = fs::read_dir("/proc/self/fd")?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    for descriptor in all.collect::<Vec<i32>>() {
        if !kept.contains(&descriptor) {
            // SAFETY: nothing in this process uses it; it may be closed already.
            unsafe { libc::close(descriptor) };
        }
    }
    Ok(())
}

/// The message about `program`, in whose process a program ended that had `loaded` the tracer, or one that had not.
fn message(program: &str, loaded: Option<&OsStr>, starts_ranks: bool) -> String {
    let place = if starts_ranks { " on this host" } else { "" };
    match loaded {
        Some(loaded) => format!(
            "nothing was traced{place}: {} did not call MPI_Init, nor did a program that it started with the tracer loaded. If one of \
             them is the MPI program, put titrace right before it: titrace says why a program cannot be traced",
            loaded.display()
        ),
        None => format!(
            "nothing was traced{place}: {program} became a program that the tracer was not loaded into (statically linked, for another C \
             library or machine, with more rights than its user, or without LD_PRELOAD in its environment). Put titrace right before \
             the MPI program: titrace says which it is"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_without_mpi_is_told_from_one_without_the_tracer() {
        let own = message("sh", Some("/bin/dash".as_ref()), false);
        assert!(own.starts_with("nothing was traced: /bin/dash did not call MPI_Init"), "{own}");
        let foreign = message("mpirun", None, true);
        assert!(foreign.starts_with("nothing was traced on this host: mpirun became a program"), "{foreign}");
    }
}
