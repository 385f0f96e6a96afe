//! Contains the panics of this crate and of the tool, and nothing else that unwinds the stack.
//!
//! What a program throws in a callback, such as a handler of errors, has to pass: an exception of C++, and the unwinding by
//! which `pthread_exit` and `pthread_cancel` end a thread. `std::panic::catch_unwind` ends the process for either. So one
//! frame that no compiler writes has a personality routine of its own (System V x86-64 ABI, "Stack Unwind Library"), which
//! stops the panics of this copy of Rust's standard library and lets all else by. Destructors in the frames of the tool run
//! in either case.

use std::arch::global_asm;
use std::ffi::{c_int, c_void};
use std::mem::ManuallyDrop;
use std::panic::catch_unwind;
use std::thread;

/// The body has panicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Panicked;

/// Runs `body`, which is not run to its end if it panics. Other exceptions pass through.
#[inline]
pub(crate) fn contain<F: FnOnce()>(body: F) -> Result<(), Panicked> {
    unsafe extern "C-unwind" fn run<F: FnOnce()>(body: *mut c_void) {
        // SAFETY: `contain` gives a body that is alive and taken out once.
        let body = unsafe { ManuallyDrop::take(&mut *body.cast::<ManuallyDrop<F>>()) };
        body();
    }
    let mut body = ManuallyDrop::new(body);
    // SAFETY: the function below, which calls `run` with the body.
    let exception = unsafe { titr_contain(run::<F>, (&raw mut body).cast()) };
    if exception.is_null() { Ok(()) } else { discard(exception) }
}

/// Ends a panic that was stopped: the standard library is to catch it once more, as it knows how to.
#[cold]
fn discard(exception: *mut c_void) -> Result<(), Panicked> {
    // SAFETY: an exception of this copy of the standard library, which is raised again where that catches it.
    let _ = catch_unwind(|| unsafe { _Unwind_RaiseException(exception) });
    Err(Panicked)
}

unsafe extern "C-unwind" {
    /// Calls `body` with `data`. Returns null, or a panic that ended it.
    fn titr_contain(body: unsafe extern "C-unwind" fn(*mut c_void), data: *mut c_void) -> *mut c_void;
    fn _Unwind_RaiseException(exception: *mut c_void) -> c_int;
}

unsafe extern "C" {
    fn _Unwind_SetGR(context: *mut c_void, register: c_int, value: usize);
    fn _Unwind_SetIP(context: *mut c_void, address: usize);
    /// Where `titr_contain` goes on after a panic.
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
    "sub rsp, 8",
    ".cfi_adjust_cfa_offset 8",
    "mov rax, rdi",
    "mov rdi, rsi",
    "call rax",
    "xor eax, eax",
    "titr_contain_panicked:",
    "add rsp, 8",
    ".cfi_adjust_cfa_offset -8",
    "ret",
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
    "stp x29, x30, [sp, #-16]!",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset 29, -16",
    ".cfi_offset 30, -8",
    "mov x2, x0",
    "mov x0, x1",
    "blr x2",
    "mov x0, xzr",
    "titr_contain_panicked:",
    "ldp x29, x30, [sp], #16",
    ".cfi_def_cfa_offset 0",
    ".cfi_restore 29",
    ".cfi_restore 30",
    "ret",
    ".cfi_endproc",
    ".size titr_contain, . - titr_contain",
    ".popsection",
    personality = sym personality,
);

#[cfg(test)]
mod tests {
    use std::cell::Cell;

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
