//! The messages that Open MPI's collectives really send, seen where the library's layers meet.
//!
//! All of its messages pass through two tables of functions that it exports: `mca_pml`, which starts them
//! (`ompi/mca/pml/pml.h`), and `ompi_request_functions`, which waits for them (`ompi/request/request.h`). Ours are put in
//! their place; they note, on a thread that [watches](watch) a collective, the messages of its communicator whose tag is
//! below zero, as those of collectives are, and call what was there. The tables are those of Open MPI 4; where they
//! are not, nothing is replaced.
//!
//! A message is complete for its sender or receiver when the library has waited for it, or at the end of the collective.

use std::cell::RefCell;
use std::ffi::c_int;
use std::sync::OnceLock;

use thiserror::Error;

use crate::abi::{Abi, Family};
use crate::argument::{Comm, Datatype};
use crate::function::Forward;
use crate::{library, pmpi};

/// A message of a collective, as one end saw it. Times are those of the clock that was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glimpse {
    /// Whether this end sent it.
    pub sent: bool,
    /// The other one, as a member of the communicator; `None` where a receive was from anybody and nobody asked whom it
    /// was from.
    pub peer: Option<u32>,
    /// How much it carried; of a receive whose status nobody had, how much there was room for.
    pub bytes: u64,
    /// When it was started.
    pub begin: u64,
    /// When it was complete.
    pub end: u64,
}

/// Why nothing can be seen.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Unobservable {
    /// It is another library.
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

/// What was there before us.
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

/// What a thread sees of a collective.
struct Watch {
    comm: usize,
    now: Box<dyn Fn() -> u64>,
    messages: Vec<Glimpse>,
    /// Those that are not complete: their requests, and which they are.
    open: Vec<(usize, usize)>,
    /// Those that are set up to be started: their requests.
    prepared: Vec<(usize, Glimpse)>,
    /// Whether there were messages on another communicator, whose members are others.
    foreign: bool,
}

/// Puts our functions in the library's tables. To be called once MPI is initialised and no other thread calls it.
///
/// # Errors
/// Where there are no such tables; nothing was done then.
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
        (*pml).irecv_init = irecv_init as *const () as usize;
        (*pml).irecv = irecv as *const () as usize;
        (*pml).recv = recv as *const () as usize;
        (*pml).isend_init = isend_init as *const () as usize;
        (*pml).isend = isend as *const () as usize;
        (*pml).send = send as *const () as usize;
        (*pml).start = start as *const () as usize;
        (*requests).wait = wait as *const () as usize;
        (*requests).wait_any = wait_any as *const () as usize;
        (*requests).wait_all = wait_all as *const () as usize;
        (*requests).wait_some = wait_some as *const () as usize;
    }
    Ok(())
}

/// Does `body`, a collective on `comm`, and says what messages it was made of on this thread, in the order in which they
/// were started; `None` if some were on other communicators.
pub fn watch<R>(comm: Comm, now: impl Fn() -> u64 + 'static, body: impl FnOnce() -> R) -> (R, Option<Vec<Glimpse>>) {
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
    fn glimpse(
        &mut self,
        sent: bool,
        count: usize,
        datatype: usize,
        peer: usize,
        tag: usize,
        comm: usize,
    ) -> Option<Glimpse> {
        if tag as c_int >= 0 {
            return None;
        }
        self.foreign |= comm != self.comm;
        let peer = u32::try_from(peer as c_int).ok();
        let size = pmpi::type_size(Datatype::from_raw(datatype)).unwrap_or(0);
        let begin = (self.now)();
        Some(Glimpse { sent, peer, bytes: size.saturating_mul(count as u64), begin, end: begin })
    }

    fn add(&mut self, glimpse: Glimpse) -> usize {
        self.messages.push(glimpse);
        self.messages.len() - 1
    }

    fn end(&mut self, message: usize) {
        let now = (self.now)();
        if let Some(message) = self.messages.get_mut(message) {
            message.end = now;
        }
    }

    /// A request is complete, and this is what its status says.
    fn complete(&mut self, request: usize, status: Option<Status>) {
        if let Some(at) = self.open.iter().position(|&(it, _)| it == request) {
            let (_, message) = self.open.remove(at);
            self.end(message);
            self.match_with(message, status);
        }
    }

    /// What a receive got.
    fn match_with(&mut self, message: usize, status: Option<Status>) {
        if let (Some(message), Some(status)) = (self.messages.get_mut(message).filter(|it| !it.sent), status) {
            message.peer = message.peer.or(u32::try_from(status.source).ok());
            message.bytes = message.bytes.min(status.bytes as u64);
        }
    }
}

