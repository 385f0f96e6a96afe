//! `[network.packet]`: what can be written of routers, and what it means.

use serde::Deserialize;
use titr_common::units::{Bytes, Quantity};
use toml::Spanned;

use super::resolve::{Resolved, Resolver};
use super::schema;
use titr_network::packet::{self, Ascent, Design, Parameters};
use titr_network::topology::{Plan, Topology};

/// `[network.packet]`: parameters of `model = "packet"`. The defaults are those of FSIN's router.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Packet {
    /// What a channel carries in a cycle, so that bandwidth / phit is the clock's frequency. Default: 4 bytes.
    pub phit: Option<Spanned<Quantity<Bytes>>>,
    /// Packets' size, a whole number of phits. Default: 64 bytes.
    pub packet: Option<Spanned<Quantity<Bytes>>>,
    /// The part of it that is header, which messages' bytes are not counted in. Default: none.
    pub header: Option<Spanned<Quantity<Bytes>>>,
    /// Queues at the end of each channel. Default: 1 in dimension order and in trees, 3 if adaptive, 2 in dragonflies.
    pub virtual_channels: Option<Spanned<u32>>,
    /// Packets that each has room for. Default: 4.
    pub queue_packets: Option<Spanned<u32>>,
    /// Packets that each channel of a port has room for between crossbar and cable. Default: none.
    pub output_queue: Option<Spanned<u32>>,
    /// Default: `"dor"` in grids, `"updown"` in trees, `"minimal"` in dragonflies.
    pub routing: Option<Spanned<Routing>>,
    /// How packets go up in trees. Default: `"adaptive"` if the routing is, otherwise `"d-mod-k"`.
    pub ascent: Option<Spanned<TreeAscent>>,
    /// Default: `"bubble"` where there are rings.
    pub flow_control: Option<Spanned<FlowControl>>,
    /// Default: `"round-robin"`.
    pub arbitration: Arbitration,
    /// Packets that a host can send at once. Default: 1.
    pub injection_ports: Option<Spanned<u32>>,
    /// Packets that a host can receive at once. Default: 1.
    pub consumption_ports: Option<Spanned<u32>>,
    /// Cycles that a header spends in a router before it asks for a port. Default: 0.
    pub router_delay: u32,
    /// Cycles that a phit spends on a cable beyond the one in which it enters. Default: 0.
    pub wire_delay: Option<u32>,
    /// What chance follows from. Default: 0.
    pub seed: u64,
}

/// `[network.packet] routing`
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Routing {
    /// Dimension order.
    Dor,
    /// Any shortest way.
    Adaptive,
    /// Up and down a tree.
    UpDown,
    /// The shortest way through a dragonfly.
    Minimal,
}

/// `[network.packet] ascent`
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TreeAscent {
    /// By the destination.
    DModK,
    /// By the source.
    SModK,
    /// By chance.
    Random,
    /// Where there is most room.
    Adaptive,
}

/// `[network.packet] flow_control`
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlowControl {
    /// Virtual cut-through, and who enters a ring leaves a bubble in it.
    Bubble,
    /// Virtual cut-through alone, where there are no rings.
    Vct,
}

/// `[network.packet] arbitration`
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arbitration {
    /// The next queue that asks.
    #[default]
    RoundRobin,
    /// Who came first.
    Fifo,
    /// Any.
    Random,
    /// The longest queue.
    Longest,
}

/// Of channels, ports and queues at most: a mistyped number is refused rather than filling memory.
const MOST: u32 = 1024;

