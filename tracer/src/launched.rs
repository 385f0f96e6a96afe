//! Reports to `titrace`, in [words](titr_config::launched), whether the processes below it are traced.
//!
//! The words are sent without waiting and without heap allocation, so that a process may send them at any time.

use std::env;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::sync::OnceLock;

use titr_config::launched::{LEFT, LOADED, NAME, SEEN, VARIABLE, process};

/// The socket of `titrace`, if it has started this process.
static ADDRESS: OnceLock<Option<Address>> = OnceLock::new();

struct Address {
    name: libc::sockaddr_un,
    length: libc::socklen_t,
    /// The process that `titrace` became.
    process: u32,
}

/// Remembers the receiver, and reports that the tracer is loaded. To be called when the library is loaded.
pub(crate) fn loaded() {
    ADDRESS.get_or_init(|| Address::of(env::var_os(VARIABLE)?.as_bytes()));
    stayed();
}

/// Revokes the report that this program is about to become another. The error number remains that of the failed
/// function.
pub(crate) fn stayed() {
    if is_own() {
        // SAFETY: the thread's own error number.
        let error = unsafe { *libc::__errno_location() };
        let mut word = vec![LOADED];
        word.extend(env::current_exe().unwrap_or_default().into_os_string().into_vec());
        tell(&word);
        // SAFETY: as above.
        unsafe { *libc::__errno_location() = error };
    }
}

/// Whether this is the process that `titrace` became.
pub(crate) fn is_own() -> bool {
    ADDRESS.get().and_then(Option::as_ref).is_some_and(Address::is_own)
}

/// Whether `titrace` has started this process, or one that started it.
pub(crate) fn by_titrace() -> bool {
    ADDRESS.get().is_some_and(Option::is_some)
}

/// Tells that there is nothing for `titrace` to say.
pub(crate) fn seen() {
    tell(&[SEEN]);
}

/// Tells that this program is about to become another, if that does not [fail](stayed). Safe in a signal handler and in
/// a child of `vfork`.
pub(crate) fn left() {
    if is_own() {
        tell(&[LEFT]);
    }
}

fn tell(word: &[u8]) {
    let Some(Address { name, length, .. }) = ADDRESS.get().and_then(Option::as_ref) else { return };
    // SAFETY: requests a descriptor.
    let socket = unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    if socket >= 0 {
        let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
        // SAFETY: the pointers and lengths are of live values; the descriptor is this function's own.
        unsafe {
            libc::sendto(socket, word.as_ptr().cast(), word.len(), flags, (&raw const *name).cast(), *length);
            libc::close(socket);
        }
    }
}

impl Address {
    /// The abstract address of this name: a 0 and the name.
    fn of(name: &[u8]) -> Option<Self> {
        if name.len() > NAME {
            return None;
        }
        // SAFETY: an all-zero address is a valid object.
        let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
        address.sun_family = libc::AF_UNIX as libc::sa_family_t;
        for (to, from) in address.sun_path[1..].iter_mut().zip(name) {
            *to = *from as libc::c_char;
        }
        let length = std::mem::offset_of!(libc::sockaddr_un, sun_path) + 1 + name.len();
        Some(Self { name: address, length: length as libc::socklen_t, process: process(name)? })
    }

    fn is_own(&self) -> bool {
        self.process == std::process::id()
    }
}