/// What the thread's watch makes of something, if it has one.
fn watching<R>(see: impl FnOnce(&mut Watch) -> R) -> Option<R> {
    WATCH.try_with(|watch| watch.borrow_mut().as_mut().map(see)).ok().flatten()
}

/// `struct ompi_status_public_t`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Status {
    source: c_int,
    _tag: c_int,
    _error: c_int,
    _cancelled: c_int,
    bytes: usize,
}

/// Where the library writes statuses: where it wants them or, if it does not and somebody looks on, in room of ours.
struct Statuses {
    address: usize,
    _room: Vec<Status>,
}

impl Statuses {
    fn at(address: usize, count: usize) -> Self {
        let wanted = address == 0 && watching(|_| ()).is_some();
        let mut room = if wanted { vec![Status::default(); count] } else { Vec::new() };
        Self { address: if wanted { room.as_mut_ptr().expose_provenance() } else { address }, _room: room }
    }

    /// The status at an index.
    ///
    /// # Safety
    /// The library has written it, if it has a place.
    unsafe fn get(&self, index: usize) -> Option<Status> {
        // SAFETY: the caller's promise.
        (self.address != 0).then(|| unsafe { (self.address as *const Status).add(index).read() })
    }
}

/// Calls what was there before us.
///
/// # Safety
/// The function takes these arguments.
unsafe fn original<const N: usize>(which: impl FnOnce(&Original) -> usize, words: [usize; N]) -> usize
where
    [usize; N]: Forward,
{
    // Our functions are where they can be called only after the originals were noted.
    let Some(original) = ORIGINAL.get() else { return 1 };
    // SAFETY: the caller's promise.
    unsafe { <[usize; N]>::forward(which(original) as *const _, words.as_ptr()) }
}

/// Notes that a message is started, if it is one of the collective.
fn begun(sent: bool, count: usize, datatype: usize, peer: usize, tag: usize, comm: usize) -> Option<usize> {
    watching(|watch| watch.glimpse(sent, count, datatype, peer, tag, comm).map(|message| watch.add(message))).flatten()
}

/// Notes that it is complete.
fn ended(message: Option<usize>, status: Option<Status>) {
    if let Some(message) = message {
        watching(|watch| {
            watch.end(message);
            watch.match_with(message, status);
        });
    }
}

/// Notes the request that was made for it, which may be complete.
///
/// # Safety
/// A request is at `place`.
unsafe fn opened(message: Option<usize>, place: usize) {
    let Some(message) = message else { return };
    // SAFETY: the caller's promise.
    let request = unsafe { (place as *const usize).read() };
    watching(|watch| match ORIGINAL.get() {
        Some(original) if original.empty == request => watch.end(message),
        _ => watch.open.push((request, message)),
    });
}

/// Notes the request that was set up for a message.
///
/// # Safety
/// A request is at `place`.
unsafe fn prepared(message: Option<Glimpse>, place: usize) {
    let Some(message) = message else { return };
    // SAFETY: the caller's promise.
    let request = unsafe { (place as *const usize).read() };
    watching(|watch| watch.prepared.push((request, message)));
}

extern "C" fn send(b: usize, n: usize, datatype: usize, peer: usize, tag: usize, mode: usize, comm: usize) -> usize {
    let seen = begun(true, n, datatype, peer, tag, comm);
    // SAFETY: the library's own arguments.
    let result = unsafe { original(|all| all.pml.send, [b, n, datatype, peer, tag, mode, comm]) };
    ended(seen, None);
    result
}

extern "C" fn recv(b: usize, n: usize, datatype: usize, peer: usize, tag: usize, comm: usize, status: usize) -> usize {
    let seen = begun(false, n, datatype, peer, tag, comm);
    let status = Statuses::at(status, 1);
    // SAFETY: the library's own arguments, and room for a status.
    unsafe {
        let result = original(|all| all.pml.recv, [b, n, datatype, peer, tag, comm, status.address]);
        ended(seen, status.get(0));
        result
    }
}

#[rustfmt::skip] // As many arguments as the library has.
extern "C" fn isend(b: usize, n: usize, datatype: usize, peer: usize, tag: usize, mode: usize, comm: usize, request: usize) -> usize {
    let seen = begun(true, n, datatype, peer, tag, comm);
    // SAFETY: the library's own arguments; it has put a request where it wants it.
    unsafe {
        let result = original(|all| all.pml.isend, [b, n, datatype, peer, tag, mode, comm, request]);
        opened(seen, request);
        result
    }
}

extern "C" fn irecv(
    b: usize,
    n: usize,
    datatype: usize,
    peer: usize,
    tag: usize,
    comm: usize,
    request: usize,
) -> usize {
    let seen = begun(false, n, datatype, peer, tag, comm);
    // SAFETY: as for `isend`.
    unsafe {
        let result = original(|all| all.pml.irecv, [b, n, datatype, peer, tag, comm, request]);
        opened(seen, request);
        result
    }
}