impl Resolver<'_> {
    /// The routers that a network is made of, and what should be known of how they were read.
    pub(super) fn routers(
        &self,
        network: &Spanned<schema::Network>,
        topology: &dyn Topology,
    ) -> Resolved<(Design, Vec<String>)> {
        let written = &network.get_ref().packet;
        let fabric = topology.fabric().map_err(|why| {
            let mistake = self.wrong(network, format!("the packet model cannot have this {}: {why}", topology.name()));
            mistake.with_help("use a torus, a mesh, a tree or a dragonfly, or model = \"flow\"")
        })?;
        let Some(bandwidth) = &network.get_ref().bandwidth else {
            return Err(self.wrong(network, "missing key `bandwidth`"));
        };
        let (phit, packet_phits, header_phits) = self.packet_size(written)?;
        let routing = self.routing(written, &fabric.plan)?;
        let defaults = Parameters::default();
        let channels = match routing {
            packet::Routing::DimensionOrder | packet::Routing::UpDown(_) => 1,
            packet::Routing::Adaptive => 3,
            packet::Routing::Minimal => 2,
        };
        let parameters = Parameters {
            bandwidth: bandwidth.get_ref().0.bytes_per_second,
            phit,
            packet_phits,
            header_phits,
            virtual_channels: self.number(written.virtual_channels.as_ref(), channels)?,
            queue_packets: self.number(written.queue_packets.as_ref(), defaults.queue_packets)?,
            output_queue: match &written.output_queue {
                Some(none) if *none.get_ref() == 0 => 0,
                some => self.number(some.as_ref(), defaults.output_queue)?,
            },
            routing,
            arbitration: written.arbitration.into(),
            injection_ports: self.number(written.injection_ports.as_ref(), defaults.injection_ports)?,
            consumption_ports: self.number(written.consumption_ports.as_ref(), defaults.consumption_ports)?,
            router_delay: written.router_delay,
            wire_delay: written.wire_delay.unwrap_or(defaults.wire_delay),
            seed: written.seed,
        };
        let design = Design::new(fabric, parameters).map_err(|why| {
            let culprit = written.virtual_channels.as_ref().or(written.queue_packets.as_ref());
            match culprit {
                Some(number) => self.wrong(number, why.to_string()),
                None => self.wrong(network, why.to_string()),
            }
        })?;
        self.flow_control(written, &design)?;
        let mut warnings = Vec::new();
        if network.get_ref().latency.as_ref().is_some_and(|latency| latency.get_ref().0.0 > 0.0)
            && written.wire_delay.is_none()
        {
            let cycle = design.cycle();
            warnings.push(format!(
                "the packet model counts cycles, of {:.3} ns here, and does not use network.latency: \
                 network.packet.wire_delay says how many a cable takes",
                cycle * 1e9
            ));
        }
        Ok((design, warnings))
    }

    /// The phit, and how many of them a packet and its header are.
    fn packet_size(&self, written: &Packet) -> Resolved<(Bytes, u32, u32)> {
        let defaults = Parameters::default();
        let phit = written.phit.as_ref().map_or(defaults.phit, |phit| phit.get_ref().0);
        if let Some(phit) = written.phit.as_ref().filter(|phit| phit.get_ref().0.0 == 0) {
            return Err(self.wrong(phit, "a phit is at least a byte"));
        }
        let phits = |size: &Option<Spanned<Quantity<Bytes>>>, default: Bytes| {
            let bytes = size.as_ref().map_or(default, |size| size.get_ref().0);
            let phits = u32::try_from(bytes.0 / phit.0).ok().filter(|_| bytes.0.is_multiple_of(phit.0));
            let culprit = size.as_ref().or(written.phit.as_ref());
            phits.ok_or_else(|| match culprit {
                Some(culprit) => self.wrong(culprit, format!("{} bytes are no whole number of phits", bytes.0)),
                None => self.source.mistake(None, "packets are no whole number of phits"),
            })
        };
        let packet = phits(&written.packet, Bytes(64))?;
        let header = phits(&written.header, Bytes(0))?;
        if header >= packet {
            let culprit = written.header.as_ref().or(written.packet.as_ref());
            let message = format!("a packet of {packet} phits has no room for data beside a header of {header}");
            return Err(match culprit {
                Some(culprit) => self.wrong(culprit, message),
                None => self.source.mistake(None, message),
            });
        }
        Ok((phit, packet, header))
    }

    fn routing(&self, written: &Packet, plan: &Plan) -> Resolved<packet::Routing> {
        let asked = written.routing.as_ref().map(|routing| *routing.get_ref());
        let ascent = written.ascent.as_ref().map(|ascent| (*ascent.get_ref()).into());
        Ok(match (plan, asked) {
            (Plan::Grid(_), None | Some(Routing::Dor)) => packet::Routing::DimensionOrder,
            (Plan::Grid(_), Some(Routing::Adaptive)) => packet::Routing::Adaptive,
            (Plan::Tree(_), None | Some(Routing::UpDown)) => packet::Routing::UpDown(ascent.unwrap_or(Ascent::DModK)),
            (Plan::Tree(_), Some(Routing::Adaptive)) => packet::Routing::UpDown(ascent.unwrap_or(Ascent::Adaptive)),
            (Plan::Dragonfly(_), None | Some(Routing::Minimal)) => packet::Routing::Minimal,
            (plan, Some(_)) => {
                let possible = match plan {
                    Plan::Grid(_) => "a grid is routed by \"dor\" or \"adaptive\"",
                    Plan::Tree(_) => "a tree is routed by \"updown\" or \"adaptive\"",
                    Plan::Dragonfly(_) => "a dragonfly is routed by \"minimal\"",
                };
                return Err(match &written.routing {
                    Some(routing) => self.wrong(routing, possible),
                    None => self.source.mistake(None, possible),
                });
            }
        })
    }

    fn flow_control(&self, written: &Packet, design: &Design) -> Resolved<()> {
        match &written.flow_control {
            Some(control) if *control.get_ref() == FlowControl::Vct && design.has_rings() => {
                let mistake =
                    self.wrong(control, "packets in a ring can wait for each other for ever without a bubble");
                Err(mistake.with_help("write flow_control = \"bubble\""))
            }
            _ => Ok(()),
        }
    }

    fn number(&self, written: Option<&Spanned<u32>>, default: u32) -> Resolved<u32> {
        match written.map(|number| (number, *number.get_ref())) {
            None => Ok(default),
            Some((_, number)) if (1..=MOST).contains(&number) => Ok(number),
            Some((written, number)) => Err(self.wrong(written, format!("{number} is not from 1 to {MOST}"))),
        }
    }
}

impl From<TreeAscent> for Ascent {
    fn from(written: TreeAscent) -> Self {
        match written {
            TreeAscent::DModK => Self::DModK,
            TreeAscent::SModK => Self::SModK,
            TreeAscent::Random => Self::Random,
            TreeAscent::Adaptive => Self::Adaptive,
        }
    }
}

impl From<Arbitration> for packet::Arbitration {
    fn from(written: Arbitration) -> Self {
        match written {
            Arbitration::RoundRobin => Self::RoundRobin,
            Arbitration::Fifo => Self::Fifo,
            Arbitration::Random => Self::Random,
            Arbitration::Longest => Self::Longest,
        }
    }
}
