//! Data in the memory of devices, such as GPUs, that the host cannot read.
//!
//! If a library accepts buffers in such memory, it executes the collective, and all members have to leave it to the
//! library. They agree on this in each blocking collective, by a reduction. None of this happens if no rank uses devices.

use std::sync::Once;

use titr_wrappers::{Abi, pmpi};

use super::plan::Plan;
use super::{Description, Engine};
use crate::stderr::log;

/// Whether buffers may be in the memory of devices, on any rank. Collective.
pub(super) fn may_be_used(abi: &Abi) -> bool {
    let here = i64::from(pmpi::device::may_be_used());
    pmpi::allreduce(abi, here, abi.max, abi.comm_world).is_some_and(|anywhere| anywhere != 0)
}

impl Engine {
    /// Whether the host can read the data of all members of a collective, so that the tracer can execute it.
    /// Collective.
    pub(super) fn has_in_memory(&self, plan: &Plan, description: &Description) -> bool {
        if !self.has_devices {
            return true;
        }
        let mine = u64::from(plan.is_readable());
        let is_readable = self.among_all(mine, self.abi.band, |one, other| one & other, description.comm) == Some(1);
        if !is_readable {
            static ONCE: Once = Once::new();
            ONCE.call_once(|| {
                if pmpi::comm_rank(description.comm) == 0 {
                    log(format_args!(
                        "the MPI library carries out collectives of data that the host cannot read, such as a GPU's: the trace \
                         does not have their messages"
                    ));
                }
            });
        }
        is_readable
    }
}
