//! The functions that C calls. Nothing else of the replayer is `unsafe`, and no panic leaves here: it becomes an error.
//!
//! The comments are those of `include/titrnetwork.h`, which is generated from this file.

// C's names are those of C.
#![allow(non_camel_case_types)]

use std::cell::RefCell;
use std::error::Error;
use std::ffi::{CStr, CString, c_char};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::ptr;

use titr_common::terminal::escaped;
use titr_common::time::Time;

use crate::driver::{DrivenMessage, Driver};

/// The time at which nothing happens.
pub const TITR_NETWORK_NEVER: u64 = u64::MAX;

/// A network with its messages, for the thread that created it. All times are in picoseconds since its creation. Where a
/// function fails, `titr_network_error` says why.
pub struct titr_network {
    driver: Driver,
    /// Whether a function has panicked half way, so that nothing can be said of the network any more.
    broken: bool,
}

/// A message that has arrived.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct titr_delivery {
    /// The name that `titr_network_inject` was given for it.
    pub label: u64,
    /// When it arrived, in picoseconds.
    pub time: u64,
    /// Its payload, in bytes.
    pub bytes: u64,
    /// The node that it left.
    pub source: u32,
    /// The node that it has arrived at.
    pub destination: u32,
}

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

/// Keeps an error for [`titr_network_error`].
fn fail(error: impl Display) {
    let text = escaped(&error.to_string()).into_owned();
    LAST_ERROR.with(|last| *last.borrow_mut() = CString::new(text).unwrap_or_default());
}

/// The result of `work`; `failed` if it fails or panics.
fn guarded<T>(failed: T, work: impl FnOnce() -> Result<T, Box<dyn Error>>) -> T {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(result)) => result,
        Ok(Err(error)) => {
            fail(error);
            failed
        }
        Err(_) => {
            fail("titr has made a mistake: please report the message on standard error");
            failed
        }
    }
}

/// The result of `work` on a network; `failed` if it fails or panics, now or before.
///
/// # Safety
/// `network` is null or comes from [`titr_network_create`] on this thread, and was not destroyed.
unsafe fn with<T>(
    network: *mut titr_network,
    failed: T,
    work: impl FnOnce(&mut Driver) -> Result<T, Box<dyn Error>>,
) -> T {
    guarded(failed, || {
        // SAFETY: by this function's contract the pointer is null or that of a living box which nobody else uses now: only its own thread does.
        let network = unsafe { network.as_mut() }.ok_or("the network is a null pointer")?;
        if network.broken {
            return Err("the network is unusable since an earlier mistake of titr".into());
        }
        network.broken = true;
        let result = work(&mut network.driver);
        network.broken = false;
        result
    })
}

/// Creates the idle network that a platform file describes, at time 0. Returns NULL on failure.
///
/// # Safety
/// `platform` is NULL or a string that ends with a NUL character.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn titr_network_create(platform: *const c_char) -> *mut titr_network {
    guarded(ptr::null_mut(), || {
        if platform.is_null() {
            return Err("the name of the platform file is a null pointer".into());
        }
        // SAFETY: the pointer is not null, and by this function's contract that of a string with an end.
        let name = unsafe { CStr::from_ptr(platform) };
        let name = name.to_str().map_err(|_| format!("the name of the platform file is not UTF-8: {name:?}"))?;
        Ok(Box::into_raw(Box::new(titr_network { driver: Driver::open(Path::new(name))?, broken: false })))
    })
}

/// Returns how many nodes the network connects; they have the numbers from 0. Returns 0 on failure.
///
/// # Safety
/// `network` is NULL or comes from `titr_network_create` and was not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn titr_network_nodes(network: *mut titr_network) -> u32 {
    // SAFETY: this function's contract is that of `with`.
    unsafe { with(network, 0, |driver| Ok(driver.nodes())) }
}

/// Injects a message at a time that is not before the one that the network was advanced to. Messages of one time enter the
/// network in the order of the calls. The label is the caller's and need not be unique. Fails for a message that could not
/// arrive in 2^64 picoseconds, or that the packet model would cut into billions of packets. Returns whether it succeeded.
///
/// # Safety
/// `network` is NULL or comes from `titr_network_create` and was not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn titr_network_inject(
    network: *mut titr_network,
    source: u32,
    destination: u32,
    bytes: u64,
    time: u64,
    label: u64,
) -> bool {
    let message = DrivenMessage { label, from: source, to: destination, bytes };
    let inject = |driver: &mut Driver| Ok(driver.inject(Time(time), message).map(|()| true)?);
    // SAFETY: this function's contract is that of `with`.
    unsafe { with(network, false, inject) }
}

/// Returns the time at which something next happens in the network, `TITR_NETWORK_NEVER` if no message is under way or on
/// failure. A caller with nothing to do before that time may advance the network to it; not every event is an arrival.
///
/// # Safety
/// `network` is NULL or comes from `titr_network_create` and was not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn titr_network_next_event(network: *mut titr_network) -> u64 {
    let next = |driver: &mut Driver| Ok(driver.next_event().map_or(TITR_NETWORK_NEVER, |time| time.0));
    // SAFETY: this function's contract is that of `with`.
    unsafe { with(network, TITR_NETWORK_NEVER, next) }
}

/// Advances the network to a time before `TITR_NETWORK_NEVER`, with all that happens until then and at that time. Returns
/// whether it succeeded.
///
/// # Safety
/// `network` is NULL or comes from `titr_network_create` and was not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn titr_network_advance(network: *mut titr_network, time: u64) -> bool {
    let advance = |driver: &mut Driver| Ok(driver.advance(Time(time)).map(|()| true)?);
    // SAFETY: this function's contract is that of `with`.
    unsafe { with(network, false, advance) }
}

/// Takes the next message that has arrived by the time that the network was advanced to, in the order of arrival. Returns
/// whether there was one; if not, `delivery` is left as it is.
///
/// # Safety
/// `network` is NULL or comes from `titr_network_create` and was not destroyed; `delivery` is NULL or points to a delivery that
/// may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn titr_network_take(network: *mut titr_network, delivery: *mut titr_delivery) -> bool {
    let take = |driver: &mut Driver| {
        if delivery.is_null() {
            return Err("the delivery is a null pointer".into());
        }
        let Some((time, message)) = driver.take() else { return Ok(false) };
        let DrivenMessage { label, from: source, to: destination, bytes } = message;
        let taken = titr_delivery { label, time: time.0, bytes, source, destination };
        // SAFETY: the pointer is not null, and by this function's contract that of a delivery which may be written.
        unsafe { delivery.write(taken) };
        Ok(true)
    };
    // SAFETY: this function's contract is that of `with`.
    unsafe { with(network, false, take) }
}

/// Destroys a network, with all messages in it. NULL is ignored.
///
/// # Safety
/// `network` is NULL or comes from `titr_network_create`, was not destroyed, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn titr_network_destroy(network: *mut titr_network) {
    guarded((), || {
        if !network.is_null() {
            // SAFETY: by this function's contract the pointer is that of a box which nobody uses now or later.
            drop(unsafe { Box::from_raw(network) });
        }
        Ok(())
    });
}

/// Returns why the last function that failed on this thread did so: a text that is valid until the next one fails on this
/// thread, and empty if none has failed.
#[unsafe(no_mangle)]
pub extern "C" fn titr_network_error() -> *const c_char {
    LAST_ERROR.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}
