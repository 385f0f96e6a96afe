//! What an archive that titr wrote has beside OTF2's records.

use titr_common::event::RequestId;

/// The tool that the anchor of such an archive names.
pub(crate) const CREATOR: &str = "titr";
/// The name of the attribute with the text of calls.
pub(crate) const CALLS: &str = "titr calls";
/// The line that stands for the computation that the counter has.
pub(crate) const COUNTED: &str = "compute";

/// The request with this number in records.
pub(super) fn request_of(name: u64) -> RequestId {
    RequestId(u32::try_from(name.saturating_sub(1)).unwrap_or(u32::MAX))
}
