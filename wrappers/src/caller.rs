//! The place in the program that made an MPI call.
//!
//! Each exported function begins with a few instructions that no compiler generates: they store the return address of
//! the call, and the beginning of the caller's frame, in two words of thread-local memory. Inside a Rust function
//! neither is available. [`Caller::stack`] continues from there to the calls around it, like an unwinder.

use std::arch::{asm, global_asm};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ops::ControlFlow;

use crate::function::Function;

/// Defines an exported function of this name that records its caller and continues in `$inner`, with the same
/// arguments.
macro_rules! exported {
    ($name:expr, $inner:path) => {
        const _: () = {
            #[unsafe(export_name = $name)]
            #[unsafe(naked)]
            extern "C-unwind" fn exported() {
                #[cfg(target_arch = "x86_64")]
                std::arch::naked_asm!(
                    "mov r11, qword ptr [rip + titr_caller@GOTTPOFF]",
                    "mov r10, qword ptr [rsp]",
                    "mov qword ptr fs:[r11], r10",
                    "lea r10, [rsp + 8]",
                    "mov qword ptr fs:[r11 + 8], r10",
                    "jmp {inner}",
                    inner = sym $inner,
                );
                #[cfg(target_arch = "aarch64")]
                std::arch::naked_asm!(
                    "adrp x16, :gottprel:titr_caller",
                    "ldr x16, [x16, #:gottprel_lo12:titr_caller]",
                    "mrs x17, tpidr_el0",
                    "add x16, x16, x17",
                    "mov x17, sp",
                    "stp x30, x17, [x16]",
                    "b {inner}",
                    inner = sym $inner,
                );
            }
        };
    };
}

pub(crate) use exported;

// The words of each thread, at a fixed distance from its thread pointer (the initial-exec model of ELF's thread-local
// storage): to find them takes one load, and changes none of the registers that arguments are in.
global_asm!(
    ".pushsection .tbss.titr_caller, \"awT\", @nobits",
    ".globl titr_caller",
    ".hidden titr_caller",
    ".type titr_caller, @object",
    ".size titr_caller, 48",
    ".balign 16",
    "titr_caller:",
    ".zero 48",
    ".popsection",
);

/// The words of a thread. All zero when it starts.
#[repr(C)]
pub(crate) struct ThreadWords {
    /// The caller of the exported function that the thread entered last.
    pub(crate) last: Cell<Caller>,
    /// The function of the program's outermost call that is in progress.
    pub(crate) outermost: Cell<Option<&'static Function>>,
    pub(crate) outermost_caller: Cell<Caller>,
    tool: Cell<*mut c_void>,
}

const _: () = assert!(size_of::<ThreadWords>() == 48, "as large as `titr_caller`");

impl ThreadWords {
    /// The words of the calling thread; they live as long as it does, and do not leave it.
    #[inline]
    pub(crate) fn own() -> &'static Self {
        let words: *const Self;
        // SAFETY: computes an address.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            asm!(
                "mov {words}, qword ptr fs:[0]",
                "add {words}, qword ptr [rip + titr_caller@GOTTPOFF]",
                words = out(reg) words,
                options(nostack, pure, readonly),
            );
        }
        // SAFETY: as above.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            asm!(
                "adrp {words}, :gottprel:titr_caller",
                "ldr {words}, [{words}, #:gottprel_lo12:titr_caller]",
                "mrs {thread}, tpidr_el0",
                "add {words}, {words}, {thread}",
                words = out(reg) words,
                thread = out(reg) _,
                options(nostack, pure, readonly, preserves_flags),
            );
        }
        // SAFETY: `titr_caller` of this thread, which has this size and alignment, and for which all zero is valid.
        unsafe { &*words }
    }
}

/// A word of the calling thread for the tool; null when the thread starts. Finding it takes no call, and it may be used
/// in signal handlers and until the thread has ended.
#[inline]
pub fn tool_word() -> &'static Cell<*mut c_void> {
    &ThreadWords::own().tool
}

