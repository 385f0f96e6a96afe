//! What MPI reads and writes in the program's memory.

use std::marker::PhantomData;

use super::{Argument, Arguments, Comm, Count, load_handle};
use crate::abi::Abi;

/// Something that MPI keeps in memory that the program gives.
pub trait Stored: Copy + Default {
    /// The C type of a pointer to it.
    const POINTER: &'static str;
    /// Its size.
    fn bytes(call: &Arguments<'_>) -> usize;
    /// The one at an address.
    ///
    /// # Safety
    /// One is there.
    unsafe fn load(call: &Arguments<'_>, address: usize) -> Self;
}

impl Stored for i32 {
    const POINTER: &'static str = "int*";
    #[inline]
    fn bytes(_: &Arguments<'_>) -> usize {
        size_of::<Self>()
    }
    #[inline]
    unsafe fn load(_: &Arguments<'_>, address: usize) -> Self {
        // SAFETY: the caller's promise.
        unsafe { (address as *const Self).read() }
    }
}

impl Stored for Count {
    const POINTER: &'static str = "COUNT*";
    #[inline]
    fn bytes(call: &Arguments<'_>) -> usize {
        if call.large { size_of::<i64>() } else { size_of::<i32>() }
    }
    #[inline]
    unsafe fn load(call: &Arguments<'_>, address: usize) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe {
            if call.large { (address as *const i64).read() } else { i64::from((address as *const i32).read()) }
        })
    }
}

/// How far into a buffer something lies: `int`, or `MPI_Aint` in the functions whose names end in `_c`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Displacement(i64);

impl Displacement {
    /// The number, of elements or of bytes as the function says.
    #[must_use]
    pub fn get(self) -> i64 {
        self.0
    }
}

impl Stored for Displacement {
    const POINTER: &'static str = "DISPLACEMENT*";
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
    #[inline]
    pub fn address(&self) -> usize {
        self.address
    }

    /// What is there now.
    #[must_use]
    #[inline]
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
    #[inline]
    pub fn get(&self) -> Comm {
        if self.address == 0 {
            return self.abi.comm_null;
        }
        // SAFETY: MPI's signature says that the argument pointed to a handle, which stays until the request completes.
        Comm::from_raw(unsafe { load_handle(self.abi, self.address) })
    }
}

impl<'c, T: Stored> Argument<'c> for Place<'c, T> {
    const WORDS: usize = 1;
    fn types(all: &mut Vec<&'static str>) {
        all.push(T::POINTER);
    }
    #[inline]
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
    #[inline]
    pub(crate) fn of(self, len: usize) -> Self {
        Self { len: if self.address == 0 { 0 } else { len }, ..self }
    }

    /// How many they are.
    #[must_use]
    #[inline]
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
    #[inline]
    pub fn get(&self, index: usize) -> Option<T> {
        // SAFETY: MPI's signature says that this argument points to `len` values of type `T`, and it is not null.
        (index < self.len).then(|| unsafe { T::load(self.call, self.address + index * T::bytes(self.call)) })
    }

    /// Where the `index`-th is.
    #[must_use]
    #[inline]
    pub fn address(&self, index: usize) -> usize {
        self.address + index * T::bytes(self.call)
    }

    /// All of them, as they are now.
    #[inline]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = T> + use<'c, T> {
        let array = *self;
        (0..self.len).map(move |index| array.get(index).unwrap_or_default())
    }
}

impl<'c, T: Stored> Argument<'c> for Array<'c, T> {
    const WORDS: usize = 1;
    fn types(all: &mut Vec<&'static str>) {
        all.push(T::POINTER);
    }
    #[inline]
    fn read(call: &'c Arguments<'c>, at: usize) -> Self {
        Self { call, address: call.word(at), len: 0, what: PhantomData }
    }
}
