//! Floating-point numbers that compare as integers.

/// A number that is not negative, kept as a whole number by which such numbers are in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NonNegative(u64);

impl NonNegative {
    pub(crate) fn of(number: f64) -> Self {
        // The bits of non-negative floats have the same order as their values; adding 0.0 turns -0.0 into 0.0.
        Self((number + 0.0).to_bits())
    }

    pub(crate) fn value(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl From<NonNegative> for u64 {
    fn from(number: NonNegative) -> Self {
        number.0
    }
}
