//! Arguments that point to values in the program's memory, which MPI reads or writes.

use std::ffi::{CStr, c_char};
use std::marker::PhantomData;

use super::{Argument, Arguments, Comm, Count};
use crate::abi::Abi;

/// A value that MPI keeps in memory of the program.
pub trait Stored: Copy + Default {
    /// The C type of a pointer to it.
    const POINTER: &'static str;
    /// The value's size in memory, in bytes.
    fn bytes(call: &Arguments<'_>) -> usize;
    /// Reads the value at an address.
    ///
    /// # Safety
    /// `address` points to a valid value of this type.
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

/// The size of a count or a displacement in memory, in bytes.
#[inline]
fn number_bytes(call: &Arguments<'_>) -> usize {
    if call.large { size_of::<i64>() } else { size_of::<i32>() }
}

/// Reads a count or a displacement.
///
/// # Safety
/// A number of [`number_bytes`] is at the address.
#[inline]
unsafe fn load_number(call: &Arguments<'_>, address: usize) -> i64 {
    // SAFETY: the caller's promise.
    unsafe { if call.large { (address as *const i64).read() } else { i64::from((address as *const i32).read()) } }
}

impl Stored for Count {
    const POINTER: &'static str = "COUNT*";
    #[inline]
    fn bytes(call: &Arguments<'_>) -> usize {
        number_bytes(call)
    }
    #[inline]
    unsafe fn load(call: &Arguments<'_>, address: usize) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { load_number(call, address) })
    }
}

/// A distance into a buffer: `int`, or `MPI_Aint` in the functions whose names end in `_c`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Displacement(pub i64);

impl Stored for Displacement {
    const POINTER: &'static str = "DISPLACEMENT*";
    fn bytes(call: &Arguments<'_>) -> usize {
        number_bytes(call)
    }
    unsafe fn load(call: &Arguments<'_>, address: usize) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { load_number(call, address) })
    }
}

/// A distance into a buffer in bytes, which is an `MPI_Aint` in all functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByteDisplacement(pub i64);

impl Stored for ByteDisplacement {
    const POINTER: &'static str = "MPI_Aint*";
    fn bytes(_: &Arguments<'_>) -> usize {
        size_of::<i64>()
    }
    unsafe fn load(_: &Arguments<'_>, address: usize) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { (address as *const i64).read() })
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
    /// The address of the value.
    #[inline]
    pub fn address(&self) -> usize {
        self.address
    }

    /// The current value; a default if the pointer is null.
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
    /// This place, to be read when a later call has completed the request that fills it: until then it must not be
    /// freed (MPI 4.0 §7.4.2, `MPI_Comm_idup`).
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
    /// The communicator, to be read in the call that completed the request.
    #[inline]
    pub fn get(&self) -> Comm {
        if self.address == 0 {
            return self.abi.comm_null;
        }
        // SAFETY: MPI's signature says that the argument pointed to a handle, which stays until the request completes.
        unsafe { Comm::load_from(self.abi, self.address) }
    }
}

impl<'c, T: Stored> Argument<'c> for Place<'c, T> {
    const TYPE: &'static str = T::POINTER;
    #[inline]
    fn read(call: &'c Arguments<'c>, at: usize) -> Self {
        Self { call, address: call.word(at), what: PhantomData }
    }
}

/// A pointer to a text that ends with a zero.
#[derive(Clone, Copy)]
pub struct Text<'c> {
    address: usize,
    call: PhantomData<&'c Arguments<'c>>,
}

impl Text<'_> {
    /// The text; an empty one if the pointer is null. MPI reads the argument only at the root of a call: other ranks
    /// must not read it.
    pub fn get(&self) -> String {
        if self.address == 0 {
            return String::new();
        }
        // SAFETY: MPI's signature says that this argument points to a C string, and it is not null.
        unsafe { CStr::from_ptr(self.address as *const c_char) }.to_string_lossy().into_owned()
    }
}

impl<'c> Argument<'c> for Text<'c> {
    const TYPE: &'static str = "char*";
    fn read(call: &'c Arguments<'c>, at: usize) -> Self {
        Self { address: call.word(at), call: PhantomData }
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
    /// This array with a length: read from a call alone, an array has none.
    #[inline]
    pub(crate) fn of(self, len: usize) -> Self {
        Self { len: if self.address == 0 { 0 } else { len }, ..self }
    }

    /// This array with as many elements as `counts`: MPI's functions have a displacement and a datatype for each count.
    pub fn along(self, counts: &Array<'c, Count>) -> Self {
        self.of(counts.len)
    }

    /// The current value of the `index`-th element.
    #[inline]
    pub fn get(&self, index: usize) -> Option<T> {
        // SAFETY: MPI's signature says that this argument points to `len` values of type `T`, and it is not null.
        (index < self.len).then(|| unsafe { T::load(self.call, self.address + index * T::bytes(self.call)) })
    }

    /// The address of the `index`-th element.
    #[inline]
    pub fn address(&self, index: usize) -> usize {
        self.address + index * T::bytes(self.call)
    }

    /// The current values of all elements.
    #[inline]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = T> + use<'c, T> {
        let array = *self;
        (0..self.len).map(move |index| array.get(index).unwrap_or_default())
    }
}

impl<'c, T: Stored> Argument<'c> for Array<'c, T> {
    const TYPE: &'static str = T::POINTER;
    #[inline]
    fn read(call: &'c Arguments<'c>, at: usize) -> Self {
        Self { call, address: call.word(at), len: 0, what: PhantomData }
    }
}
