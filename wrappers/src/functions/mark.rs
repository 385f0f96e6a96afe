//! Marks of the program, as in `MPI_Pcontrol`.

use std::ffi::{CStr, c_char, c_int};

use crate::argument::Arguments;

/// A mark that the program makes with `MPI_Pcontrol`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark<'c> {
    /// A region of this name begins: `titr_region_begin` in `titr.h`.
    Begin(&'c CStr),
    /// The region of this name ends: `titr_region_end`.
    End(&'c CStr),
    /// Any other level.
    Level(c_int),
}

/// `TITR_REGION` in `titr.h`.
const REGION: c_int = 0x7469_7472;

impl<'c> Mark<'c> {
    /// Reads the level, and the name where the level says that one follows.
    pub(super) fn of(call: &'c Arguments<'c>) -> Self {
        let level = call.word(0) as c_int;
        let name = call.word(1) as *const c_char;
        if name.is_null() || ![REGION, -REGION].contains(&level) {
            return Self::Level(level);
        }
        // SAFETY: `titr.h` and `titr.f90` alone have this level, and pass a text that ends with a null character and outlives
        // the call.
        let name = unsafe { CStr::from_ptr(name) };
        if level == REGION { Self::Begin(name) } else { Self::End(name) }
    }
}
