//! Chains of causes: for each waiter and each message, the spells of work and transfer without which it would not be where it
//! is, from the start of the program on.
//!
//! # Vocabulary
//! A replay is a system of maxima and sums: a waiter's clock is the later of its own time and that of whatever it waits for,
//! plus its own work. So there is exactly one chain of spells for each waiter that begins at time zero, has no waiting in it,
//! and adds up to the waiter's time. Where the waiter waits, its chain is replaced by that of the **cause**: whatever ended the
//! wait. A **tip** is the end of a chain. Chains that have a common beginning share it: they are branches of a [tree](Causes).
//!
//! # Uses
//! The chain of the thread that ends last is the critical path. If a wait ends, the difference of two chains, the waiter's own
//! and the cause's, is exactly the time that was waited, as both begin at the same fork and neither has waiting in it.

mod places;
mod segment;
mod tips;
mod tree;

pub(crate) use segment::{PlaceId, Segment, SegmentSums};
pub(crate) use tips::{Tips, Wait, WaitListener};
pub(crate) use tree::{Causes, Tip};
