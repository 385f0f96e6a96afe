//! Refines a platform by whole runs: values of the platform are multiplied by factors, so that replays of traces take as long
//! as the runs of their programs took.
//!
//! ```toml
//! platform = "cluster.toml"           # relative to this file, like the traces
//! values = ["hosts.speed", "mpi.send_overhead"]
//! choices = ["mpi.rendezvous_duplex"]
//!
//! [[run]]
//! trace = "traces-lu"
//! seconds = 12.3                      # from MPI_Init to MPI_Finalize
//!
//! [[run]]
//! trace = "traces-ft"
//! seconds = 5.1
//! held_out = true                     # tells how good the refined platform is
//! ```
//!
//! **The problem.** For run *i*, the residual is *rᵢ = ln (predicted / measured)*, and the factor of value *k* is *exp xₖ*. The
//! factors minimise *Σ rᵢ²* over all runs that are not held out, by the method of Gauss and Newton (J. Nocedal and S. Wright,
//! "Numerical Optimization", 2006, §10.3); the derivatives are differences between replays. Flags (`choices`) are tried both ways.
//!
//! **What runs cannot tell.** A value that changes no predicted time, or changes the times of all runs as other values do, has no
//! best factor. Such a value is refused: the part of its derivatives that is not a combination of those of the values before it
//! has to be large enough.

mod refinement;

pub use refinement::{RefineError, Refinement};

#[cfg(test)]
mod tests;
