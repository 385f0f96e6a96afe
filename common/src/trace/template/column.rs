//! A column: a number for each of some ranks, in their order.
//!
//! The text of a column has items. `F*M+S` stands for *M* numbers, the first of which is *F*, and each further one *S* more
//! than the one before; `F*M` for *M* equal numbers, `F` for one. `F*M+S*N+T` stands for *N* such sequences, each of which
//! begins *T* higher than the one before, and so on: `0*8+8*8+1` are the numbers of an 8 × 8 matrix, column by column.
//!
//! After the word `rank`, the numbers are differences from the rank's own number: `rank 1*62` says that each of 62 ranks
//! has the number of the next rank.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use super::runs::NumberRuns;

/// The number of decimal digits of the largest number in a column.
pub(super) const DIGITS: usize = 18;
/// The largest absolute value of a number in the text of a column.
const LARGEST: i64 = 10_i64.pow(DIGITS as u32);
/// The word before differences from the rank.
const RANK: &str = "rank";

/// A number for each of some ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub(in crate::trace) struct Column {
    /// Whether the rank's own number is added to each of the numbers.
    is_relative: bool,
    items: Vec<Item>,
    /// The number of numbers.
    count: usize,
}

/// Consecutive numbers of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Item {
    /// The index of the first number in the column.
    at: usize,
    first: i64,
    /// The repetitions of `first`, of the sequence that these make, and so on.
    levels: Vec<Level>,
}

/// Repetitions of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Level {
    count: usize,
    /// The difference between the first numbers of a sequence and of the one before.
    step: i64,
}

impl Column {
    /// The number of ranks that have a number.
    pub(in crate::trace) fn len(&self) -> usize {
        self.count
    }

    /// The number at `index`, which is the number of `rank`; `None` if there is none or it is negative.
    pub(in crate::trace) fn get(&self, index: usize, rank: u32) -> Option<u64> {
        u64::try_from(self.signed(index, rank)?).ok()
    }

    /// The number at `index`, which is the number of `rank`; `None` if there is none or it is too large.
    pub(super) fn signed(&self, index: usize, rank: u32) -> Option<i64> {
        let after = self.items.partition_point(|item| item.at <= index);
        let item = self.items.get(after.checked_sub(1)?).filter(|_| index < self.count)?;
        let (mut rest, mut number) = (index - item.at, item.first);
        for Level { count, step } in &item.levels {
            number = number.checked_add(step.checked_mul(i64::try_from(rest % count).ok()?)?)?;
            rest /= count;
        }
        number.checked_add(if self.is_relative { i64::from(rank) } else { 0 })
    }

    /// The column that a text says, which has at most `most` numbers; or the byte of the text at which it is wrong, and how.
    pub(super) fn parse(text: &str, most: usize) -> Result<Self, (usize, String)> {
        let (is_relative, items) = match text.strip_prefix(RANK) {
            Some(items) if items.starts_with(' ') => (true, items),
            _ => (false, text),
        };
        let mut column = Self { is_relative, ..Self::default() };
        for item in items.split(' ').filter(|item| !item.is_empty()) {
            let added = column.read_item(item, most);
            added.map_err(|what| (item.as_ptr() as usize - text.as_ptr() as usize, what))?;
        }
        Ok(column)
    }

    /// Adds the item of a text, unless it is wrong or the column then has more than `most` numbers.
    fn read_item(&mut self, item: &str, most: usize) -> Result<(), String> {
        let expected = || "numbers such as 5, 5*3 or 5*3+1 are expected".to_owned();
        let too_many = || format!("at most {most} numbers are expected here");
        let number = |text: &str| text.parse::<i64>().ok().filter(|number| number.abs() <= LARGEST);
        let room = most.checked_sub(self.count).filter(|&room| room > 0).ok_or_else(too_many)?;
        let mut parts = item.split('*');
        let first = parts.next().and_then(number).ok_or_else(expected)?;
        let (mut levels, mut numbers) = (Vec::new(), 1_usize);
        for part in parts {
            let (count, step) = part.find(['+', '-']).map_or((part, "0"), |at| part.split_at(at));
            let count = count.parse().ok().filter(|&count| count > 0).ok_or_else(expected)?;
            let step = number(step).ok_or_else(expected)?;
            numbers = numbers.checked_mul(count).filter(|&numbers| numbers <= room).ok_or_else(too_many)?;
            // A text of millions of `*1` takes no memory.
            levels.extend((count > 1).then_some(Level { count, step }));
        }
        self.items.push(Item { at: self.count, first, levels });
        self.count += numbers;
        Ok(())
    }

