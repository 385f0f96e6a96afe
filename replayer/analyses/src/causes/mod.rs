//! Chains of causes: for each waiter and each message, the intervals of work and transfer, from the start of the
//! program, that led to its present state.
//!
//! # Vocabulary
//! A replay is a system of maxima and sums: a waiter's clock is the maximum of its own time and the times of everything
//! it waits for, plus its own work. Each waiter therefore has exactly one chain of intervals that begins at time zero,
//! contains no waiting, and adds up to the waiter's time. When the waiter waits, its chain is replaced by the chain of
//! the **cause**, which ended the wait. A **tip** is the end of a chain. Chains share a common beginning: they are
//! branches of a [tree](Causes).
//!
//! # Uses
//! The chain of the thread that ends last is the critical path. At the end of a wait, the difference of two chains, the
//! waiter's own and the cause's, is exactly the waiting time, because both begin at the same fork and neither contains
//! waiting.

mod causal_chains;
mod places;
mod segment;
mod tree;

pub(crate) use causal_chains::{CausalChains, Wait, WaitListener};
pub(crate) use segment::{PlaceId, Segment, SegmentSums};
pub(crate) use tree::{Causes, ChainEnd};
