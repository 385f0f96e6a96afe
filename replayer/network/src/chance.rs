//! Randomness that does not depend on the order of its use: a random number is a function of the seed and of its
//! purpose.

/// A random number for the `which`th use of kind `what`: the finalizer of splitmix64 (G. L. Steele, D. Lea, C. H. Flood,
/// "Fast splittable pseudorandom number generators", OOPSLA 2014), applied to each part in turn.
#[must_use]
pub fn chance(seed: u64, what: u64, which: u64) -> u64 {
    mix(mix(seed ^ what.wrapping_mul(0x9e37_79b9_7f4a_7c15)) ^ which.wrapping_mul(0xd1b5_4a32_d192_ed03))
}

fn mix(mut bits: u64) -> u64 {
    bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
