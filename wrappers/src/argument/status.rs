//! Statuses, and memory for the statuses that a program ignores.

use std::cell::{Cell, OnceCell, RefCell, UnsafeCell};
use std::mem::{self, MaybeUninit};
use std::thread;

use super::{Argument, Arguments};
use crate::abi::Abi;

/// A pointer to a status, or `MPI_STATUS_IGNORE`.
#[derive(Clone, Copy)]
pub struct StatusArgument<'c> {
    call: &'c Arguments<'c>,
    at: usize,
}

impl<'c> StatusArgument<'c> {
    /// Gives the call a status to write to if the program ignores its status.
    #[inline]
    pub fn keep(&self) {
        if self.call.word(self.at) == self.call.abi.status_ignore {
            self.call.set_word(self.at, self.call.scratch.one());
        }
    }

    /// The status as the call has written it; `None` if it is ignored.
    #[inline]
    pub fn get(&self) -> Option<Status<'c>> {
        let address = self.call.word(self.at);
        (address != self.call.abi.status_ignore && address != 0).then_some(Status { call: self.call, address })
    }
}

impl<'c> Argument<'c> for StatusArgument<'c> {
    const TYPE: &'static str = "MPI_Status*";
    #[inline]
    fn read(call: &'c Arguments<'c>, at: usize) -> Self {
        Self { call, at }
    }
}

/// A pointer to an array of statuses, or `MPI_STATUSES_IGNORE`.
#[derive(Clone, Copy)]
pub struct Statuses<'c> {
    call: &'c Arguments<'c>,
    at: usize,
    len: usize,
}

impl<'c> Statuses<'c> {
    /// This array with a length.
    pub(crate) fn of(self, len: usize) -> Self {
        Self { len, ..self }
    }

    /// Gives the call statuses to write to if the program ignores its statuses.
    #[inline]
    pub fn keep(&self) {
        if self.call.word(self.at) != self.call.abi.statuses_ignore {
            return;
        }
        self.call.set_word(self.at, self.call.scratch.many(self.len * self.call.abi.status_bytes));
    }

    /// The `index`-th status after the call; `None` if they are ignored.
    #[inline]
    pub fn get(&self, index: usize) -> Option<Status<'c>> {
        let address = self.call.word(self.at);
        let there = address != self.call.abi.statuses_ignore && address != 0 && index < self.len;
        there.then(|| Status { call: self.call, address: address + index * self.call.abi.status_bytes })
    }
}

impl<'c> Argument<'c> for Statuses<'c> {
    const TYPE: &'static str = "MPI_Status*";
    #[inline]
    fn read(call: &'c Arguments<'c>, at: usize) -> Self {
        Self { call, at, len: 0 }
    }
}

/// A status that a call has written.
#[derive(Clone, Copy)]
pub struct Status<'c> {
    call: &'c Arguments<'c>,
    address: usize,
}

impl Status<'_> {
    fn field(&self, offset: usize) -> i32 {
        // SAFETY: MPI's signature says that a status is here, and the ABI where it has this `int`.
        unsafe { ((self.address + offset) as *const i32).read() }
    }

    /// `MPI_SOURCE`, a rank in the communicator of the message.
    pub fn source(&self) -> i32 {
        self.field(self.call.abi.status_source)
    }

    /// `MPI_TAG`.
    pub fn tag(&self) -> i32 {
        self.field(self.call.abi.status_tag)
    }

    /// The address of the status, for MPI to read.
    pub(crate) fn address(&self) -> usize {
        self.address
    }

    /// The library's constants.
    pub(crate) fn abi(&self) -> &'static Abi {
        self.call.abi
    }
}

/// Memory for the status of a call that the program ignores. It lives as long as the call.
pub(crate) struct IgnoredStatus(UnsafeCell<MaybeUninit<[u64; Self::WORDS]>>);

impl IgnoredStatus {
    /// A status of any family fits.
    const WORDS: usize = 4;

    #[inline]
    pub(crate) const fn new() -> Self {
        Self(UnsafeCell::new(MaybeUninit::uninit()))
    }
}

/// Memory for the statuses of a call that the program ignores.
pub(super) struct StatusScratch<'c> {
    one: &'c IgnoredStatus,
    many: OnceCell<Vec<Cell<u64>>>,
}

thread_local! {
    /// Memory for several statuses, kept from call to call.
    static ROOM: RefCell<Vec<Cell<u64>>> = const { RefCell::new(Vec::new()) };
}

impl<'c> StatusScratch<'c> {
    #[inline]
    pub(super) fn new(one: &'c IgnoredStatus) -> Self {
        Self { one, many: OnceCell::new() }
    }

    /// The address of memory for one status. A call asks once.
    #[inline]
    fn one(&self) -> usize {
        let room = self.one.0.get();
        // SAFETY: there are no references into it.
        unsafe { room.write(MaybeUninit::new([0; IgnoredStatus::WORDS])) };
        room.expose_provenance()
    }

    /// The address of this much memory. A call asks once, and does not ignore its statuses any more from then on.
    fn many(&self, bytes: usize) -> usize {
        let room = self.many.get_or_init(|| {
            let mut room = ROOM.try_with(RefCell::take).unwrap_or_default();
            let words = bytes.div_ceil(size_of::<u64>());
            if room.len() < words {
                room.resize_with(words, Cell::default);
            }
            room
        });
        room.as_ptr().expose_provenance()
    }

    #[cold]
    fn give_back(many: Vec<Cell<u64>>) {
        if thread::panicking() {
            // The call will be made with this memory.
            return mem::forget(many);
        }
        // While a thread ends its room may be gone already; then this goes, too.
        let _ = ROOM.try_with(|room| room.replace(many));
    }
}

impl Drop for StatusScratch<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(many) = self.many.take() {
            Self::give_back(many);
        }
    }
}
