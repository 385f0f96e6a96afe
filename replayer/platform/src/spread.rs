//! How the times of a machine vary from run to run: interruptions of its hosts, the times of its messages, and the
//! uncertainty of the values that describe it and of the models.

use std::collections::BTreeMap;

use titr_common::units::Seconds;

/// What varies from run to run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spread {
    /// The interruptions of computation on each core.
    pub detours: Option<Detours>,
    /// The standard deviation of a message's time, as a fraction of that time.
    pub message: f64,
    /// The standard deviation of a predicted time, as a fraction of it, because the models are not the machine.
    pub model: f64,
    /// The standard deviation of the value of a key, as a fraction of that value.
    pub uncertainty: BTreeMap<String, f64>,
}

/// Interruptions of a core by the operating system and other programs: their lengths, and the computation between them,
/// are exponentially distributed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detours {
    /// The mean length.
    pub length: Seconds,
    /// The mean number in a second of computation.
    pub rate: f64,
}

impl Spread {
    /// Whether nothing varies.
    #[must_use]
    pub fn is_none(&self) -> bool {
        let has_detours = self.detours.is_some_and(|detours| detours.length.0 > 0.0 && detours.rate > 0.0);
        let is_exact = self.message <= 0.0 && self.model <= 0.0;
        !has_detours && is_exact && self.uncertainty.values().all(|&deviation| deviation <= 0.0)
    }
}
