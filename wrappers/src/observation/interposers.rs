//! The functions that replace entries of the library's tables: each records its arguments and calls the replaced
//! function.

use std::ffi::c_int;

use super::{ORIGINAL, ObservedMessage, OmpiStatus, Original, watching};
use crate::symbol::Forward;

/// The memory that the library writes statuses to: its own or, if it ignores statuses and the thread watches, memory of
/// ours.
struct StatusRoom {
    address: usize,
    _room: Vec<OmpiStatus>,
}

impl StatusRoom {
    fn at(address: usize, count: usize) -> Self {
        let wanted = address == 0 && watching(|_| ()).is_some();
        let mut room = if wanted { vec![OmpiStatus::default(); count] } else { Vec::new() };
        Self { address: if wanted { room.as_mut_ptr().expose_provenance() } else { address }, _room: room }
    }

    /// The status at an index.
    ///
    /// # Safety
    /// The library has written it, if it has a place.
    unsafe fn get(&self, index: usize) -> Option<OmpiStatus> {
        // SAFETY: the caller's promise.
        (self.address != 0).then(|| unsafe { (self.address as *const OmpiStatus).add(index).read() })
    }
}

/// Calls the replaced function.
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

/// Records that a message is started, if it is one of the collective.
fn begun(sent: bool, count: usize, datatype: usize, peer: usize, tag: usize, comm: usize) -> Option<usize> {
    watching(|watch| watch.observe(sent, count, datatype, peer, tag, comm).map(|message| watch.add(message))).flatten()
}

/// Records that it is complete.
fn ended(message: Option<usize>, status: Option<OmpiStatus>) {
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
unsafe fn prepared(message: Option<ObservedMessage>, place: usize) {
    let Some(message) = message else { return };
    // SAFETY: the caller's promise.
    let request = unsafe { (place as *const usize).read() };
    watching(|watch| watch.prepared.push((request, message)));
}

pub(super) extern "C-unwind" fn send(
    b: usize,
    n: usize,
    datatype: usize,
    peer: usize,
    tag: usize,
    mode: usize,
    comm: usize,
) -> usize {
    let seen = begun(true, n, datatype, peer, tag, comm);
    // SAFETY: the library's own arguments.
    let result = unsafe { original(|all| all.pml.send, [b, n, datatype, peer, tag, mode, comm]) };
    ended(seen, None);
    result
}

pub(super) extern "C-unwind" fn recv(
    b: usize,
    n: usize,
    datatype: usize,
    peer: usize,
    tag: usize,
    comm: usize,
    status: usize,
) -> usize {
    let seen = begun(false, n, datatype, peer, tag, comm);
    let status = StatusRoom::at(status, 1);
    // SAFETY: the library's own arguments, and room for a status.
    unsafe {
        let result = original(|all| all.pml.recv, [b, n, datatype, peer, tag, comm, status.address]);
        ended(seen, status.get(0));
        result
    }
}

#[rustfmt::skip] // As many arguments as the library has.
pub(super) extern "C-unwind" fn isend(b: usize, n: usize, datatype: usize, peer: usize, tag: usize, mode: usize, comm: usize, request: usize) -> usize {
    let seen = begun(true, n, datatype, peer, tag, comm);
    // SAFETY: the library's own arguments; it has put a request where it wants it.
    unsafe {
        let result = original(|all| all.pml.isend, [b, n, datatype, peer, tag, mode, comm, request]);
        opened(seen, request);
        result
    }
}

pub(super) extern "C-unwind" fn irecv(
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
pub(super) extern "C-unwind" fn isend_init(b: usize, n: usize, datatype: usize, peer: usize, tag: usize, mode: usize, comm: usize, request: usize) -> usize {
    let seen = watching(|watch| watch.observe(true, n, datatype, peer, tag, comm)).flatten();
    // SAFETY: as for `isend`.
    unsafe {
        let result = original(|all| all.pml.isend_init, [b, n, datatype, peer, tag, mode, comm, request]);
        prepared(seen, request);
        result
    }
}

#[rustfmt::skip] // As many arguments as the library has.
pub(super) extern "C-unwind" fn irecv_init(b: usize, n: usize, datatype: usize, peer: usize, tag: usize, comm: usize, request: usize) -> usize {
    let seen = watching(|watch| watch.observe(false, n, datatype, peer, tag, comm)).flatten();
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
/// The array has `count` requests.
unsafe fn requests(count: usize, array: usize) -> Vec<usize> {
    // SAFETY: the caller's promise.
    (0..count).map(|at| unsafe { (array as *const usize).add(at).read() }).collect()
}

pub(super) extern "C-unwind" fn start(count: usize, array: usize) -> usize {
    watching(|watch| {
        // SAFETY: the library's own arguments.
        for request in unsafe { requests(count, array) } {
            let prepared = watch.prepared.iter().find(|(it, _)| *it == request).map(|&(_, message)| message);
            if let Some(message) = prepared {
                let begin = (watch.now)();
                let message = watch.add(ObservedMessage { begin, end: begin, ..message });
                watch.open.push((request, message));
            }
        }
    });
    // SAFETY: as above.
    unsafe { original(|all| all.pml.start, [count, array]) }
}

/// Waits, and records which of the given requests are complete, each with its status.
///
/// # Safety
/// `count` requests are at `array`, and `wait` is the library's function for them.
unsafe fn waited(
    (count, array): (usize, usize),
    wait: impl FnOnce() -> usize,
    done: impl FnOnce() -> Vec<(usize, Option<OmpiStatus>)>,
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

pub(super) extern "C-unwind" fn wait(request: usize, status: usize) -> usize {
    let status = StatusRoom::at(status, 1);
    let words = [request, status.address];
    // SAFETY: the library's own arguments, (request *, status *), and room for a status.
    unsafe { waited((1, request), || original(|all| all.requests.wait, words), || vec![(0, status.get(0))]) }
}

pub(super) extern "C-unwind" fn wait_all(count: usize, array: usize, statuses: usize) -> usize {
    let statuses = StatusRoom::at(statuses, count);
    let words = [count, array, statuses.address];
    // SAFETY: the library's own arguments, (count, requests, statuses), and room for `count` statuses.
    unsafe {
        let done = || (0..count).map(|at| (at, statuses.get(at))).collect();
        waited((count, array), || original(|all| all.requests.wait_all, words), done)
    }
}

pub(super) extern "C-unwind" fn wait_any(count: usize, array: usize, index: usize, status: usize) -> usize {
    let status = StatusRoom::at(status, 1);
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

pub(super) extern "C-unwind" fn wait_some(
    count: usize,
    array: usize,
    outcount: usize,
    indices: usize,
    statuses: usize,
) -> usize {
    let statuses = StatusRoom::at(statuses, count);
    let words = [count, array, outcount, indices, statuses.address];
    // SAFETY: the library's own arguments, (count, requests, int *, int *, statuses), and room for `count` statuses.
    unsafe {
        let done = || {
            let count = usize::try_from((outcount as *const c_int).read()).unwrap_or(0);
            let at = |nth| usize::try_from((indices as *const c_int).add(nth).read()).ok();
            (0..count).filter_map(|nth| Some((at(nth)?, statuses.get(nth)))).collect()
        };
        waited((count, array), || original(|all| all.requests.wait_some, words), done)
    }
}
