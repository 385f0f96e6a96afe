//! The stack of a thread: its bounds, and words of frames that may no longer exist.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr;

use crate::caller::Caller;

/// Whether the place of a caller's return address contains another value now, so that the call is over. Always false if
/// this architecture has no fixed place for it.
pub(crate) fn is_overwritten(caller: Caller) -> bool {
    cfg!(target_arch = "x86_64") && word(caller.frame - size_of::<usize>()).is_some_and(|word| word != caller.address)
}

/// The word at an address; `None` if there is no memory or the kernel does not say.
fn word(address: usize) -> Option<usize> {
    let mut word = 0_usize;
    let local = libc::iovec { iov_base: (&raw mut word).cast(), iov_len: size_of::<usize>() };
    let remote = libc::iovec { iov_base: ptr::with_exposed_provenance_mut(address), iov_len: size_of::<usize>() };
    // SAFETY: the kernel writes to `word` alone, and reads only readable memory.
    let read = unsafe { libc::process_vm_readv(libc::getpid(), &local, 1, &remote, 1, 0) };
    (usize::try_from(read) == Ok(size_of::<usize>())).then_some(word)
}

/// Whether all these addresses are on the stack that the system gave the calling thread, not on one that the program
/// created.
pub(crate) fn is_own(addresses: [usize; 2]) -> bool {
    bounds().is_some_and(|own| addresses.iter().all(|address| own.contains(address)))
}

/// The addresses of the stack that the system gave the calling thread; `None` if the system does not say.
pub(crate) fn bounds() -> Option<Range<usize>> {
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    let (mut lowest, mut size) = (ptr::null_mut(), 0);
    // SAFETY: the attributes are initialised if the first call succeeds, and destroyed then.
    let known = unsafe {
        libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) == 0 && {
            let known = libc::pthread_attr_getstack(attributes.as_ptr(), &mut lowest, &mut size) == 0;
            libc::pthread_attr_destroy(attributes.as_mut_ptr());
            known
        }
    };
    known.then(|| lowest.addr()..lowest.addr() + size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_memory_is_read_and_no_memory_is_none() {
        let value = 0x1234_usize;
        assert_eq!(word((&raw const value).expose_provenance()), Some(value));
        assert_eq!(word(8), None);
    }

    #[test]
    fn each_thread_has_a_stack_of_its_own() {
        let here = 0_u8;
        let here = (&raw const here).addr();
        assert!(is_own([here, here]));
        let heap = Box::new(0_u8);
        assert!(!is_own([here, (&raw const *heap).addr()]));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let there = 0_u8;
                let there = (&raw const there).addr();
                assert!(is_own([there, there]) && !is_own([there, here]));
            });
        });
    }
}
