//! A graph of operations, written as text or in binary form.

use std::io::Write;

use titr_common::event::Rank;

use crate::input::goal::{ANY, GoalKind, GoalOperation, HEADER, MAGIC, ORIGIN, RANK};

/// The operations of a rank. No operation requires a later one.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// Each with the end of its requirements.
    operations: Vec<(GoalOperation, usize)>,
    /// The requirements of all operations, in their order.
    requirements: Vec<Requirement>,
}

/// An operation that has to end, or to begin, before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Requirement {
    Ended(u32),
    Begun(u32),
}

impl Graph {
    pub(super) fn clear(&mut self) {
        self.operations.clear();
        self.requirements.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.operations.len()
    }

    /// The number of messages that the rank sends.
    pub(super) fn sends(&self) -> u64 {
        self.operations.iter().filter(|(operation, _)| operation.kind == GoalKind::Send).count() as u64
    }

    /// The highest core that an operation names.
    pub(super) fn highest_core(&self) -> u8 {
        self.operations.iter().map(|(operation, _)| operation.core as u8).max().unwrap_or(0)
    }

    /// Adds an operation; returns its number.
    pub(super) fn add(&mut self, operation: GoalOperation, requirements: &[Requirement]) -> u32 {
        self.requirements.extend_from_slice(requirements);
        self.operations.push((operation, self.requirements.len()));
        self.operations.len() as u32 - 1
    }

    fn iter(&self) -> impl Iterator<Item = (&GoalOperation, &[Requirement])> {
        let mut begin = 0;
        self.operations.iter().map(move |(operation, end)| {
            let requirements = &self.requirements[begin..*end];
            begin = *end;
            (operation, requirements)
        })
    }

    /// Appends the graph of `rank` as text.
    pub(super) fn text(&self, rank: Rank, out: &mut Vec<u8>) {
        // Writing to a vector cannot fail.
        let _ = writeln!(out, "\nrank {} {{", rank.0);
        for (number, (operation, requirements)) in self.iter().enumerate() {
            let &GoalOperation { kind, size, peer, tag, core, .. } = operation;
            let label = number + 1;
            let any = |number: u32| if number == ANY { "-1".to_owned() } else { number.to_string() };
            let _ = match kind {
                GoalKind::Send => write!(out, "l{label}: send {size}b to {peer} tag {tag}"),
                GoalKind::Receive => {
                    write!(out, "l{label}: recv {size}b from {} tag {}", any(peer), any(tag))
                }
                GoalKind::Compute => write!(out, "l{label}: calc {size}"),
            };
            if core > 0 {
                let _ = write!(out, " cpu {core}");
            }
            out.push(b'\n');
            for requirement in requirements {
                let _ = match requirement {
                    Requirement::Ended(other) => writeln!(out, "l{label} requires l{}", other + 1),
                    Requirement::Begun(other) => writeln!(out, "l{label} irequires l{}", other + 1),
                };
            }
        }
        out.extend_from_slice(b"}\n");
    }

    /// Appends the graph in binary form.
    pub(super) fn binary(&self, out: &mut Vec<u8>) {
        let word = |number: usize, out: &mut Vec<u8>| out.extend_from_slice(&(number as u32).to_le_bytes());
        let roots: Vec<usize> = self
            .iter()
            .enumerate()
            .filter(|(_, (_, requirements))| requirements.is_empty())
            .map(|(at, _)| at)
            .collect();
        word(self.len(), out);
        word(roots.len(), out);
        roots.iter().for_each(|&root| word(root, out));
        // The dependents of each operation, those of its end before those of its beginning.
        let mut counts = vec![[0_u32; 2]; self.len()];
        let place = |requirement: &Requirement| match *requirement {
            Requirement::Ended(other) => (other as usize, 0),
            Requirement::Begun(other) => (other as usize, 1),
        };
        for requirement in &self.requirements {
            let (other, on) = place(requirement);
            counts[other][on] += 1;
        }
        let mut first = vec![[0_u32; 2]; self.len()];
        let mut next = 0;
        for (first, counts) in first.iter_mut().zip(&counts) {
            *first = [next, next + counts[0]];
            next += counts[0] + counts[1];
        }
        let mut table = vec![0_u32; self.requirements.len()];
        let mut filled = first.clone();
        for (number, (_, requirements)) in (0..).zip(self.iter()) {
            for requirement in requirements {
                let (other, on) = place(requirement);
                table[filled[other][on] as usize] = number;
                filled[other][on] += 1;
            }
        }
        for (number, (operation, requirements)) in self.iter().enumerate() {
            word(requirements.len(), out);
            out.push(operation.kind as u8);
            word(operation.peer as usize, out);
            out.extend_from_slice(&operation.size.to_le_bytes());
            word(operation.tag as usize, out);
            out.extend_from_slice(&[operation.core as u8, 0]);
            for on in [0, 1] {
                word(counts[number][on] as usize, out);
                word(first[number][on] as usize, out);
            }
        }
        table.iter().for_each(|&number| word(number as usize, out));
    }
}

/// The beginning of a binary file whose ranks have these lengths, and the highest of the cores that they name.
pub(super) fn header(lengths: &[u64], core: u8) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend_from_slice(&MAGIC.to_le_bytes());
    out.extend_from_slice(&(lengths.len() as u32).to_le_bytes());
    out.extend_from_slice(&[core, 0]);
    let mut begin = HEADER - ORIGIN + RANK * lengths.len() as u64;
    for length in lengths {
        out.extend_from_slice(&begin.to_le_bytes());
        begin += length;
        out.extend_from_slice(&begin.to_le_bytes());
    }
    out
}
