//! The promise of slabs: however a network is cut, and on however many threads it is, it does the same.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::tests::{any_run, live};
use super::*;
use crate::topology::LinkId;

/// What is delivered, what each link has carried, and the packets consumed with their latencies, in so many slabs.
fn run(
    spec: &PacketSpec,
    messages: &[(u64, Message)],
    slabs: usize,
) -> (Vec<Delivery>, BTreeMap<LinkId, u64>, (u64, u64)) {
    let mut engine = engine::in_slabs(spec, slabs);
    let deliveries = live(&mut *engine, messages);
    let mut carried = BTreeMap::new();
    for (link, packets) in engine.carried(spec.graph()) {
        *carried.entry(link).or_default() += packets;
    }
    (deliveries, carried, engine.consumed())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn slabs_are_one_network((spec, messages) in any_run(1..200, 60), slabs in 2_usize..6) {
        prop_assert_eq!(run(&spec, &messages, slabs), run(&spec, &messages, 1));
    }
}
