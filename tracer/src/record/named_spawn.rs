//! A spawn that passes its name to its processes.

use std::sync::Arc;

use titr_wrappers::pmpi::ChangedInfos;

/// A spawn that passes its name to its processes, by hints that replace the program's. Has to live as long as the call.
#[derive(Clone, Debug)]
pub(crate) struct NamedSpawn {
    name: String,
    _infos: Arc<ChangedInfos>,
}

impl NamedSpawn {
    /// A spawn of this name, which is made with these hints.
    pub(super) fn new(name: String, infos: ChangedInfos) -> Self {
        Self { name, _infos: Arc::new(infos) }
    }

    /// The name, once the call has returned.
    pub(super) fn into_name(self) -> String {
        self.name
    }
}
