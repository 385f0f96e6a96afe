//! One MPI function: its name, its number of arguments, its effect, and its real implementation.

use std::ffi::c_void;

use crate::symbol::Symbol;

/// The processes that a function concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Only the caller: it neither moves data to or from other processes or files nor waits for them.
    Local,
    /// Others too.
    Communicates,
}

/// An MPI function.
#[derive(Debug)]
pub struct Function {
    /// The name, `MPI_Send`.
    pub name: &'static str,
    /// The number of arguments.
    pub arity: usize,
    /// The processes that the function concerns.
    pub effect: Effect,
    large: bool,
    types: Types,
    real: Symbol,
}

/// Appends the C types of a function's arguments that are read.
type Types = fn(&mut Vec<&'static str>);

impl Function {
    /// A function of the library. `profiling_name` ends with a NUL.
    pub(crate) const fn new(
        name: &'static str,
        profiling_name: &'static str,
        arity: usize,
        effect: Effect,
        types: Types,
    ) -> Self {
        let large = matches!(name.as_bytes(), [.., b'_', b'c']);
        Self { name, arity, effect, large, types, real: Symbol::new(profiling_name) }
    }

    /// The C types of the arguments that titr reads, an empty string for an argument that is passed on unread. `COUNT`
    /// stands for `int` or, in a function whose name ends in `_c`, `MPI_Count`.
    pub fn types(&self) -> Vec<&'static str> {
        let mut all = Vec::new();
        (self.types)(&mut all);
        all
    }

    /// Whether the function's counts are `MPI_Count`s, as the suffix `_c` of its name indicates.
    pub(crate) fn is_large(&self) -> bool {
        self.large
    }

    /// The library's function, which a program has called. That the library has none means that the program was linked
    /// with another one; without us the dynamic linker would have ended it with this message and status. Or it has asked
    /// whether we have it before that could be [hidden](crate::weak_symbols).
    #[inline]
    pub(crate) fn real(&self) -> *mut c_void {
        self.real.find().unwrap_or_else(|| self.missing())
    }

    #[cold]
    fn missing(&self) -> ! {
        eprintln!("symbol lookup error: undefined symbol: {} (in no MPI library that is loaded)", self.name);
        // SAFETY: `_exit` never returns, and runs nothing that could find the process half-way.
        unsafe { libc::_exit(127) }
    }
}
