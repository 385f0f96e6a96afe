//! The communication matrix: how much each rank sends to each other rank.

use std::collections::BTreeMap;

use titr_common::event::Rank;
use titr_common::time::Time;
use titr_common::units::Bytes;
use titr_simulation::observe::{Departure, Observer};

use crate::analysis::{Analysis, AnalysisKind};
use crate::findings::{Findings, Pair};

/// The communication matrix, under this name.
pub(crate) const MATRIX: AnalysisKind = AnalysisKind { name: "matrix", new: |_| Box::new(Matrix::default()) };

/// All pairs of ranks between which messages travel, those within collectives included.
#[derive(Debug, Default)]
struct Matrix(BTreeMap<(Rank, Rank), Cell>);

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
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
    type Findings = Vec<Pair>;

    fn findings(&self) -> Vec<Pair> {
        let pair = |(&(Rank(from), Rank(to)), &Cell { messages, bytes }): (&(Rank, Rank), &Cell)| Pair {
            from,
            to,
            messages,
            bytes,
        };
        self.0.iter().map(pair).collect()
    }

    fn place(all: &mut Findings) -> &mut Option<Vec<Pair>> {
        &mut all.matrix
    }
}
