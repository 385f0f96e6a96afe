//! What messages a collective is made of.
//!
//! A library has several *algorithms* for each collective and chooses one by message size, size of the communicator and
//! operation. An algorithm is a pure function: (size of the communicator, my rank there, root, volumes) to the ordered
//! *steps* of that member — sends, receives, local copies and reductions. The tracer executes the steps in extended
//! mode, the replayer simulates them; they exist once.
//!
//! ```
//! use titr_common::collectives::{Library, Selection};
//! use titr_common::event::{CollectiveOp, Rank};
//! use titr_common::units::Bytes;
//!
//! let mut selection = Selection::from(Library::OpenMpi);
//! selection.force_list("bcast=binomial")?;
//! let op = CollectiveOp::Bcast { bytes: Bytes(800), root: Rank(0) };
//! let steps = selection.schedule(2, 8, 0, &op, Bytes(8));
//! assert_eq!(steps.len(), 4); // Member 2 of 8 receives, waits, sends to member 6, waits.
//! # Ok::<(), titr_common::collectives::UnknownAlgorithm>(())
//! ```
//!
//! `algorithms` has a file for each collective; `library` the rules by which each library chooses; `plan` leads from
//! a call to its steps.

mod algorithms;
mod call;
mod library;
mod plan;
mod selection;
mod step;

pub use algorithms::{
    Algorithm, Allgather, Allgatherv, Allreduce, Alltoall, Alltoallv, Barrier, Bcast, Choice, Collective, Gather,
    Gatherv, Reduce, ReduceScatter, Scan, Scatter, Scatterv,
};
pub use call::Call;
pub use library::Library;
pub use selection::{Selection, UnknownAlgorithm};
pub use step::{Buffer, Member, Slice, Step};
