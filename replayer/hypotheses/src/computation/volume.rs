//! An amount of computation.

use std::ops::{AddAssign, Div};

use titr_common::event::Event;
use titr_common::event_buffer::EventRef;
use titr_common::units::{Instructions, Seconds};

/// Computation that was counted, and computation that was timed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Volume {
    /// Instructions that were counted.
    pub instructions: f64,
    /// Time that passed, in seconds.
    pub seconds: f64,
}

impl Volume {
    /// The computation that an event is; `None` if it is none.
    #[inline]
    pub(crate) fn of(event: EventRef<'_>) -> Option<Self> {
        match event {
            EventRef::Compute(Instructions(instructions))
            | EventRef::Event(&Event::Compute(Instructions(instructions))) => Some(Self { instructions, seconds: 0.0 }),
            EventRef::Event(&Event::Sleep(Seconds(seconds))) => Some(Self { instructions: 0.0, seconds }),
            EventRef::Event(_) | EventRef::Send(..) | EventRef::Recv(..) => None,
        }
    }

    /// The event that has this computation, which is of one part, multiplied by a factor. There is an event even where
    /// the volume is nothing.
    pub(crate) fn times(self, factor: Factor) -> Event {
        if self.seconds > 0.0 {
            Event::Sleep(Seconds(self.seconds * factor.seconds))
        } else {
            Event::Compute(Instructions(self.instructions * factor.instructions))
        }
    }

    /// This computation multiplied by a factor.
    pub(crate) fn scaled(self, factor: Factor) -> Self {
        Self { instructions: self.instructions * factor.instructions, seconds: self.seconds * factor.seconds }
    }

    /// Whether there is any.
    pub(crate) fn is_some(self) -> bool {
        self.instructions > 0.0 || self.seconds > 0.0
    }

    /// The factor that makes this volume the `wanted` one; where there is nothing to multiply, 1.
    pub(crate) fn factor_to(self, wanted: Self) -> Factor {
        let ratio = |wanted: f64, own: f64| if own > 0.0 { wanted / own } else { 1.0 };
        Factor {
            instructions: ratio(wanted.instructions, self.instructions),
            seconds: ratio(wanted.seconds, self.seconds),
        }
    }

    /// The part of `wanted` that no factor can make of this volume, as there is nothing to multiply.
    pub(crate) fn missing(self, wanted: Self) -> Self {
        let part = |wanted: f64, own: f64| if own > 0.0 { 0.0 } else { wanted };
        Self { instructions: part(wanted.instructions, self.instructions), seconds: part(wanted.seconds, self.seconds) }
    }

    /// The volume as events, one for each part that is there.
    pub(crate) fn events(self) -> impl Iterator<Item = Event> {
        let counted = (self.instructions > 0.0).then_some(Event::Compute(Instructions(self.instructions)));
        let passed = (self.seconds > 0.0).then_some(Event::Sleep(Seconds(self.seconds)));
        counted.into_iter().chain(passed)
    }
}

impl AddAssign for Volume {
    fn add_assign(&mut self, other: Self) {
        self.instructions += other.instructions;
        self.seconds += other.seconds;
    }
}

impl Div<f64> for Volume {
    type Output = Self;

    fn div(self, by: f64) -> Self {
        Self { instructions: self.instructions / by, seconds: self.seconds / by }
    }
}

/// A factor for each part of a volume.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Factor {
    instructions: f64,
    seconds: f64,
}

impl Factor {
    /// One factor for all.
    pub(crate) fn of_both(factor: f64) -> Self {
        Self { instructions: factor, seconds: factor }
    }
}
