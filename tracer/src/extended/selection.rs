//! Which algorithms: the running library's, or those that `TITRACE_COLLECTIVES` names.

use titr_common::collectives::{Library, Selection, UnknownAlgorithm};
use titr_wrappers::Abi;
use titr_wrappers::abi::Family;

/// The choice of the running library, with the algorithms in `list` forced.
///
/// # Errors
/// What in the list is not understood.
pub fn selection(abi: &Abi, list: &str) -> Result<Selection, UnknownAlgorithm> {
    let library = match abi.family {
        Family::OpenMpi => Library::OpenMpi,
        // An ABI that both have.
        Family::Standard if abi.library.starts_with("Open MPI") => Library::OpenMpi,
        Family::Mpich | Family::Standard => Library::Mpich,
    };
    let mut selection = Selection::from(library);
    selection.force_list(list)?;
    Ok(selection)
}
