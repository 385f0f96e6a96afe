//! The registers that a walk along the stack needs.

use crate::caller::Caller;

/// The registers of a function that has called another, once that has returned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Registers {
    /// The instruction and the stack pointer.
    pub(super) caller: Caller,
    /// The base pointer; `None` while it is the one of the walk's first function, which has not been looked for.
    pub(super) base: Option<usize>,
}

impl Registers {
    /// Reads the registers of the function that calls this one; `None` on AArch64.
    #[inline(always)]
    pub(super) fn now() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        {
            let mut words = [0; 3];
            note_registers(&mut words);
            let [address, frame, base] = words;
            Some(Self { caller: Caller { address, frame }, base: Some(base) })
        }
        #[cfg(not(target_arch = "x86_64"))]
        None
    }
}

/// Notes the address that this call returns to, the caller's stack pointer after it and the caller's base pointer.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
extern "C" fn note_registers(words: &mut [usize; 3]) {
    std::arch::naked_asm!(
        "mov rax, qword ptr [rsp]",
        "mov qword ptr [rdi], rax",
        "lea rax, [rsp + 8]",
        "mov qword ptr [rdi + 8], rax",
        "mov qword ptr [rdi + 16], rbp",
        "ret",
    );
}
