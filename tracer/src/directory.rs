//! Chooses the trace directory: one without a trace, with the same name for all ranks except for placeholders.
//!
//! The candidates are `traces`, `traces-2`, `traces-3` … Each rank sees its own file system, which may or may not be
//! shared with others, and may have its own name for the directory ([`Pattern`]). Each rank therefore proposes the
//! first candidate that is free locally. The latest proposal, which is free or absent everywhere, is taken: rank 0
//! creates it, and then every rank that does not see it creates it too. If another program created it first, all ranks
//! start again after it.
//!
//! Every step ends with one all-reduction, and a rank's next action depends only on the results of these: all take the
//! same steps and leave with the same decision, so none waits for one that has left.

use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use thiserror::Error;
use titr_common::event::Rank;
use titr_common::trace::directory;
use titr_config::{Pattern, Placeholders};

use crate::host;
use crate::stderr::log;

/// Number of candidates that are tried: this many traces side by side are a mistake, and a million checks would take
/// too long.
const CANDIDATES: i64 = 10_000;

/// An error in the choice or creation of the directory.
#[derive(Debug, Error)]
pub(crate) enum DirectoryError {
    /// This rank cannot create it, or cannot create files in it.
    #[error("cannot write the trace to {path}: {error}")]
    Io { path: PathBuf, error: io::Error },
    /// All names are taken.
    #[error("{path} and the {CANDIDATES} names after it are taken: remove old traces, or set TITRACE_DIR")]
    Taken { path: PathBuf },
    /// This rank could write, but not all can.
    #[error("another rank cannot write its trace, so none does")]
    Elsewhere,
}

/// The outcome of one rank's part in a step; the greatest one decides for all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Done,
    /// Another program has just taken the directory.
    Raced,
    Failed,
}

/// The place of one rank's part of the trace.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    pub path: PathBuf,
    /// The values of the placeholders in its path.
    pub placeholders: Placeholders,
}

/// Claims a directory for the trace. Collective: `agree` gives the maximum of its argument over all ranks.
///
/// # Errors
/// If some rank cannot write; then all return an error, and the rank at fault returns its reason.
pub(crate) fn claim(pattern: &Pattern, rank: Rank, mut agree: impl FnMut(i64) -> i64) -> Result<Claim, DirectoryError> {
    let run = format!("{:x}", agree(if rank == Rank(0) { fresh() } else { 0 }));
    let placeholders = Placeholders::here(host::name(), rank, run);
    let wanted = absolute(pattern.expand(&placeholders));
    let mut from = 1;
    loop {
        let proposal = first(&wanted, from, is_free).map(|(index, _)| index);
        let index = agree(*proposal.as_ref().unwrap_or(&i64::MAX));
        if index == i64::MAX {
            return Err(proposal.err().unwrap_or(DirectoryError::Elsewhere));
        }
        let path = candidate(&wanted, index);
        let first = rank == Rank(0);
        let created = settle(&path, &mut agree, || if first { create(&path) } else { Ok(Step::Done) })?;
        if created == Step::Done {
            let joined = settle(&path, &mut agree, || join(&path));
            if first && joined.is_err() {
                abandon(&path);
            } else if first && index > 1 {
                log(format_args!("{} exists: writing to {}", wanted.display(), path.display()));
            }
            return joined.map(|_| Claim { path, placeholders });
        }
        from = index + 1;
    }
}

/// Claims a directory for the traced ranks of a job in which not all are: no communication between ranks. Only the file
/// system shows whether a directory belongs to this job. `job` is the job's name.
pub(crate) fn claim_without_agreement(pattern: &Pattern, rank: Rank, job: &str) -> Result<Claim, DirectoryError> {
    let placeholders = Placeholders::here(host::name(), rank, job.to_owned());
    let wanted = absolute(pattern.expand(&placeholders));
    first(&wanted, 1, |path| take(path, rank, job)).map(|(_, path)| Claim { path, placeholders })
}

