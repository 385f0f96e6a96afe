//! `[network.packet]`, whose keys are in `network`: the packets, routers and queues of the packet model.

use titr_common::units::{Bytes, Quantity, Seconds};
use titr_document::{Checked, Mistake, Place};
use titr_network::packet::{Buffer, BufferSharing, InjectionOrder, PacketParameters, PacketSpec, Switch, WhenFull};
use titr_network::topology::{RouteTable, RouterGraph, RoutingName, RoutingOptions, Topology, Unroutable};
use toml::Spanned;

use super::network::{BufferSharingName, FlowControl, Full, NetworkTable, PacketTable, SwitchKind};
use super::{Builder, place_of};

/// Maximum number of channels, ports and queues: a mistyped number gives an error instead of filling the memory.
const MOST: u32 = 1024;

impl Builder<'_> {
    /// The routers that a network is made of, and remarks on how they were read.
    pub(super) fn packet(
        &self,
        network: &Spanned<NetworkTable>,
        topology: &dyn Topology,
    ) -> Checked<(PacketSpec, Vec<String>)> {
        let table = &network.get_ref().packet;
        let rails: Vec<&dyn Topology> = match topology.rails_differ() {
            true => topology.rails().numbers().filter_map(|number| topology.rail(number)).collect(),
            false => vec![topology],
        };
        let graph = |rail: &&dyn Topology| {
            let graph = rail.router_graph().map_err(|why| {
                let message = format!("the packet model cannot have this {}: {why}", topology.name());
                self.wrong(network, message).with_help("change the topology, or use model = \"flow\"")
            })?;
            Ok(if table.wire_delay.is_some() { graph.without_latencies() } else { graph })
        };
        let graphs: Vec<RouterGraph> = rails.iter().map(graph).collect::<Checked<_>>()?;
        let of_rails = || rails.iter().zip(&graphs);
        let links = || of_rails().flat_map(|(rail, graph)| graph.links().map(|link| rail.links()[link.index()]));
        let fastest = links().map(|link| link.bandwidth).max_by(f64::total_cmp);
        let bandwidth = match (&network.get_ref().bandwidth, fastest) {
            (_, Some(fastest)) => fastest,
            (Some(bandwidth), None) => bandwidth.get_ref().0.bytes_per_second,
            (None, None) => return Err(self.wrong(network, "there is no link whose bandwidth could give the cycle")),
        };
        let ignores_latencies =
            graphs.iter().all(|graph| graph.own_links().is_empty()) && links().any(|link| link.latency.0 > 0.0);
        let (phit, packet_phits, header_phits) = self.packet_size(table)?;
        let packet = phit.times(packet_phits.into());
        let defaults = PacketParameters::default();
        let channels = table.virtual_channels.as_ref().map(|number| self.number(Some(number), 1)).transpose()?;
        let routing = RoutingOptions {
            name: table.routing.as_ref().map(|name| *name.get_ref()),
            virtual_channels: channels,
            ascent: table.ascent.as_ref().map(|ascent| *ascent.get_ref()),
        };
        let parameters = PacketParameters {
            bandwidth,
            phit,
            packet_phits,
            header_phits,
            queue_packets: self.number(table.queue_packets.as_ref(), defaults.queue_packets)?,
            output_queue: match &table.output_queue {
                Some(none) if *none.get_ref() == 0 => 0,
                some => self.number(some.as_ref(), defaults.output_queue)?,
            },
            routing,
            arbitration: table.arbitration.as_ref().map(|rule| *rule.get_ref()).unwrap_or_default(),
            injection_order: table.injection_order,
            connection_window: self.connection_window(table, packet)?,
            injection_ports: self.number(table.injection_ports.as_ref(), defaults.injection_ports)?,
            injection_queues: self.number(table.injection_queues.as_ref(), defaults.injection_queues)?,
            consumption_ports: self.number(table.consumption_ports.as_ref(), defaults.consumption_ports)?,
            router_delay: table.router_delay,
            wire_delay: table.wire_delay.unwrap_or(defaults.wire_delay),
            burst: table.burst.as_ref().map_or(defaults.burst, |size| size.get_ref().0),
            switch: self.switch(table)?,
            seed: table.seed,
        };
        let links_of_rail = rails.first().map_or(0, |rail| rail.links().len() as u32);
        let spec_of = |graph: RouterGraph| {
            let spec = packets_in(graph, parameters.clone()).map_err(|why| self.unroutable(network, &why))?;
            self.flow_control(table, &spec)?;
            Ok(spec)
        };
        let mut specs = graphs.into_iter().map(spec_of).collect::<Checked<Vec<_>>>()?.into_iter();
        let Some(first) = specs.next() else { return Err(self.wrong(network, "there is no rail")) };
        let further: Vec<PacketSpec> = specs.collect();
        let spec = if further.is_empty() { first } else { first.with_further_rails(further, links_of_rail) };
        let mut warnings = Vec::new();
        if ignores_latencies && table.wire_delay.is_none() {
            warnings.push(format!(
                "the packet model counts cycles, of {:.3} ns here, and does not use network.latency: \
                 network.packet.wire_delay says how many a cable takes",
                spec.cycle() * 1e9
            ));
        }
        if network.get_ref().card.process_bandwidth.is_some() {
            warnings.push("the packet model does not use network.card.process_bandwidth".to_owned());
        }
        Ok((spec, warnings))
    }

    /// The packets of a size that a connection may have on their way.
    fn connection_window(&self, table: &PacketTable, packet: Bytes) -> Checked<Option<u32>> {
        let Some(window) = &table.connection_window else { return Ok(None) };
        let refuse = |why: &str| Err(self.wrong(window, why));
        if table.injection_order != InjectionOrder::RoundRobin {
            return refuse("connections have windows with injection_order = \"round-robin\"");
        }
        match u32::try_from(window.get_ref().0.0 / packet.0).unwrap_or(u32::MAX) {
            0 => refuse(&format!("a window has room for a packet, of {} bytes, at least", packet.0)),
            packets => Ok(Some(packets)),
        }
    }

    /// The mistake in a network that cannot be routed.
    fn unroutable(&self, network: &Spanned<NetworkTable>, why: &Unroutable) -> Mistake {
        let table = &network.get_ref().packet;
        let number = table.virtual_channels.as_ref().or(table.queue_packets.as_ref());
        if let (Unroutable::Impossible(_), Some(buffer), None) = (why, &table.buffer, number) {
            return self.wrong(buffer, why.to_string());
        }
        match (why, &table.routing, number) {
            (Unroutable::OtherRouting { .. }, Some(name), _) => self.wrong(name, why.to_string()),
            (_, _, Some(number)) => self.wrong(number, why.to_string()),
            (_, _, None) => self.wrong(network, why.to_string()),
        }
    }

    /// The phit, and how many of them a packet and its header are.
    fn packet_size(&self, table: &PacketTable) -> Checked<(Bytes, u32, u32)> {
        let defaults = PacketParameters::default();
        let phit = table.phit.as_ref().map_or(defaults.phit, |phit| phit.get_ref().0);
        if let Some(phit) = table.phit.as_ref().filter(|phit| phit.get_ref().0.0 == 0) {
            return Err(self.wrong(phit, "a phit is at least a byte"));
        }
        let phits = |size: &Option<Spanned<Quantity<Bytes>>>, default: Bytes| {
            let bytes = size.as_ref().map_or(default, |size| size.get_ref().0);
            let phits = u32::try_from(bytes.0 / phit.0).ok().filter(|_| bytes.0.is_multiple_of(phit.0));
            let culprit = size.as_ref().or(table.phit.as_ref());
            phits.ok_or_else(|| match culprit {
                Some(culprit) => self.wrong(culprit, format!("{} bytes are no whole number of phits", bytes.0)),
                None => self.source.mistake(None, "packets are no whole number of phits"),
            })
        };
        let packet = phits(&table.packet, Bytes(64))?;
        let header = phits(&table.header, Bytes(0))?;
        if header >= packet {
            let culprit = table.header.as_ref().or(table.packet.as_ref());
            let message = format!("a packet of {packet} phits has no room for data beside a header of {header}");
            return Err(match culprit {
                Some(culprit) => self.wrong(culprit, message),
                None => self.source.mistake(None, message),
            });
        }
        Ok((phit, packet, header))
    }

    fn flow_control(&self, table: &PacketTable, spec: &PacketSpec) -> Checked<()> {
        match &table.flow_control {
            Some(control) if *control.get_ref() == FlowControl::Vct && spec.has_rings() => {
                let mistake =
                    self.wrong(control, "packets in a ring can wait for each other for ever without a bubble");
                Err(mistake.with_help("write flow_control = \"bubble\""))
            }
            _ => Ok(()),
        }
    }

    fn number(&self, written: Option<&Spanned<u32>>, default: u32) -> Checked<u32> {
        match written.map(|number| (number, *number.get_ref())) {
            None => Ok(default),
            Some((_, number)) if (1..=MOST).contains(&number) => Ok(number),
            Some((written, number)) => Err(self.wrong(written, format!("{number} is not from 1 to {MOST}"))),
        }
    }
}

