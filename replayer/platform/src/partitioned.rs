//! Partitioned communication of an MPI library: how the parts of a message travel.

use serde::Deserialize;
use titr_common::collectives::Library;

/// How the parts of a partitioned message travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Partitioned {
    /// Each part is a separate message, which is sent when the part is ready: Open MPI's component part/persist
    /// (`ompi/mca/part/persist/part_persist.h` of Open MPI 5.0, which has a persistent send for each part).
    Each,
    /// All parts are one message, which is sent once they are all ready and the receiver has announced that it has
    /// started: MPICH's device ch4 (`src/mpid/ch4/src/mpidig_part.h`, `mpidig_part_utils.h` of MPICH 4.0).
    Whole,
}

impl From<Library> for Partitioned {
    /// The way of the library whose collectives a platform has.
    fn from(library: Library) -> Self {
        match library {
            Library::OpenMpi | Library::SimGridOpenMpi => Self::Each,
            Library::Mpich | Library::SimGrid => Self::Whole,
        }
    }
}
