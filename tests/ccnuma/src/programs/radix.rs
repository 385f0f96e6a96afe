//! Radix sort of integers, as in SPLASH-2's Radix (S. C. Woo et al., ISCA 1995).
//!
//! For each digit, every node counts the digits of its keys; each node adds up some of the digits over all nodes; then
//! every node writes its keys to their destinations, on any node. SPLASH-2 adds up along a tree instead.

use super::{Program, Script, address};

/// Values of a digit.
const RADIX: usize = 256;

/// Digits of a key.
const DIGITS: u32 = 2;

/// Bytes of a key or a count.
const WORD: u64 = 4;

/// Steps for a digit.
const STEPS: u32 = 3;

/// The sorting of keys.
#[derive(Debug)]
pub struct Radix {
    nodes: usize,
    /// Keys of a node.
    share: usize,
    /// The keys before and after the digit that is at work.
    keys: [Vec<u32>; 2],
    /// For each node, the count of each digit, then the position of the next key with this digit.
    counts: Vec<[usize; RADIX]>,
    totals: [usize; RADIX],
    step: u32,
}

/// The arrays in the memory of each node.
#[derive(Clone, Copy)]
enum Array {
    Keys(usize),
    Counts,
    Offsets,
    Totals,
}

impl Radix {
    /// The sorting of this many keys per node; [`RADIX`] digits are distributed evenly over the nodes.
    #[must_use]
    pub fn new(nodes: u32, share: usize) -> Option<Self> {
        let nodes = nodes as usize;
        let fits = nodes > 0 && RADIX.is_multiple_of(nodes) && share > 0;
        // The high bits of a linear congruential generator (D. E. Knuth, "The Art of Computer Programming", vol. 2,
        // §3.3.4, MMIX).
        let mut state: u64 = 1;
        let mut key = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 48) as u32
        };
        let keys: Vec<u32> = (0..nodes * share).map(|_| key()).collect();
        let empty = vec![0; keys.len()];
        let counts = vec![[0; RADIX]; nodes];
        fits.then_some(Self { nodes, share, keys: [keys, empty], counts, totals: [0; RADIX], step: 0 })
    }

    fn address(&self, array: Array, node: usize, place: usize) -> u64 {
        let before = match array {
            Array::Keys(which) => which * self.share,
            Array::Counts => 2 * self.share,
            Array::Offsets => 2 * self.share + RADIX,
            Array::Totals => 2 * self.share + 2 * RADIX,
        };
        address(node as u32, (before + place) as u64 * WORD)
    }

    /// The digits that a node adds up.
    fn digits_of(&self, node: usize) -> std::ops::Range<usize> {
        let digits = RADIX / self.nodes;
        node * digits..(node + 1) * digits
    }

    /// Counts a node's digits.
    fn count(&mut self, from: usize, shift: u32, node: usize, script: &mut Script) {
        self.counts[node] = [0; RADIX];
        for place in 0..self.share {
            let digit = digit(self.keys[from][node * self.share + place], shift);
            script.read(self.address(Array::Keys(from), node, place));
            script.compute(3);
            script.read(self.address(Array::Counts, node, digit));
            script.write(self.address(Array::Counts, node, digit));
            self.counts[node][digit] += 1;
        }
    }

    /// Adds up a node's digits over all nodes: each node's keys follow those of the nodes before it.
    fn add_up(&mut self, node: usize, script: &mut Script) {
        for digit in self.digits_of(node) {
            let mut total = 0;
            for other in 0..self.nodes {
                script.read(self.address(Array::Counts, other, digit));
                script.compute(2);
                script.write(self.address(Array::Offsets, other, digit));
                total += std::mem::replace(&mut self.counts[other][digit], total);
            }
            script.write(self.address(Array::Totals, node, digit % (RADIX / self.nodes)));
            self.totals[digit] = total;
        }
    }

    /// Writes a node's keys to where they belong.
    fn permute(&mut self, from: usize, shift: u32, node: usize, script: &mut Script) {
        let mut before = 0;
        for digit in 0..RADIX {
            let adder = digit / (RADIX / self.nodes);
            script.read(self.address(Array::Totals, adder, digit % (RADIX / self.nodes)));
            script.read(self.address(Array::Offsets, node, digit));
            script.compute(3);
            self.counts[node][digit] += before;
            before += self.totals[digit];
        }
        for place in 0..self.share {
            let key = self.keys[from][node * self.share + place];
            let to = &mut self.counts[node][digit(key, shift)];
            let target = *to;
            *to += 1;
            script.read(self.address(Array::Keys(from), node, place));
            script.compute(6);
            script.write(self.address(Array::Keys(1 - from), target / self.share, target % self.share));
            self.keys[1 - from][target] = key;
        }
    }
}

fn digit(key: u32, shift: u32) -> usize {
    (key >> shift) as usize % RADIX
}

impl Program for Radix {
    fn nodes(&self) -> u32 {
        self.nodes as u32
    }

    fn phase(&mut self) -> Vec<Script> {
        let (pass, step) = (self.step / STEPS, self.step % STEPS);
        if pass == DIGITS {
            return Vec::new();
        }
        self.step += 1;
        let (from, shift) = (pass as usize % 2, pass * RADIX.trailing_zeros());
        let mut scripts = vec![Script::default(); self.nodes];
        for (node, script) in scripts.iter_mut().enumerate() {
            match step {
                0 => self.count(from, shift, node, script),
                1 => self.add_up(node, script),
                _ => self.permute(from, shift, node, script),
            }
        }
        scripts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_are_sorted() {
        let mut radix = Radix::new(8, 100).unwrap();
        let mut expected = radix.keys[0].clone();
        expected.sort_unstable();
        while !radix.phase().is_empty() {}
        assert_eq!(radix.keys[DIGITS as usize % 2], expected);
    }

    #[test]
    fn digits_have_to_be_shared_out_evenly() {
        assert!(Radix::new(3, 10).is_none() && Radix::new(0, 10).is_none() && Radix::new(4, 0).is_none());
    }
}
