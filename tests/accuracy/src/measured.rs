//! The output of the program: lines `NAME REPEAT SECONDS`.

use std::error::Error;
use std::path::Path;

/// The seconds that a pattern took, each time that it was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The name of the pattern.
    pub pattern: String,
    /// In ascending order.
    seconds: Vec<f64>,
}

impl Measured {
    /// The patterns in a file, in the order in which they ran. Other lines are ignored.
    pub fn read(file: &Path) -> Result<Vec<Self>, Box<dyn Error>> {
        let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok(Self::parse(&text))
    }

    fn parse(text: &str) -> Vec<Self> {
        let mut patterns: Vec<Self> = Vec::new();
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [pattern, repeat, seconds] = words[..] else { continue };
            let (Ok(_), Ok(seconds)) = (repeat.parse::<u32>(), seconds.parse::<f64>()) else { continue };
            match patterns.last_mut().filter(|last| last.pattern == pattern) {
                Some(last) => last.seconds.push(seconds),
                None => patterns.push(Self { pattern: pattern.to_owned(), seconds: vec![seconds] }),
            }
        }
        patterns.iter_mut().for_each(|pattern| pattern.seconds.sort_by(f64::total_cmp));
        patterns
    }

    /// The number of measurements of the pattern.
    pub fn repeats(&self) -> usize {
        self.seconds.len()
    }

    /// The median of all times, in seconds.
    pub fn median(&self) -> f64 {
        median(&self.seconds)
    }

    /// The difference of the longest and the shortest time as a part of the median.
    pub fn spread(&self) -> f64 {
        match self.seconds[..] {
            [shortest, .., longest] => (longest - shortest) / self.median(),
            _ => 0.0,
        }
    }
}

/// The number in the middle, or the mean of the two there.
pub fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let upper = sorted.get(middle).copied().unwrap_or(f64::NAN);
    if sorted.len().is_multiple_of(2) && middle > 0 { (upper + sorted[middle - 1]) / 2.0 } else { upper }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_pattern_belong_together() {
        let read = Measured::parse("shift 1 0.30\nshift 2 0.10\nshift 3 0.20\na warning from somewhere\nbcast 1 2.0\n");
        assert_eq!(read.iter().map(|one| one.pattern.as_str()).collect::<Vec<_>>(), ["shift", "bcast"]);
        assert_eq!((read[0].median(), read[1].median()), (0.2, 2.0));
        assert!((read[0].spread() - 1.0).abs() < 1e-12);
    }
}
