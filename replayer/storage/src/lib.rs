//! Models of storage: the time that disks take to read and to write, for single and concurrent accesses.
//!
//! [`Disks`] executes accesses to numbered disks and reports when each is done. The ranks and hosts that access a disk,
//! and the transfer of the bytes, are modelled elsewhere.

mod disk;
mod disks;
mod queue;
mod sharing;
mod striping;

pub use disk::{Access, AccessId, Direction, DiskParameters, Service};
pub use disks::{DiskId, Disks};
pub use striping::Striping;
