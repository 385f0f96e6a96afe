//! Identifiers: a type for each kind of numbered object, so that they cannot be confused.

/// Declares identifiers.
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The index of its entry in a table.
            #[must_use]
            #[inline]
            #[allow(dead_code, reason = "not every kind of thing has a table")]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl From<$name> for usize {
            fn from(id: $name) -> Self {
                id.index()
            }
        }

        impl From<u32> for $name {
            fn from(number: u32) -> Self {
                Self(number)
            }
        }
    )*};
}

pub(crate) use ids;

/// An optional identifier in the space of an identifier: the greatest number means none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Optional<I>(I);

impl<I: Copy + PartialEq + From<u32>> Optional<I> {
    pub(crate) fn none() -> Self {
        Self(I::from(u32::MAX))
    }

    pub(crate) fn some(id: I) -> Self {
        Self(id)
    }

    #[inline]
    pub(crate) fn get(self) -> Option<I> {
        (self != Self::none()).then_some(self.0)
    }
}

impl<I: Copy + PartialEq + From<u32>> From<Option<I>> for Optional<I> {
    fn from(id: Option<I>) -> Self {
        id.map_or_else(Self::none, Self::some)
    }
}