#[rustfmt::skip] // As many arguments as the library has.
extern "C" fn isend_init(b: usize, n: usize, datatype: usize, peer: usize, tag: usize, mode: usize, comm: usize, request: usize) -> usize {
    let seen = watching(|watch| watch.glimpse(true, n, datatype, peer, tag, comm)).flatten();
    // SAFETY: as for `isend`.
    unsafe {
        let result = original(|all| all.pml.isend_init, [b, n, datatype, peer, tag, mode, comm, request]);
        prepared(seen, request);
        result
    }
}

#[rustfmt::skip] // As many arguments as the library has.
extern "C" fn irecv_init(b: usize, n: usize, datatype: usize, peer: usize, tag: usize, comm: usize, request: usize) -> usize {
    let seen = watching(|watch| watch.glimpse(false, n, datatype, peer, tag, comm)).flatten();
    // SAFETY: as for `isend`.
    unsafe {
        let result = original(|all| all.pml.irecv_init, [b, n, datatype, peer, tag, comm, request]);
        prepared(seen, request);
        result
    }
}

/// The requests in an array that the library waits for or starts.
///
/// # Safety
/// So many are there.
unsafe fn requests(count: usize, array: usize) -> Vec<usize> {
    // SAFETY: the caller's promise.
    (0..count).map(|at| unsafe { (array as *const usize).add(at).read() }).collect()
}

extern "C" fn start(count: usize, array: usize) -> usize {
    watching(|watch| {
        // SAFETY: the library's own arguments.
        for request in unsafe { requests(count, array) } {
            let prepared = watch.prepared.iter().find(|(it, _)| *it == request).map(|&(_, message)| message);
            if let Some(message) = prepared {
                let begin = (watch.now)();
                let message = watch.add(Glimpse { begin, end: begin, ..message });
                watch.open.push((request, message));
            }
        }
    });
    // SAFETY: as above.
    unsafe { original(|all| all.pml.start, [count, array]) }
}

/// Waits, and notes which of the requests that were there are complete, each with its status.
///
/// # Safety
/// So many requests are at `array`, and `wait` is the library's function of them.
unsafe fn waited(
    (count, array): (usize, usize),
    wait: impl FnOnce() -> usize,
    done: impl FnOnce() -> Vec<(usize, Option<Status>)>,
) -> usize {
    // SAFETY: the caller's promise.
    let asked = watching(|_| unsafe { requests(count, array) });
    let result = wait();
    if let Some(asked) = asked {
        let done = done();
        watching(|watch| {
            for (at, status) in done {
                asked.get(at).into_iter().for_each(|&request| watch.complete(request, status));
            }
        });
    }
    result
}

extern "C" fn wait(request: usize, status: usize) -> usize {
    let status = Statuses::at(status, 1);
    let words = [request, status.address];
    // SAFETY: the library's own arguments, (request *, status *), and room for a status.
    unsafe { waited((1, request), || original(|all| all.requests.wait, words), || vec![(0, status.get(0))]) }
}

extern "C" fn wait_all(count: usize, array: usize, statuses: usize) -> usize {
    let statuses = Statuses::at(statuses, count);
    let words = [count, array, statuses.address];
    // SAFETY: the library's own arguments, (count, requests, statuses), and room for so many.
    unsafe {
        let done = || (0..count).map(|at| (at, statuses.get(at))).collect();
        waited((count, array), || original(|all| all.requests.wait_all, words), done)
    }
}

extern "C" fn wait_any(count: usize, array: usize, index: usize, status: usize) -> usize {
    let status = Statuses::at(status, 1);
    let words = [count, array, index, status.address];
    // SAFETY: the library's own arguments, (count, requests, int *, status *), and room for a status.
    unsafe {
        let done = || {
            let at = usize::try_from((index as *const c_int).read());
            at.into_iter().map(|at| (at, status.get(0))).collect()
        };
        waited((count, array), || original(|all| all.requests.wait_any, words), done)
    }
}

extern "C" fn wait_some(count: usize, array: usize, outcount: usize, indices: usize, statuses: usize) -> usize {
    let statuses = Statuses::at(statuses, count);
    let words = [count, array, outcount, indices, statuses.address];
    // SAFETY: the library's own arguments, (count, requests, int *, int *, statuses), and room for so many.
    unsafe {
        let done = || {
            let count = usize::try_from((outcount as *const c_int).read()).unwrap_or(0);
            let at = |nth| usize::try_from((indices as *const c_int).add(nth).read()).ok();
            (0..count).filter_map(|nth| Some((at(nth)?, statuses.get(nth)))).collect()
        };
        waited((count, array), || original(|all| all.requests.wait_some, words), done)
    }
}
