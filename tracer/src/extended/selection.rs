//! The choice of algorithms: the running library's, those named by `TITRACE_COLLECTIVES`, or the library's own
//! execution.

use titr_common::collectives::{Library, Selection, UnknownAlgorithm};
use titr_wrappers::Abi;
use titr_wrappers::abi::Family;

/// The value of `TITRACE_COLLECTIVES` with which the library executes its collectives and is observed.
const OBSERVE: &str = "observe";

/// The ways in which collectives are executed.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The algorithm for each collective that the tracer executes.
    pub selection: Selection,
    /// Whether the library executes its blocking collectives, and is observed.
    pub observes: bool,
}

/// The settings for a library, with the algorithms in `list` forced.
///
/// # Errors
/// The first item of the list that is not understood.
pub fn settings(abi: &Abi, list: &str) -> Result<Settings, UnknownAlgorithm> {
    let library = match abi.family {
        Family::OpenMpi => Library::OpenMpi,
        // An ABI that both have.
        Family::Standard if abi.library.starts_with("Open MPI") => Library::OpenMpi,
        Family::Mpich | Family::Standard => Library::Mpich,
    };
    let mut selection = Selection::from(library);
    let observes = list.trim() == OBSERVE;
    if !observes {
        selection.force_list(list)?;
    }
    Ok(Settings { selection, observes })
}