    /// The column of these numbers, without differences from the rank.
    pub(super) fn absolute(numbers: impl Iterator<Item = i64>) -> Self {
        let mut runs = NumberRuns::default();
        numbers.for_each(|number| runs.push(number));
        Self::of(false, &runs)
    }

    /// The column of these runs, in which equal sequences are repetitions of one.
    fn of(is_relative: bool, runs: &NumberRuns) -> Self {
        let mut items: Vec<Item> = runs.iter().map(|run| Item::of(run.at, run.first, run.count, run.step)).collect();
        loop {
            let before = items.len();
            items = repeated(items);
            if items.len() == before {
                return Self { is_relative, items, count: runs.count() };
            }
        }
    }

    /// The single number of the column; `None` if it has several.
    pub(super) fn constant(&self) -> Option<i64> {
        match self.items.as_slice() {
            [item] if !self.is_relative && item.is_constant() => Some(item.first),
            _ => None,
        }
    }

    /// Whether every number is the number of its rank.
    pub(super) fn is_rank(&self) -> bool {
        matches!(self.items.as_slice(), [item] if self.is_relative && item.first == 0 && item.is_constant())
    }
}

impl Item {
    fn of(at: usize, first: i64, count: usize, step: i64) -> Self {
        Self { at, first, levels: if count > 1 { vec![Level { count, step }] } else { Vec::new() } }
    }

    fn is_constant(&self) -> bool {
        self.levels.iter().all(|level| level.step == 0)
    }
}

/// The items, of which consecutive ones that differ by equal steps are one.
fn repeated(items: Vec<Item>) -> Vec<Item> {
    let mut shorter: Vec<Item> = Vec::new();
    // The last one of `shorter` stands for this many, each of which begins so much higher than the one before.
    let (mut count, mut step) = (1, 0);
    for item in items {
        let last = shorter.last_mut().filter(|last| last.levels == item.levels);
        if let Some(last) = last {
            let difference = item.first - last.first - step * (count as i64 - 1);
            if count == 1 || difference == step {
                (count, step) = (count + 1, difference);
                continue;
            }
        }
        end(&mut shorter, count, step);
        shorter.push(item);
        (count, step) = (1, 0);
    }
    end(&mut shorter, count, step);
    shorter
}

fn end(items: &mut [Item], count: usize, step: i64) {
    if let Some(last) = items.last_mut().filter(|_| count > 1) {
        last.levels.push(Level { count, step });
    }
}

/// A column to which numbers are added. It is relative if that makes it shorter.
#[derive(Clone, Debug, Default)]
pub(in crate::trace) struct ColumnBuilder {
    relative: NumberRuns,
    absolute: NumberRuns,
}

impl ColumnBuilder {
    /// Adds the number of `rank`, which has at most [`DIGITS`] digits.
    pub(in crate::trace) fn push(&mut self, rank: u32, number: i64) {
        self.relative.push(number - i64::from(rank));
        self.absolute.push(number);
    }

    /// The number of runs of numbers that change by equal steps, which is the largest number of items in the text.
    pub(super) fn runs(&self) -> usize {
        self.relative.len().min(self.absolute.len())
    }

    /// The number of runs that are added if the next number is `number`.
    pub(super) fn runs_added(&self, rank: u32, number: i64) -> usize {
        let relative = self.relative.len_with(number - i64::from(rank));
        relative.min(self.absolute.len_with(number)) - self.runs()
    }

    pub(in crate::trace) fn build(&self) -> Column {
        let [relative, absolute] = [(true, &self.relative), (false, &self.absolute)].map(|(is_relative, runs)| {
            let column = Column::of(is_relative, runs);
            let length = column.to_string().len();
            (column, length)
        });
        let is_simple = |column: &Column| matches!(column.items.as_slice(), [item] if item.is_constant());
        let is_relative = match (is_simple(&relative.0), is_simple(&absolute.0)) {
            (_, true) => false,
            (true, false) => true,
            (false, false) => relative.1 <= absolute.1,
        };
        if is_relative { relative.0 } else { absolute.0 }
    }
}

impl Display for Column {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut separator = if self.is_relative { "rank " } else { "" };
        for Item { first, levels, .. } in &self.items {
            write!(f, "{separator}{first}")?;
            for &Level { count, step } in levels {
                match step {
                    0 => write!(f, "*{count}")?,
                    step => write!(f, "*{count}{step:+}")?,
                }
            }
            separator = " ";
        }
        Ok(())
    }
}

impl From<Column> for String {
    fn from(column: Column) -> Self {
        column.to_string()
    }
}