/// The caller of a function of MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Caller {
    /// The address that the call returns to.
    pub address: usize,
    /// The stack pointer of the caller, once the call has returned.
    pub frame: usize,
}

/// A frame of the stack, as the unwinder sees it.
#[repr(C)]
struct Context {
    _private: [u8; 0],
}

/// Answers of an unwinder's callback (`_Unwind_Reason_Code`).
const NO_REASON: c_int = 0;
const END_OF_STACK: c_int = 5;

unsafe extern "C" {
    fn _Unwind_Backtrace(
        visit: unsafe extern "C" fn(*mut Context, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(context: *mut Context) -> usize;
    fn _Unwind_GetCFA(context: *mut Context) -> usize;
}

impl Caller {
    /// The caller of the exported function that this thread entered last.
    #[inline]
    pub(crate) fn last() -> Self {
        ThreadWords::own().last.get()
    }

    /// Shows the caller to `visit`, then the calls around it, from within to without, until it has seen enough. The caller's
    /// function has not returned.
    pub(crate) fn stack(self, mut visit: impl FnMut(Self) -> ControlFlow<()>) {
        struct Walk<'v> {
            from: usize,
            visit: &'v mut dyn FnMut(Caller) -> ControlFlow<()>,
        }
        unsafe extern "C" fn note(context: *mut Context, walk: *mut c_void) -> c_int {
            // SAFETY: called by the unwinder below, with its own frame and the value given there.
            let (address, frame, walk) =
                unsafe { (_Unwind_GetIP(context), _Unwind_GetCFA(context), &mut *walk.cast::<Walk<'_>>()) };
            // The tool's own frames are within.
            if frame < walk.from {
                return NO_REASON;
            }
            match (walk.visit)(Caller { address, frame }) {
                ControlFlow::Continue(()) if address != 0 => NO_REASON,
                ControlFlow::Continue(()) | ControlFlow::Break(()) => END_OF_STACK,
            }
        }
        let mut walk = Walk { from: self.frame, visit: &mut visit };
        // SAFETY: the callback has the required type, does not panic as long as `visit` does not, and its data outlives
        // the walk.
        unsafe { _Unwind_Backtrace(note, (&raw mut walk).cast()) };
    }

    /// The address that the function returns to whose frame ends at `frame`, where this architecture keeps that in a fixed
    /// place; `None` if it does not.
    ///
    /// # Safety
    /// The word before `frame` can be read.
    #[inline]
    pub unsafe fn return_address_before(frame: usize) -> Option<usize> {
        if cfg!(target_arch = "x86_64") {
            // SAFETY: guaranteed by the caller.
            Some(unsafe { (frame as *const usize).sub(1).read() })
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    extern "C" fn inner(first: usize, second: usize) -> usize {
        let caller = Caller::last();
        let mut stack = Vec::new();
        caller.stack(|caller| {
            stack.push(caller);
            if stack.len() < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        assert_eq!(stack[0], caller);
        assert!(stack[1].frame > stack[0].frame);
        // SAFETY: the frame is one of this stack.
        if let Some(address) = unsafe { Caller::return_address_before(stack[1].frame) } {
            assert_eq!(address, stack[1].address);
        }
        first * 1000 + second + (caller.address - here() < 4096) as usize
    }

    exported!("titr_test_exported", inner);

    unsafe extern "C" {
        fn titr_test_exported(first: usize, second: usize) -> usize;
    }

    #[inline(never)]
    fn here() -> usize {
        call as *const () as usize
    }

    #[inline(never)]
    fn call() -> usize {
        // SAFETY: defined above, with these arguments.
        std::hint::black_box(unsafe { titr_test_exported(7, 41) }) + 1
    }

    #[test]
    fn the_caller_is_known_and_arguments_are_passed_on() {
        assert_eq!(call(), 7043);
    }
}
