//! The messages that Open MPI's collectives really send, observed at the interface between the library's layers.
//!
//! All of its messages pass through two tables of functions that it exports: `mca_pml`, which starts them
//! (`ompi/mca/pml/pml.h`), and `ompi_request_functions`, which waits for them (`ompi/request/request.h`). Their entries
//! are replaced by functions that record, on a thread that [watches](watch) a collective, the messages of its
//! communicator with negative tags, which only collectives use, and call the replaced functions. The tables are those
//! of Open MPI 4; without them, nothing is replaced.
//!
//! A message is complete for its sender or receiver when the library has waited for it, or at the end of the collective.

mod interposers;

use std::cell::RefCell;
use std::ffi::c_int;
use std::sync::OnceLock;

use thiserror::Error;

use crate::abi::{Abi, Family};
use crate::argument::{Comm, Datatype};
use crate::{library, pmpi};

/// A message of a collective, as one end saw it. Times are those of the given clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObservedMessage {
    /// Whether this end sent it.
    pub sent: bool,
    /// The other end, as a member of the communicator; `None` for a wildcard receive whose source was not queried.
    pub peer: Option<u32>,
    /// The bytes of the message; for a receive without a status, the size of its buffer.
    pub bytes: u64,
    /// When it was started.
    pub begin: u64,
    /// When it was complete.
    pub end: u64,
}

/// The reason why the library's messages cannot be observed.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Unobservable {
    /// The library is another one.
    #[error("only Open MPI 4 shows the messages of its collectives")]
    Library,
    /// It does not export its tables.
    #[error("this Open MPI does not export mca_pml and ompi_request_functions")]
    Tables,
}

/// The beginning of `struct mca_pml_base_module_1_0_1_t`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Pml {
    _own: [usize; 6],
    irecv_init: usize,
    irecv: usize,
    recv: usize,
    isend_init: usize,
    isend: usize,
    send: usize,
    _probes: [usize; 2],
    start: usize,
}

/// `struct ompi_request_fns_t`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Requests {
    _tests: [usize; 4],
    wait: usize,
    wait_any: usize,
    wait_all: usize,
    wait_some: usize,
}

/// The functions that were in the tables before.
struct Original {
    pml: Pml,
    requests: Requests,
    /// The request of all sends that are complete at once.
    empty: usize,
}

static ORIGINAL: OnceLock<Original> = OnceLock::new();

thread_local! {
    static WATCH: RefCell<Option<Watch>> = const { RefCell::new(None) };
}

/// The messages of a collective that a thread sees.
struct Watch {
    comm: usize,
    now: Box<dyn Fn() -> u64>,
    messages: Vec<ObservedMessage>,
    /// The messages that are not complete: their requests, and their indices in `messages`.
    open: Vec<(usize, usize)>,
    /// The messages that are set up to be started, with their requests.
    prepared: Vec<(usize, ObservedMessage)>,
    /// Whether there were messages on another communicator, whose members are others.
    foreign: bool,
}

