//! Loads to measure: `0.3`, `0.1,0.2,0.5`, or `0.05..1.0:0.05`, which is start, end and step.

use std::str::FromStr;

use thiserror::Error;

/// Loads, in phits a cycle and host.
#[derive(Clone, Debug, PartialEq)]
pub struct Loads(pub Vec<f64>);

/// An error in the text of a list of loads.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`{0}` is not a load above 0 and up to 1, a list of them (0.1,0.2), or a range with a step (0.05..1.0:0.05)")]
pub struct NoLoad(String);

/// Loads of a range at most.
const MOST: f64 = 10_000.0;

impl FromStr for Loads {
    type Err = NoLoad;

    fn from_str(text: &str) -> Result<Self, NoLoad> {
        let loads: Option<Vec<Vec<f64>>> = text.split(',').map(part).collect();
        loads.map(|loads| Self(loads.concat())).ok_or_else(|| NoLoad(text.to_owned()))
    }
}

fn part(text: &str) -> Option<Vec<f64>> {
    let load = |text: &str| text.trim().parse().ok().filter(|&load| load > 0.0 && load <= 1.0);
    let Some((from, rest)) = text.split_once("..") else { return Some(vec![load(text)?]) };
    let (to, step) = rest.split_once(':')?;
    let (from, to, step) = (load(from)?, load(to)?, load(step)?);
    // The rounding error of the last step is less than this fraction of it.
    let steps = ((to - from) / step + 1e-9).floor();
    (0.0..MOST).contains(&steps).then(|| (0..=steps as u32).map(|number| from + f64::from(number) * step).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_include_their_ends() {
        let Loads(loads) = "0.05..1.0:0.05".parse().unwrap();
        assert_eq!(loads.len(), 20);
        assert!((loads[19] - 1.0).abs() < 1e-9);
        assert_eq!("0.3,0.5".parse(), Ok(Loads(vec![0.3, 0.5])));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "0", "-0.1", "1.5", "0.1..0.5", "0.5..0.1:0.1", "0.1..0.5:0", "nan", "0.1..1:1e-9"] {
            assert!(text.parse::<Loads>().is_err(), "{text}");
        }
    }
}
