//! Statuses, and the room for those that a program ignores.

use std::cell::{Cell, OnceCell, RefCell, UnsafeCell};

use super::{Argument, Arguments};
use crate::pmpi;

/// A pointer to a status, or `MPI_STATUS_IGNORE`.
#[derive(Clone, Copy)]
pub struct StatusArgument<'c> {
    call: &'c Arguments<'c>,
    at: usize,
}

impl<'c> StatusArgument<'c> {
    /// Sees to it that the call has a status to write to, even if the program ignores it.
    #[inline]
    pub fn keep(&self) {
        if self.call.word(self.at) == self.call.abi.status_ignore {
            self.call.set_word(self.at, self.call.spare.one());
        }
    }

    /// The status after the call; `None` if it is ignored.
    #[must_use]
    #[inline]
    pub fn get(&self) -> Option<Status<'c>> {
        let address = self.call.word(self.at);
        (address != self.call.abi.status_ignore && address != 0).then_some(Status { call: self.call, address })
    }
}

impl<'c> Argument<'c> for StatusArgument<'c> {
    const WORDS: usize = 1;
    fn types(all: &mut Vec<&'static str>) {
        all.push("MPI_Status*");
    }
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
    /// Says how many they are.
    #[must_use]
    pub(crate) fn of(self, len: usize) -> Self {
        Self { len, ..self }
    }

    /// Sees to it that the call has statuses to write to, even if the program ignores them.
    #[inline]
    pub fn keep(&self) {
        if self.call.word(self.at) != self.call.abi.statuses_ignore {
            return;
        }
        self.call.set_word(self.at, self.call.spare.many(self.len * self.call.abi.status_bytes));
    }

    /// The `index`-th status after the call; `None` if they are ignored.
    #[must_use]
    #[inline]
    pub fn get(&self, index: usize) -> Option<Status<'c>> {
        let address = self.call.word(self.at);
        let there = address != self.call.abi.statuses_ignore && address != 0 && index < self.len;
        there.then(|| Status { call: self.call, address: address + index * self.call.abi.status_bytes })
    }
}

impl<'c> Argument<'c> for Statuses<'c> {
    const WORDS: usize = 1;
    fn types(all: &mut Vec<&'static str>) {
        all.push("MPI_Status*");
    }
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
    #[must_use]
    pub fn source(&self) -> i32 {
        self.field(self.call.abi.status_source)
    }

    /// `MPI_TAG`.
    #[must_use]
    pub fn tag(&self) -> i32 {
        self.field(self.call.abi.status_tag)
    }

    /// Whether the request was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        // SAFETY: a status is there.
        unsafe { pmpi::test_cancelled(self.address) }
    }

    /// The size of the message.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        // SAFETY: a status is there.
        unsafe { pmpi::received_bytes(self.call.abi, self.address) }
    }
}

/// Room for the statuses of a call that the program ignores.
#[derive(Default)]
pub(super) struct Spare {
    one: UnsafeCell<[u64; Self::ONE]>,
    many: OnceCell<Vec<Cell<u64>>>,
}

thread_local! {
    /// Room for many, kept from call to call.
    static ROOM: RefCell<Vec<Cell<u64>>> = const { RefCell::new(Vec::new()) };
}

impl Spare {
    /// Words in which a status of any family fits.
    const ONE: usize = 4;

    /// The address of room for one status.
    fn one(&self) -> usize {
        self.one.get().expose_provenance()
    }

    /// The address of room of so many bytes. A call asks once: from then on it ignores its statuses no more.
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
        // While a thread ends its room may be gone already; then this goes, too.
        let _ = ROOM.try_with(|room| room.replace(many));
    }
}

impl Drop for Spare {
    #[inline]
    fn drop(&mut self) {
        if let Some(many) = self.many.take() {
            Self::give_back(many);
        }
    }
}
