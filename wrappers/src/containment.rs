//! Contains the panics of this crate and of the tool, and no other unwinding of the stack.
//!
//! Exceptions of the program's callbacks, such as error handlers, have to pass: C++ exceptions, and the unwinding by
//! which `pthread_exit` and `pthread_cancel` end a thread. `std::panic::catch_unwind` ends the process for either. One
//! frame that no compiler generates therefore has its own personality routine (System V x86-64 ABI, "Stack Unwind
//! Library"), which stops the panics of this copy of Rust's standard library and lets everything else pass. Destructors
//! in the frames of the tool run in either case.

use std::arch::global_asm;
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::panic::catch_unwind;
use std::{mem, ptr, thread};

/// The body has panicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Panicked;

/// A panic that was stopped but still counts as in progress in the standard library: to be [discarded](Self::discard).
#[repr(transparent)]
pub(crate) struct Panic(*mut c_void);

/// A function that is run with the data of the containing caller.
pub(crate) type Body<T> = extern "C-unwind" fn(&T) -> usize;

/// A function that is run after a body has panicked.
pub(crate) type AfterPanic<T> = extern "C-unwind" fn(&T, Panic) -> usize;

/// Runs `body` and returns its result. If it panics, `panicked` is run, and its result returned. Other exceptions pass through.
#[inline(always)]
pub(crate) fn contained<T>(data: &T, body: Body<T>, panicked: AfterPanic<T>) -> usize {
    // SAFETY: the function below, for which a `T` has no type; both functions are given the data that they are for.
    unsafe {
        titr_contain(
            ptr::from_ref(data).cast(),
            mem::transmute::<Body<T>, Body<c_void>>(body),
            mem::transmute::<AfterPanic<T>, AfterPanic<c_void>>(panicked),
        )
    }
}

/// Runs `body`, which is not run to its end if it panics. Other exceptions pass through.
pub(crate) fn contain<F: FnOnce()>(body: F) -> Result<(), Panicked> {
    extern "C-unwind" fn run<F: FnOnce()>(body: &Cell<Option<F>>) -> usize {
        body.take().into_iter().for_each(|body| body());
        true.into()
    }
    extern "C-unwind" fn panicked<F: FnOnce()>(_: &Cell<Option<F>>, panic: Panic) -> usize {
        panic.discard();
        false.into()
    }
    let is_run = contained(&Cell::new(Some(body)), run::<F>, panicked::<F>);
    if is_run == true.into() { Ok(()) } else { Err(Panicked) }
}

impl Panic {
    /// Ends the panic: the standard library is to catch it once more, as it knows how to.
    pub(crate) fn discard(self) {
        // SAFETY: an exception of this copy of the standard library, which is raised again where that catches it.
        let _ = catch_unwind(|| unsafe { _Unwind_RaiseException(self.0) });
    }
}

unsafe extern "C-unwind" {
    /// Calls `body` with `data` and returns its result; if a panic ends it, calls `panicked` and returns its result.
    fn titr_contain(data: *const c_void, body: Body<c_void>, panicked: AfterPanic<c_void>) -> usize;
    fn _Unwind_RaiseException(exception: *mut c_void) -> c_int;
}

unsafe extern "C" {
    fn _Unwind_SetGR(context: *mut c_void, register: c_int, value: usize);
    fn _Unwind_SetIP(context: *mut c_void, address: usize);
    /// The point where `titr_contain` continues after a panic: calls `panicked`.
    fn titr_contain_panicked();
}

/// The personality routine of `titr_contain`.
unsafe extern "C" fn personality(
    _version: c_int,
    actions: c_int,
    _class: u64,
    exception: *mut c_void,
    context: *mut c_void,
) -> c_int {
    // `_Unwind_Action` and `_Unwind_Reason_Code`.
    const SEARCH_PHASE: c_int = 1;
    const HANDLER_FRAME: c_int = 4;
    const HANDLER_FOUND: c_int = 6;
    const INSTALL_CONTEXT: c_int = 7;
    const CONTINUE_UNWIND: c_int = 8;
    /// The register that a function returns a pointer in: `rax` or `x0` (DWARF numbers).
    const RESULT: c_int = 0;
    if actions & SEARCH_PHASE != 0 {
        // True for panics of this copy alone. A program in Rust has another one.
        return if thread::panicking() { HANDLER_FOUND } else { CONTINUE_UNWIND };
    }
    if actions & HANDLER_FRAME == 0 {
        return CONTINUE_UNWIND;
    }
    // SAFETY: the unwinder's own context, of a frame that has found the exception.
    unsafe {
        _Unwind_SetGR(context, RESULT, exception as usize);
        _Unwind_SetIP(context, titr_contain_panicked as *const () as usize);
    }
    INSTALL_CONTEXT
}

