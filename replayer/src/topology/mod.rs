//! How hosts are cabled: links, and the route between two hosts. Shared by all network models.

use titr_common::units::Seconds;

/// A host, numbered from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId(pub u32);

/// A link of a topology, numbered from 0. A cable used in both directions at full rate is two links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u32);

/// How flows share a link's bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// The rates of all flows sum to at most the bandwidth.
    Shared,
    /// Each flow has at most the bandwidth (SimGrid's FATPIPE): an ideal backbone.
    FatPipe,
}

/// A link.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// A name for reports, such as `node-3 up` or `torus 5 +x`.
    pub name: String,
    /// Bytes per second.
    pub bandwidth: f64,
    /// Time for the first bit to cross.
    pub latency: Seconds,
    /// How flows share it.
    pub sharing: Sharing,
}
