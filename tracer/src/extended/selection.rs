//! Which algorithms: the running library's, or those that `TITRACE_COLLECTIVES` names.

use titr_common::collectives::{Library, Selection, UnknownAlgorithm};
use titr_wrappers::abi::Family;

/// The choice of a library, with the algorithms in `list` forced.
///
/// # Errors
/// What in the list is not understood.
pub fn selection(family: Family, list: &str) -> Result<Selection, UnknownAlgorithm> {
    let library = match family {
        Family::OpenMpi => Library::OpenMpi,
        Family::Mpich => Library::Mpich,
    };
    let mut selection = Selection::from(library);
    selection.force_list(list)?;
    Ok(selection)
}
