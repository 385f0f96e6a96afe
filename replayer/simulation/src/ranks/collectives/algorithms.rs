//! The algorithms of collectives on the hosts of a platform.

use titr_common::collectives::Selection;
use titr_common::program::NodeMaps;

use crate::ranks::Core;

/// The algorithms of a library, and the nodes of communicators for those that know them.
pub(super) struct Algorithms<'a> {
    pub(super) selection: &'a Selection,
    pub(super) nodes: NodeMaps,
}

impl<'a> Algorithms<'a> {
    /// The algorithms that a library chooses for ranks on these cores.
    pub(super) fn new(selection: &'a Selection, cores: &[Core]) -> Self {
        Self { selection, nodes: NodeMaps::new(selection, cores.iter().map(|core| core.host.0)) }
    }
}
