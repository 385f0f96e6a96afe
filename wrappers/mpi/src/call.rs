//! A call of a function of MPI by its name.

/// Calls a function of MPI by its name with these arguments, in C's order and each a
/// [`Word`](titr_wrappers::symbol::Word), and returns `Result<(), MpiError>`.
///
/// # Safety
/// The arguments are those that the function may be called with.
macro_rules! call {
    ($name:ident($($argument:expr),* $(,)?)) => {{
        static FUNCTION: $crate::function::Function = $crate::function::Function::new(concat!(stringify!($name), "\0"));
        match FUNCTION.call([$(titr_wrappers::symbol::Word::word($argument)),*]) {
            Some(0) => Ok(()),
            Some(code) => Err($crate::error::MpiError::new(stringify!($name), code)),
            None => Err($crate::error::MpiError::no_such(stringify!($name))),
        }
    }};
}
pub(crate) use call;
