//! The sizes of messages: `64B`, a range `64B..4KiB` of equally likely sizes, or sizes with weights `64B:9,64KiB:1`.

use std::str::FromStr;

use rand_pcg::rand_core::RngCore;
use thiserror::Error;
use titr_common::units::{Bytes, Quantity};

use super::source::{below, unit};
use crate::packet::PacketParameters;

/// A distribution of sizes.
#[derive(Clone, Debug, PartialEq)]
pub enum Sizes {
    /// Uniform, ends included.
    Range(Bytes, Bytes),
    /// Each with a weight. The sum is positive.
    Weighted(Vec<(Bytes, f64)>),
}

/// An error in the text of a distribution of sizes.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`{0}` is not a size (64B), a range of sizes (64B..4KiB), or sizes with weights (64B:9,64KiB:1)")]
pub struct NoSize(String);

impl FromStr for Sizes {
    type Err = NoSize;

    fn from_str(text: &str) -> Result<Self, NoSize> {
        Self::parse(text).ok_or_else(|| NoSize(text.to_owned()))
    }
}

impl Sizes {
    fn parse(text: &str) -> Option<Self> {
        let size = |text: &str| text.parse().ok().map(|Quantity(bytes)| bytes);
        if let Some((from, to)) = text.split_once("..") {
            let (from, to) = (size(from)?, size(to)?);
            return (from <= to).then_some(Self::Range(from, to));
        }
        let weighted = text.split(',').map(|part| match part.split_once(':') {
            Some((bytes, weight)) => {
                let weight = weight.trim().parse().ok().filter(|weight: &f64| *weight >= 0.0 && weight.is_finite());
                Some((size(bytes)?, weight?))
            }
            None => Some((size(part)?, 1.0)),
        });
        let weighted: Vec<_> = weighted.collect::<Option<_>>()?;
        (weighted.iter().map(|&(_, weight)| weight).sum::<f64>() > 0.0).then_some(Self::Weighted(weighted))
    }

    /// Any of them.
    pub(super) fn draw(&self, random: &mut impl RngCore) -> Bytes {
        match self {
            Self::Range(from, to) => Bytes(from.0 + below(random, (to.0 - from.0).saturating_add(1))),
            Self::Weighted(weighted) => {
                if let [(only, _)] = weighted[..] {
                    return only;
                }
                let all: f64 = weighted.iter().map(|&(_, weight)| weight).sum();
                let mut left = unit(random) * all;
                let drawn = weighted.iter().find(|&&(_, weight)| {
                    left -= weight;
                    left < 0.0
                });
                drawn.or(weighted.last()).map_or(Bytes(0), |&(bytes, _)| bytes)
            }
        }
    }

    /// The largest that can be drawn.
    #[must_use]
    pub fn largest(&self) -> Bytes {
        match self {
            Self::Range(_, to) => *to,
            Self::Weighted(weighted) => {
                let drawn = weighted.iter().filter(|(_, weight)| *weight > 0.0);
                drawn.map(|&(bytes, _)| bytes).max().unwrap_or_default()
            }
        }
    }

    /// Packets of a message in the mean.
    pub(super) fn mean_packets(&self, parameters: &PacketParameters) -> f64 {
        let packets = |bytes: Bytes| parameters.packets(bytes) as f64;
        match self {
            &Self::Range(from, to) => {
                // All sizes up to n make `sum(n)` packets: p times the payload for each p, but for size 0 one.
                let payload = parameters.payload() as f64;
                let sum = |up_to: f64| {
                    let full = (up_to / payload).floor();
                    1.0 + payload * full * (full + 1.0) / 2.0 + (up_to - full * payload) * (full + 1.0)
                };
                let below = if from.0 == 0 { 0.0 } else { sum(from.0 as f64 - 1.0) };
                (sum(to.0 as f64) - below) / (to.0 as f64 - from.0 as f64 + 1.0)
            }
            Self::Weighted(weighted) => {
                let all: f64 = weighted.iter().map(|&(_, weight)| weight).sum();
                weighted.iter().map(|&(bytes, weight)| packets(bytes) * weight).sum::<f64>() / all
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_pcg::Pcg64Mcg;
    use rand_pcg::rand_core::SeedableRng;

    use super::*;

    #[test]
    fn means_are_those_of_what_is_drawn() {
        let parameters = PacketParameters::default();
        for text in ["64B", "0B", "65B", "0B..200B", "1B..1KiB", "64B:9,64KiB:1", "1B,2B,1kB"] {
            let sizes: Sizes = text.parse().unwrap();
            let mut random = Pcg64Mcg::seed_from_u64(1);
            let draws = 400_000;
            let drawn: u64 = (0..draws).map(|_| parameters.packets(sizes.draw(&mut random))).sum();
            let (found, expected) = (drawn as f64 / f64::from(draws), sizes.mean_packets(&parameters));
            assert!((found / expected - 1.0).abs() < 0.01, "{text}: {found}, not {expected}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "64", "64B..1B", "64B:-1", "64B:0", "B"] {
            assert!(text.parse::<Sizes>().is_err(), "{text}");
        }
    }
}
