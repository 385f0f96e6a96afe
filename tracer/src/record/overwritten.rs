//! Handles and file pointers that a call overwrites: MPI sets the handle of a freed object to null, so it is saved
//! before the call.

use std::sync::Arc;

use titr_common::event::{CommId, Incoming, RequestId, ThreadId};
use titr_wrappers::argument::{Comm, File, Request, Win};
use titr_wrappers::functions::io::Io::MPI_File_close;
use titr_wrappers::functions::one_sided::OneSided::MPI_Win_free;
use titr_wrappers::functions::point_to_point::PointToPoint::{MPI_Start, MPI_Startall};
use titr_wrappers::{Call, Function};

use super::file_access::AccessCall;
use super::omitted_calls::Omission;
use crate::pmpi::ChangedInfos;

/// The handle or the file pointer that a call overwrites, as it was before the call.
#[derive(Clone, Debug)]
pub(crate) enum Overwritten {
    /// Nothing that recording needs.
    Nothing,
    /// The message that is received, if it is known. Once it is received, another thread may get its handle for a new one.
    Message(Result<MatchedMessage, Omission>),
    /// The communicator that is freed, if it is known. Once it is freed, another thread may get its handle for a new one.
    Comm(Option<(Comm, CommId)>),
    Win(Win),
    File(File),
    /// The byte of the file at which the call starts to read or write; `None` if MPI does not say.
    AccessStart(Option<u64>),
    /// The request that is freed; `None` for a request that is not known.
    Request(Option<RequestId>),
    Started(Vec<Request>),
    /// The spawn whose hints are others than the program's; `None` for any other call.
    Spawn(Option<NamedSpawn>),
}

impl Overwritten {
    /// The handle that a call overwrites. Of messages, requests and communicators that are freed, the recorder knows
    /// which they are.
    #[inline]
    pub(crate) fn by(call: &Call<'_>) -> Self {
        match call {
            Call::PointToPoint(MPI_Start(request)) => Self::Started(vec![request.get()]),
            Call::PointToPoint(MPI_Startall(requests)) => Self::Started(requests.array_of_requests().iter().collect()),
            Call::OneSided(MPI_Win_free(win)) => Self::Win(win.get()),
            Call::Io(MPI_File_close(file)) => Self::File(file.get()),
            Call::Io(call) => {
                let access = AccessCall::of(call);
                // How much there is to read, the program may ignore.
                access.iter().filter_map(|access| access.status).for_each(|status| status.keep());
                Self::AccessStart(access.and_then(|access| access.start()))
            }
            _ => Self::Nothing,
        }
    }

    pub(super) fn message(self) -> Result<MatchedMessage, Omission> {
        if let Self::Message(message) = self { message } else { Err(Omission::Untraced) }
    }

    pub(super) fn access_start(self) -> Option<u64> {
        if let Self::AccessStart(start) = self { start } else { None }
    }
}

/// A message that a matched probe (`MPI_Mprobe`, `MPI_Improbe`) has found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MatchedMessage {
    /// The message, with its own size.
    pub(super) message: Incoming,
    /// The thread that has found it, and the function that it called.
    pub(super) thread: ThreadId,
    pub(super) function: &'static Function,
    /// The receive that takes the message in the trace, before another one can.
    pub(super) receive: Option<RequestId>,
}

/// A spawn that passes its name to its processes, by hints that replace the program's. Has to live as long as the call.
#[derive(Clone, Debug)]
pub(crate) struct NamedSpawn {
    pub(super) name: String,
    pub(super) _infos: Arc<ChangedInfos>,
}
