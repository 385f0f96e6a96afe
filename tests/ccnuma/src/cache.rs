//! A private cache: sets of lines with MESI states and least-recently-used replacement.

use crate::message::{LINE_BYTES, Line};

/// Bytes of a cache.
const BYTES: u64 = 16 << 10;

/// Lines of a set, but for lines that must not leave it.
const WAYS: usize = 4;

/// The state of a line that is in a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Others may have copies.
    Shared,
    /// No other cache has a copy, and it is as in memory.
    Exclusive,
    /// No other cache has a copy, and it was written.
    Modified,
}

#[derive(Clone, Copy, Debug)]
struct Way {
    line: Line,
    state: State,
    used: u64,
}

/// A cache.
#[derive(Debug)]
pub(crate) struct Cache {
    sets: Vec<Vec<Way>>,
    uses: u64,
}

impl Cache {
    pub(crate) fn new() -> Self {
        let sets = (BYTES / LINE_BYTES) as usize / WAYS;
        Self { sets: vec![Vec::with_capacity(WAYS); sets], uses: 0 }
    }

    fn set(&mut self, line: Line) -> &mut Vec<Way> {
        let sets = self.sets.len() as u64;
        &mut self.sets[(line.0 % sets) as usize]
    }

    /// The state of a line, which is used now; `None`: it is not there.
    pub(crate) fn used(&mut self, line: Line) -> Option<State> {
        self.uses += 1;
        let used = self.uses;
        let way = self.set(line).iter_mut().find(|way| way.line == line)?;
        way.used = used;
        Some(way.state)
    }

    /// The state of a line.
    pub(crate) fn state(&mut self, line: Line) -> Option<State> {
        self.set(line).iter().find(|way| way.line == line).map(|way| way.state)
    }

    /// Changes the state of a line, if it is there; `None` removes it.
    pub(crate) fn change(&mut self, line: Line, state: Option<State>) {
        let set = self.set(line);
        match state {
            Some(state) => set.iter_mut().filter(|way| way.line == line).for_each(|way| way.state = state),
            None => set.retain(|way| way.line != line),
        }
    }

    /// Takes a line in, and returns the one that makes room, unless all others are `kept`.
    pub(crate) fn take_in(&mut self, line: Line, state: State, kept: impl Fn(Line) -> bool) -> Option<(Line, State)> {
        self.uses += 1;
        let used = self.uses;
        let set = self.set(line);
        if let Some(way) = set.iter_mut().find(|way| way.line == line) {
            *way = Way { line, state, used };
            return None;
        }
        let mut victim = None;
        if set.len() >= WAYS {
            let candidates = set.iter().enumerate().filter(|(_, way)| !kept(way.line));
            victim = candidates.min_by_key(|(_, way)| way.used).map(|(place, _)| place);
        }
        let victim = victim.map(|place| set.swap_remove(place));
        set.push(Way { line, state, used });
        victim.map(|way| (way.line, way.state))
    }
}
