//! Which algorithms: the running library's, or those that `TITRACE_COLLECTIVES` names; or whatever the library does.

use titr_common::collectives::{Library, Selection, UnknownAlgorithm};
use titr_wrappers::Abi;
use titr_wrappers::abi::Family;

/// What `TITRACE_COLLECTIVES` says for: the library is to carry out its collectives, and is watched.
const OBSERVE: &str = "observe";

/// Whether blocking collectives are to be observed, and the choice of the running library for others, with the
/// algorithms in `list` forced.
///
/// # Errors
/// What in the list is not understood.
pub fn selection(abi: &Abi, list: &str) -> Result<(Selection, bool), UnknownAlgorithm> {
    let library = match abi.family {
        Family::OpenMpi => Library::OpenMpi,
        // An ABI that both have.
        Family::Standard if abi.library.starts_with("Open MPI") => Library::OpenMpi,
        Family::Mpich | Family::Standard => Library::Mpich,
    };
    let mut selection = Selection::from(library);
    let observe = list.trim() == OBSERVE;
    if !observe {
        selection.force_list(list)?;
    }
    Ok((selection, observe))
}
