//! The volume of data, from its datatype and the number of its elements. A cache has the size of the last datatype,
//! because consecutive calls often have the same one.

use titr_common::units::Bytes;
use titr_wrappers::argument::{Count, Datatype};
use titr_wrappers::pmpi;

/// The bytes that a call sends, and those that it receives.
pub(crate) type Volumes = (Bytes, Bytes);

/// The last datatype looked up, and its size.
#[derive(Debug, Default)]
pub(super) struct TypeSizes(Option<(Datatype, Bytes)>);

impl TypeSizes {
    /// The volume of `count` elements.
    #[inline]
    pub(super) fn volume(&mut self, count: Count, datatype: Datatype) -> Bytes {
        self.element(datatype).times(count.get())
    }

    /// The volume of one element.
    #[inline]
    pub(super) fn element(&mut self, datatype: Datatype) -> Bytes {
        match self.0 {
            Some((last, element)) if last == datatype => element,
            _ => self.ask(datatype),
        }
    }

    #[cold]
    fn ask(&mut self, datatype: Datatype) -> Bytes {
        let element = element(datatype);
        self.0 = Some((datatype, element));
        element
    }

    /// A datatype is about to be freed, and its handle may be reused for another.
    pub(super) fn forget(&mut self) {
        self.0 = None;
    }
}

/// The volume of `count` elements.
pub(super) fn volume(count: Count, datatype: Datatype) -> Bytes {
    element(datatype).times(count.get())
}

/// The volume of one element.
pub(super) fn element(datatype: Datatype) -> Bytes {
    Bytes(pmpi::type_size(datatype).unwrap_or(0))
}
