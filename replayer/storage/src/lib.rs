//! Models of storage: the time that disks take to read and to write, for single and concurrent accesses.
//!
//! [`Disks`] executes accesses to numbered disks and reports when each is done. The ranks and hosts that access a disk,
//! and the transfer of the bytes, are modelled elsewhere.

mod disks;
mod striping;

pub use disks::{Access, AccessId, Direction, DiskId, DiskParameters, Disks, Service};
pub use striping::Striping;
