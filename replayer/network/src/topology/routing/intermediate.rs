//! The intermediate place of a path in Valiant's routing: a group of a dragonfly, or a router.

use super::Header;
use crate::chance::chance;
use crate::topology::RouterId;

/// A random place of `count` that is neither of the two `ends`, for a packet at a router; `None` if there are no others. Each
/// router draws anew.
pub(super) fn draw(count: u32, ends: [u32; 2], at: RouterId, header: &Header) -> Option<u32> {
    let others = count.checked_sub(2).filter(|&others| others > 0)?;
    let random = chance(header.random, at.0.into(), 0) >> 32;
    let place = ((random * u64::from(others)) >> 32) as u32;
    let [one, other] = ends;
    let (low, high) = (one.min(other), one.max(other));
    let place = if place < low { place } else { place + 1 };
    Some(if place < high { place } else { place + 1 })
}
