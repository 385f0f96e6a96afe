//! One MPI function: its name, how many arguments it takes, whom it concerns, and where the real one is.

use std::cell::Cell;
use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::abi::Abi;
use crate::argument::Arguments;
use crate::call::{Call, Decode};
use crate::library;

/// Whom a function concerns.
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
    name: &'static str,
    profiling_name: &'static CStr,
    arity: usize,
    effect: Effect,
    large: bool,
    types: Types,
    decode: Decode,
    real: AtomicPtr<c_void>,
}

/// How many arguments a function has at most.
const LONGEST: usize = 13;

/// Appends the C types of a function's arguments, as far as they are read.
type Types = fn(&mut Vec<&'static str>);

impl Function {
    /// `profiling_name` ends with a NUL.
    #[allow(clippy::panic, reason = "the compiler panics")]
    pub(crate) const fn new(
        name: &'static str,
        profiling_name: &'static str,
        arity: usize,
        effect: Effect,
        types: Types,
        decode: Decode,
    ) -> Self {
        let Ok(profiling_name) = CStr::from_bytes_with_nul(profiling_name.as_bytes()) else {
            panic!("a C string has one NUL, its last byte")
        };
        let large = matches!(name.as_bytes(), [.., b'_', b'c']);
        Self { name, profiling_name, arity, effect, large, types, decode, real: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The name, `MPI_Send`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// How many arguments it takes.
    #[must_use]
    pub fn arity(&self) -> usize {
        self.arity
    }

    /// Whom it concerns.
    #[must_use]
    pub fn effect(&self) -> Effect {
        self.effect
    }

    /// The C types of its arguments as titr reads them, none where it does not. `COUNT` stands for `int` or, in a function
    /// whose name ends in `_c`, `MPI_Count`.
    #[must_use]
    pub fn types(&self) -> Vec<&'static str> {
        let mut all = Vec::new();
        (self.types)(&mut all);
        all
    }

    /// Shows `look` a call of this function whose arguments are all zero: what kind of call it is can be seen, with no
    /// library about.
    pub fn example<R>(&self, look: impl FnOnce(&Call<'_>) -> R) -> R {
        let words = [const { Cell::new(0) }; LONGEST];
        let arguments = Arguments::new(&words, self.large, Abi::standard());
        look(&(self.decode)(&arguments))
    }

    /// Whether its counts are `MPI_Count`s, as its name says by ending in `_c`.
    pub(crate) fn is_large(&self) -> bool {
        self.large
    }

    /// The library's function, if it has this one.
    pub(crate) fn find(&self) -> Option<*mut c_void> {
        // Relaxed: the code behind the address was there before anybody could look it up.
        let known = self.real.load(Ordering::Relaxed);
        if !known.is_null() {
            return Some(known);
        }
        // Some extensions have no second name, such as Open MPI's MPIX_Query_cuda_support.
        let second = || CStr::from_bytes_with_nul(self.profiling_name.to_bytes_with_nul().get(1..)?).ok();
        let found = library::function(self.profiling_name).or_else(|| library::function(second()?))?;
        self.real.store(found, Ordering::Relaxed);
        Some(found)
    }

    /// The library's function, which a program has called. That the library has none means that the program was linked
    /// with another one; without us the dynamic linker would have ended it with this message and status. Or it has asked
    /// whether we have it before that could be [hidden](crate::absent).
    #[inline]
    pub(crate) fn real(&self) -> *mut c_void {
        let known = self.real.load(Ordering::Relaxed);
        if known.is_null() { self.find().unwrap_or_else(|| self.missing()) } else { known }
    }

    #[cold]
    fn missing(&self) -> ! {
        eprintln!("symbol lookup error: undefined symbol: {} (in no MPI library that is loaded)", self.name);
        // SAFETY: `_exit` never returns, and runs nothing that could find the process half-way.
        unsafe { libc::_exit(127) }
    }
}

/// Calls a function with as many words as it takes.
pub(crate) trait Forward {
    /// # Safety
    /// `real` is a function of this many word-sized arguments that returns a word or an `int`, and `words` points to as
    /// many arguments that it may be called with.
    unsafe fn forward(real: *const c_void, words: *const usize) -> usize;
}

macro_rules! word {
    ($index:literal) => {
        usize
    };
}

macro_rules! forward {
    ($($arity:literal: $($index:literal)*;)*) => {$(
        impl Forward for [usize; $arity] {
            unsafe fn forward(real: *const c_void, words: *const usize) -> usize {
                // SAFETY: the caller's promise.
                unsafe {
                    let real: unsafe extern "C" fn($(word!($index)),*) -> usize = std::mem::transmute(real);
                    let _words = words.cast::<[usize; $arity]>().read();
                    real($(_words[$index]),*)
                }
            }
        }
    )*};
}

forward! {
    0: ;
    1: 0;
    2: 0 1;
    3: 0 1 2;
    4: 0 1 2 3;
    5: 0 1 2 3 4;
    6: 0 1 2 3 4 5;
    7: 0 1 2 3 4 5 6;
    8: 0 1 2 3 4 5 6 7;
    9: 0 1 2 3 4 5 6 7 8;
    10: 0 1 2 3 4 5 6 7 8 9;
    11: 0 1 2 3 4 5 6 7 8 9 10;
    12: 0 1 2 3 4 5 6 7 8 9 10 11;
    13: 0 1 2 3 4 5 6 7 8 9 10 11 12;
}