impl TryFrom<String> for Column {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text, usize::MAX).map_err(|(at, what)| {
            let item: String = text[at..].chars().take_while(|char| *char != ' ').take(40).collect();
            format!("`{item}` where {what}")
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn column(ranks: &[u32], number: impl Fn(u32) -> i64) -> String {
        let mut column = ColumnBuilder::default();
        ranks.iter().for_each(|&rank| column.push(rank, number(rank)));
        column.build().to_string()
    }

    #[test]
    fn neighbours_in_a_grid_are_short() {
        let all: Vec<u32> = (64..128).collect();
        assert_eq!(column(&all, |rank| i64::from(rank) + 1), "rank 1*64");
        assert_eq!(column(&all, |_| 7), "7*64");
        let inside: Vec<u32> = (0..64).filter(|rank| ![0, 7].contains(&(rank % 8))).collect();
        assert_eq!(column(&inside, |rank| i64::from(rank) + 8), "rank 8*48");
        assert_eq!(column(&inside, |rank| i64::from(rank) % 8), "1*6+1*8");
        assert_eq!(column(&[4, 5, 6], |rank| if rank < 6 { 900 } else { 1000 }), "900*2 1000");
        assert_eq!(column(&[9], |_| 4), "4");
    }

    #[test]
    fn partners_in_a_cube_and_in_a_transposition_are_short() {
        let all: Vec<u32> = (0..4096).collect();
        let partner = |bit: u32| column(&all, |rank| i64::from(rank ^ bit));
        assert_eq!([1, 2, 64].map(partner), ["1*2-1*2048+2", "2*2+1*2-2*1024+4", "rank 64*64*2-128*32"]);
        assert_eq!(column(&all, |rank| i64::from(rank % 64 * 64 + rank / 64)), "0*64+64*64+1");
    }

    #[test]
    fn a_wrong_text_is_refused_where_it_is_wrong() {
        for (text, at) in [("1 x", 2), ("rank 1*0", 5), ("1*2*", 0), ("1 9999999999999999999", 2), ("1 2*-1", 2)] {
            let wrong = Column::parse(text, usize::MAX).map_err(|(at, _)| at);
            assert_eq!(wrong, Err(at), "{text}");
        }
        for endless in [format!("1*{} 1*{}", usize::MAX, usize::MAX), format!("1*{}*2", usize::MAX)] {
            assert!(Column::parse(&endless, usize::MAX).is_err());
        }
    }

    #[test]
    fn a_text_with_too_many_numbers_is_refused_where_they_begin() {
        let too_many = "at most 4 numbers are expected here".to_owned();
        assert_eq!(Column::parse("1*2+1*2", 4).map(|column| column.len()), Ok(4));
        for (text, at) in [("1*2+1*2 5 x", 8), ("1 2 3*3", 4), ("1*4294967295*4294967295", 0)] {
            assert_eq!(Column::parse(text, 4), Err((at, too_many.clone())), "{text}");
        }
    }

    #[test]
    fn repetitions_of_once_take_no_memory() {
        let column = Column::parse(&format!("5{}", "*1+3".repeat(1000)), 1).unwrap();
        assert_eq!(column, Column::parse("5", 1).unwrap());
    }

    #[test]
    fn a_number_that_is_too_large_is_none() {
        let column = Column::parse(&format!("{LARGEST}*100+{LARGEST}"), 100).unwrap();
        assert_eq!((column.signed(1, 0), column.signed(99, 0)), (Some(2 * LARGEST), None));
    }

    proptest! {
        #[test]
        fn a_column_is_read_as_it_was_written(
            steps in prop::collection::vec((1..5_u32, prop_oneof![0..3_i64, 0..LARGEST]), 1..60),
            times in 1..4,
        ) {
            let (mut builder, mut rank, mut all) = (ColumnBuilder::default(), 0, Vec::new());
            for time in 0..times {
                for (step, number) in &steps {
                    rank += step;
                    let number = number / i64::from(times) + i64::from(time);
                    let before = builder.runs();
                    let added = builder.runs_added(rank, number);
                    builder.push(rank, number);
                    prop_assert_eq!(builder.runs() - before, added);
                    all.push((rank, number));
                }
            }
            let column = builder.build();
            prop_assert_eq!(column.len(), all.len());
            for (index, &(rank, number)) in all.iter().enumerate() {
                prop_assert_eq!(column.signed(index, rank), Some(number));
            }
            prop_assert_eq!(Column::parse(&column.to_string(), all.len()), Ok(column));
        }
    }
}
