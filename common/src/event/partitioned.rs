//! Partitioned communication (MPI 4.0 §4): persistent messages that are sent in parts.

use super::{Incoming, Outgoing, RequestId};

/// A call of partitioned communication. Starting and completing its requests are events like those of other requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Partitioned {
    /// `MPI_Psend_init`: sets up a send in so many parts.
    SendInit(Outgoing, u32, RequestId),
    /// `MPI_Precv_init`: sets up a receive in so many parts.
    RecvInit(Incoming, u32, RequestId),
    /// `MPI_Pready`, `MPI_Pready_range`, `MPI_Pready_list`: these parts of a started send may leave.
    Ready(RequestId, Vec<u32>),
}
