//! Blocking calls of the program in a form that does not block, for a tool that has something to do meanwhile.

use super::{ErrorCode, attempt};
use crate::Function;
use crate::abi::Abi;
use crate::argument::{Comm, Request};
use crate::functions::point_to_point::*;

use std::ffi::c_int;
use std::ptr;

/// A message of the program that was started in the tool's way.
#[derive(Debug)]
pub struct Ongoing {
    abi: &'static Abi,
    /// The request as MPI stores it.
    request: Box<usize>,
    /// Where the program wants its status.
    status: usize,
}

impl Ongoing {
    /// Starts what a blocking send, receive or both does; `None` for any other function.
    ///
    /// # Safety
    /// `words` are the arguments of such a call, which has not returned.
    pub(crate) unsafe fn start(
        abi: &'static Abi,
        function: &Function,
        words: &[usize],
    ) -> Option<Result<Vec<Self>, ErrorCode>> {
        let one = |function, words, status| {
            // SAFETY: the caller's promise: they are the arguments of a message.
            unsafe { Self::start_one(abi, function, words, status) }
        };
        let twin = twin(function);
        match (words, twin) {
            (&[buf, count, datatype, peer, tag, comm], Some([twin])) => {
                Some(one(twin, [buf, count, datatype, peer, tag, comm], abi.status_ignore).map(|send| vec![send]))
            }
            (&[buf, count, datatype, peer, tag, comm, status], Some([twin])) => {
                Some(one(twin, [buf, count, datatype, peer, tag, comm], status).map(|recv| vec![recv]))
            }
            (
                &[from, sends, of, dest, sendtag, to, recvs, kind, source, recvtag, comm, status],
                Some([isend, irecv]),
            ) => {
                let recv = one(irecv, [to, recvs, kind, source, recvtag, comm], status);
                Some(recv.and_then(|recv| {
                    let send = one(isend, [from, sends, of, dest, sendtag, comm], abi.status_ignore);
                    Ok(vec![recv, send?])
                }))
            }
            _ => None,
        }
    }

    /// # Safety
    /// `words` are the arguments of a message that is under way until it was tested to be complete.
    unsafe fn start_one(
        abi: &'static Abi,
        function: &Function,
        words: [usize; 6],
        status: usize,
    ) -> Result<Self, ErrorCode> {
        let mut request = Box::new(0_usize);
        let [buf, count, datatype, peer, tag, comm] = words;
        let words = [buf, count, datatype, peer, tag, comm, &raw mut *request as usize];
        // SAFETY: (void *, count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *), and the caller's promise.
        unsafe { attempt(function, words)? };
        Ok(Self { abi, request, status })
    }

    /// Whether it is complete; it must not be asked again then. Never if MPI reports an error.
    ///
    /// # Errors
    /// The library's.
    pub fn is_complete(&mut self) -> Result<bool, ErrorCode> {
        let mut flag: c_int = 0;
        let words = [&raw mut *self.request as usize, &raw mut flag as usize, self.status];
        // SAFETY: (MPI_Request *, int *, MPI_Status *); the program's status has room until its call returns.
        unsafe { attempt(&MPI_Test, words)? };
        Ok(flag != 0)
    }

    /// Whether it still has a request.
    #[must_use]
    pub fn is_open(&self) -> bool {
        // SAFETY: a handle is in the first bytes.
        let handle = unsafe { crate::argument::load_handle(self.abi, &raw const *self.request as usize) };
        Request::from_raw(handle) != self.abi.request_null
    }
}

/// What starts what a function does.
fn twin(function: &Function) -> Option<&'static [&'static Function]> {
    static TWINS: [(&Function, &[&Function]); 10] = [
        (&MPI_Send, &[&MPI_Isend]),
        (&MPI_Send_c, &[&MPI_Isend_c]),
        (&MPI_Ssend, &[&MPI_Issend]),
        (&MPI_Ssend_c, &[&MPI_Issend_c]),
        (&MPI_Rsend, &[&MPI_Irsend]),
        (&MPI_Rsend_c, &[&MPI_Irsend_c]),
        (&MPI_Recv, &[&MPI_Irecv]),
        (&MPI_Recv_c, &[&MPI_Irecv_c]),
        (&MPI_Sendrecv, &[&MPI_Isend, &MPI_Irecv]),
        (&MPI_Sendrecv_c, &[&MPI_Isend_c, &MPI_Irecv_c]),
    ];
    TWINS.iter().find(|(blocking, _)| ptr::eq(*blocking, function)).map(|&(_, twins)| twins)
}

/// `MPI_Iprobe`: whether there is such a message.
#[must_use]
pub fn is_there(abi: &Abi, source: i32, tag: i32, comm: Comm) -> bool {
    let mut flag: c_int = 0;
    let words = [source as usize, tag as usize, comm.raw(), &raw mut flag as usize, abi.status_ignore];
    // SAFETY: (int, int, MPI_Comm, int *, MPI_Status *).
    // After an error there is nothing to wait for: the program's own call will say the same.
    unsafe { attempt(&MPI_Iprobe, words) }.is_err() || flag != 0
}

/// `MPI_Request_get_status`: whether a request is complete, which it stays.
#[must_use]
pub fn is_complete(abi: &Abi, request: Request) -> bool {
    let mut flag: c_int = 0;
    let words = [request.raw(), &raw mut flag as usize, abi.status_ignore];
    // SAFETY: (MPI_Request, int *, MPI_Status *).
    unsafe { attempt(&MPI_Request_get_status, words) }.is_err() || flag != 0
}
