//! Data in the memory of devices, such as GPUs, that the host cannot read.
//!
//! If a library accepts buffers in such memory, it executes the collective, and all members have to leave it to the
//! library. They agree on this in each blocking collective, by an exchange of the tracer's; non-blocking and persistent
//! collectives, which may not wait for that, are left to the library. None of this happens if no rank uses devices.

use std::sync::Once;

use titr_wrappers::{Abi, pmpi};

use super::plan::Plan;
use super::{Description, Engine, Route, Timing};
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
        let is_readable = match description.timing {
            Timing::Blocking => self.all_agree(plan.is_readable(), description),
            Timing::Nonblocking(_) | Timing::Persistent(_) => false,
        };
        if !is_readable {
            static ONCE: Once = Once::new();
            ONCE.call_once(|| {
                if pmpi::comm_rank(description.comm) == 0 {
                    log(format_args!(
                        "the MPI library carries out collectives of data that the host cannot read, such as a GPU's, and, as \
                         there may be such data, all that do not block: the trace does not have their messages"
                    ));
                }
            });
        }
        is_readable
    }

    /// Whether all members of a collective agree.
    fn all_agree(&self, yes: bool, description: &Description) -> bool {
        let Some((Route::In(exchange), _)) = self.state().begin(description) else { return yes };
        let answer = Plan::agreement(self.abi, self.rank, &description.members, u64::from(yes));
        answer.is_some_and(|plan| self.carry_out(plan, Route::In(exchange), true).number() != 0)
    }
}
