//! The folder of a study's results.
//!
//! | file | |
//! | --- | --- |
//! | `study.json` | the identity of the study; locked while a process writes to the folder |
//! | `points/N.json` | the outcome of point N, complete from the moment at which the file has its name |
//! | `points/N.html` | the report of point N, if reports are asked for |
//! | `points/N.error` | why a task of a batch system could not simulate point N |
//! | `slurm/` | the tasks of a job array, and their output |
//! | `results.csv`, `results.units.csv`, `page.html` | the results, once all points have outcomes |

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use titr_common::output::{OutputFile, is_unfinished, make_directory, named, remove_leftovers};

use crate::studies::error::StudyError;
use crate::studies::inputs::Inputs;
use crate::studies::outcome::PointOutcome;
use crate::studies::table;

/// The folder of a study's results.
#[derive(Debug)]
pub(crate) struct ResultsFolder {
    path: PathBuf,
    /// The file that is locked; `None` in a task of a batch system, whose master holds the lock.
    _lock: Option<File>,
    /// Whether the folder had no results before.
    is_new: bool,
}

/// The content of `study.json`.
#[derive(Serialize, Deserialize)]
struct Identity {
    study: String,
    points: usize,
}

const IDENTITY: &str = "study.json";
const POINTS: &str = "points";

impl ResultsFolder {
    /// Opens or creates the folder for the results of a study, and keeps other processes from writing to it.
    pub(crate) fn open(path: &Path, inputs: &Inputs) -> Result<Self, StudyError> {
        let identity = path.join(IDENTITY);
        let is_new = !identity.exists();
        if is_new {
            let is_left = |entry: &fs::DirEntry| is_unfinished(&entry.path());
            if fs::read_dir(path).is_ok_and(|entries| !entries.flatten().all(|entry| is_left(&entry))) {
                return Err(StudyError::NoFolder(path.to_owned()));
            }
            make_directory(path)?;
            let content = Identity { study: inputs.identity()?, points: inputs.count() };
            OutputFile::write(&identity, &serde_json::to_vec(&content).map_err(io::Error::from)?)?;
        }
        let file = File::open(&identity).map_err(|error| named(&identity, error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StudyError::Busy(path.to_owned())),
            // A file system without locks: the user has to take care.
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {}
            Err(TryLockError::Error(error)) => return Err(named(&identity, error).into()),
        }
        let this = Self { path: path.to_owned(), _lock: Some(file), is_new };
        this.check(inputs)?;
        make_directory(&path.join(POINTS))?;
        Ok(this)
    }

    /// Opens the folder in a task of a batch system.
    pub(crate) fn of_task(path: &Path, inputs: &Inputs) -> Result<Self, StudyError> {
        let this = Self { path: path.to_owned(), _lock: None, is_new: false };
        this.check(inputs)?;
        Ok(this)
    }

    fn check(&self, inputs: &Inputs) -> Result<(), StudyError> {
        let path = self.path.join(IDENTITY);
        let content = fs::read(&path).map_err(|error| named(&path, error))?;
        match serde_json::from_slice::<Identity>(&content) {
            Ok(identity) if identity.study == inputs.identity()? && identity.points == inputs.count() => Ok(()),
            Ok(_) | Err(_) => Err(StudyError::OtherStudy(self.path.clone())),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The file of the report of a point.
    pub(crate) fn report(&self, point: usize) -> PathBuf {
        self.of_point(point, "html")
    }

    fn of_point(&self, point: usize, kind: &str) -> PathBuf {
        self.path.join(POINTS).join(format!("{}.{kind}", point + 1))
    }

    /// The points that have no outcome yet, or no report where reports are asked for.
    pub(crate) fn missing(&self, points: usize, has_reports: bool) -> Vec<usize> {
        let is_done =
            |point: &usize| self.of_point(*point, "json").exists() && (!has_reports || self.report(*point).exists());
        (0..points).filter(|point| !is_done(point)).collect()
    }

    /// Keeps the outcome of a point.
    pub(crate) fn keep(&self, point: usize, outcome: &PointOutcome) -> io::Result<()> {
        OutputFile::write(&self.of_point(point, "json"), &serde_json::to_vec(outcome)?)
    }

    /// Keeps the reason why a task cannot simulate a point.
    pub(crate) fn keep_failure(&self, point: usize, why: &str) -> io::Result<()> {
        OutputFile::write(&self.of_point(point, "error"), why.as_bytes())
    }

    /// Why a point of these failed in a task: the first that did. Forgets the failures if they are to be tried again.
    pub(crate) fn failure(&self, points: &[usize], is_forgotten: bool) -> Option<String> {
        let mut files = points.iter().map(|point| self.of_point(*point, "error"));
        if is_forgotten {
            files.for_each(|file| drop(fs::remove_file(file)));
            return None;
        }
        files.find_map(|file| fs::read_to_string(file).ok())
    }

    /// Removes the folder again, if it was created for a study that has not begun.
    pub(crate) fn abandon(&self, points: usize) {
        if self.is_new && self.missing(points, false).len() == points {
            let _ = fs::remove_dir_all(&self.path);
        }
    }

    /// Writes the tables of all outcomes, and returns the outcomes.
    pub(crate) fn finish(&self, inputs: &Inputs) -> Result<Vec<PointOutcome>, StudyError> {
        // Tasks may have been killed since this process wrote there first.
        [&self.path, &self.path.join(POINTS)].into_iter().for_each(|folder| remove_leftovers(folder));
        let outcomes = (0..inputs.count()).map(|point| self.outcome(point)).collect::<Result<Vec<_>, _>>()?;
        table::write(inputs, &outcomes, &self.path)?;
        Ok(outcomes)
    }

    fn outcome(&self, point: usize) -> Result<PointOutcome, StudyError> {
        let path = self.of_point(point, "json");
        let content = fs::read(&path).map_err(|error| named(&path, error))?;
        serde_json::from_slice(&content).map_err(|error| StudyError::Damaged { path, error })
    }
}