/// A packet network of these routers. Of routes in a table, those of an up*/down* routing are such paths.
fn packets_in(graph: RouterGraph, mut parameters: PacketParameters) -> Result<PacketSpec, Unroutable> {
    if graph.geometry::<RouteTable>().is_some() {
        parameters.routing.name = parameters.routing.name.filter(|name| *name != RoutingName::UP_DOWN);
    }
    PacketSpec::new(graph, parameters)
}

/// The keys of a limited memory, but for its size.
fn keys_of_buffer(table: &PacketTable) -> [Option<Place>; 4] {
    let PacketTable { buffer_sharing, alpha, when_full, retransmit_after, .. } = table;
    [place_of(buffer_sharing), place_of(alpha), place_of(when_full), place_of(retransmit_after)]
}

/// The minimum retransmission timeout of Linux.
const RETRANSMIT_AFTER: Seconds = Seconds(0.2);

impl Builder<'_> {
    /// The kind of all routers.
    pub(super) fn switch(&self, table: &PacketTable) -> Checked<Switch> {
        match table.switch {
            SwitchKind::InputQueued => {
                let key = "only switches with switch = \"output-queued\" have a common memory";
                self.refuse([place_of(&table.buffer)], key)?;
                let window = place_of(&table.connection_window);
                self.refuse([window], "only hosts of switches with switch = \"output-queued\" have windows")?;
                let burst = place_of(&table.burst);
                self.refuse([burst], "only links of switches with switch = \"output-queued\" have token buckets")?;
                self.refuse(keys_of_buffer(table), key)?;
                Ok(Switch::InputQueued)
            }
            SwitchKind::OutputQueued => {
                let of_queues = [&table.queue_packets, &table.output_queue, &table.injection_queues].map(place_of);
                let why = "an output-queued switch has one memory, whose size is buffer, and no input queues";
                self.refuse(of_queues, why)?;
                let why = "an output-queued switch sends the packets of a port in their order, without arbitration";
                self.refuse([place_of(&table.arbitration)], why)?;
                self.buffer(table).map(Switch::OutputQueued)
            }
        }
    }

    /// Finds fault with the first of some keys that is written.
    fn refuse<const N: usize>(&self, keys: [Option<Place>; N], why: &str) -> Checked<()> {
        keys.into_iter().flatten().next().map_or(Ok(()), |place| Err(self.source.mistake(place, why)))
    }

    /// The memory of a switch, if it is limited.
    fn buffer(&self, table: &PacketTable) -> Checked<Option<Buffer>> {
        let Some(size) = &table.buffer else {
            let why = "a memory without limit is never full: write buffer, the size of the memory";
            return self.refuse(keys_of_buffer(table), why).map(|()| None);
        };
        let sharing = match table.buffer_sharing.as_ref().map(|sharing| *sharing.get_ref()).unwrap_or_default() {
            BufferSharingName::Partitioned => {
                self.refuse([place_of(&table.alpha)], "only a shared memory has thresholds")?;
                BufferSharing::Partitioned
            }
            BufferSharingName::Shared => BufferSharing::Shared { alpha: self.positive(table.alpha.as_ref(), 1.0)? },
        };
        let when_full = match table.when_full.as_ref().map(|when| *when.get_ref()).unwrap_or_default() {
            Full::Pause => {
                let after = place_of(&table.retransmit_after);
                self.refuse([after], "packets are lost only with when_full = \"drop\"")?;
                WhenFull::Pause
            }
            Full::Drop => {
                let after = table.retransmit_after.as_ref().map_or(RETRANSMIT_AFTER, |after| after.get_ref().0);
                WhenFull::Drop { retransmit_after: after }
            }
        };
        Ok(Some(Buffer { size: size.get_ref().0, sharing, when_full }))
    }

    fn positive(&self, written: Option<&Spanned<f64>>, default: f64) -> Checked<f64> {
        match written.map(|number| (number, *number.get_ref())) {
            None => Ok(default),
            Some((_, number)) if number > 0.0 && number.is_finite() => Ok(number),
            Some((written, number)) => Err(self.wrong(written, format!("{number} is not a positive number"))),
        }
    }
}
