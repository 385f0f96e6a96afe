//! The parallel efficiency of a result and its factors, as the POP project defines them (Wagner et al., "A structured
//! approach to performance analysis", 2017).
//!
//! An efficiency is a fraction, 1 at best. Each factor names a loss:
//!
//! ```text
//! parallel      = load balance × communication
//! load balance  = mean / maximum of the ranks' computation
//! communication = maximum of the ranks' computation / simulated time
//!               = serialisation × transfer
//! transfer      = time on an ideal network / simulated time
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use titr_common::units::Seconds;

use crate::observe::Shares;

/// The parallel efficiency, and its factors. All are fractions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Efficiencies {
    /// The fraction of the time in which a rank computes, in the mean over the ranks: load balance times communication.
    pub parallel: f64,
    /// The mean of the ranks' computation, divided by the maximum.
    pub load_balance: f64,
    /// The maximum of the ranks' computation, divided by the simulated time.
    pub communication: f64,
    /// The maximum of the ranks' computation, divided by the time on an ideal network: waiting for other ranks. `None` if
    /// the program was not replayed there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serialisation: Option<f64>,
    /// The time on an ideal network, divided by the simulated time: messages, and MPI itself. `None` if the program was not
    /// replayed there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfer: Option<f64>,
}

impl Efficiencies {
    /// The efficiencies of ranks that spent their time in this way until `time`; `None` if there is no computation.
    #[must_use]
    pub fn of(per_rank: &[Shares], time: Seconds) -> Option<Self> {
        let compute = || per_rank.iter().map(|shares| shares.per_thread().compute.0);
        let (mean, most) = (compute().sum::<f64>() / per_rank.len().max(1) as f64, compute().fold(0.0, f64::max));
        (most > 0.0 && time.0 > 0.0).then(|| Self {
            parallel: mean / time.0,
            // The mean of equal numbers can be rounded up.
            load_balance: (mean / most).min(1.0),
            communication: most / time.0,
            serialisation: None,
            transfer: None,
        })
    }

    /// Splits the communication efficiency, given the `time` of the program and its time on an ideal network.
    pub fn split_communication(&mut self, time: Seconds, ideal: Seconds) {
        if time.0 > 0.0 && ideal.0 > 0.0 {
            self.transfer = Some(ideal.0 / time.0);
            self.serialisation = Some(self.communication * time.0 / ideal.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn computing(seconds: &[f64]) -> Vec<Shares> {
        let rank = |compute| Shares { compute, finish: compute, ..Shares::default() };
        seconds.iter().map(|&compute| rank(Seconds(compute))).collect()
    }

    #[test]
    fn each_loss_is_in_its_factor() {
        let found = Efficiencies::of(&computing(&[1.0, 2.0, 4.0, 1.0]), Seconds(5.0)).unwrap();
        assert_eq!((found.parallel, found.load_balance, found.communication), (0.4, 0.5, 0.8));
        assert_eq!(found.parallel, found.load_balance * found.communication);
    }

    #[test]
    fn threads_that_compute_at_once_are_no_more_than_their_rank() {
        let threads = |compute: f64, wait: f64| Shares {
            compute: Seconds(compute),
            wait: Seconds(wait),
            finish: Seconds(2.0),
            ..Shares::default()
        };
        let found = Efficiencies::of(&[threads(4.0, 0.0), threads(6.0, 2.0)], Seconds(2.0)).unwrap();
        assert_eq!((found.parallel, found.load_balance, found.communication), (0.875, 0.875, 1.0));
    }

    #[test]
    fn communication_is_serialisation_times_transfer() {
        let mut found = Efficiencies::of(&computing(&[1.0, 2.0]), Seconds(5.0)).unwrap();
        found.split_communication(Seconds(5.0), Seconds(4.0));
        assert_eq!((found.serialisation, found.transfer), (Some(0.5), Some(0.8)));
    }

    #[test]
    fn a_program_without_computation_has_no_efficiency() {
        assert_eq!(Efficiencies::of(&computing(&[0.0, 0.0]), Seconds(1.0)), None);
        assert_eq!(Efficiencies::of(&[], Seconds(0.0)), None);
    }
}
