//! The words that the calls of each MPI function were recorded as: printed on standard error with `TITRACE_VERBOSE=2`,
//! and the source of `tests/tests/functions.txt`.

use std::collections::{BTreeMap, BTreeSet};

use titr_common::event::{Event, Rank};

use titr_wrappers::Function;

use crate::stderr::log;

/// The words in the trace for the calls of each function.
#[derive(Debug, Default)]
pub(super) struct Explanation {
    /// The words of the events since the last call ended.
    call: Vec<&'static str>,
    functions: BTreeMap<&'static str, BTreeSet<&'static str>>,
}

impl Explanation {
    /// Takes note of an event of the call that is being recorded.
    pub(super) fn add(&mut self, event: &Event) {
        self.call.push(event.word());
    }

    /// Ends a call: the events since the last one were a call of `function`.
    pub(super) fn end_call(&mut self, function: &Function) {
        if !self.call.is_empty() {
            self.functions.entry(function.name()).or_default().extend(self.call.drain(..));
        }
    }

    /// Prints the findings.
    pub(super) fn log(&self, rank: Rank) {
        for (function, words) in &self.functions {
            let words: Vec<&str> = words.iter().copied().collect();
            log(format_args!("rank {}: {function} is recorded as {}", rank.0, words.join(", ")));
        }
    }
}
