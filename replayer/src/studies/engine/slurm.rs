//! The points of a study as a job array of Slurm.
//!
//! Each task simulates several points, and each point that ends has its file. When the array has ended, points that are missing
//! belonged to tasks that were lost: another array simulates them, as long as each array brings the study forward. The number of
//! the job is kept in the folder. A sweep that was killed waits for its array before it submits another one.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

use titr_common::output::{OutputFile, make_directory, named};

use crate::studies::error::StudyError;
use crate::studies::folder::ResultsFolder;

/// Tasks of an array: fewer than the smallest default of Slurm's `MaxArraySize`.
const MOST_TASKS: usize = 1000;

/// Tasks of an array if the user does not say how many points a task has.
const USUAL_TASKS: usize = 256;

/// The time between two looks at the queue.
const PATIENCE: Duration = Duration::from_secs(1);

/// An array of Slurm for points of a study.
pub(crate) struct SlurmArray<'a> {
    pub(crate) folder: &'a ResultsFolder,
    /// The words of a command that simulates the points of a task, without the number of the task.
    pub(crate) command: Vec<String>,
    pub(crate) points_per_task: Option<usize>,
    pub(crate) has_reports: bool,
}

/// Checks that the commands of Slurm can be run.
pub(crate) fn check() -> Result<(), StudyError> {
    ["sbatch", "squeue"].into_iter().try_for_each(|command| slurm(command, &["--version"]).map(drop))
}

/// The points of a task.
pub(crate) fn points_of_task(folder: &Path, task: usize) -> Result<Vec<usize>, StudyError> {
    let path = folder.join("slurm").join("tasks");
    let text = fs::read_to_string(&path).map_err(|error| named(&path, error))?;
    let line = text.lines().nth(task);
    let points = line.map(|line| line.split(' ').map(|point| point.parse::<usize>().ok()?.checked_sub(1)).collect());
    let no_task = || StudyError::Slurm(format!("{} has no points for task {task}", path.display()));
    points.flatten().ok_or_else(no_task)
}

impl SlurmArray<'_> {
    /// Simulates the missing ones of this many points. `done` is called with the number of points that have outcomes.
    ///
    /// # Errors
    /// If Slurm does not take the job, a point cannot be simulated, or tasks are lost again and again.
    pub(crate) fn run(&self, points: usize, done: &dyn Fn(usize)) -> Result<(), StudyError> {
        let all: Vec<usize> = (0..points).collect();
        // An array of a sweep that was killed.
        if let Ok(job) = fs::read_to_string(self.file("job")) {
            let job = job_number(&job).map_err(|_| {
                let path = self.file("job");
                StudyError::Slurm(format!("{} has no number of a job: see squeue, and remove the file", path.display()))
            })?;
            self.wait(&job, points, done)?;
        }
        self.folder.failure(&all, true);
        let mut missing = self.missing(points);
        while !missing.is_empty() {
            let job = self.submit(&missing).inspect_err(|_| self.folder.abandon(points))?;
            self.wait(&job, points, done)?;
            if let Some(why) = self.folder.failure(&all, false) {
                return Err(StudyError::Failed(why));
            }
            let left = self.missing(points);
            if left.len() == missing.len() {
                let logs = self.folder.path().join("slurm").join(format!("{job}_*.log"));
                let message = format!("no task of job {job} has simulated a point: see {}", logs.display());
                return Err(StudyError::Slurm(message));
            }
            missing = left;
        }
        Ok(())
    }

    fn missing(&self, points: usize) -> Vec<usize> {
        self.folder.missing(points, self.has_reports)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join("slurm").join(name)
    }

    /// Submits an array for these points, and returns the number of the job.
    fn submit(&self, points: &[usize]) -> Result<String, StudyError> {
        let folder = self.file("");
        make_directory(&folder)?;
        let usual = points.len().div_ceil(USUAL_TASKS);
        let per_task = self.points_per_task.unwrap_or(usual).max(points.len().div_ceil(MOST_TASKS));
        let line = |points: &[usize]| points.iter().map(|point| (point + 1).to_string()).collect::<Vec<_>>().join(" ");
        let tasks: Vec<String> = points.chunks(per_task.max(1)).map(line).collect();
        OutputFile::write(&self.file("tasks"), (tasks.join("\n") + "\n").as_bytes())?;
        let words = shlex::try_join(self.command.iter().map(String::as_str));
        let words = words.map_err(|error| StudyError::Slurm(format!("a path cannot be in a script: {error}")))?;
        let script =
            format!("#!/bin/sh\nexec {words} --task \"$SLURM_ARRAY_TASK_ID\" --jobs \"${{SLURM_CPUS_PER_TASK:-1}}\"\n");
        let path = self.file("task.sh");
        OutputFile::write(&path, script.as_bytes())?;
        let (array, log) = (format!("--array=0-{}", tasks.len() - 1), self.file("%A_%a.log"));
        let log = format!("--output={}", log.display());
        let path = path.display().to_string();
        let said = slurm("sbatch", &["--parsable", "--job-name=titr-sweep", &array, &log, &path])?;
        let job = job_number(&said)?;
        OutputFile::write(&self.file("job"), job.as_bytes())?;
        Ok(job)
    }

    /// Waits until a job is in the queue no more.
    fn wait(&self, job: &str, points: usize, done: &dyn Fn(usize)) -> Result<(), StudyError> {
        while is_queued(job)? {
            done(points - self.missing(points).len());
            thread::sleep(PATIENCE);
        }
        done(points - self.missing(points).len());
        fs::remove_file(self.file("job")).or_else(|error| match error.kind() {
            ErrorKind::NotFound => Ok(()),
            _ => Err(named(&self.file("job"), error)),
        })?;
        Ok(())
    }
}

