//! The kinds of argument that MPI's functions take, and how each is read in the library's ABI.
//!
//! What a pointer points to is read when it is asked for, not when the call begins: an output is there only after the
//! real call. An argument that MPI calls "not significant" here (a receive count of a gather away from its root) is an
//! arbitrary word; it is the tool's business not to ask for it.

use std::cell::{Cell, RefCell, UnsafeCell};
use std::marker::PhantomData;

use crate::abi::Abi;
use crate::pmpi;

/// The arguments of one call as words, and what is needed to read them.
pub struct Arguments<'c> {
    words: &'c [Cell<usize>],
    large: bool,
    pub(crate) abi: &'static Abi,
    spare_status: UnsafeCell<[u64; SPARE_WORDS]>,
    spare_statuses: RefCell<Vec<u64>>,
}

/// A status of any family fits.
const SPARE_WORDS: usize = 4;

impl<'c> Arguments<'c> {
    pub(crate) fn new(words: &'c [Cell<usize>], large: bool, abi: &'static Abi) -> Self {
        Self {
            words,
            large,
            abi,
            spare_status: UnsafeCell::new([0; SPARE_WORDS]),
            spare_statuses: RefCell::new(Vec::new()),
        }
    }

    fn word(&self, at: usize) -> usize {
        self.words.get(at).map_or(0, Cell::get)
    }

    fn set_word(&self, at: usize, word: usize) {
        if let Some(cell) = self.words.get(at) {
            cell.set(word);
        }
    }
}

/// Something that a number of a call's words mean, starting at one of them.
pub trait Argument<'c>: Copy {
    /// How many words it takes.
    const WORDS: usize;
    /// The argument that starts at word `at`.
    fn read(call: &'c Arguments<'c>, at: usize) -> Self;
}

/// Reads the argument at word `at`, and moves `at` behind it.
pub(crate) fn read<'c, A: Argument<'c>>(call: &'c Arguments<'c>, at: &mut usize) -> A {
    let argument = A::read(call, *at);
    *at += A::WORDS;
    argument
}

impl<'c> Argument<'c> for i32 {
    const WORDS: usize = 1;
    fn read(call: &'c Arguments<'c>, at: usize) -> Self {
        call.word(at) as Self
    }
}

/// A number of elements: `int`, or `MPI_Count` in the functions whose names end in `_c`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count(i64);

impl Count {
    /// The number; MPI refuses a negative one.
    #[must_use]
    pub fn get(self) -> u64 {
        u64::try_from(self.0).unwrap_or(0)
    }
}

impl<'c> Argument<'c> for Count {
    const WORDS: usize = 1;
    fn read(call: &'c Arguments<'c>, at: usize) -> Self {
        let word = call.word(at);
        Self(if call.large { word as i64 } else { i64::from(word as i32) })
    }
}

/// Where data lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    address: usize,
    in_place: bool,
}

impl Buffer {
    /// Whether it is `MPI_IN_PLACE`.
    #[must_use]
    pub fn is_in_place(self) -> bool {
        self.in_place
    }

    /// The address, or one of MPI's special values for it.
    #[must_use]
    pub fn address(self) -> usize {
        self.address
    }
}

impl<'c> Argument<'c> for Buffer {
    const WORDS: usize = 1;
    fn read(call: &'c Arguments<'c>, at: usize) -> Self {
        let address = call.word(at);
        Self { address, in_place: address == call.abi.in_place }
    }
}

/// A pointer that is only passed on.
#[derive(Clone, Copy, Debug)]
pub struct Opaque;

impl<'c> Argument<'c> for Opaque {
    const WORDS: usize = 1;
    fn read(_: &'c Arguments<'c>, _: usize) -> Self {
        Self
    }
}

