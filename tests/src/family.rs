//! The MPI libraries that the tests run under, and programs built for them.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

use crate::run::{library, target};

/// An MPI library, with its own compilers and `mpirun`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Open MPI.
    OpenMpi,
    /// MPICH.
    Mpich,
}

impl Family {
    /// Both.
    pub const ALL: [Self; 2] = [Self::OpenMpi, Self::Mpich];

    /// The suffix of its commands in Debian.
    fn suffix(self) -> &'static str {
        match self {
            Self::OpenMpi => "openmpi",
            Self::Mpich => "mpich",
        }
    }

    /// Its `mpirun`.
    pub fn mpirun(self) -> Command {
        self.alone(format!("mpirun.{}", self.suffix()))
    }

    /// Its `mpirun`, ended after this many seconds.
    pub fn mpirun_within(self, seconds: u32) -> Command {
        self.within(seconds, format!("mpirun.{}", self.suffix()))
    }

    /// `program`, which an MPI program's only rank may be.
    pub fn alone(self, program: impl AsRef<OsStr>) -> Command {
        // A run that hangs is a failure, and not the end of the test run.
        self.within(400, program)
    }

    fn within(self, seconds: u32, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new("timeout");
        command.arg("--kill-after=5").arg(seconds.to_string()).arg(program);
        if self == Self::OpenMpi {
            // More ranks than cores, perhaps as root in a container, where one process may not read another's memory.
            command.envs([
                ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
                ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
                ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
                ("OMPI_MCA_btl_vader_single_copy_mechanism", "none"),
                ("OMPI_MCA_mpi_yield_when_idle", "1"),
                ("OMPI_MCA_osc", "pt2pt,sm"),
            ]);
        }
        // MPICH's transport prints its warnings on standard output.
        command.env("UCX_LOG_LEVEL", "error");
        command.envs(self.considerate().map(|library| ("LD_PRELOAD", library)));
        command
    }

    /// The value of `LD_PRELOAD` with which a program is traced.
    pub fn preload(self) -> OsString {
        let mut preload = library().into_os_string();
        if let Some(library) = self.considerate() {
            preload.push(":");
            preload.push(library);
        }
        preload
    }

    /// A library that makes ranks yield while they wait, where no setting does. Without it, more ranks than cores take ten
    /// times as long.
    fn considerate(self) -> Option<PathBuf> {
        match self {
            Self::OpenMpi => None,
            Self::Mpich => Some(build("cc", "yield.c", &["-shared", "-fPIC"])),
        }
    }

    /// A tool to preload before the tracer, which counts what the program calls (`programs/counter.c`).
    ///
    /// # Panics
    /// If it cannot be built.
    pub fn counter(self) -> PathBuf {
        let (suffix, programs) = (self.suffix(), Path::new(env!("CARGO_MANIFEST_DIR")).join("programs"));
        let directory = target().join("tmp/programs").join(suffix);
        fs::create_dir_all(&directory).unwrap();
        let list =
            format!("mpicc.{suffix} -E -P -include mpi.h -xc /dev/null | awk -f {}/counter.awk", programs.display());
        let functions = Command::new("sh").args(["-c", &list]).output().unwrap().stdout;
        let mut file = NamedTempFile::new_in(&directory).unwrap();
        file.write_all(&functions).unwrap();
        file.persist(directory.join("counter_functions.h")).unwrap();
        self.build("counter.c", &["-shared", "-fPIC", "-Wl,--as-needed", "-I", directory.to_str().unwrap()])
    }

    /// `programs/SOURCE`, built with this family's compiler and `options`. Built once in a test binary's life.
    ///
    /// # Panics
    /// If the compiler is missing or refuses the program.
    pub fn build(self, source: &str, options: &[&str]) -> PathBuf {
        let compiler = match source.rsplit('.').next() {
            Some("c") => "mpicc",
            Some("cc") => "mpicxx",
            _ => "mpif90",
        };
        build(&format!("{compiler}.{}", self.suffix()), source, options)
    }
}

/// `programs/SOURCE`, built with `compiler` and `options`. Built once in a test binary's life.
///
/// # Panics
/// If the compiler is missing or refuses the program.
pub fn build(compiler: &str, source: &str, options: &[&str]) -> PathBuf {
    static BUILT: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let key = format!("{compiler}-{source}{}", options.concat()).replace('/', "_");
    let directory = target().join("tmp/programs");
    let program = directory.join(&key);
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    if !built.insert(key) {
        return program;
    }
    fs::create_dir_all(&directory).unwrap();
    // Under another name first: another test binary may be running the one from before.
    let fresh = program.with_extension(std::process::id().to_string());
    let output = Command::new(compiler)
        .args(["-O1", "-w", "-o"])
        .arg(&fresh)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("programs").join(source))
        .args(options)
        .output()
        .unwrap_or_else(|error| panic!("{compiler}: {error}: run ci/install test"));
    assert!(output.status.success(), "{source}: {}", String::from_utf8_lossy(&output.stderr));
    fs::rename(fresh, &program).unwrap();
    program
}
