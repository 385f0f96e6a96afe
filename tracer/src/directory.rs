//! Choosing the trace directory: one that holds no trace already, of the same name for all ranks but for placeholders.
//!
//! The candidates are `traces`, `traces-2`, `traces-3` … Each rank sees its own file system, which may or may not be the
//! file system that the others see, and may have a name of its own for the directory ([`Pattern`]). So each rank proposes
//! the first candidate that is free where it is. The latest proposal, which is free or absent everywhere, is taken: rank 0
//! creates it, and then every rank that does not see it creates it too. If another program was faster at that, all ranks
//! begin again after it.
//!
//! Every step ends with one all-reduction, and what a rank does next depends on results of these alone: all take the
//! same steps and leave with the same decision, so that none waits for one that has left.

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

/// Candidates that are tried: as many traces side by side are a mistake, and nobody should wait for a million looks.
const CANDIDATES: i64 = 10_000;

/// Why there is no directory to write to.
#[derive(Debug, Error)]
pub enum DirectoryError {
    /// This rank cannot create it, or cannot create files in it.
    #[error("cannot write the trace to {path}: {error}")]
    Io {
        /// The candidate.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// All names are taken.
    #[error("{path} and the {CANDIDATES} names after it are taken: remove old traces, or set TITRACE_DIR")]
    Taken {
        /// The first candidate.
        path: PathBuf,
    },
    /// This rank could write, but not all can.
    #[error("another rank cannot write its trace, so none does")]
    Elsewhere,
}

/// How one rank's part in a step went, such that the greatest decides for all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Done,
    /// Another program has just taken the directory.
    Raced,
    Failed,
}

/// Where one rank's part of the trace goes.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The directory's absolute path.
    pub path: PathBuf,
    /// The values of the placeholders in its path.
    pub placeholders: Placeholders,
}