/// Something that MPI keeps in memory that the program gives.
pub trait Stored: Copy + Default {
    /// Its size.
    fn bytes(call: &Arguments<'_>) -> usize;
    /// The one at an address.
    ///
    /// # Safety
    /// One is there.
    unsafe fn load(call: &Arguments<'_>, address: usize) -> Self;
}

impl Stored for i32 {
    fn bytes(_: &Arguments<'_>) -> usize {
        size_of::<Self>()
    }
    unsafe fn load(_: &Arguments<'_>, address: usize) -> Self {
        // SAFETY: the caller's promise.
        unsafe { (address as *const Self).read() }
    }
}

impl Stored for Count {
    fn bytes(call: &Arguments<'_>) -> usize {
        if call.large { size_of::<i64>() } else { size_of::<i32>() }
    }
    unsafe fn load(call: &Arguments<'_>, address: usize) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe {
            if call.large { (address as *const i64).read() } else { i64::from((address as *const i32).read()) }
        })
    }
}

/// A handle of a library whose handles are `int`s leaves the upper half of its word undefined.
fn handle_of(abi: &Abi, word: usize) -> usize {
    if abi.handle_bytes == size_of::<u32>() { word as u32 as usize } else { word }
}

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name(usize);

        impl $name {
            /// The handle that C has as `raw`.
            #[must_use]
            pub fn from_raw(raw: usize) -> Self {
                Self(raw)
            }

            /// What C has: an `int` or a pointer.
            #[must_use]
            pub fn raw(self) -> usize {
                self.0
            }
        }

        impl<'c> Argument<'c> for $name {
            const WORDS: usize = 1;
            fn read(call: &'c Arguments<'c>, at: usize) -> Self {
                Self(handle_of(call.abi, call.word(at)))
            }
        }

        impl Stored for $name {
            fn bytes(call: &Arguments<'_>) -> usize {
                call.abi.handle_bytes
            }
            unsafe fn load(call: &Arguments<'_>, address: usize) -> Self {
                // SAFETY: the caller's promise, and a handle is as long as the ABI says.
                Self(unsafe { pmpi::load_handle(call.abi, address) })
            }
        }
    )*};
}

handles! {
    /// `MPI_Comm`.
    Comm;
    /// `MPI_Datatype`.
    Datatype;
    /// `MPI_Group`.
    Group;
    /// `MPI_Message`.
    Message;
    /// `MPI_Op`.
    Op;
    /// `MPI_Request`.
    Request;
}

/// A pointer to one `T` that the call reads, writes, or both.
#[derive(Clone, Copy)]
pub struct Place<'c, T> {
    call: &'c Arguments<'c>,
    address: usize,
    what: PhantomData<T>,
}

impl<T: Stored> Place<'_, T> {
    /// Where it is.
    #[must_use]
    pub fn address(&self) -> usize {
        self.address
    }

    /// What is there now.
    #[must_use]
    pub fn get(&self) -> T {
        if self.address == 0 {
            return T::default();
        }
        // SAFETY: MPI's signature says that this argument points to a `T`, and it is not null.
        unsafe { T::load(self.call, self.address) }
    }
}

impl Place<'_, Comm> {
    /// The same place, to be read when a later call has completed the request that fills it: until then it must not be
    /// freed (MPI 4.0 §7.4.2, `MPI_Comm_idup`).
    #[must_use]
    pub fn later(&self) -> Later {
        Later { abi: self.call.abi, address: self.address }
    }
}

/// A place that a non-blocking call fills when its request completes.
#[derive(Clone, Copy, Debug)]
pub struct Later {
    abi: &'static Abi,
    address: usize,
}

impl Later {
    /// The communicator, to be asked for in the call that completed the request.
    #[must_use]
    pub fn get(&self) -> Comm {
        if self.address == 0 {
            return self.abi.comm_null;
        }
        // SAFETY: MPI's signature says that the argument pointed to a handle, which stays until the request completes.
        Comm(unsafe { pmpi::load_handle(self.abi, self.address) })
    }
}

impl<'c, T: Stored> Argument<'c> for Place<'c, T> {
    const WORDS: usize = 1;
    fn read(call: &'c Arguments<'c>, at: usize) -> Self {
        Self { call, address: call.word(at), what: PhantomData }
    }
}

