//! Regions: parts of a program that it marks itself (`MPI_Pcontrol`, MPI 4.0 §15.2.4).

use super::ListSize;

/// A mark of the program at the beginning or the end of one of its regions. It takes no time. Which regions are open
/// between two marks is the business of [`OpenRegions`](crate::program::OpenRegions).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Region {
    /// `titr_region_begin`: a region of this name begins.
    Begin(Box<str>),
    /// `titr_region_end`: the region of this name that began last ends.
    End(Box<str>),
    /// `MPI_Pcontrol` with this level, which tools give different meanings.
    Control(i32),
}

impl Region {
    /// The size of the name.
    pub(super) fn list_size(&self) -> ListSize {
        match self {
            Self::Begin(name) | Self::End(name) => ListSize::of(name.as_bytes()),
            Self::Control(_) => ListSize::default(),
        }
    }
}
