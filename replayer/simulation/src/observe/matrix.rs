//! Which ranks send to which, and how much: the communication matrix.

use std::collections::BTreeMap;

use serde::Serialize;
use titr_common::event::Rank;
use titr_common::time::Time;
use titr_common::units::Bytes;

use super::{Analysis, AnalysisKind, Departure, Observer};

/// The communication matrix, under this name.
pub(super) const MATRIX: AnalysisKind = AnalysisKind { name: "matrix", new: |_| Box::new(Matrix::default()) };

/// All pairs of ranks between which messages travel, those within collectives included.
#[derive(Debug, Default)]
struct Matrix(BTreeMap<(Rank, Rank), Cell>);

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    messages: u64,
    bytes: Bytes,
}

/// A pair of ranks as it is serialised.
#[derive(Serialize)]
struct Pair {
    from: u32,
    to: u32,
    messages: u64,
    bytes: Bytes,
}

impl Observer for Matrix {
    fn injected(&mut self, _: Time, message: Departure) {
        let cell = self.0.entry((message.from, message.to)).or_default();
        cell.messages += 1;
        cell.bytes += message.bytes;
    }
}

impl Analysis for Matrix {
    fn findings(&self) -> serde_json::Result<serde_json::Value> {
        let pair = |(&(Rank(from), Rank(to)), &Cell { messages, bytes }): (&(Rank, Rank), &Cell)| Pair {
            from,
            to,
            messages,
            bytes,
        };
        serde_json::to_value(self.0.iter().map(pair).collect::<Vec<_>>())
    }
}
