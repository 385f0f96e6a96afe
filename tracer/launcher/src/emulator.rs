//! The emulator that executes the program and counts its instructions, for the counter `emulated`.
//!
//! ```text
//!   PROGRAM ARGUMENTS  ──►  qemu-x86_64 -plugin libtitremulation.so -E LD_PRELOAD=… -0 PROGRAM /path/of/PROGRAM ARGUMENTS
//! ```
//!
//! The tracer is preloaded into the program only, not into the emulator.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use thiserror::Error;

use crate::elf::Elf;
use crate::library::Library;
use crate::program::Program;

/// The file name of the plug-in, which is beside the tracer.
const PLUGIN: &str = "libtitremulation.so";

/// The variable by which a user chooses the processor that QEMU emulates.
const PROCESSOR: &str = "QEMU_CPU";

/// The emulator, and its plug-in.
#[derive(Debug)]
pub(crate) struct Emulator {
    pub path: PathBuf,
    plugin: PathBuf,
}

/// The reason why the program cannot be emulated.
#[derive(Debug, Error)]
pub(crate) enum EmulatorError {
    #[error("the counter `emulated` needs {0}, which is not in PATH: install it (Debian and Ubuntu: qemu-user)")]
    Missing(String),
    #[error(
        "{0} is not an emulator for this machine that can load plug-ins: install the dynamically linked QEMU of this machine's \
         architecture (Debian and Ubuntu: qemu-user)"
    )]
    Unfit(PathBuf),
    #[error("the counter `emulated` needs {0}, which is missing: build it with `cargo build --release --workspace`")]
    NoPlugin(PathBuf),
    #[error("{0} is not a plug-in for this machine: build it with `cargo build --release --workspace`")]
    UnfitPlugin(PathBuf),
    #[error(
        "{0} is not an ELF program, and the counter `emulated` needs one: start a script by its interpreter, as in \
         `titrace --counter emulated python3 SCRIPT`"
    )]
    Script(PathBuf),
    #[error("{0} starts the ranks: put titrace after it, as in `{0} -np 64 titrace --counter emulated PROGRAM`")]
    Launcher(String),
    #[error("{} has a comma, which separates the arguments of QEMU's options: use another path", .0.display())]
    Comma(OsString),
}

/// What Open MPI must not do, unless the user says so: QEMU has no system calls that read the memory of another process, by
/// which it copies large messages within a host, and accesses windows.
const OPENMPI: [(&str, &str); 2] = [("OMPI_MCA_btl_vader_single_copy_mechanism", "none"), ("OMPI_MCA_osc", "^rdma")];

impl Emulator {
    /// Finds the emulator for `program`, and the plug-in beside `library`.
    pub(crate) fn find(program: &Program, library: &Library) -> Result<Self, EmulatorError> {
        if program.is_launcher() {
            return Err(EmulatorError::Launcher(program.name()));
        }
        if Elf::open(&program.path).is_none() {
            return Err(EmulatorError::Script(program.path.to_owned()));
        }
        // The program is for the tracer's machine, and that is this one.
        let name = format!("qemu-{}", std::env::consts::ARCH);
        let path = which::which(&name).map_err(|_| EmulatorError::Missing(name))?;
        // A statically linked one cannot load a plug-in.
        if !Elf::open(&path).is_some_and(|elf| elf.machine == library.machine && elf.loader.is_some()) {
            return Err(EmulatorError::Unfit(path));
        }
        let plugin = library.path.with_file_name(PLUGIN);
        if !plugin.is_file() {
            return Err(EmulatorError::NoPlugin(plugin));
        }
        if Elf::open(&plugin).is_none_or(|elf| elf.machine != library.machine) {
            return Err(EmulatorError::UnfitPlugin(plugin));
        }
        without_comma(plugin.as_os_str())?;
        Ok(Self { path, plugin })
    }

    /// The command that executes `program`, called `name`, with `preload` as its `LD_PRELOAD`.
    pub(crate) fn command(&self, program: &Path, name: &OsStr, preload: &OsStr) -> Result<Command, EmulatorError> {
        without_comma(preload)?;
        let mut command = Command::new(&self.path);
        command.arg("-plugin").arg(&self.plugin).arg("-E").arg(joined("LD_PRELOAD=", preload)).env_remove("LD_PRELOAD");
        if std::env::var_os(PROCESSOR).is_none() {
            // Programs that are built for their machine need its vector instructions.
            command.args(["-cpu", "max"]);
        }
        for (variable, value) in OPENMPI.into_iter().filter(|(variable, _)| std::env::var_os(variable).is_none()) {
            command.env(variable, value);
        }
        command.arg("-0").arg(name).arg(program);
        Ok(command)
    }
}

fn without_comma(text: &OsStr) -> Result<(), EmulatorError> {
    if text.as_encoded_bytes().contains(&b',') { Err(EmulatorError::Comma(text.to_owned())) } else { Ok(()) }
}

fn joined(beginning: &str, end: &OsStr) -> OsString {
    let mut text = OsString::from(beginning);
    text.push(end);
    text
}
