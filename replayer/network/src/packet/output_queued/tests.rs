//! Tests of output-queued switches: equality with the reference in every cycle, closed forms, and full memories.

use proptest::prelude::*;
use titr_common::units::Seconds;

use super::super::tests::sample_networks::any_network;
use super::super::tests::{any_parameters, between, run};
use super::super::*;
use super::reference::Reference;
use crate::topology::{Routing, RoutingOptions, RoutingVisitor};

/// Runs the reference until nothing happens any more, or for a number of cycles. Returns the losses, too.
struct ReferenceRun<'a> {
    spec: &'a PacketSpec,
    messages: &'a [(u64, Message)],
    most_cycles: u64,
}

impl RoutingVisitor for ReferenceRun<'_> {
    type Output = (Vec<Delivery>, u64);

    fn visit<R: Routing>(self, routing: &R) -> Self::Output {
        let (mut reference, mut deliveries) = (Reference::new(self.spec, routing), Vec::new());
        let mut messages = self.messages.iter().peekable();
        for now in 0..self.most_cycles {
            let mut offers = Vec::new();
            while let Some(&(_, message)) = messages.next_if(|&&(at, _)| at == now) {
                offers.push(message);
            }
            reference.tick(now, &offers, &mut deliveries);
            if messages.peek().is_none() && reference.is_idle() {
                break;
            }
        }
        deliveries.sort_by_key(|delivery| (delivery.at, delivery.message.tag));
        (deliveries, reference.losses)
    }
}

fn run_reference(spec: &PacketSpec, messages: &[(u64, Message)], most_cycles: u64) -> (Vec<Delivery>, u64) {
    spec.routing.visit(ReferenceRun { spec, messages, most_cycles })
}

/// A memory of some packets of `PacketParameters`.
fn buffer(parameters: &PacketParameters, packets: u64, sharing: BufferSharing, when_full: WhenFull) -> Option<Buffer> {
    Some(Buffer { size: parameters.packet_bytes().times(packets), sharing, when_full })
}

fn any_buffer() -> impl Strategy<Value = Option<(u64, BufferSharing, WhenFull)>> {
    let alpha = prop::sample::select(vec![0.25, 0.5, 1.0, 4.0]).prop_map(|alpha| BufferSharing::Shared { alpha });
    let sharing = prop_oneof![1 => Just(BufferSharing::Partitioned), 2 => alpha];
    let cycles = (1_u32..40).prop_map(|cycles| Seconds(f64::from(cycles) * 4e-9));
    let drop = cycles.prop_map(|retransmit_after| WhenFull::Drop { retransmit_after });
    let when_full = prop_oneof![Just(WhenFull::Pause), drop];
    prop_oneof![1 => Just(None), 4 => (1_u64..40, sharing, when_full).prop_map(Some)]
}

/// A network of output-queued switches, and messages between its hosts in the order of their cycles. A memory that is too
/// small for a switch, or switches that could wait for ever, have memory without limit instead.
fn any_run(messages: std::ops::Range<usize>, span: u64) -> impl Strategy<Value = (PacketSpec, Vec<(u64, Message)>)> {
    let messages = prop::collection::vec((0..span, any::<(u32, u32)>(), 1_u64..6), messages);
    let burst = prop_oneof![2 => Just(0), 1 => 1_u64..20];
    let window = prop_oneof![2 => Just(None), 1 => (1_u32..6).prop_map(Some)];
    let all = (any_network(), any_parameters(), any_buffer(), (burst, window), messages);
    all.prop_filter_map("links are alike", |((topology, routing), drawn, memory, (burst, window), messages)| {
        let more = routing.name.map_or(0, |name| match &*name.to_string() {
            "adaptive" | "minimal" | "table" => 1,
            "valiant" | "ugal" | "ugal-g" => 2,
            "par" => 3,
            _ => 0,
        });
        let channels = drawn.routing.virtual_channels.map(|channels| channels + more);
        let mut parameters = PacketParameters {
            routing: RoutingOptions { virtual_channels: routing.virtual_channels.or(channels), ..routing },
            output_queue: 0,
            injection_queues: 1,
            burst: drawn.phit.times(burst),
            connection_window: window,
            ..drawn
        };
        let limit = memory.and_then(|(packets, sharing, when_full)| buffer(&parameters, packets, sharing, when_full));
        parameters.switch = Switch::OutputQueued(limit);
        let graph = topology.router_graph().unwrap();
        let spec = PacketSpec::new(graph.clone(), parameters.clone())
            .or_else(|_| PacketSpec::new(graph, PacketParameters { switch: Switch::OutputQueued(None), ..parameters }));
        let spec = spec.ok()?;
        let mut messages = between(topology.hosts(), messages);
        for (number, (_, message)) in (0_u32..).zip(&mut messages) {
            message.last_phits = Some(1 + number % 5).filter(|&phits| phits < spec.parameters.packet_phits);
        }
        Some((spec, messages))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Every message, in every network: created, injected and delivered in the same cycles over as many channels. The
    /// reference checks that no memory has more packets than fit.
    #[test]
    fn the_engine_is_the_reference((spec, messages) in any_run(1..40, 60)) {
        prop_assert_eq!(run(&spec, &messages), run_reference(&spec, &messages, 20_000).0);
    }

    /// After any saturation, the network drains, and each message arrives once, even if packets were lost.
    #[test]
    fn saturating_traffic_drains((spec, messages) in any_run(300..600, 20)) {
        let mut tags: Vec<_> = run(&spec, &messages).iter().map(|delivery| delivery.message.tag).collect();
        tags.sort_unstable();
        prop_assert_eq!(tags, Vec::from_iter(0..messages.len() as u64));
    }
}
