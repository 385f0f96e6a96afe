//! Finds the eager threshold by experiment: a send whose receive is posted late returns at once if its message is
//! eager, and otherwise waits for the receive.

use titr_common::units::Bytes;

use crate::measurements::LateReceive;

/// A search for the smallest message whose send waits.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// The largest size whose send returned at once; none yet.
    returned: Option<u64>,
    /// The smallest size whose send waited; none yet.
    waited: Option<u64>,
    /// The largest size that is tried.
    most: u64,
}

impl Search {
    /// A search among sizes from 1 byte to `most`.
    #[must_use]
    pub fn up_to(most: Bytes) -> Self {
        Self { returned: None, waited: None, most: most.0.max(1) }
    }

    /// The next size to try; `None` if the threshold is known.
    #[must_use]
    pub fn next_size(&self) -> Option<Bytes> {
        let next = match (self.returned, self.waited) {
            (None, None) => 1,
            (Some(returned), None) if returned >= self.most => return None,
            (Some(returned), None) => (returned * 4).min(self.most),
            (returned, Some(waited)) => {
                let low = returned.unwrap_or(0);
                if waited - low <= 1 {
                    return None;
                }
                low + (waited - low) / 2
            }
        };
        Some(Bytes(next))
    }

    /// Adds the observed behaviour of a size.
    pub fn learn(&mut self, bytes: Bytes, waits: bool) {
        let known = if waits { &mut self.waited } else { &mut self.returned };
        *known = Some(bytes.0);
    }
}

impl LateReceive {
    /// Whether the send waited for its receive.
    #[must_use]
    pub fn waited(&self) -> bool {
        self.send.0 >= self.delay.0 / 2.0
    }
}

/// The smallest size at which most sends waited for a late receive, above every size at which most did not. `None`: none did.
#[must_use]
pub fn threshold(late: &[LateReceive]) -> Option<Bytes> {
    let waits = |bytes: Bytes| {
        let (of, waited) = late
            .iter()
            .filter(|one| one.bytes == bytes)
            .fold((0, 0), |(of, waited), one| (of + 1, waited + i32::from(one.waited())));
        2 * waited > of
    };
    let mut sizes: Vec<Bytes> = late.iter().map(|one| one.bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let above = sizes.iter().rposition(|&bytes| !waits(bytes)).map_or(0, |last| last + 1);
    // A send of one byte that waits says that nothing is eager.
    sizes.get(above).map(|&bytes| if above == 0 && bytes.0 <= 1 { Bytes(0) } else { bytes })
}

#[cfg(test)]
mod tests {
    use titr_common::units::Seconds;

    use super::*;

    /// Searches on a machine with this threshold, every seventh of whose sends is disturbed.
    fn search(eager: u64, most: u64) -> Option<Bytes> {
        let mut late = Vec::new();
        let mut search = Search::up_to(Bytes(most));
        while let Some(bytes) = search.next_size() {
            for _ in 0..3 {
                let disturbed = late.len() % 7 == 3;
                let waits = (bytes.0 >= eager) != disturbed;
                let send = Seconds(if waits { 0.0201 } else { 0.0001 });
                late.push(LateReceive { bytes, delay: Seconds(0.02), send });
            }
            search.learn(bytes, late[late.len() - 3..].iter().filter(|one| one.waited()).count() >= 2);
        }
        threshold(&late)
    }

    #[test]
    fn the_threshold_is_found_to_the_byte() {
        for eager in [2, 3, 1000, 4096, 65_483, 65_536, 1 << 20] {
            assert_eq!(search(eager, 4 << 20), Some(Bytes(eager)));
        }
        assert_eq!(search(1, 4 << 20), Some(Bytes(0)));
        assert_eq!(search(u64::MAX, 4 << 20), None);
    }
}
