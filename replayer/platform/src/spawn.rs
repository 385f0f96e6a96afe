//! The time to start processes while a program runs.

use serde::Deserialize;
use titr_common::units::{Quantity, Seconds};

/// The time that `MPI_Comm_spawn` and `MPI_Comm_spawn_multiple` take before the new processes are in `MPI_Init`; zero
/// by default. It depends on the launcher (`prted` of PRRTE, `hydra`, `srun`), on the operating system and on the
/// storage of the programs, and not on MPI.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spawn {
    /// Cost of each call.
    pub call: Quantity<Seconds>,
    /// Cost of each process that the call starts.
    pub process: Quantity<Seconds>,
}

impl Default for Spawn {
    fn default() -> Self {
        let nothing = Quantity(Seconds(0.0));
        Self { call: nothing, process: nothing }
    }
}

impl Spawn {
    /// The time of a call that starts this many processes.
    #[must_use]
    pub fn of(&self, processes: usize) -> Seconds {
        Seconds(self.call.0.0 + self.process.0.0 * processes as f64)
    }
}
