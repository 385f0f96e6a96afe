//! The labels of a rank: the number of the operation that each names.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

/// A map from labels to numbers of operations.
///
/// Writers number their labels: `l1`, `l2`. Those that follow each other in this way are in a list, other labels of a
/// letter and a number in a map by number, and all others in a map by name.
#[derive(Debug, Default)]
pub(super) struct Labels {
    /// The operations of the labels from the number `first` on, with this letter. Removed ones are [`REMOVED`].
    listed: VecDeque<u64>,
    first: u64,
    letter: u8,
    numbered: FxHashMap<u64, u64>,
    named: FxHashMap<Box<[u8]>, u64>,
}

const REMOVED: u64 = u64::MAX;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Label {
    None,
    /// A letter and a number.
    Numbered(u64),
    Named(Box<[u8]>),
}

impl Labels {
    /// The operation that a label names.
    #[inline]
    pub(super) fn get(&self, label: &[u8]) -> Option<u64> {
        let Some(key) = numbered(label) else { return self.named.get(label).copied() };
        match self.place(key).and_then(|at| self.listed.get(at)) {
            Some(&operation) if operation != REMOVED => Some(operation),
            _ => self.numbered.get(&key).copied(),
        }
    }

    /// Adds a label; the operation that it names already, if it does.
    #[inline]
    pub(super) fn insert(&mut self, label: &[u8], operation: u64) -> Option<u64> {
        let Some(key) = numbered(label) else { return self.named.insert(label.into(), operation) };
        if self.listed.is_empty() {
            (self.first, self.letter) = (key >> 8, key as u8);
        }
        match self.place(key) {
            Some(at) if at == self.listed.len() => {
                self.listed.push_back(operation);
                if self.numbered.is_empty() { None } else { self.numbered.remove(&key) }
            }
            Some(at) if at < self.listed.len() && self.listed[at] != REMOVED => Some(self.listed[at]),
            _ => self.numbered.insert(key, operation),
        }
    }

    pub(super) fn remove(&mut self, label: &Label) {
        match label {
            Label::None => {}
            Label::Numbered(key) => match self.place(*key).and_then(|at| self.listed.get_mut(at)) {
                Some(operation) if *operation != REMOVED => {
                    *operation = REMOVED;
                    while self.listed.front() == Some(&REMOVED) {
                        self.listed.pop_front();
                        self.first += 1;
                    }
                }
                _ => _ = self.numbered.remove(key),
            },
            Label::Named(name) => _ = self.named.remove(name),
        }
    }

    pub(super) fn clear(&mut self) {
        self.listed.clear();
        self.numbered.clear();
        self.named.clear();
    }

    /// The place in the list of a label with the letter of the list.
    #[inline]
    fn place(&self, key: u64) -> Option<usize> {
        let at = (key >> 8).checked_sub(self.first)?;
        if key as u8 == self.letter { usize::try_from(at).ok() } else { None }
    }
}

impl Label {
    #[inline]
    pub(super) fn of(text: &[u8]) -> Self {
        match numbered(text) {
            Some(key) => Self::Numbered(key),
            None if text.is_empty() => Self::None,
            None => Self::Named(text.into()),
        }
    }
}

/// The number of a label that is a letter and a number without leading zeros, unique among these.
#[inline]
fn numbered(label: &[u8]) -> Option<u64> {
    let (&letter, digits) = label.split_first()?;
    if digits.is_empty() || digits.len() > 15 || digits[0] == b'0' {
        return None;
    }
    let mut number = 0_u64;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number * 10 + u64::from(digit);
    }
    Some(number << 8 | u64::from(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_follow_each_other_and_others_are_found_until_they_are_removed() {
        let mut labels = Labels::default();
        let names = ["l7", "l8", "l20", "l9", "k10", "l10", "l11", "l6"];
        for (number, name) in (0..).zip(names) {
            assert_eq!(labels.insert(name.as_bytes(), number), None, "{name}");
        }
        assert_eq!(labels.insert(b"l8", 9), Some(1));
        for (removed, name) in names.iter().enumerate() {
            for (number, name) in names.iter().enumerate() {
                assert_eq!(labels.get(name.as_bytes()), (number >= removed).then_some(number as u64), "{name}");
            }
            labels.remove(&Label::of(name.as_bytes()));
        }
    }

    #[test]
    fn labels_that_look_alike_differ() {
        let mut labels = Labels::default();
        let all: [&[u8]; 7] = [b"l1", b"k1", b"l01", b"l", b"l1_", b"l1000000000000000", b"l10000000000000000"];
        for (number, label) in (0..).zip(all) {
            assert_eq!(labels.insert(label, number), None);
        }
        for (number, label) in (0..).zip(all) {
            assert_eq!(labels.get(label), Some(number));
            labels.remove(&Label::of(label));
            assert_eq!(labels.get(label), None);
        }
    }
}
