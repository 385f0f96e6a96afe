use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use super::*;

/// A world of threads, each with its own setting for the trace's place; returns the result of each rank.
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
    // One is taken: all continue with the next name.
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
