//! A cache of the size of the last datatype, because consecutive calls often have the same datatype.

use titr_common::units::Bytes;
use titr_wrappers::argument::{Count, Datatype};

use super::Recorder;

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
        let element = Recorder::element(datatype);
        self.0 = Some((datatype, element));
        element
    }

    /// A datatype is about to be freed, and its handle may be reused for another.
    pub(super) fn forget(&mut self) {
        self.0 = None;
    }
}
