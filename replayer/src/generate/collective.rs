//! A collective as its messages.

use super::{Kernel, Script};
use crate::schedule::Example;

/// The schedule of a collective, as point-to-point messages.
#[derive(Clone, Debug)]
pub struct Schedule(pub Example);

impl Kernel for Schedule {
    fn ranks(&self) -> u32 {
        self.0.members().end
    }

    fn phase(&self, me: u32, _: u64, script: &mut Script) {
        script.pause();
        self.0.steps(me).iter().for_each(|step| script.step(step));
        // A schedule may leave the completion of pending operations at its end to its executor.
        script.waitall();
    }
}
