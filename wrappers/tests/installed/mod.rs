//! The MPI libraries of this machine, according to their compiler wrappers, and the standard ABI according to its
//! header.

use std::process::Command;

use titr_wrappers::abi::Family;

/// A library with its compiler wrapper, and the package to install if it is missing.
pub struct Library {
    pub family: Family,
    pub mpicc: &'static str,
    pub package: &'static str,
}

pub const LIBRARIES: [Library; 3] = [
    Library { family: Family::OpenMpi, mpicc: "mpicc.openmpi", package: "libopenmpi-dev" },
    Library { family: Family::Mpich, mpicc: "mpicc.mpich", package: "libmpich-dev" },
    Library { family: Family::Standard, mpicc: "cc", package: "gcc" },
];

impl Library {
    /// The standard output of the compiler wrapper.
    pub fn compile(&self, arguments: &[&str]) -> String {
        let Self { mpicc, package, .. } = self;
        let mut command = Command::new(mpicc);
        if self.family == Family::Standard {
            command.args(["-I", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/abi")]);
        }
        let output = command
            .args(arguments)
            .output()
            .unwrap_or_else(|error| panic!("{mpicc}: {error}; this test needs Debian's package {package}"));
        assert!(output.status.success(), "{mpicc} {arguments:?}:\n{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}
