//! Messages over the packet model, cycle by cycle.

use titr_network::packet::{Delivery, Message, PacketParameters, PacketSpec, engine};
use titr_network::topology::{HostId, RoutePeriod, Topology};

pub fn spec(topology: &dyn Topology, parameters: PacketParameters) -> PacketSpec {
    PacketSpec::new(topology.router_graph().unwrap(), parameters).unwrap()
}

pub fn message(tag: u64, from: u32, to: u32, packets: u64) -> Message {
    let period = RoutePeriod(0);
    Message { tag, from: HostId(from), to: HostId(to), packets, last_phits: None, connection: None, period }
}

/// Offers all messages at cycle 0 and lives until nothing happens any more.
pub fn run(spec: &PacketSpec, messages: &[Message]) -> Vec<Delivery> {
    let (mut engine, mut deliveries) = (engine(spec), Vec::new());
    messages.iter().for_each(|&message| engine.offer(0, message));
    while let Some(now) = engine.next_cycle() {
        engine.advance(now, &mut deliveries);
    }
    deliveries.sort_by_key(|delivery| (delivery.at, delivery.message.tag));
    deliveries
}
