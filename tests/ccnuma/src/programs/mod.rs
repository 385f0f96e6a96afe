//! Programs: the actions of each node between two barriers.
//!
//! They have no data races, so the accesses of a phase do not depend on their order in time. The computation of a phase
//! is executed for all nodes at once, and yields the accesses of each.

mod fft;
mod radix;

pub use fft::Fft;
pub use radix::Radix;

/// An operation of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// This many instructions that access no shared memory.
    Compute(u32),
    /// Reads the word at an address.
    Read(u64),
    /// Writes the word at an address.
    Write(u64),
}

/// The operations of a node in a phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// The operations, in order.
    pub ops: Vec<Op>,
}

/// A program in phases, with a barrier after each.
pub trait Program {
    /// The number of nodes.
    fn nodes(&self) -> u32;

    /// Computes the next phase; no scripts at all: the program is over.
    fn phase(&mut self) -> Vec<Script>;
}

impl Script {
    fn compute(&mut self, instructions: u32) {
        self.ops.push(Op::Compute(instructions));
    }

    fn read(&mut self, address: u64) {
        self.ops.push(Op::Read(address));
    }

    fn write(&mut self, address: u64) {
        self.ops.push(Op::Write(address));
    }
}

/// An address in the memory of a node.
fn address(node: u32, offset: u64) -> u64 {
    u64::from(node) << 32 | offset
}
