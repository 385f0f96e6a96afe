//! Tool support (chapter 15).

use std::ffi::{c_int, c_void};

use super::mark::Mark;
use crate::call::{Call, enter_with};
use crate::caller::exported;
use crate::{Effect, Function};

super::chapter! {
    local:
        MPI_T_category_changed(1), MPI_T_category_get_categories(3), MPI_T_category_get_cvars(3),
        MPI_T_category_get_events(3), MPI_T_category_get_index(2), MPI_T_category_get_info(8),
        MPI_T_category_get_num(1), MPI_T_category_get_num_events(2), MPI_T_category_get_pvars(3),
        MPI_T_cvar_get_index(2), MPI_T_cvar_get_info(10), MPI_T_cvar_get_num(1), MPI_T_cvar_handle_alloc(4),
        MPI_T_cvar_handle_free(1), MPI_T_cvar_read(2), MPI_T_cvar_write(2), MPI_T_enum_get_info(4),
        MPI_T_enum_get_item(5), MPI_T_event_callback_get_info(3), MPI_T_event_callback_set_info(3),
        MPI_T_event_copy(2), MPI_T_event_get_index(2), MPI_T_event_get_info(12), MPI_T_event_get_num(1),
        MPI_T_event_get_source(2), MPI_T_event_get_timestamp(2), MPI_T_event_handle_alloc(4),
        MPI_T_event_handle_free(3), MPI_T_event_handle_get_info(2), MPI_T_event_handle_set_info(2),
        MPI_T_event_read(3), MPI_T_event_register_callback(5), MPI_T_event_set_dropped_handler(2),
        MPI_T_finalize(0), MPI_T_init_thread(2), MPI_T_pvar_get_index(3), MPI_T_pvar_get_info(13),
        MPI_T_pvar_get_num(1), MPI_T_pvar_handle_alloc(5), MPI_T_pvar_handle_free(2), MPI_T_pvar_read(3),
        MPI_T_pvar_readreset(3), MPI_T_pvar_reset(2), MPI_T_pvar_session_create(1), MPI_T_pvar_session_free(1),
        MPI_T_pvar_start(2), MPI_T_pvar_stop(2), MPI_T_pvar_write(3), MPI_T_source_get_info(9),
        MPI_T_source_get_num(1), MPI_T_source_get_timestamp(2);
    written_out:
        MPI_Pcontrol;
}

/// `MPI_Pcontrol`.
#[allow(non_upper_case_globals, reason = "spelled as MPI spells it")]
pub(crate) static MPI_Pcontrol: Function = Function::new("MPI_Pcontrol", "PMPI_Pcontrol\0", 1, Effect::Local, |_| {});

/// A variadic function cannot be written in Rust, but on ABIs that pass variable arguments like others, it can be
/// received: as many words as there are registers are passed on. No library reads them (MPI 4.0 §15.2.4 gives them no
/// meaning), so a `level` and a few integers suffice.
const WORDS: usize = 6;

extern "C-unwind" fn entered(level: usize, a: usize, b: usize, c: usize, d: usize, e: usize) -> usize {
    pcontrol([level, a, b, c, d, e])
}

exported!("MPI_Pcontrol", entered);
exported!("PMPI_Pcontrol", entered);

fn pcontrol(words: [usize; WORDS]) -> usize {
    unsafe fn run(real: *const c_void, words: *const usize) -> usize {
        // SAFETY: `real` is MPI_Pcontrol, int(const int, ...), and there are `WORDS` words.
        unsafe {
            let real: unsafe extern "C-unwind" fn(c_int, ...) -> c_int = std::mem::transmute(real);
            let [level, a, b, c, d, e] = words.cast::<[usize; WORDS]>().read();
            real(level as c_int, a, b, c, d, e) as usize
        }
    }
    enter_with(&MPI_Pcontrol, |call| Call::Mark(Mark::of(call)), words, run)
}
