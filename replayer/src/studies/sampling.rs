//! The points of a study: a value for each axis.
//!
//! A grid has all combinations. A Latin hypercube of n points cuts each axis into n equal parts and has one point in each part of
//! each axis (McKay, Beckman and Conover, Technometrics 21(2), 1979).

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{RngCore, SeedableRng};

use crate::studies::axis::{Axis, Setting, Values};

/// The way in which the points of a study are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sample {
    /// All combinations of the values of all axes.
    Grid,
    /// A Latin hypercube.
    LatinHypercube { points: usize, seed: u64 },
}

/// The values of all axes, one each.
pub(crate) type Settings = Vec<Setting>;

/// The number of points, at most `u64::MAX`.
pub(crate) fn count(axes: &[Axis], sample: Sample) -> u64 {
    match sample {
        Sample::Grid => axes.iter().fold(1, |all, axis| all.saturating_mul(axis.settings().len() as u64)),
        Sample::LatinHypercube { points, .. } => points as u64,
    }
}

/// The points. In a grid, the values of the last axis change first.
pub(crate) fn points(axes: &[Axis], sample: Sample) -> Vec<Settings> {
    match sample {
        Sample::Grid => {
            let all = count(axes, sample) as usize;
            let point = |number| {
                let places = places(axes.iter().map(|axis| axis.settings().len()), number);
                axes.iter().zip(places).map(|(axis, place)| axis.settings()[place].clone()).collect()
            };
            (0..all).map(point).collect()
        }
        Sample::LatinHypercube { points, seed } => latin_hypercube(axes, points, seed),
    }
}

/// The place of each value in its list, of the combination of that number of values from lists of these lengths. The values of the
/// last list take turns first.
pub(crate) fn places(lengths: impl DoubleEndedIterator<Item = usize>, mut number: usize) -> Vec<usize> {
    let place = |length: usize| {
        let place = number % length;
        number /= length;
        place
    };
    let mut places: Vec<usize> = lengths.rev().map(place).collect();
    places.reverse();
    places
}

fn latin_hypercube(axes: &[Axis], points: usize, seed: u64) -> Vec<Settings> {
    let mut sampled = vec![Settings::with_capacity(axes.len()); points];
    for (number, axis) in (0_u64..).zip(axes) {
        // Each axis has its own sequence: a further axis leaves the values of the others as they are.
        let mut random = Pcg64Mcg::seed_from_u64(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut parts: Vec<usize> = (0..points).collect();
        for last in (1..points).rev() {
            parts.swap(last, (fraction(&mut random) * (last + 1) as f64) as usize);
        }
        for (settings, part) in sampled.iter_mut().zip(parts) {
            let at = (part as f64 + fraction(&mut random)) / points as f64;
            settings.push(match &axis.values {
                Values::Between(range) => range.at(at),
                Values::List(list) => list[((at * list.len() as f64) as usize).min(list.len() - 1)].clone(),
            });
        }
    }
    sampled
}

/// A random number from 0 to below 1.
pub(crate) fn fraction(random: &mut Pcg64Mcg) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use titr_document::{Source, Value};

    use super::*;
    use crate::studies::axis::AxisKey;

    fn axes(text: &str) -> Vec<Axis> {
        let source = Source::new("study.toml", text.to_owned(), []);
        let Value::Table(table) = source.parse(&source.file).unwrap().value else { unreachable!() };
        let read = |(key, written): (titr_document::Spanned<String>, _)| {
            Axis::read(AxisKey::Set(key.get_ref().clone()), key.span(), written, &source).unwrap()
        };
        table.into_entries().map(read).collect()
    }

    #[test]
    fn a_grid_has_each_value_with_each() {
        let axes = axes("a = [1, 2]\nb = [\"x\", \"y\", \"z\"]");
        let shown = |settings: Settings| settings.into_iter().map(|setting| setting.shown).collect::<String>();
        let points: Vec<String> = points(&axes, Sample::Grid).into_iter().map(shown).collect();
        assert_eq!(points, ["1x", "1y", "1z", "2x", "2y", "2z"]);
    }

    proptest! {
        #[test]
        fn a_latin_hypercube_has_one_point_in_each_part_of_each_axis(points in 1_usize..60, seed: u64) {
            let axes = axes("a = { from = 0.0, to = 1.0 }\nb = { from = 5.0, to = 7.0 }\nc = [1, 2]");
            let sample = Sample::LatinHypercube { points, seed };
            let sampled = super::points(&axes, sample);
            prop_assert_eq!(&sampled, &super::points(&axes, sample));
            for (axis, from, to) in [(0, 0.0, 1.0), (1, 5.0, 7.0)] {
                let part = |settings: &Settings| {
                    let number = settings[axis].magnitude.unwrap().number;
                    (((number - from) / (to - from) * points as f64) as usize).min(points - 1)
                };
                prop_assert_eq!(sampled.iter().map(part).collect::<BTreeSet<_>>().len(), points);
            }
            let ones = sampled.iter().filter(|settings| settings[2].shown == "1").count();
            prop_assert!(ones.abs_diff(points - ones) <= 1);
        }
    }
}
