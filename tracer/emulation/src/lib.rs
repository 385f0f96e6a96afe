//! `libtitremulation.so`, a plug-in of QEMU's user-mode emulation: counts the instructions that each thread of the program executes.
//!
//! The counts are in a memory file, which the tracer finds among the descriptors of its process and maps
//! ([`titr_config::emulation`]). When a thread begins a block, the plug-in adds the number of its instructions.
//!
//! The emulator can also add in line, which is faster, but to one place for all threads. A block that is translated just
//! before the second thread is announced would add to the count of the first thread for ever, whichever thread executes it.
//!
//! A processor counts a repeated string operation as one instruction; the emulator executes a block for each repetition
//! ([`repeats`]).

#![allow(missing_docs)]

mod qemu;

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::io;
use std::ptr;
use std::slice;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::Relaxed;

use titr_config::emulation::{Counts, FILE, MAGIC, VERSION};

/// The version of the interface that this plug-in uses, which QEMU reads.
#[unsafe(no_mangle)]
pub static qemu_plugin_version: c_int = qemu::VERSION;

/// The counts; null before they are mapped.
static COUNTS: AtomicPtr<Counts> = AtomicPtr::new(ptr::null_mut());

/// Descriptors from here on are the plug-in's: the program's own have the numbers that they would have without it.
const HIGH: c_int = 700;

/// Begins counting. QEMU does not start the program if the result is not 0.
///
/// # Safety
/// QEMU calls it, once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qemu_plugin_install(
    id: qemu::Id,
    _info: *const c_void,
    _count: c_int,
    _arguments: *const *const c_char,
) -> c_int {
    match map() {
        Ok(counts) => COUNTS.store(counts, Relaxed),
        Err(error) => {
            report(&format!("libtitremulation.so: no memory for the counts of instructions: {error}\n"));
            return 1;
        }
    }
    // SAFETY: the callbacks are functions of this library, which is never unloaded.
    unsafe {
        qemu::qemu_plugin_register_vcpu_init_cb(id, begun);
        qemu::qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
        libc::pthread_atfork(None, None, Some(forked));
    }
    0
}

/// Creates the memory file of the counts, and maps it.
fn map() -> io::Result<*mut Counts> {
    let size = size_of::<Counts>();
    let length = libc::off_t::try_from(size).map_err(io::Error::other)?;
    let checked = |result: c_int| if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) };
    // SAFETY: the file is this function's, and the mapping has the size of the file. The memory is zero, which is a valid
    // `Counts`, and no other thread or process has it yet.
    unsafe {
        let low = checked(libc::memfd_create(FILE.as_ptr(), libc::MFD_CLOEXEC))?;
        // A low limit of descriptors leaves the file where it is.
        let file = match libc::fcntl(low, libc::F_DUPFD_CLOEXEC, HIGH) {
            high if high >= 0 => {
                libc::close(low);
                high
            }
            _ => low,
        };
        checked(libc::ftruncate(file, length))?;
        let shared = libc::PROT_READ | libc::PROT_WRITE;
        let page = libc::mmap(ptr::null_mut(), size, shared, libc::MAP_SHARED, file, 0);
        if page == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let counts = page.cast::<Counts>();
        (*counts).magic = MAGIC;
        (*counts).version = VERSION;
        Ok(counts)
    }
}

fn counts() -> Option<&'static Counts> {
    // SAFETY: null, or the mapping, which stays. All that changes in it is atomic.
    unsafe { COUNTS.load(Relaxed).as_ref() }
}

/// A thread of the program begins. QEMU calls it in the thread that creates it, and may give the number of a thread that has
/// ended.
unsafe extern "C" fn begun(_id: qemu::Id, thread: c_uint) {
    if let Some(slot) = counts().and_then(|counts| counts.threads.get(thread as usize)) {
        slot.thread.store(if thread == 0 { own_id() } else { 0 }, Relaxed);
    }
}

/// A block has been translated.
unsafe extern "C" fn translated(_id: qemu::Id, block: *mut qemu::Block) {
    // SAFETY: QEMU's block is valid during this call, and the callback is a function of this library, which is never unloaded.
    unsafe {
        let repetition = repeats(first_instruction(block));
        let instructions = qemu::qemu_plugin_tb_n_insns(block).saturating_sub(usize::from(repetition));
        let data = ptr::without_provenance_mut(instructions);
        qemu::qemu_plugin_register_vcpu_tb_exec_cb(block, executed, qemu::NO_REGISTERS, data);
    }
}

/// The code of the first instruction of a block.
///
/// # Safety
/// The block is QEMU's, and is being translated.
unsafe fn first_instruction<'a>(block: *const qemu::Block) -> &'a [u8] {
    // SAFETY: a block has at least one instruction, and QEMU keeps its code while it translates the block.
    unsafe {
        let instruction = qemu::qemu_plugin_tb_get_insn(block, 0);
        slice::from_raw_parts(qemu::qemu_plugin_insn_data(instruction).cast(), qemu::qemu_plugin_insn_size(instruction))
    }
}

/// A thread begins a block with this number of instructions.
unsafe extern "C" fn executed(thread: c_uint, instructions: *mut c_void) {
    let Some(slot) = counts().and_then(|counts| counts.threads.get(thread as usize)) else { return };
    if slot.thread.load(Relaxed) == 0 {
        slot.thread.store(own_id(), Relaxed);
    }
    // No other thread writes to it.
    slot.instructions.store(slot.instructions.load(Relaxed) + instructions.addr() as u64, Relaxed);
}

/// In a child process after `fork`: what it executes is not added to the counts of its parent.
unsafe extern "C" fn forked() {
    let counts = COUNTS.load(Relaxed);
    if !counts.is_null() {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
        // SAFETY: replaces the child's mapping, at the same place and of the same size, by memory that is zero.
        unsafe { libc::mmap(counts.cast(), size_of::<Counts>(), libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    }
}

/// The kernel's number of the calling thread, which the program sees too.
fn own_id() -> i32 {
    // SAFETY: has no arguments.
    unsafe { libc::gettid() }
}

/// Prints a message on standard error.
fn report(message: &str) {
    // SAFETY: the pointer and the length are of one string.
    unsafe { libc::write(libc::STDERR_FILENO, message.as_ptr().cast(), message.len()) };
}

/// Whether an instruction with this code is a repeated string operation (`rep movs`, `rep stos` and the like), which a
/// block that begins with it repeats.
///
/// The emulator ends a block with the operation. Each further repetition is a jump back to it, and so a block that begins
/// with the operation: such a block counts one instruction less. An operation that is the target of a jump of the program
/// is not counted at all; this is one instruction for a whole string.
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
