//! QEMU's interface for plug-ins (`qemu-plugin.h` of QEMU 7.2): the functions that this plug-in calls.

use std::ffi::{c_int, c_uint, c_void};

/// The version of the interface (`QEMU_PLUGIN_VERSION`).
pub(crate) const VERSION: c_int = 1;

/// The plug-in, as QEMU names it (`qemu_plugin_id_t`).
pub(crate) type Id = u64;

/// A translated block, valid while it is translated (`struct qemu_plugin_tb`).
#[repr(C)]
pub(crate) struct Block {
    _opaque: [u8; 0],
}

/// A translated instruction, valid while its block is translated (`struct qemu_plugin_insn`).
#[repr(C)]
pub(crate) struct Instruction {
    _opaque: [u8; 0],
}

/// The callback reads no registers (`QEMU_PLUGIN_CB_NO_REGS`).
pub(crate) const NO_REGISTERS: c_int = 0;

unsafe extern "C" {
    pub(crate) fn qemu_plugin_register_vcpu_init_cb(id: Id, callback: unsafe extern "C" fn(Id, c_uint));
    pub(crate) fn qemu_plugin_register_vcpu_tb_trans_cb(id: Id, callback: unsafe extern "C" fn(Id, *mut Block));
    pub(crate) fn qemu_plugin_tb_n_insns(block: *const Block) -> usize;
    pub(crate) fn qemu_plugin_tb_get_insn(block: *const Block, index: usize) -> *const Instruction;
    pub(crate) fn qemu_plugin_insn_data(instruction: *const Instruction) -> *const c_void;
    pub(crate) fn qemu_plugin_insn_size(instruction: *const Instruction) -> usize;
    pub(crate) fn qemu_plugin_register_vcpu_tb_exec_cb(
        block: *mut Block,
        callback: unsafe extern "C" fn(c_uint, *mut c_void),
        flags: c_int,
        data: *mut c_void,
    );
}