/// The number of a job in what `sbatch --parsable` prints: the number and, of some clusters, a semicolon and a name.
fn job_number(said: &str) -> Result<String, StudyError> {
    let job = said.trim().split(';').next().unwrap_or_default();
    match !job.is_empty() && job.bytes().all(|byte| byte.is_ascii_digit()) {
        true => Ok(job.to_owned()),
        false => Err(StudyError::Slurm(format!(
            "sbatch says {said:?} in place of the number of a job: see squeue for whether the job runs"
        ))),
    }
}

/// Whether a job has tasks that wait or run.
fn is_queued(job: &str) -> Result<bool, StudyError> {
    let output = output("squeue", &["--noheader", "--job", job])?;
    let said = String::from_utf8_lossy(&output.stderr);
    match output.status.success() {
        true => {
            let tasks = String::from_utf8_lossy(&output.stdout);
            // `JOB`, `JOB_TASK` or `JOB_[TASKS]`, and more in other columns.
            let is_task = |line: &str| line.split_whitespace().any(|word| word.split('_').next() == Some(job));
            match tasks.lines().map(str::trim).find(|line| !line.is_empty() && !is_task(line)) {
                None => Ok(!tasks.trim().is_empty()),
                Some(line) => Err(StudyError::Slurm(format!(
                    "squeue says {line:?} in place of a task of job {job}: once squeue answers, the same command goes on"
                ))),
            }
        }
        // Slurm forgets jobs that have ended.
        false if said.contains("Invalid job id") => Ok(false),
        false => Err(StudyError::Slurm(format!("squeue: {}", said.trim()))),
    }
}

/// What a command of Slurm prints.
fn slurm(command: &str, arguments: &[&str]) -> Result<String, StudyError> {
    let output = output(command, arguments)?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(StudyError::Slurm(format!("{command} refuses: {}", said.trim())))
        }
    }
}

fn output(command: &str, arguments: &[&str]) -> Result<Output, StudyError> {
    Command::new(command).args(arguments).output().map_err(|error: io::Error| {
        StudyError::Slurm(format!(
            "cannot run {command}: {error}; start titr where jobs are submitted, or use --engine local"
        ))
    })
}