// The encoding 0x1b of the routine's address is `DW_EH_PE_pcrel | DW_EH_PE_sdata4`.
#[cfg(target_arch = "x86_64")]
global_asm!(
    ".pushsection .text.titr_contain, \"ax\", @progbits",
    ".globl titr_contain, titr_contain_panicked",
    ".hidden titr_contain, titr_contain_panicked",
    ".type titr_contain, @function",
    "titr_contain:",
    ".cfi_startproc",
    ".cfi_personality 0x1b, {personality}",
    "push rdi",
    ".cfi_adjust_cfa_offset 8",
    "push rdx",
    ".cfi_adjust_cfa_offset 8",
    "sub rsp, 8",
    ".cfi_adjust_cfa_offset 8",
    "call rsi",
    "add rsp, 24",
    ".cfi_adjust_cfa_offset -24",
    "ret",
    ".cfi_adjust_cfa_offset 24",
    "titr_contain_panicked:",
    "mov rsi, rax",
    "add rsp, 8",
    ".cfi_adjust_cfa_offset -8",
    "pop rdx",
    ".cfi_adjust_cfa_offset -8",
    "pop rdi",
    ".cfi_adjust_cfa_offset -8",
    "jmp rdx",
    ".cfi_endproc",
    ".size titr_contain, . - titr_contain",
    ".popsection",
    personality = sym personality,
);

#[cfg(target_arch = "aarch64")]
global_asm!(
    ".pushsection .text.titr_contain, \"ax\", @progbits",
    ".globl titr_contain, titr_contain_panicked",
    ".hidden titr_contain, titr_contain_panicked",
    ".type titr_contain, @function",
    "titr_contain:",
    ".cfi_startproc",
    ".cfi_personality 0x1b, {personality}",
    "stp x29, x30, [sp, #-32]!",
    ".cfi_def_cfa_offset 32",
    ".cfi_offset 29, -32",
    ".cfi_offset 30, -24",
    "stp x0, x2, [sp, #16]",
    "blr x1",
    "ldp x29, x30, [sp], #32",
    ".cfi_def_cfa_offset 0",
    ".cfi_restore 29",
    ".cfi_restore 30",
    "ret",
    ".cfi_def_cfa_offset 32",
    ".cfi_offset 29, -32",
    ".cfi_offset 30, -24",
    "titr_contain_panicked:",
    "mov x1, x0",
    "ldp x0, x2, [sp, #16]",
    "ldp x29, x30, [sp], #32",
    ".cfi_def_cfa_offset 0",
    ".cfi_restore 29",
    ".cfi_restore 30",
    "br x2",
    ".cfi_endproc",
    ".size titr_contain, . - titr_contain",
    ".popsection",
    personality = sym personality,
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_the_body_alone_and_the_next_one_is_contained_too() {
        struct Dropped<'a>(&'a Cell<u32>);
        impl Drop for Dropped<'_> {
            fn drop(&mut self) {
                self.0.set(self.0.get() + 1);
            }
        }
        let dropped = Cell::new(0);
        for round in 1..=2 {
            let body = || {
                let _guard = Dropped(&dropped);
                assert_eq!(round, 0, "as a tool might");
            };
            assert_eq!(contain(body), Err(Panicked));
            assert!(!thread::panicking());
            assert_eq!(dropped.get(), round);
        }
        assert_eq!(contain(|| drop(Dropped(&dropped))), Ok(()));
        assert_eq!(dropped.get(), 3);
    }

    #[test]
    fn only_a_panic_of_this_library_is_stopped() {
        // SAFETY: the search phase looks at no frame.
        let search = || unsafe { personality(1, 1, 0, std::ptr::null_mut(), std::ptr::null_mut()) };
        struct WhilePanicking<'a, F: Fn() -> c_int>(&'a Cell<c_int>, F);
        impl<F: Fn() -> c_int> Drop for WhilePanicking<'_, F> {
            fn drop(&mut self) {
                self.0.set((self.1)());
            }
        }
        let answer = Cell::new(0);
        let panicked = contain(|| {
            let _guard = WhilePanicking(&answer, search);
            panic!("as a tool might");
        });
        assert_eq!((panicked, answer.get()), (Err(Panicked), 6));
        assert_eq!(search(), 8);
    }
}
