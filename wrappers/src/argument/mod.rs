//! The kinds of arguments of MPI functions, and the way to read each in the library's ABI.
//!
//! The target of a pointer is read on demand, not when the call begins: an output is present only after the real call.
//! An argument that MPI calls "not significant" (a receive count of a gather away from its root) is an arbitrary word;
//! the tool must not read it.

mod handle;
mod memory;
mod status;

use std::cell::Cell;

use crate::abi::{Abi, Family};
use status::StatusScratch;

pub use crate::handle::{Comm, Datatype, File, Group, Info, Message, Op, Request, Win};
pub use handle::HandleCell;
pub use memory::{Array, ByteDisplacement, Displacement, Later, Place, Stored, Text};
pub(crate) use status::IgnoredStatus;
pub use status::{Status, StatusArgument, Statuses};

/// The arguments of one call as words, and the data needed to read them.
pub struct Arguments<'c> {
    words: &'c [Cell<usize>],
    large: bool,
    pub(crate) abi: &'static Abi,
    scratch: StatusScratch<'c>,
}

impl<'c> Arguments<'c> {
    #[inline]
    pub(crate) fn new(words: &'c [Cell<usize>], large: bool, abi: &'static Abi, room: &'c IgnoredStatus) -> Self {
        Self { words, large, abi, scratch: StatusScratch::new(room) }
    }

    #[inline]
    pub(crate) fn word(&self, at: usize) -> usize {
        self.words.get(at).map_or(0, Cell::get)
    }

    pub(crate) fn set_word(&self, at: usize, word: usize) {
        if let Some(cell) = self.words.get(at) {
            cell.set(word);
        }
    }
}

/// A kind of argument that consists of one or more consecutive words of a call.
pub(crate) trait Argument<'c>: Copy {
    /// The number of words that it takes.
    const WORDS: usize = 1;
    /// The C type of a single word; an empty string for an argument that is passed on unread.
    const TYPE: &'static str = "";
    /// Appends the C type of each word: a test compares them with mpi.h, on which every read below relies.
    fn types(all: &mut Vec<&'static str>) {
        all.push(Self::TYPE);
    }
    /// The argument that starts at word `at`.
    fn read(call: &'c Arguments<'c>, at: usize) -> Self;
}

/// Reads the argument at word `at`, and moves `at` behind it.
#[inline]
pub(crate) fn read<'c, A: Argument<'c>>(call: &'c Arguments<'c>, at: &mut usize) -> A {
    let argument = A::read(call, *at);
    *at += A::WORDS;
    argument
}

impl<'c> Argument<'c> for i32 {
    const TYPE: &'static str = "int";
    #[inline]
    fn read(call: &'c Arguments<'c>, at: usize) -> Self {
        call.word(at) as Self
    }
}

/// A number of elements: `int`, or `MPI_Count` in the functions whose names end in `_c`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count(i64);

impl Count {
    /// The number; MPI refuses a negative one.
    #[inline]
    pub fn get(self) -> u64 {
        self.checked().unwrap_or(0)
    }

    /// The number; `None` for a negative one.
    pub fn checked(self) -> Option<u64> {
        u64::try_from(self.0).ok()
    }
}

impl<'c> Argument<'c> for Count {
    const TYPE: &'static str = "COUNT";
    #[inline]
    fn read(call: &'c Arguments<'c>, at: usize) -> Self {
        let word = call.word(at);
        Self(if call.large { word as i64 } else { i64::from(word as i32) })
    }
}

/// A number of bytes in memory: `MPI_Aint`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size(i64);

impl Size {
    /// The number; MPI refuses a negative one.
    pub fn get(self) -> u64 {
        u64::try_from(self.0).unwrap_or(0)
    }
}

impl<'c> Argument<'c> for Size {
    const TYPE: &'static str = "MPI_Aint";
    fn read(call: &'c Arguments<'c>, at: usize) -> Self {
        Self(call.word(at) as i64)
    }
}

/// A place in a file, in elements of its view: `MPI_Offset`, which is 64 bits wide in every family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offset(pub i64);

impl<'c> Argument<'c> for Offset {
    const TYPE: &'static str = "MPI_Offset";
    fn read(call: &'c Arguments<'c>, at: usize) -> Self {
        Self(call.word(at) as i64)
    }
}

/// A number of elements in a partition: `MPI_Count` in MPI 4.0 (§4.2.1), `int` in MPI 5.0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartitionCount(i64);

impl PartitionCount {
    /// The number; MPI refuses a negative one.
    pub fn get(self) -> u64 {
        u64::try_from(self.0).unwrap_or(0)
    }
}

impl<'c> Argument<'c> for PartitionCount {
    const TYPE: &'static str = "MPI_Count";
    fn read(call: &'c Arguments<'c>, at: usize) -> Self {
        let word = call.word(at);
        let is_int = call.abi.family == Family::Standard && !call.large;
        Self(if is_int { i64::from(word as i32) } else { word as i64 })
    }
}

/// The place of data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Buffer {
    /// The address, or one of MPI's special values for it.
    pub address: usize,
    /// Whether it is `MPI_IN_PLACE`.
    pub is_in_place: bool,
}

impl<'c> Argument<'c> for Buffer {
    const TYPE: &'static str = "void*";
    #[inline]
    fn read(call: &'c Arguments<'c>, at: usize) -> Self {
        let address = call.word(at);
        Self { address, is_in_place: address == call.abi.in_place }
    }
}

/// An argument that is only passed on, of any type.
#[derive(Clone, Copy, Debug)]
pub struct Opaque;

impl<'c> Argument<'c> for Opaque {
    #[inline]
    fn read(_: &'c Arguments<'c>, _: usize) -> Self {
        Self
    }
}
