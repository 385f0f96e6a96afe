//! Handles: MPI's references to its objects. A handle is an `int` in one family and a pointer in the others; here it is
//! a word.

use std::fmt::Debug;
use std::marker::PhantomData;

use crate::symbol::Word;

/// A handle of an object of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Handle<K> {
    raw: usize,
    kind: PhantomData<K>,
}

/// A kind of MPI object.
pub trait Kind: Copy + Default + Eq + Debug {
    /// The C type of its handles.
    const C_TYPE: &'static str;
    /// The C type of a pointer to a handle.
    const C_POINTER: &'static str;
    /// Whether its handles are pointers even in the family whose other handles are `int`s.
    const IS_POINTER: bool = false;
}

macro_rules! kinds {
    ($($name:ident $kind:ident $({ $($item:item)* })?;)*) => {$(
        #[doc = concat!("The kind of objects that an `MPI_", stringify!($name), "` names.")]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $kind;

        impl Kind for $kind {
            const C_TYPE: &'static str = concat!("MPI_", stringify!($name));
            const C_POINTER: &'static str = concat!("MPI_", stringify!($name), "*");
            $($($item)*)?
        }

        #[doc = concat!("`MPI_", stringify!($name), "`.")]
        pub type $name = Handle<$kind>;
    )*};
}

kinds! {
    Comm CommKind;
    Datatype DatatypeKind;
    Errhandler ErrhandlerKind;
    File FileKind { const IS_POINTER: bool = true; };
    Group GroupKind;
    Info InfoKind;
    Message MessageKind;
    Op OpKind;
    Request RequestKind;
    Win WinKind;
}

impl<K> Handle<K> {
    /// The handle that C has as `raw`.
    #[inline]
    pub const fn from_raw(raw: usize) -> Self {
        Self { raw, kind: PhantomData }
    }

    /// The value that C has: an `int` or a pointer.
    #[inline]
    pub const fn raw(self) -> usize {
        self.raw
    }
}

impl<K> Word for Handle<K> {
    fn word(self) -> usize {
        self.raw
    }
}
