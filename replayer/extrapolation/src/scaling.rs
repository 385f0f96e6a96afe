//! Volumes as functions of the grid.

use crate::grid::{Grid, MOST_DIMENSIONS};

/// The factor by which a volume changes from one grid to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scaling {
    /// The product of the sides, each to this power.
    Sides([i32; MOST_DIMENSIONS]),
    /// This power of the number of ranks.
    Ranks(f64),
}

/// A volume in a grid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample<'g> {
    pub grid: &'g Grid,
    pub volume: f64,
    /// The same volume in the largest recording.
    pub largest: f64,
}

/// Scalings that explain the recordings equally well, at least one, and the largest relative error with which they give the volumes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fit {
    pub scalings: Vec<Scaling>,
    pub error: f64,
}

impl Scaling {
    pub(crate) const CONSTANT: Self = Self::Sides([0; MOST_DIMENSIONS]);

    pub(crate) fn factor(self, from: &Grid, to: &Grid) -> f64 {
        match self {
            Self::Sides(powers) => {
                let of_side = |dimension: usize| {
                    let (old, new) = (f64::from(from.side(dimension)), f64::from(to.side(dimension)));
                    (new / old).powi(powers[dimension])
                };
                (0..MOST_DIMENSIONS).map(of_side).product()
            }
            Self::Ranks(power) => (f64::from(to.places()) / f64::from(from.places())).powf(power),
        }
    }

    /// The products of sides that a grid of as many dimensions may have, the simplest first.
    fn products(dimensions: usize) -> Vec<[i32; MOST_DIMENSIONS]> {
        let mut all = vec![[0; MOST_DIMENSIONS]];
        for dimension in 0..dimensions {
            let with = |powers: &[i32; MOST_DIMENSIONS]| {
                let powers = *powers;
                [0, -1, 1, -2, 2].map(move |power| {
                    let mut powers = powers;
                    powers[dimension] = power;
                    powers
                })
            };
            all = all.iter().flat_map(with).collect();
        }
        all.sort_by_key(|powers| complexity(powers, dimensions));
        all
    }

