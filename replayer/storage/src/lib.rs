//! Models of the storage that files lie on: how long a disk takes to read and to write, alone and for several at a time.
//!
//! [`Disks`] carries out accesses to numbered disks and says when each is done. Who accesses a disk, from which host, and how
//! the bytes get there is for others to say.

mod disk;
mod disks;
mod queue;
mod sharing;
mod striping;

pub use disk::{Access, AccessId, Direction, DiskParameters, Service};
pub use disks::{DiskId, Disks};
pub use striping::Striping;
