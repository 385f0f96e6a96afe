//! `titr-replay --vary`: one trace on variations of a platform.

use std::str::FromStr;

use titr_analyses::AnalysedResult;
use titr_simulation::parallel::Jobs;

use super::Failure;
use crate::report::variations::{Variations, VariedResult};
use titr_common::format::count;

/// A key of the platform, and the values that it has in one replay after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct VariedKey {
    key: String,
    values: Vec<String>,
}

impl FromStr for VariedKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (key, values) = text.split_once('=').ok_or("expected KEY=VALUE,VALUE, such as hosts.cores=1,2,4")?;
        let values: Vec<String> = values_of(values).into_iter().map(|value| value.trim().to_owned()).collect();
        if values.iter().any(String::is_empty) {
            return Err("a value is empty".to_owned());
        }
        Ok(Self { key: key.trim().to_owned(), values })
    }
}

/// The parts of a text between commas that are neither in brackets nor in quotes.
fn values_of(text: &str) -> Vec<&str> {
    let (mut depth, mut quoted, mut from) = (0_i32, false, 0);
    let mut values = Vec::new();
    for (at, letter) in text.char_indices() {
        match letter {
            '"' => quoted = !quoted,
            '[' | '{' if !quoted => depth += 1,
            ']' | '}' if !quoted => depth -= 1,
            ',' if !quoted && depth <= 0 => {
                values.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    values.push(&text[from..]);
    values
}

/// Keys and their values, one of each.
type Combination = Vec<(String, String)>;

/// How many combinations are replayed at most: the results of all of them are kept until the last is there.
const MOST: usize = 10_000;

/// The number of combinations.
fn count_combinations(keys: &[VariedKey]) -> Result<usize, Failure> {
    let all = keys.iter().fold(1_u128, |all, key| all.saturating_mul(key.values.len() as u128));
    usize::try_from(all).ok().filter(|&all| all <= MOST).ok_or_else(|| {
        let (all, most) = (count(u64::try_from(all).unwrap_or(u64::MAX)), count(MOST as u64));
        Failure::Value(format!("--vary: {all} combinations of values, and at most {most} are compared"))
    })
}

/// The combination of that number. The values of the last key take turns first.
fn combination(keys: &[VariedKey], mut number: usize) -> Combination {
    let value = |VariedKey { key, values }: &VariedKey| {
        let value = values[number % values.len()].clone();
        number /= values.len();
        (key.clone(), value)
    };
    let mut combination: Combination = keys.iter().rev().map(value).collect();
    combination.reverse();
    combination
}

/// The results of `simulate` with each combination of values, given as `KEY=VALUE`, so many at the same time.
///
/// # Errors
/// The error of the first combination that has one.
pub(super) fn replay(
    keys: &[VariedKey],
    jobs: Jobs,
    simulate: impl Fn(&[String]) -> Result<AnalysedResult, Failure> + Sync,
) -> Result<Variations, Failure> {
    let variations = jobs.map(count_combinations(keys)?, |number| {
        let set = combination(keys, number);
        let written: Vec<String> = set.iter().map(|(key, value)| format!("{key}={value}")).collect();
        Ok::<_, Failure>(VariedResult { set, result: simulate(&written)? })
    })?;
    Ok(Variations { variations })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Result<VariedKey, String> {
        text.parse()
    }

    #[test]
    fn values_are_between_commas_that_are_not_part_of_one() {
        let values = |text| key(text).unwrap().values;
        assert_eq!(values("a=1"), ["1"]);
        assert_eq!(values("a=1 us, 2 us"), ["1 us", "2 us"]);
        assert_eq!(values("dims=[4,4],[2,8]"), ["[4,4]", "[2,8]"]);
        assert_eq!(values("a=\"x,y\",z=1"), ["\"x,y\"", "z=1"]);
        assert!(key("a").is_err() && key("a=").is_err() && key("a=1,,2").is_err());
    }

    #[test]
    fn each_value_is_combined_with_each() {
        let keys = [key("a=1,2").unwrap(), key("b=x,y").unwrap()];
        let shown = |number| combination(&keys, number).into_iter().map(|(_, value)| value).collect::<String>();
        assert_eq!([0, 1, 2, 3].map(shown), ["1x", "1y", "2x", "2y"]);
        assert_eq!((count_combinations(&keys).unwrap(), count_combinations(&[]).unwrap()), (4, 1));
    }

    #[test]
    fn more_combinations_than_fit_are_refused_before_the_first() {
        let keys = vec![key("a=1,2,3,4,5,6,7,8,9,10").unwrap(); 50];
        assert_eq!(count_combinations(&keys[..4]).unwrap(), 10_000);
        for (keys, number) in [(&keys[..5], "100,000"), (&keys[..], "18,446,744,073,709,551,615")] {
            let error = count_combinations(keys).unwrap_err().to_string();
            assert!(error.contains(number), "{error}");
        }
    }
}
