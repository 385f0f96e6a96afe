//! `TITRACE_DIR` with placeholders, so that every host or rank can write to its own directory.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use titr_common::event::Rank;

/// Variables in which schedulers and launchers name the job, the most reliable first: Slurm, PBS and Torque, LSF, Grid
/// Engine, Cobalt, Flux, and then PMIx, which Open MPI's `mpirun` sets, and Open MPI's own.
const JOBS: [&str; 8] = [
    "SLURM_JOB_ID",
    "PBS_JOBID",
    "LSB_JOBID",
    "JOB_ID",
    "COBALT_JOBID",
    "FLUX_JOB_ID",
    "PMIX_NAMESPACE",
    "OMPI_MCA_ess_base_jobid",
];

/// A path in which `%h` stands for the host, `%r` for the rank, `%j` for the job and `%%` for a percent sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(OsString);

impl Default for Pattern {
    fn default() -> Self {
        Self("traces".into())
    }
}

/// The values of the placeholders in one process.
#[derive(Clone, Debug)]
pub struct Placeholders {
    /// `%h`.
    pub host: String,
    /// `%r`.
    pub rank: Rank,
    /// The name of the run, the same for all its ranks and for no other run's.
    pub run: String,
    /// `%j`: the scheduler's or the launcher's word for the job, or the run's name.
    pub job: String,
}

impl Placeholders {
    /// The values in this process, on a host and in a run of these names.
    pub fn here(host: String, rank: Rank, run: String) -> Self {
        Self { host, rank, job: job().unwrap_or_else(|| run.clone()), run }
    }
}

fn has_placeholder(path: &Path) -> bool {
    path.as_os_str().as_bytes().contains(&b'%')
}

impl Pattern {
    /// A pattern, if all its placeholders are known.
    ///
    /// # Errors
    /// The first that is not, such as `%x`.
    pub fn new(path: &OsStr) -> Result<Self, String> {
        let mut bytes = path.as_bytes().iter();
        while bytes.any(|&byte| byte == b'%') {
            match bytes.next() {
                Some(b'h' | b'r' | b'j' | b'%') => {}
                Some(&other) => return Err(format!("%{}", char::from(other).escape_default())),
                None => return Err("%".to_owned()),
            }
        }
        Ok(Self(path.to_owned()))
    }

    /// The path, if it is the same for all processes.
    pub fn fixed(&self) -> Option<&Path> {
        Some(Path::new(&self.0)).filter(|path| !has_placeholder(path))
    }

    /// The directory above the innermost one that has no placeholder in its path, or above the path itself if it has
    /// none; `None` if that is the working directory, or the root.
    pub(crate) fn fixed_parent(&self) -> Option<PathBuf> {
        let fixed = Path::new(&self.0).ancestors().find(|path| !has_placeholder(path))?.parent()?;
        (!fixed.as_os_str().is_empty()).then(|| fixed.to_owned())
    }

    /// The path for one process.
    pub fn expand(&self, values: &Placeholders) -> PathBuf {
        let mut path = Vec::new();
        let mut bytes = self.0.as_bytes().iter();
        while let Some(&byte) = bytes.next() {
            match (byte, (byte == b'%').then(|| bytes.next()).flatten()) {
                (b'%', Some(b'h')) => path.extend(file_name(&values.host)),
                (b'%', Some(b'r')) => path.extend(values.rank.0.to_string().bytes()),
                (b'%', Some(b'j')) => path.extend(file_name(&values.job)),
                _ => path.push(byte),
            }
        }
        OsString::from_vec(path).into()
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.display().fmt(f)
    }
}

/// The scheduler's or the launcher's name for this job.
fn job() -> Option<String> {
    JOBS.into_iter().filter_map(|name| std::env::var(name).ok()).find(|id| !id.is_empty())
}

/// A name with its slashes replaced, so that it is a single path component.
fn file_name(name: &str) -> impl Iterator<Item = u8> {
    name.bytes().map(|byte| if byte == b'/' { b'_' } else { byte })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(pattern: &str) -> String {
        let values = Placeholders { host: "node7".into(), rank: Rank(12), run: "1a".into(), job: "12/3.0".into() };
        Pattern::new(pattern.as_ref()).unwrap().expand(&values).display().to_string()
    }

    #[test]
    fn each_placeholder_stands_for_what_it_names() {
        assert_eq!(expanded("/tmp/traces"), "/tmp/traces");
        assert_eq!(expanded("/tmp/%j/%h-%r"), "/tmp/12_3.0/node7-12");
        assert_eq!(expanded("%%h=%h%%"), "%h=node7%");
    }

    #[test]
    fn the_parent_is_above_the_innermost_directory_without_placeholders() {
        for (pattern, parent) in [
            ("traces", None),
            ("/traces", Some("/")),
            ("/tmp/a/traces", Some("/tmp/a")),
            ("out/traces/", Some("out")),
            ("/tmp/traces-%j/%h", Some("/")),
            ("/tmp/traces/%r", Some("/tmp")),
            ("traces/%r", None),
            ("%h/traces", None),
            ("a/%%/b", None),
        ] {
            let found = Pattern::new(pattern.as_ref()).unwrap().fixed_parent();
            assert_eq!(found.as_deref(), parent.map(Path::new), "{pattern}");
        }
    }

    #[test]
    fn an_unknown_placeholder_is_named() {
        for (pattern, placeholder) in [("/tmp/%x", "%x"), ("%h%", "%"), ("%%%", "%"), ("% h", "% "), ("%\n", "%\\n")] {
            assert_eq!(Pattern::new(pattern.as_ref()), Err(placeholder.to_owned()));
        }
    }
}