/// Puts our functions in the library's tables. To be called once MPI is initialised and no other thread calls it.
///
/// # Errors
/// If there are no such tables; nothing was done then.
pub fn install(abi: &Abi) -> Result<(), Unobservable> {
    if abi.family != Family::OpenMpi || !abi.library.starts_with("Open MPI v4.") {
        return Err(Unobservable::Library);
    }
    let tables = (library::object(c"mca_pml"), library::object(c"ompi_request_functions"));
    let ((Some(pml), Some(requests)), Some(empty)) = (tables, library::object(c"ompi_request_empty")) else {
        return Err(Unobservable::Tables);
    };
    let (pml, requests) = (pml.cast::<Pml>(), requests.cast::<Requests>());
    // SAFETY: Open MPI 4's tables of these names begin so, are writable, and complete once it is initialised.
    let original = unsafe { Original { pml: pml.read(), requests: requests.read(), empty: empty as usize } };
    if ORIGINAL.set(original).is_err() {
        return Ok(());
    }
    // SAFETY: as above; our functions take the same arguments as those in whose place they are.
    unsafe {
        (*pml).irecv_init = interposers::irecv_init as *const () as usize;
        (*pml).irecv = interposers::irecv as *const () as usize;
        (*pml).recv = interposers::recv as *const () as usize;
        (*pml).isend_init = interposers::isend_init as *const () as usize;
        (*pml).isend = interposers::isend as *const () as usize;
        (*pml).send = interposers::send as *const () as usize;
        (*pml).start = interposers::start as *const () as usize;
        (*requests).wait = interposers::wait as *const () as usize;
        (*requests).wait_any = interposers::wait_any as *const () as usize;
        (*requests).wait_all = interposers::wait_all as *const () as usize;
        (*requests).wait_some = interposers::wait_some as *const () as usize;
    }
    Ok(())
}

/// Runs `body`, a collective on `comm`, and returns its messages on this thread, in the order of their start; `None` if
/// some were on other communicators.
pub fn watch<R>(
    comm: Comm,
    now: impl Fn() -> u64 + 'static,
    body: impl FnOnce() -> R,
) -> (R, Option<Vec<ObservedMessage>>) {
    let (messages, open, prepared) = (Vec::new(), Vec::new(), Vec::new());
    WATCH.set(Some(Watch { comm: comm.raw(), now: Box::new(now), messages, open, prepared, foreign: false }));
    let result = body();
    let seen = WATCH.take().and_then(|mut watch| {
        for (request, _) in watch.open.clone() {
            watch.complete(request, None);
        }
        (!watch.foreign).then_some(watch.messages)
    });
    (result, seen)
}

impl Watch {
    /// A message of the collective that is being started, if it is one.
    fn observe(
        &mut self,
        sent: bool,
        count: usize,
        datatype: usize,
        peer: usize,
        tag: usize,
        comm: usize,
    ) -> Option<ObservedMessage> {
        if tag as c_int >= 0 {
            return None;
        }
        self.foreign |= comm != self.comm;
        let peer = u32::try_from(peer as c_int).ok();
        let size = pmpi::type_size(Datatype::from_raw(datatype)).unwrap_or(0);
        let begin = (self.now)();
        Some(ObservedMessage { sent, peer, bytes: size.saturating_mul(count as u64), begin, end: begin })
    }

    fn add(&mut self, message: ObservedMessage) -> usize {
        self.messages.push(message);
        self.messages.len() - 1
    }

    fn end(&mut self, message: usize) {
        let now = (self.now)();
        if let Some(message) = self.messages.get_mut(message) {
            message.end = now;
        }
    }

    /// Records the completion of a request, with its status.
    fn complete(&mut self, request: usize, status: Option<OmpiStatus>) {
        if let Some(at) = self.open.iter().position(|&(it, _)| it == request) {
            let (_, message) = self.open.remove(at);
            self.end(message);
            self.match_with(message, status);
        }
    }

    /// Notes the source and the size of a received message.
    fn match_with(&mut self, message: usize, status: Option<OmpiStatus>) {
        if let (Some(message), Some(status)) = (self.messages.get_mut(message).filter(|it| !it.sent), status) {
            message.peer = message.peer.or(u32::try_from(status.source).ok());
            message.bytes = message.bytes.min(status.bytes as u64);
        }
    }
}

/// Calls `see` with the thread's watch, if it has one.
fn watching<R>(see: impl FnOnce(&mut Watch) -> R) -> Option<R> {
    WATCH.try_with(|watch| watch.borrow_mut().as_mut().map(see)).ok().flatten()
}

/// `struct ompi_status_public_t`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct OmpiStatus {
    source: c_int,
    _tag: c_int,
    _error: c_int,
    _cancelled: c_int,
    bytes: usize,
}
