//! Slabs give the same results for any division and any number of threads.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::tests::{any_run, live};
use super::*;
use crate::topology::LinkId;

/// The deliveries, the loads of links, and the packets consumed with their latencies, with this many slabs.
fn run(
    spec: &PacketSpec,
    messages: &[(u64, Message)],
    slabs: usize,
) -> (Vec<Delivery>, BTreeMap<LinkId, u64>, (u64, u64)) {
    let mut engine = engine::in_slabs(spec, slabs);
    let deliveries = live(&mut *engine, messages);
    let mut carried = BTreeMap::new();
    for (link, packets) in engine.carried(spec.graph()) {
        *carried.entry(link).or_default() += packets.packets;
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
