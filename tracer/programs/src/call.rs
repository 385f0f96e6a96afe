//! A call of an MPI function.

use std::ffi::c_int;

use crate::error::MpiError;
use crate::function::Function;

/// Calls a function of MPI by its name with these arguments, in C's order and each a
/// [`Word`](titr_wrappers::symbol::Word), and returns `Result<(), MpiError>`. `unseen` before the name calls the
/// library's function even if a tool is preloaded.
///
/// # Safety
/// The arguments are those that the function may be called with.
macro_rules! call {
    (unseen $name:ident($($argument:expr),* $(,)?)) => {
        $crate::call::call!(Unseen, $name, $($argument),*)
    };
    ($name:ident($($argument:expr),* $(,)?)) => {
        $crate::call::call!(Seen, $name, $($argument),*)
    };
    ($scope:ident, $name:ident, $($argument:expr),*) => {{
        static FUNCTION: $crate::function::Function =
            $crate::function::Function::new(concat!(stringify!($name), "\0"), $crate::function::Scope::$scope);
        $crate::call::ended(&FUNCTION, FUNCTION.call([$(titr_wrappers::symbol::Word::word($argument)),*]))
    }};
}
pub(crate) use call;

/// The result of a function that has returned this code, or that does not exist.
pub(crate) fn ended(function: &'static Function, code: Option<c_int>) -> Result<(), MpiError> {
    match code {
        Some(0) => Ok(()),
        Some(code) => Err(MpiError::new(function.name(), code)),
        None => Err(MpiError::no_such(function.name())),
    }
}
