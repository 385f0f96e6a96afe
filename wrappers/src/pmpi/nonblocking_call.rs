//! Blocking calls of the program in their non-blocking form, for a tool that has other work in the meantime.

use std::ffi::c_int;

use super::memory::Memory;
use super::region::Region;
use super::{ErrorCode, attempt, errors};
use crate::abi::Abi;
use crate::argument::{Array, Comm, HandleCell, Request};
use crate::handle::{Handle, Kind, RequestKind};
use crate::symbol::Symbol;

/// A message that a blocking call of the program asks for.
pub struct NonblockingCall {
    abi: &'static Abi,
    form: Form,
}

enum Form {
    /// A request of the tool's.
    Request {
        request: Box<HandleCell<RequestKind>>,
        /// The address at which the program wants its status.
        status: usize,
        /// The data, if it is a copy of the program's.
        _data: Option<Memory>,
    },
    /// A receive with these arguments, which begins when its message is there. Only the blocking function gives an error to the
    /// handler of the communicator: MPICH 4.0 gives that of a request to the world's, and ends the program.
    Receive(&'static Symbol, [usize; 7]),
}

impl NonblockingCall {
    /// Starts the messages of a blocking send, receive or both; `None` for any other function.
    ///
    /// # Safety
    /// `words` are the arguments of a call of `function` that has not returned.
    pub(crate) unsafe fn start(
        abi: &'static Abi,
        function: &str,
        words: &[usize],
    ) -> Option<Result<Vec<Self>, ErrorCode>> {
        let send = |isend, words, data| {
            // SAFETY: the caller's promise: they are the arguments of a message, or it is a copy of one, which is kept.
            unsafe { Self::start_one(abi, isend, words, abi.status_ignore, data) }
        };
        let receive = |(irecv, recv): (_, &'static Symbol),
                       [buf, count, datatype, source, tag, comm, status]: [usize; 7]| {
            let words = [buf, count, datatype, source, tag, comm];
            if source as c_int == abi.proc_null {
                // SAFETY: the caller's promise: the arguments of a receive, which is from nobody and so returns at once.
                // MPICH 4.0 gives a request for one the status of a message.
                return unsafe { attempt(recv, [buf, count, datatype, source, tag, comm, status]) }.map(|()| None);
            }
            if !errors::are_fatal(abi, handle(abi, comm)) {
                // What the library refuses, no message will come for: a receive from nobody tells at once.
                let nobody = abi.proc_null as usize;
                // SAFETY: the caller's promise: the arguments of a receive but for its source.
                unsafe { attempt(recv, [buf, count, datatype, nobody, tag, comm, status]) }?;
                let form = Form::Receive(recv, [buf, count, datatype, source, tag, comm, status]);
                return Ok(Some(Self { abi, form }));
            }
            // SAFETY: the caller's promise: they are the arguments of a message.
            unsafe { Self::start_one(abi, irecv, words, status, None) }.map(Some)
        };
        let both = |received: Result<Option<Self>, ErrorCode>, isend, words, data| {
            let received = received?;
            Ok(received.into_iter().chain([send(isend, words, data)?]).collect())
        };
        Some(match (nonblocking(function)?, words) {
            (Nonblocking::Send(isend), &[buf, count, datatype, dest, tag, comm]) => {
                send(isend, [buf, count, datatype, dest, tag, comm], None).map(|send| vec![send])
            }
            (Nonblocking::Recv { irecv, recv }, &[buf, count, datatype, source, tag, comm, status]) => {
                let received = receive((irecv, recv), [buf, count, datatype, source, tag, comm, status]);
                received.map(|received| received.into_iter().collect())
            }
            (
                Nonblocking::Sendrecv { isend, irecv, recv },
                &[from, sends, of, dest, sendtag, to, recvs, kind, source, recvtag, comm, status],
            ) => {
                let received = receive((irecv, recv), [to, recvs, kind, source, recvtag, comm, status]);
                both(received, isend, [from, sends, of, dest, sendtag, comm], None)
            }
            (
                Nonblocking::Replace { isend, irecv, recv },
                &[buf, count, datatype, dest, sendtag, source, recvtag, comm, status],
            ) => {
                let count_of =
                    u64::try_from(if function.ends_with("_c") { count as i64 } else { i64::from(count as i32) });
                let region = Region::laid_out(buf, count_of.ok()?, handle(abi, datatype));
                let bytes = c_int::try_from(region.bytes()).ok()?;
                let data = Memory::new(region.bytes());
                // SAFETY: there is room, and the program's call is in progress.
                if let Err(error) = unsafe { region.pack(data.address(), handle(abi, comm)) } {
                    return Some(Err(error));
                }
                let sent = [data.address(), bytes as usize, abi.byte.raw(), dest, sendtag, comm];
                let received = receive((irecv, recv), [buf, count, datatype, source, recvtag, comm, status]);
                both(received, isend, sent, Some(data))
            }
            _ => return None,
        })
    }

    /// # Safety
    /// `words` are the arguments of a message that is in progress until a test found it complete.
    unsafe fn start_one(
        abi: &'static Abi,
        function: &Symbol,
        words: [usize; 6],
        status: usize,
        data: Option<Memory>,
    ) -> Result<Self, ErrorCode> {
        let mut request = Box::new(HandleCell::empty());
        let [buf, count, datatype, peer, tag, comm] = words;
        let words = [buf, count, datatype, peer, tag, comm, request.address()];
        // SAFETY: (void *, count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *), and the caller's promise.
        unsafe { attempt(function, words)? };
        Ok(Self { abi, form: Form::Request { request, status, _data: data } })
    }

    /// Whether the message is complete, after which this must not be called again. Never if MPI reports an error.
    ///
    /// # Errors
    /// The library's code.
    pub fn is_complete(&mut self) -> Result<bool, ErrorCode> {
        match &mut self.form {
            Form::Request { request, status, .. } => {
                let mut flag: c_int = 0;
                // SAFETY: (MPI_Request *, int *, MPI_Status *); the program's status has room until its call returns.
                unsafe { call!(MPI_Test(request.address(), &raw mut flag, *status))? };
                Ok(flag != 0)
            }
            &mut Form::Receive(recv, words) => {
                let [_, _, _, source, tag, comm, _] = words;
                if !has_arrived(self.abi, source as c_int, tag as c_int, handle(self.abi, comm))? {
                    return Ok(false);
                }
                // SAFETY: the arguments of the program's call, which returns after this.
                unsafe { attempt(recv, words) }.map(|()| true)
            }
        }
    }
}

/// The functions that start the messages of a blocking one.
enum Nonblocking {
    Send(&'static Symbol),
    Recv {
        irecv: &'static Symbol,
        recv: &'static Symbol,
    },
    Sendrecv {
        isend: &'static Symbol,
        irecv: &'static Symbol,
        recv: &'static Symbol,
    },
    /// The message that is sent is a copy of the data, which the message that is received replaces.
    Replace {
        isend: &'static Symbol,
        irecv: &'static Symbol,
        recv: &'static Symbol,
    },
}

/// The handle that a word of a call is; one that is an `int` leaves the upper half of its word undefined.
fn handle<K: Kind>(abi: &Abi, word: usize) -> Handle<K> {
    Handle::from_raw(if abi.handle_bytes == size_of::<u32>() { word as u32 as usize } else { word })
}

/// The nonblocking form of a function, if it is a blocking send, receive or both.
fn nonblocking(function: &str) -> Option<Nonblocking> {
    use Nonblocking::{Recv, Replace, Send, Sendrecv};
    static ISEND: Symbol = Symbol::new("PMPI_Isend\0");
    static ISEND_C: Symbol = Symbol::new("PMPI_Isend_c\0");
    static ISSEND: Symbol = Symbol::new("PMPI_Issend\0");
    static ISSEND_C: Symbol = Symbol::new("PMPI_Issend_c\0");
    static IRSEND: Symbol = Symbol::new("PMPI_Irsend\0");
    static IRSEND_C: Symbol = Symbol::new("PMPI_Irsend_c\0");
    static IRECV: Symbol = Symbol::new("PMPI_Irecv\0");
    static IRECV_C: Symbol = Symbol::new("PMPI_Irecv_c\0");
    static RECV: Symbol = Symbol::new("PMPI_Recv\0");
    static RECV_C: Symbol = Symbol::new("PMPI_Recv_c\0");
    Some(match function {
        "MPI_Send" => Send(&ISEND),
        "MPI_Send_c" => Send(&ISEND_C),
        "MPI_Ssend" => Send(&ISSEND),
        "MPI_Ssend_c" => Send(&ISSEND_C),
        "MPI_Rsend" => Send(&IRSEND),
        "MPI_Rsend_c" => Send(&IRSEND_C),
        "MPI_Recv" => Recv { irecv: &IRECV, recv: &RECV },
        "MPI_Recv_c" => Recv { irecv: &IRECV_C, recv: &RECV_C },
        "MPI_Sendrecv" => Sendrecv { isend: &ISEND, irecv: &IRECV, recv: &RECV },
        "MPI_Sendrecv_c" => Sendrecv { isend: &ISEND_C, irecv: &IRECV_C, recv: &RECV_C },
        "MPI_Sendrecv_replace" => Replace { isend: &ISEND, irecv: &IRECV, recv: &RECV },
        "MPI_Sendrecv_replace_c" => Replace { isend: &ISEND, irecv: &IRECV_C, recv: &RECV_C },
        _ => return None,
    })
}

/// `MPI_Iprobe`: whether such a message has arrived.
///
/// # Errors
/// The library's code, after the error handler of `comm`: the one that a call which waits for the message returns.
pub fn has_arrived(abi: &Abi, source: i32, tag: i32, comm: Comm) -> Result<bool, ErrorCode> {
    let mut flag: c_int = 0;
    // SAFETY: (int, int, MPI_Comm, int *, MPI_Status *).
    unsafe { call!(MPI_Iprobe(source, tag, comm, &raw mut flag, abi.status_ignore))? };
    Ok(flag != 0)
}

/// `MPI_Request_get_status`: whether a request is complete, which it stays.
#[must_use]
pub fn is_complete(abi: &Abi, request: Request) -> bool {
    let mut flag: c_int = 0;
    // SAFETY: (MPI_Request, int *, MPI_Status *).
    unsafe { call!(MPI_Request_get_status(request, &raw mut flag, abi.status_ignore)) }.is_err() || flag != 0
}

/// `MPI_Start` of one of the requests of a call that starts several.
///
/// # Errors
/// The library's code.
pub fn start_persistent(requests: &Array<'_, Request>, index: usize) -> Result<(), ErrorCode> {
    // SAFETY: (MPI_Request *); the program's own, which the call in progress may write to.
    unsafe { call!(MPI_Start(requests.address(index))) }
}

/// `MPI_Request_free`: the operation of a request continues without its handle.
pub fn free(abi: &Abi, request: Request) {
    let mut cell = HandleCell::holding(request);
    if cell.get(abi) != abi.request_null {
        // SAFETY: (MPI_Request *), a live request.
        let _ = unsafe { call!(MPI_Request_free(cell.address())) };
    }
}

/// Whether a request was cancelled, so that it completes without a message; `None` if it is not complete.
#[must_use]
pub fn completes_cancelled(request: Request) -> Option<bool> {
    // A status of any family fits.
    let mut status = [0_u64; 4];
    let (mut complete, mut cancelled): (c_int, c_int) = (0, 0);
    // SAFETY: (MPI_Request, int *, MPI_Status *).
    unsafe { call!(MPI_Request_get_status(request, &raw mut complete, &raw mut status)) }.ok()?;
    if complete == 0 {
        return None;
    }
    // SAFETY: (MPI_Status *, int *).
    unsafe { call!(MPI_Test_cancelled(&raw mut status, &raw mut cancelled)) }.ok().map(|()| cancelled != 0)
}