/// A pointer to several `T`.
#[derive(Clone, Copy)]
pub struct Array<'c, T> {
    call: &'c Arguments<'c>,
    address: usize,
    len: usize,
    what: PhantomData<T>,
}

impl<'c, T: Stored> Array<'c, T> {
    /// Says how many they are. Read from a call alone, an array has no length.
    pub(crate) fn of(self, len: usize) -> Self {
        Self { len: if self.address == 0 { 0 } else { len }, ..self }
    }

    /// How many they are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The `index`-th as it is now.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<T> {
        // SAFETY: MPI's signature says that this argument points to `len` values of type `T`, and it is not null.
        (index < self.len).then(|| unsafe { T::load(self.call, self.address + index * T::bytes(self.call)) })
    }

    /// Where the `index`-th is.
    #[must_use]
    pub fn address(&self, index: usize) -> usize {
        self.address + index * T::bytes(self.call)
    }

    /// All of them, as they are now.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = T> + use<'c, T> {
        let array = *self;
        (0..self.len).map(move |index| array.get(index).unwrap_or_default())
    }
}

impl<'c, T: Stored> Argument<'c> for Array<'c, T> {
    const WORDS: usize = 1;
    fn read(call: &'c Arguments<'c>, at: usize) -> Self {
        Self { call, address: call.word(at), len: 0, what: PhantomData }
    }
}

/// A pointer to a status, or `MPI_STATUS_IGNORE`.
#[derive(Clone, Copy)]
pub struct StatusArgument<'c> {
    call: &'c Arguments<'c>,
    at: usize,
}

impl<'c> StatusArgument<'c> {
    /// Sees to it that the call has a status to write to, even if the program ignores it.
    pub fn keep(&self) {
        if self.call.word(self.at) == self.call.abi.status_ignore {
            self.call.set_word(self.at, self.call.spare_status.get() as usize);
        }
    }

    /// The status after the call; `None` if it is ignored.
    #[must_use]
    pub fn get(&self) -> Option<Status<'c>> {
        let address = self.call.word(self.at);
        (address != self.call.abi.status_ignore && address != 0).then_some(Status { call: self.call, address })
    }
}

impl<'c> Argument<'c> for StatusArgument<'c> {
    const WORDS: usize = 1;
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

thread_local! {
    /// Room for the statuses that a program ignores, kept from call to call.
    static ROOM: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

impl<'c> Statuses<'c> {
    /// Says how many they are.
    #[must_use]
    pub(crate) fn of(self, len: usize) -> Self {
        Self { len, ..self }
    }

    /// Sees to it that the call has statuses to write to, even if the program ignores them.
    pub fn keep(&self) {
        if self.call.word(self.at) != self.call.abi.statuses_ignore {
            return;
        }
        let Ok(mut room) = self.call.spare_statuses.try_borrow_mut() else {
            return;
        };
        *room = ROOM.try_with(RefCell::take).unwrap_or_default();
        let words = (self.len * self.call.abi.status_bytes).div_ceil(size_of::<u64>());
        if room.len() < words {
            room.resize(words, 0);
        }
        self.call.set_word(self.at, room.as_mut_ptr() as usize);
    }

    /// The `index`-th status after the call; `None` if they are ignored.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Status<'c>> {
        let address = self.call.word(self.at);
        let there = address != self.call.abi.statuses_ignore && address != 0 && index < self.len;
        there.then(|| Status { call: self.call, address: address + index * self.call.abi.status_bytes })
    }
}

impl<'c> Argument<'c> for Statuses<'c> {
    const WORDS: usize = 1;
    fn read(call: &'c Arguments<'c>, at: usize) -> Self {
        Self { call, at, len: 0 }
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        let room = self.0.take();
        if room.capacity() > 0 {
            // While the thread ends its room may be gone already; then this one goes too.
            let _ = ROOM.try_with(|kept| kept.replace(room));
        }
    }
}

/// Gives the room for statuses back when the call is over.
pub(crate) struct Room<'c>(&'c RefCell<Vec<u64>>);

impl Arguments<'_> {
    pub(crate) fn room(&self) -> Room<'_> {
        Room(&self.spare_statuses)
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