/// Whether a directory belongs to the job: it did already, or it was free and does so now. It is created under another
/// name and with the job's name in it, so that no process sees it half made.
fn take(path: &Path, rank: Rank, job: &str) -> io::Result<bool> {
    let is_ours = || fs::read_to_string(directory::job(path)).is_ok_and(|text| text == job);
    if is_ours() {
        return Ok(true);
    }
    if !is_free(path)? {
        // Another rank of this job may have taken it since.
        return Ok(is_ours());
    }
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    let attempt = path.with_file_name(format!(".titr-{job}-{}", rank.0));
    fs::create_dir(&attempt)?;
    let made = fs::write(directory::job(&attempt), job).and_then(|()| fs::rename(&attempt, path));
    match made {
        Ok(()) => Ok(true),
        Err(error) => {
            let _ = fs::remove_file(directory::job(&attempt));
            let _ = fs::remove_dir(&attempt);
            // Another rank of this job, or another job, was faster.
            if is_free(path)? { Err(error) } else { Ok(is_ours()) }
        }
    }
}

/// The program may change its working directory before the last file is written.
pub(crate) fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}

/// A number that no other run has: the time in microseconds, and some bits of the process in case two start at once.
fn fresh() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros() as i64;
    (now << 8 | i64::from(std::process::id() & 0xff)) & i64::MAX
}

/// Takes a step and learns how it went everywhere.
fn settle(
    path: &Path,
    agree: &mut impl FnMut(i64) -> i64,
    step: impl FnOnce() -> io::Result<Step>,
) -> Result<Step, DirectoryError> {
    let own = step();
    let worst = agree(*own.as_ref().unwrap_or(&Step::Failed) as i64);
    match own {
        Err(error) => Err(DirectoryError::Io { path: path.to_owned(), error }),
        Ok(_) if worst == Step::Failed as i64 => Err(DirectoryError::Elsewhere),
        Ok(_) if worst == Step::Raced as i64 => Ok(Step::Raced),
        Ok(_) => Ok(Step::Done),
    }
}

/// The name with `-index` appended, except for the first.
pub(crate) fn candidate(wanted: &Path, index: i64) -> PathBuf {
    if index == 1 {
        return wanted.to_owned();
    }
    let mut path = wanted.as_os_str().as_bytes().to_owned();
    while path.last() == Some(&b'/') {
        path.pop();
    }
    path.extend_from_slice(format!("-{index}").as_bytes());
    PathBuf::from(std::ffi::OsStr::from_bytes(&path))
}

/// The first candidate from the number `from` on that is such, and its number.
fn first(
    wanted: &Path,
    from: i64,
    mut is_such: impl FnMut(&Path) -> io::Result<bool>,
) -> Result<(i64, PathBuf), DirectoryError> {
    for index in from..=CANDIDATES {
        let path = candidate(wanted, index);
        match is_such(&path) {
            Ok(true) => return Ok((index, path)),
            Ok(false) => {}
            Err(error) => return Err(DirectoryError::Io { path, error }),
        }
    }
    Err(DirectoryError::Taken { path: wanted.to_owned() })
}

/// Whether nothing is there, or an empty directory.
fn is_free(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
        // A directory that cannot be listed belongs to another user.
        Ok(_) => Ok(fs::read_dir(path).is_ok_and(|mut files| files.next().is_none())),
    }
}

/// Creates the directory of this run. A file in it marks it, because an empty directory would be free for any run; the
/// ranks that have ended are counted in it later.
fn create(path: &Path) -> io::Result<Step> {
    fs::create_dir_all(path)?;
    match File::create_new(directory::ended(path)) {
        Ok(_) => Ok(Step::Done),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(Step::Raced),
        Err(error) => Err(error),
    }
}

/// Sees to it that the directory exists here as well, and can be written to.
fn join(path: &Path) -> io::Result<Step> {
    fs::create_dir_all(path)?;
    let name = std::ffi::CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: the name is a live string that ends with a zero.
    match unsafe { libc::access(name.as_ptr(), libc::W_OK | libc::X_OK) } {
        0 => Ok(Step::Done),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Leaves the directory to the next run, as far as possible.
fn abandon(path: &Path) {
    let _ = fs::remove_file(directory::ended(path));
    let _ = fs::remove_dir(path);
}

#[cfg(test)]
mod tests;
