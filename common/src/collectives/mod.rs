//! The messages of collectives.
//!
//! A library has several *algorithms* for each collective, and chooses one by message size, size of the communicator
//! and operation. An algorithm is a pure function from the size of the communicator, the member's rank, the root and
//! the volumes to the ordered *steps* of that member: sends, receives, local copies and reductions. The tracer executes
//! the steps in extended mode, and the replayer simulates them; both use the same code.
//!
//! ```
//! use titr_common::collectives::{Call, Library, CallMode, Selection};
//! use titr_common::event::{CollectiveKind, Volumes};
//! use titr_common::units::Bytes;
//!
//! let mut selection = Selection::from(Library::OpenMpi);
//! selection.force_list("bcast=binomial")?;
//! let (send, recv) = (&Volumes::Each(Bytes(800)), &Volumes::None);
//! let (kind, element) = (CollectiveKind::Bcast, Bytes(8));
//! let mode = CallMode::Blocking;
//! let call = Call { me: 2, size: 8, root: 0, kind, send, recv, element, mode, is_commutative: true, nodes: None };
//! let steps = selection.steps(&call);
//! assert_eq!(steps.len(), 4); // Member 2 of 8 receives, waits, sends to member 6, waits.
//! # Ok::<(), titr_common::collectives::UnknownAlgorithm>(())
//! ```
//!
//! `inter` has the collectives of inter-communicators, which consist of collectives of their groups; `neighborhood` has
//! neighbourhood collectives; `smp` and `han` those that know which members share a node.
//!
//! `algorithms` has a file for each collective; `library` has the rules by which each library chooses; `plan` maps a
//! call to its steps.

mod algorithms;
mod call;
mod han;
mod inter;
mod library;
mod neighborhood;
mod nodes;
mod plan;
mod rules;
mod selection;
mod smp;
mod step;
mod subcall;

pub use algorithms::{
    Algorithm, Allgather, Allgatherv, Allreduce, Alltoall, Alltoallv, Barrier, Bcast, Choice, Gather, Gatherv, Reduce,
    ReduceScatter, Scan, Scatter, Scatterv,
};
pub use call::{Call, CallMode};
pub use inter::RootRole;
pub use library::{Library, collective_named};
pub use neighborhood::neighborhood_steps;
pub use nodes::NodeMap;
pub use rules::{SiteRules, SiteRulesError};
pub use selection::{Selection, UnknownAlgorithm};
pub use step::{Buffer, Member, Slice, Step};
