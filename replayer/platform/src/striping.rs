//! Striping: the distribution of a file's bytes over servers.
//!
//! A file is divided into stripes of one size. They are on the servers in turn, from the file's first server on, as in
//! Lustre (Operations Manual, §2.3, "Lustre File System Striping") and PVFS's `simple_stripe`.

use titr_common::units::Bytes;

/// The distribution of files over servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Striping {
    /// The size of a stripe; at least one byte.
    pub size: Bytes,
    /// The number of servers that hold a file; at least one.
    pub count: u32,
}

impl Striping {
    /// The bytes of a piece of a file on each server that has any of it. The piece starts at byte `start`; the file's
    /// first stripe is on server `first` of `servers`. Each server occurs once, and an empty piece is on the server
    /// where its first byte would be.
    #[must_use]
    pub fn shares(&self, first: u32, servers: u32, start: u64, bytes: Bytes) -> Vec<(u32, Bytes)> {
        let (size, count, servers) =
            (self.size.0.max(1), u64::from(self.count.clamp(1, servers.max(1))), servers.max(1));
        let server = |stripe: u64| ((u64::from(first) + stripe % count) % u64::from(servers)) as u32;
        let end = start.saturating_add(bytes.0);
        let (from, to) = (start / size, end.saturating_sub(1).max(start) / size);
        let holders = (to - from).saturating_add(1).min(count);
        let share = |holder: u64| {
            // The stripes from, from + count, ... of this server are whole but for the first and the last of the piece.
            let stripe = from + holder;
            let stripes = (to - stripe) / count + 1;
            let before = if holder == 0 { start - from * size } else { 0 };
            let last = stripe + (stripes - 1) * count;
            let after = if last == to { (last + 1).saturating_mul(size).saturating_sub(end.max(start)) } else { 0 };
            (server(stripe), Bytes(stripes.saturating_mul(size).saturating_sub(before).saturating_sub(after)))
        };
        if bytes.0 == 0 { vec![(server(from), Bytes(0))] } else { (0..holders).map(share).collect() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn stripes_lie_on_servers_in_turn() {
        let striping = Striping { size: Bytes(10), count: 3 };
        assert_eq!(striping.shares(0, 4, 0, Bytes(10)), [(0, Bytes(10))]);
        assert_eq!(striping.shares(2, 4, 5, Bytes(10)), [(2, Bytes(5)), (3, Bytes(5))]);
        assert_eq!(striping.shares(3, 4, 5, Bytes(60)), [(3, Bytes(20)), (0, Bytes(20)), (1, Bytes(20))]);
        assert_eq!(striping.shares(0, 4, 35, Bytes(0)), [(0, Bytes(0))]);
        assert_eq!(striping.shares(0, 1, 35, Bytes(100)), [(0, Bytes(100))]);
    }

    proptest! {
        /// Each byte is where counting puts it.
        #[test]
        fn shares_are_those_of_single_bytes(
            (size, count, first, servers) in (1_u64..9, 1_u32..5, 0_u32..5, 1_u32..5),
            (start, bytes) in (0_u64..100, 1_u64..100),
        ) {
            let first = first % servers;
            let mut counted = BTreeMap::new();
            for byte in start..start + bytes {
                let server = (first + (byte / size % u64::from(count.min(servers))) as u32) % servers;
                *counted.entry(server).or_insert(0) += 1;
            }
            let shares = Striping { size: Bytes(size), count }.shares(first, servers, start, Bytes(bytes));
            prop_assert_eq!(shares.len(), counted.len());
            prop_assert_eq!(shares.into_iter().map(|(server, Bytes(bytes))| (server, bytes)).collect::<BTreeMap<_, _>>(), counted);
        }
    }
}
