//! The choice of UGAL (universal globally adaptive load-balanced routing, A. Singh, PhD thesis, Stanford University, 2005)
//! between a shortest path and a detour, by the packets that are queued on both.

/// The cost that the shortest path may exceed another by, in packets times hops: a single packet behind the first port of a path
/// of two hops is in transit, and no congestion.
const BIAS: u32 = 2;

/// Whether a packet takes the detour. Costs are the expected delays of the paths, in packets. The cost of the detour is computed
/// only if the shortest path costs more than the bias.
#[inline]
pub(super) fn takes_detour(cost_of_shortest: u32, cost_of_detour: impl FnOnce() -> u32) -> bool {
    cost_of_shortest > BIAS && cost_of_shortest > cost_of_detour() + BIAS
}