    /// The simplest products of sides that give all volumes up to rounding to whole numbers. They are equally simple.
    pub(crate) fn exact(samples: &[Sample<'_>], largest: &Grid) -> Vec<Self> {
        let fits = |scaling: Self| {
            samples.iter().all(|sample| {
                let factor = scaling.factor(largest, sample.grid);
                let difference = (sample.largest * factor - sample.volume).abs();
                let is_rounded = difference < factor && difference <= ROUNDED * sample.volume;
                (difference < 1.0 || is_rounded) && (sample.largest == 0.0) == (sample.volume == 0.0)
            })
        };
        let dimensions = largest.sides().len();
        let mut fitting = Self::products(dimensions).into_iter().filter(|&powers| fits(Self::Sides(powers))).peekable();
        let simplest = fitting.peek().map(|powers| complexity(powers, dimensions));
        let simplest = fitting.take_while(|powers| Some(complexity(powers, dimensions)) == simplest);
        simplest.map(Self::Sides).collect()
    }

    /// The scalings that give the volumes best: the simplest exact ones, or products of sides if they are nearly as good as a power
    /// of the number of ranks, which is fitted by least squares of logarithms.
    pub(crate) fn fitted(samples: &[Sample<'_>], largest: &Grid) -> Fit {
        let error = |scaling: Self| {
            let errors = samples
                .iter()
                .map(|sample| relative_error(sample.largest * scaling.factor(largest, sample.grid), sample.volume));
            errors.fold(0.0, f64::max)
        };
        let exact = Self::exact(samples, largest);
        if let Some(&scaling) = exact.first() {
            return Fit { scalings: exact, error: error(scaling) };
        }
        let dimensions = largest.sides().len();
        let costs: Vec<(f64, Self)> = Self::products(dimensions)
            .into_iter()
            .map(|powers| {
                let simplicity = SIMPLICITY * f64::from(complexity(&powers, dimensions));
                (error(Self::Sides(powers)) + simplicity, Self::Sides(powers))
            })
            .collect();
        let lowest = costs.iter().map(|(cost, _)| *cost).fold(f64::INFINITY, f64::min);
        let best = costs.iter().filter(|(cost, _)| *cost <= lowest + SAME).map(|(_, scaling)| *scaling);
        let scalings: Vec<Self> = best.filter(|&scaling| error(scaling) <= ACCEPTED).collect();
        if let Some(&scaling) = scalings.first() {
            return Fit { scalings, error: error(scaling) };
        }
        let scaling = Self::Ranks(power(samples, largest));
        Fit { scalings: vec![scaling], error: error(scaling) }
    }

    /// Whether scalings give different volumes in a grid.
    pub(crate) fn differ(scalings: &[Self], from: &Grid, to: &Grid) -> bool {
        let mut factors = scalings.iter().map(|scaling| scaling.factor(from, to));
        let first = factors.next().unwrap_or(1.0);
        factors.any(|factor| (factor / first - 1.0).abs() > SAME)
    }
}

/// The relative error of a volume that was expected; 1 if something was expected where the recording has nothing.
pub(crate) fn relative_error(expected: f64, volume: f64) -> f64 {
    if expected == volume {
        0.0
    } else if volume > 0.0 {
        (expected / volume - 1.0).abs()
    } else {
        1.0
    }
}

/// The largest relative error that comes from rounding the volumes of the largest recording.
const ROUNDED: f64 = 0.01;
/// An error that a scaling may have to be simpler by one power of one side.
const SIMPLICITY: f64 = 0.02;
/// The largest error of a product of sides; beyond, the volume is a power of the number of ranks.
const ACCEPTED: f64 = 0.15;

/// The largest difference of factors and errors that comes from rounding them.
const SAME: f64 = 1e-9;

/// The number of sides in a product. A power of all sides is one of the number of ranks, which counts like a side.
fn complexity(powers: &[i32; MOST_DIMENSIONS], dimensions: usize) -> i32 {
    let beyond = |ranks: i32| powers.iter().take(dimensions).map(move |power| (power - ranks).abs()).sum::<i32>();
    (-2_i32..=2).map(|ranks| ranks.abs() + beyond(ranks)).min().unwrap_or(0)
}

/// The power of the number of ranks, by least squares of logarithms through the largest recording.
fn power(samples: &[Sample<'_>], largest: &Grid) -> f64 {
    let (mut products, mut squares) = (0.0, 0.0);
    for sample in samples.iter().filter(|sample| sample.volume > 0.0 && sample.largest > 0.0) {
        let ranks = (f64::from(sample.grid.places()) / f64::from(largest.places())).ln();
        products += ranks * (sample.volume / sample.largest).ln();
        squares += ranks * ranks;
    }
    if squares > 0.0 { products / squares } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(sides: &[u32]) -> Grid {
        Grid::new(sides).unwrap()
    }

    #[test]
    fn volumes_by_side_are_found_exactly() {
        let (small, large) = (grid(&[2, 4]), grid(&[4, 16]));
        let samples = [Sample { grid: &small, volume: 1000.0, largest: 500.0 }];
        assert_eq!(Scaling::exact(&samples, &large), [Scaling::Sides([-1, 0, 0])]);
        let samples = [Sample { grid: &small, volume: 1001.0, largest: 125.0 }];
        assert_eq!(Scaling::exact(&samples, &large), [Scaling::Sides([-1, -1, 0])]);
        assert_eq!(Scaling::Sides([-1, -1, 0]).factor(&large, &grid(&[8, 16])), 0.5);
    }

    #[test]
    fn squares_do_not_say_which_side_it_is() {
        let (small, large) = (grid(&[2, 2]), grid(&[4, 4]));
        let samples = [Sample { grid: &small, volume: 1000.0, largest: 500.0 }];
        assert_eq!(Scaling::exact(&samples, &large), [Scaling::Sides([0, -1, 0]), Scaling::Sides([-1, 0, 0])]);
    }

    #[test]
    fn noise_hides_no_product_and_what_is_none_is_a_power() {
        let (small, large) = (grid(&[4]), grid(&[16]));
        let fit = Scaling::fitted(&[Sample { grid: &small, volume: 404.0, largest: 100.0 }], &large);
        assert_eq!(fit.scalings, [Scaling::Sides([-1, 0, 0])]);
        assert!((fit.error - 4.0 / 404.0).abs() < 1e-12);
        let fit = Scaling::fitted(&[Sample { grid: &small, volume: 200.0, largest: 100.0 }], &large);
        let [Scaling::Ranks(power)] = fit.scalings[..] else { panic!("{fit:?}") };
        assert!((power + 0.5).abs() < 1e-12 && fit.error < 1e-12);
    }
}
