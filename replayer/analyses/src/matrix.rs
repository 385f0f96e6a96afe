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
struct Matrix(BTreeMap<(Rank, Rank), Pair>);

impl Observer for Matrix {
    fn injected(&mut self, _: Time, message: Departure) {
        let Departure { from, to, bytes, .. } = message;
        let none = Pair { from: from.0, to: to.0, messages: 0, bytes: Bytes(0) };
        let pair = self.0.entry((from, to)).or_insert(none);
        pair.messages += 1;
        pair.bytes += bytes;
    }
}

impl Analysis for Matrix {
    fn add_to(&self, all: &mut Findings) {
        all.matrix = Some(self.0.values().copied().collect());
    }
}
