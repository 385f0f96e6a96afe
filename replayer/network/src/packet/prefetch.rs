//! Prefetching. A large network does not fit into the caches, and each of its events accesses another place. A
//! processor that handles events one by one waits for memory each time; given a batch of them, it loads all at once (S.
//! Chen, A. Ailamaki, P. B. Gibbons, T. C. Mowry, "Improving Hash Join Performance through Prefetching", ACM TODS
//! 32(3), 2007).

/// Events of a batch: about the number of loads that a processor can have outstanding.
pub(super) const BATCH: usize = 16;

/// The size of a network, in ports, from which batches pay: smaller ones fit the processor's own caches.
const LARGE: usize = 8192;

/// Loads ahead of use, where they pay.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prefetch {
    is_large: bool,
}

impl Prefetch {
    /// For a network of this many ports.
    pub(crate) fn new(ports: usize) -> Self {
        Self { is_large: ports >= LARGE }
    }

    /// Loads something of each place that a batch is about to use. No load waits for another one, unless the iterator makes
    /// it.
    #[inline]
    pub(crate) fn load(self, loads: impl Iterator<Item = u32>) {
        if self.is_large {
            std::hint::black_box(loads.fold(0, |all, load| all ^ load));
        }
    }
}
