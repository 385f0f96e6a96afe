//! Values with several notations, or with a restricted range.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::{F64Deserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use titr_common::units::{Bytes, Quantity, Seconds, Written};
use titr_network::flow::Factor;

use crate::overhead::{Overhead, OverheadStep};

/// A value for all, or a list of values.
#[derive(Clone, Debug)]
pub(crate) enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

/// A number that is not negative.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NonNegative(pub f64);

/// A factor in steps of message size.
pub(crate) struct FactorSteps(pub Factor);

impl<'de> Deserialize<'de> for NonNegative {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::checked(f64::deserialize(deserializer)?)
    }
}

impl NonNegative {
    /// The number, if it is not negative.
    pub(super) fn checked<E: Error>(number: f64) -> Result<Self, E> {
        if number.is_finite() && number >= 0.0 {
            Ok(Self(number))
        } else {
            Err(E::custom(format!("{number} is not a number from 0 up")))
        }
    }
}

impl<'de, T: Written> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either<T>(PhantomData<T>);
        impl<'de, T: Written> Visitor<'de> for Either<T> {
            type Value = OneOrMany<T>;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("one quantity in quotes, or a list of them")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                T::written(text).map(OneOrMany::One).map_err(E::custom)
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
                self.visit_f64(number as f64)
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
                Quantity::deserialize(F64Deserializer::new(number)).map(|Quantity(value)| OneOrMany::One(value))
            }
            fn visit_newtype_struct<D: Deserializer<'de>>(self, in_base_unit: D) -> Result<Self::Value, D::Error> {
                T::in_base_unit(f64::deserialize(in_base_unit)?).map(OneOrMany::One).map_err(D::Error::custom)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
                let items: Vec<Quantity<T>> = Vec::deserialize(SeqAccessDeserializer::new(items))?;
                Ok(OneOrMany::Many(items.into_iter().map(|Quantity(item)| item).collect()))
            }
        }
        deserializer.deserialize_any(Either(PhantomData))
    }
}

impl<'de> Deserialize<'de> for FactorSteps {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberOrSteps;
        impl<'de> Visitor<'de> for NumberOrSteps {
            type Value = Factor;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a number, or steps [[from_bytes, factor], …]")
            }
            fn visit_f64<E: Error>(self, factor: f64) -> Result<Self::Value, E> {
                Ok(Factor::constant(positive(factor)?))
            }
            fn visit_i64<E: Error>(self, factor: i64) -> Result<Self::Value, E> {
                self.visit_f64(factor as f64)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
                let steps: Vec<(u64, f64)> = Vec::deserialize(SeqAccessDeserializer::new(items))?;
                for &(_, factor) in &steps {
                    positive::<A::Error>(factor)?;
                }
                Ok(Factor::steps(steps))
            }
        }
        deserializer.deserialize_any(NumberOrSteps).map(Self)
    }
}

fn positive<E: Error>(factor: f64) -> Result<f64, E> {
    if factor.is_finite() && factor > 0.0 {
        Ok(factor)
    } else {
        Err(E::custom(format!("a factor cannot be {factor}: it must be more than 0")))
    }
}

impl<'de> Deserialize<'de> for Overhead {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let steps: Vec<(u64, NonNegative, NonNegative)> = Vec::deserialize(deserializer)?;
        let steps = steps.into_iter().map(|(above, seconds, per_byte)| OverheadStep {
            above: Bytes(above),
            seconds: Seconds(seconds.0),
            seconds_per_byte: Seconds(per_byte.0),
        });
        Ok(Self::new(steps.collect()))
    }
}
