//! MPI's functions, by the names of the regions that a tool enters and leaves with them.

use titr_common::event::{CollectiveKind, CommCall, Quantifier, SendMode};

use crate::input::functions::{self, MessageForm};
use crate::input::rank_events::is_local;

/// What a region means for a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Otf2Function {
    Init,
    Finalize,
    /// A send, in any form, or the start of one.
    Send(SendMode),
    /// `MPI_Sendrecv` and `MPI_Sendrecv_replace`, whose two messages are one event.
    Sendrecv,
    Wait(Quantifier),
    Test(Quantifier),
    /// A function whose records describe it, or that moves nothing: a receive, `MPI_Comm_rank`.
    Plain,
    /// A function that does its work alone: its time is computation.
    Local,
    /// A function that makes a communicator of all that call it, or of a part of them.
    MakesComm(CommCall),
    /// A function that communicates. Its call is lost if it has no record.
    Recorded,
    /// One-sided communication.
    OneSided(OneSidedFunction),
}

/// A function of one-sided communication that its records alone do not tell from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OneSidedFunction {
    Fence,
    Post,
    Start,
    Complete,
    Wait,
    Test,
    Lock,
    LockAll,
    Unlock,
    UnlockAll,
    Flush,
    FlushLocal,
    Accumulate,
    GetAccumulate,
    FetchAndOp,
    CompareAndSwap,
}

impl Otf2Function {
    /// The function of a region of this name, in C or Fortran; `None` if it is not of MPI. Some tools do not say which
    /// regions are of MPI, and a program may have functions whose names begin like MPI's.
    pub(super) fn of_region(name: &str, is_of_mpi: bool) -> Option<Self> {
        let name = bare_name(name)?;
        let further = || if is_local(&name) { Self::Local } else { Self::Recorded };
        Self::of_name(&name).or_else(|| is_of_mpi.then(further))
    }

    /// The function of a name that no function of a program has by chance.
    fn of_name(name: &str) -> Option<Self> {
        if let Some((mode, form)) = functions::send(name) {
            return Some(if form == MessageForm::Persistent { Self::Plain } else { Self::Send(mode) });
        }
        if let Some((quantifier, is_test)) = functions::completion(name) {
            return Some(if is_test { Self::Test(quantifier) } else { Self::Wait(quantifier) });
        }
        Some(match name {
            "init" | "init_thread" => Self::Init,
            "finalize" => Self::Finalize,
            "sendrecv" | "sendrecv_replace" => Self::Sendrecv,
            "start" | "startall" => Self::Send(SendMode::Standard),
            "comm_dup" | "comm_dup_with_info" => Self::MakesComm(CommCall::Dup),
            "comm_split" => Self::MakesComm(CommCall::Split),
            "comm_split_type" => Self::MakesComm(CommCall::SplitType),
            "comm_create" => Self::MakesComm(CommCall::Create),
            "cart_create" => Self::MakesComm(CommCall::CartCreate),
            "graph_create" => Self::MakesComm(CommCall::GraphCreate),
            "dist_graph_create" => Self::MakesComm(CommCall::DistGraphCreate),
            "dist_graph_create_adjacent" => Self::MakesComm(CommCall::DistGraphCreateAdjacent),
            "mrecv" | "imrecv" | "isendrecv" | "isendrecv_replace" => Self::Recorded,
            name if PLAIN.contains(&name) => Self::Plain,
            _ => match OneSidedFunction::of_name(name) {
                Some(function) => Self::OneSided(function),
                None if is_collective(name) || name.starts_with("neighbor_") || name.starts_with("ineighbor_") => {
                    Self::Recorded
                }
                None if name.starts_with("file_") && moves_data(name) => Self::Recorded,
                None => return None,
            },
        })
    }
}

