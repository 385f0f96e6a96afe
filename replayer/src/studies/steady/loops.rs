//! Finds the main loop of a rank in the letters of its events.

/// Loops of fewer iterations are none.
pub(crate) const FEWEST: u64 = 10;
/// Number of letters that are tried: each may reveal the length of an iteration.
const TRIED: usize = 12;
/// Maximum number of occurrences of a letter per iteration for it to reveal the length.
const MOST_IN_ITERATION: usize = 4;

/// The part of a rank's events that is a loop, in events that have letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loop {
    /// Events before the loop.
    pub(crate) start: u64,
    /// Events of an iteration.
    pub(crate) period: u64,
    /// The number of complete iterations.
    pub(crate) iterations: u64,
}

impl Loop {
    fn length(self) -> u64 {
        self.period * self.iterations
    }
}

/// The longest loop of at least [`FEWEST`] iterations in the letters of a rank, if it contains most of them.
///
/// A rare letter occurs once or a few times in an iteration of the outermost loop, so the distance to its next
/// occurrence in the middle of the program is the length of an iteration. The loop extends as far as each letter equals
/// the letter one iteration before.
pub(crate) fn find_loop(letters: &[u32]) -> Option<Loop> {
    let mut counts = vec![0_u32; letters.iter().max().map_or(0, |&last| last as usize + 1)];
    for &letter in letters {
        counts[letter as usize] += 1;
    }
    let mut rare: Vec<(u32, u32)> =
        counts.into_iter().zip(0..).filter(|&(count, _)| u64::from(count) >= FEWEST).collect();
    rare.sort_unstable();
    rare.truncate(TRIED);
    let mut best: Option<Loop> = None;
    for (_, letter) in rare {
        let places: Vec<usize> =
            letters.iter().enumerate().filter(|&(_, &other)| other == letter).map(|(place, _)| place).collect();
        for times in 1..=MOST_IN_ITERATION {
            let middle = places.len() / 2;
            let Some(&next) = places.get(middle + times) else { break };
            let period = next - places[middle];
            let found = extend(letters, places[middle], period);
            if found.iterations >= FEWEST && best.is_none_or(|best| found.length() > best.length()) {
                best = Some(found);
            }
        }
        if best.is_some_and(|best| best.length() * 10 >= letters.len() as u64 * 9) {
            break;
        }
    }
    best.filter(|best| best.length() * 2 > letters.len() as u64)
}

/// The loop around `place` whose iterations have `period` events.
fn extend(letters: &[u32], place: usize, period: usize) -> Loop {
    let before = letters[..place].iter().zip(&letters[period..]).rev().take_while(|(one, next)| one == next).count();
    let after = letters[place..].iter().zip(&letters[place + period..]).take_while(|(one, next)| one == next).count();
    let start = place - before;
    let length = before + after + period;
    Loop { start: start as u64, period: period as u64, iterations: (length / period) as u64 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_outer_loop_of_a_nest_is_found() {
        let iteration: Vec<u32> = [vec![1], [2, 3].repeat(50), vec![4, 4]].concat();
        let letters: Vec<u32> = [vec![9, 8, 7], iteration.repeat(40), vec![5]].concat();
        assert_eq!(find_loop(&letters), Some(Loop { start: 3, period: 103, iterations: 40 }));
    }

    #[test]
    fn a_program_without_a_loop_has_none() {
        assert_eq!(find_loop(&[]), None);
        assert_eq!(find_loop(&(0..1000).collect::<Vec<_>>()), None);
        assert_eq!(find_loop(&[1, 2].repeat(9)), None);
        let half: Vec<u32> = [(10..100).collect(), [1, 2].repeat(20)].concat();
        assert_eq!(find_loop(&half), None);
    }

    proptest! {
        #[test]
        fn a_loop_is_one(prologue in prop::collection::vec(0..9_u32, 0..30), body in prop::collection::vec(0..5_u32, 1..20),
                         iterations in FEWEST..60, epilogue in prop::collection::vec(0..9_u32, 0..30)) {
            let letters = [prologue, body.repeat(iterations as usize), epilogue].concat();
            // Something is always found, though a few of its iterations may be one of the program's.
            if let Some(found) = find_loop(&letters) {
                let part = &letters[found.start as usize..][..found.length() as usize];
                let period = found.period as usize;
                prop_assert!(part.iter().zip(&part[period..]).all(|(one, next)| one == next));
                prop_assert!(found.iterations >= FEWEST);
            }
        }
    }
}