/// Claims a directory for the trace. Collective: `agree` gives the maximum over all ranks of the numbers they call it
/// with.
///
/// # Errors
/// If not all ranks can write; then all return one, and the rank at fault returns its reason.
pub fn claim(pattern: &Pattern, rank: Rank, mut agree: impl FnMut(i64) -> i64) -> Result<Claim, DirectoryError> {
    let run = format!("{:x}", agree(if rank == Rank(0) { fresh() } else { 0 }));
    let placeholders = Placeholders::here(host::name(), rank, run);
    let wanted = absolute(pattern.expand(&placeholders));
    let mut from = 1;
    loop {
        let proposal = first_free(&wanted, from);
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

/// Claims a directory for those ranks of a job that are traced, where not all are: no rank asks another one. The file
/// system alone says whether a directory is this job's. `job` is the job's name.
///
/// # Errors
/// If this rank cannot write there.
pub fn claim_without_agreement(pattern: &Pattern, rank: Rank, job: &str) -> Result<Claim, DirectoryError> {
    let placeholders = Placeholders::here(host::name(), rank, job.to_owned());
    let wanted = absolute(pattern.expand(&placeholders));
    for index in 1..=CANDIDATES {
        let path = candidate(&wanted, index);
        match take(&path, rank, job) {
            Ok(true) => return Ok(Claim { path, placeholders }),
            Ok(false) => {}
            Err(error) => return Err(DirectoryError::Io { path, error }),
        }
    }
    Err(DirectoryError::Taken { path: wanted })
}

/// Whether a directory is the job's: it was, or it was free and is so now. It comes into being under another name and with
/// the job's name in it, so that nobody sees it half made.
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

/// The name with `-index` appended, but for the first.
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

/// The index of the first candidate that this rank sees free.
fn first_free(wanted: &Path, from: i64) -> Result<i64, DirectoryError> {
    for index in from..=CANDIDATES {
        let path = candidate(wanted, index);
        match is_free(&path) {
            Ok(true) => return Ok(index),
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
        // What cannot be listed is somebody's.
        Ok(_) => Ok(fs::read_dir(path).is_ok_and(|mut files| files.next().is_none())),
    }
}

/// Makes the directory this run's. The file in it is what says so, as an empty directory would be anybody's; the ranks
/// that have ended are counted in it later.
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

/// Leaves the directory to the next run, as far as it can be.
fn abandon(path: &Path) {
    let _ = fs::remove_file(directory::ended(path));
    let _ = fs::remove_dir(path);
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Barrier, Mutex};
    use std::thread;

    use super::*;

    /// A world of threads, each with its own idea of where the trace goes; returns what each rank came out with.
    fn claim_as(directories: Vec<PathBuf>) -> Vec<Result<Claim, DirectoryError>> {
        let barrier = Arc::new(Barrier::new(directories.len()));
        let said = Arc::new(Mutex::new(vec![0; directories.len()]));
        let ranks: Vec<_> = directories
            .into_iter()
            .enumerate()
            .map(|(rank, directory)| {
                let (barrier, said) = (barrier.clone(), said.clone());
                thread::spawn(move || {
                    let directory = Pattern::new(directory.as_os_str()).unwrap();
                    claim(&directory, Rank(rank as u32), |value| {
                        said.lock().unwrap()[rank] = value;
                        barrier.wait();
                        let greatest = *said.lock().unwrap().iter().max().unwrap();
                        barrier.wait();
                        greatest
                    })
                })
            })
            .collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    }

    fn paths(claims: Vec<Result<Claim, DirectoryError>>) -> Vec<PathBuf> {
        let claims: Vec<Claim> = claims.into_iter().map(Result::unwrap).collect();
        assert!(claims.iter().all(|claim| claim.placeholders.run == claims[0].placeholders.run), "{claims:?}");
        claims.into_iter().map(|claim| claim.path).collect()
    }

    #[test]
    fn the_name_asked_for_is_taken_if_it_is_free() {
        let parent = tempfile::tempdir().unwrap();
        let wanted = parent.path().join("deep/traces");
        assert_eq!(paths(claim_as(vec![wanted.clone(); 4])), vec![wanted.clone(); 4]);
        assert!(wanted.is_dir());
    }

    #[test]
    fn an_empty_directory_is_used_as_it_is() {
        let parent = tempfile::tempdir().unwrap();
        let wanted = parent.path().to_owned();
        assert_eq!(paths(claim_as(vec![wanted.clone(); 2])), vec![wanted.clone(); 2]);
        // And is this run's from here on.
        let next = candidate(&wanted, 2);
        assert_eq!(paths(claim_as(vec![wanted; 2])), vec![next.clone(); 2]);
        fs::remove_dir_all(next).unwrap();
    }

    #[test]
    fn nothing_that_exists_is_touched() {
        let parent = tempfile::tempdir().unwrap();
        let wanted = parent.path().join("traces");
        fs::create_dir(&wanted).unwrap();
        fs::write(wanted.join("manifest.json"), "{}").unwrap();
        fs::write(parent.path().join("traces-2"), "a file").unwrap();
        std::os::unix::fs::symlink("nowhere", parent.path().join("traces-3")).unwrap();
        let expected = parent.path().join("traces-4");
        assert_eq!(paths(claim_as(vec![parent.path().join("traces/"); 3])), vec![expected; 3]);
        assert_eq!(fs::read(wanted.join("manifest.json")).unwrap(), b"{}");
    }

    #[test]
    fn ranks_on_different_disks_get_the_same_name() {
        let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir_all(there.path().join("traces/old")).unwrap();
        let wanted = vec![here.path().join("traces"), there.path().join("traces"), there.path().join("traces")];
        let claimed = paths(claim_as(wanted));
        let (ours, theirs) = (here.path().join("traces-2"), there.path().join("traces-2"));
        assert!(ours.is_dir() && theirs.is_dir() && !here.path().join("traces").exists());
        assert_eq!(claimed, vec![ours, theirs.clone(), theirs]);
    }

    #[test]
    fn every_rank_may_have_a_directory_of_its_own() {
        let parent = tempfile::tempdir().unwrap();
        fs::create_dir_all(parent.path().join("1/old")).unwrap();
        let claimed = paths(claim_as(vec![parent.path().join("%r"); 3]));
        // One is taken: all go on to the next name.
        assert_eq!(claimed, ["0-2", "1-2", "2-2"].map(|name| parent.path().join(name)));
        assert!(claimed.iter().all(|path| path.is_dir()));
    }

    #[test]
    fn one_rank_that_cannot_write_stops_all_with_its_reason() {
        let parent = tempfile::tempdir().unwrap();
        let file = parent.path().join("file");
        fs::write(&file, "").unwrap();
        for faulty in 0..3 {
            let mut wanted = vec![parent.path().join(format!("traces{faulty}")); 3];
            wanted[faulty] = file.join("traces");
            for (rank, claim) in claim_as(wanted).into_iter().enumerate() {
                let error = claim.unwrap_err();
                assert_eq!(matches!(error, DirectoryError::Elsewhere), rank != faulty, "{error}");
            }
            assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1, "only the file is left");
        }
    }

    #[test]
    fn a_directory_that_cannot_be_created_stops_all() {
        // Not even root creates directories there.
        let claims = claim_as(vec!["/proc/traces".into(); 2]);
        let errors: Vec<String> = claims.into_iter().map(|claim| claim.unwrap_err().to_string()).collect();
        assert!(errors[0].starts_with("cannot write the trace to /proc/traces: "), "{errors:?}");
        assert_eq!(errors[1], "another rank cannot write its trace, so none does");
    }

    #[test]
    fn without_agreement_the_ranks_of_a_job_share_a_directory_and_jobs_do_not() {
        let parent = tempfile::tempdir().unwrap();
        let wanted = parent.path().join("traces");
        fs::create_dir(&wanted).unwrap();
        let pattern = Pattern::new(wanted.as_os_str()).unwrap();
        let ranks: Vec<_> = (0..24)
            .map(|number| {
                let pattern = pattern.clone();
                thread::spawn(move || {
                    let job = format!("job-{}", number % 3);
                    let claim = claim_without_agreement(&pattern, Rank(number), &job).unwrap();
                    (job, claim.path)
                })
            })
            .collect();
        let mut claimed: Vec<_> = ranks.into_iter().map(|rank| rank.join().unwrap()).collect();
        claimed.sort();
        claimed.dedup();
        assert_eq!(claimed.len(), 3, "{claimed:?}");
        claimed.sort_by(|one, other| one.1.cmp(&other.1));
        claimed.dedup_by(|one, other| one.1 == other.1);
        assert_eq!(claimed.len(), 3, "{claimed:?}");
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 3, "and nothing else is left");
    }

    #[test]
    fn programs_that_start_together_get_directories_of_their_own() {
        let parent = tempfile::tempdir().unwrap();
        let wanted = parent.path().join("traces");
        fs::create_dir(&wanted).unwrap();
        let runs: Vec<_> = (0..8)
            .map(|_| {
                let wanted = wanted.clone();
                thread::spawn(move || paths(claim_as(vec![wanted; 3])))
            })
            .collect();
        let mut claimed: Vec<PathBuf> = runs
            .into_iter()
            .map(|run| {
                let paths = run.join().unwrap();
                assert!(paths.iter().all(|path| *path == paths[0]), "{paths:?}");
                paths[0].clone()
            })
            .collect();
        claimed.sort();
        claimed.dedup();
        assert_eq!(claimed.len(), 8);
    }
}