impl OneSidedFunction {
    fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "win_fence" => Self::Fence,
            "win_post" => Self::Post,
            "win_start" => Self::Start,
            "win_complete" => Self::Complete,
            "win_wait" => Self::Wait,
            "win_test" => Self::Test,
            "win_lock" => Self::Lock,
            "win_lock_all" => Self::LockAll,
            "win_unlock" => Self::Unlock,
            "win_unlock_all" => Self::UnlockAll,
            "win_flush" | "win_flush_all" => Self::Flush,
            "win_flush_local" | "win_flush_local_all" => Self::FlushLocal,
            "accumulate" | "raccumulate" => Self::Accumulate,
            "get_accumulate" | "rget_accumulate" => Self::GetAccumulate,
            "fetch_and_op" => Self::FetchAndOp,
            "compare_and_swap" => Self::CompareAndSwap,
            _ => return None,
        })
    }
}

/// The functions whose records describe them, and others that programs call often.
const PLAIN: [&str; 20] = [
    "recv",
    "irecv",
    "probe",
    "iprobe",
    "mprobe",
    "improbe",
    "recv_init",
    "request_free",
    "cancel",
    "put",
    "get",
    "rput",
    "rget",
    "win_free",
    "comm_free",
    "comm_rank",
    "comm_size",
    "comm_group",
    "initialized",
    "finalized",
];

/// The name of MPI's function without `MPI_`, in lower case; `None` if it is none. Tools write Fortran's names as the
/// linker has them (`mpi_send_`).
fn bare_name(name: &str) -> Option<String> {
    let name = name.strip_prefix(['P', 'p']).unwrap_or(name);
    let (prefix, rest) = name.split_at_checked(4)?;
    let rest = rest.trim_end_matches('_');
    let is_name = rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (prefix.eq_ignore_ascii_case("mpi_") && is_name && !rest.is_empty()).then(|| rest.to_ascii_lowercase())
}

/// Whether a function is a collective, blocking or not.
fn is_collective(name: &str) -> bool {
    functions::collective(name.strip_prefix('i').unwrap_or(name)).is_some()
}

/// Whether a function on a file reads or writes.
fn moves_data(name: &str) -> bool {
    name.contains("read") || name.contains("write")
}

/// The collectives, in the order of their numbers in records.
const KINDS: [CollectiveKind; 17] = {
    use CollectiveKind as K;
    [
        K::Barrier,
        K::Bcast,
        K::Gather,
        K::Gatherv,
        K::Scatter,
        K::Scatterv,
        K::Allgather,
        K::Allgatherv,
        K::Alltoall,
        K::Alltoallv,
        K::Alltoallw,
        K::Allreduce,
        K::Reduce,
        K::ReduceScatter,
        K::Scan,
        K::Exscan,
        K::ReduceScatterBlock,
    ]
};

/// The collective with a number in records.
pub(super) fn kind_of(number: u8) -> Option<CollectiveKind> {
    KINDS.get(usize::from(number)).copied()
}

/// The number of a collective in records.
pub(crate) fn number_of(kind: CollectiveKind) -> u8 {
    KINDS.iter().position(|&other| other == kind).map_or(u8::MAX, |number| number as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_c_and_fortran_are_the_same_function() {
        for name in ["MPI_Isend", "mpi_isend_", "PMPI_Isend", "mpi_isend", "MPI_ISEND"] {
            assert_eq!(Otf2Function::of_region(name, false), Some(Otf2Function::Send(SendMode::Standard)), "{name}");
        }
        assert_eq!(Otf2Function::of_region("MPI_Comm_rank", false), Some(Otf2Function::Plain));
        assert_eq!(Otf2Function::of_region("MPI_Type_commit", true), Some(Otf2Function::Local));
        assert_eq!(Otf2Function::of_region("MPI_Allreduce_init", true), Some(Otf2Function::Recorded));
        assert_eq!(Otf2Function::of_region("MPI_Iallreduce", false), Some(Otf2Function::Recorded));
        for name in ["main", "MPI_", "mpi_setup_", "mpi_helper<int>", "step", "", "é"] {
            assert_eq!(Otf2Function::of_region(name, false), None, "{name}");
        }
    }
}
