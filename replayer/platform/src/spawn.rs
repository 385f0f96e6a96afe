//! The time to start processes while a program runs.

use serde::Deserialize;
use titr_common::units::{Quantity, Seconds};

/// The time that `MPI_Comm_spawn` and `MPI_Comm_spawn_multiple` take before the processes they start are in `MPI_Init`;
/// nothing by default. It is a matter of the launcher (`prted` of PRRTE, `hydra`, `srun`), of the operating system and
/// of where programs are read from, and not of MPI.
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
