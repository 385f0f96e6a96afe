//! Repeated string operations of x86-64: `rep movs`, `rep stos` and the like, of which `memcpy` and `memset` consist on many
//! processors.
//!
//! The emulator ends a block with the operation. Each further repetition is a jump back to it, and so a block that begins
//! with the operation: such a block counts one instruction less. An operation that is the target of a jump of the program
//! is not counted at all; this is one instruction for a whole string.

/// Whether an instruction with this code is a repeated string operation, which a block that begins with it repeats.
#[cfg(target_arch = "x86_64")]
pub(crate) fn repeats(code: &[u8]) -> bool {
    let is_prefix = |byte: &u8| matches!(byte, 0x26 | 0x2e | 0x36 | 0x3e | 0x40..=0x4f | 0x64..=0x67 | 0xf2 | 0xf3);
    let prefixes = code.iter().take_while(|byte| is_prefix(byte)).count();
    let repeated = code[..prefixes].iter().any(|byte| matches!(byte, 0xf2 | 0xf3));
    // `ins` and `outs`; `movs` and `cmps`; `stos`, `lods` and `scas`.
    repeated && matches!(code.get(prefixes), Some(0x6c..=0x6f | 0xa4..=0xa7 | 0xaa..=0xaf))
}

/// Only x86-64 has such operations.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn repeats(_code: &[u8]) -> bool {
    false
}
