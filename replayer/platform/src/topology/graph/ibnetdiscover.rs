//! The output of `ibnetdiscover`, which lists the nodes of an InfiniBand network and the port at each end of their cables.
//!
//! ```text
//! Switch  36 "S-0002c90300000001"  # "leaf 1" base port 0 lid 1 lmc 0
//! [1]     "H-0002c90300000002"[1](2c90300000003)  # "node1 HCA-1" lid 2 4xHDR
//! ```
//!
//! Channel adapters are hosts, except those inside switches (aggregation nodes), which are left out; switches and routers pass
//! messages on. A cable has the data rate of its width and speed, such as `4xHDR`. Each cable is listed at both of its ends.

use rustc_hash::FxHashSet;
use titr_document::{Checked, Mistake, Place, Source};

use super::cabling::{Bundle, CableProperties, Cabling, NodeKind};

/// The words that begin a node.
const NODES: [(&str, NodeKind); 3] = [("Switch", NodeKind::Router), ("Ca", NodeKind::Host), ("Rt", NodeKind::Router)];

/// Bits a second of data on one lane, by speed. Lanes up to QDR send 10 bits for 8, and FDR sends 66 for 64.
const SPEEDS: [(&str, f64); 9] = [
    ("SDR", 2e9),
    ("DDR", 4e9),
    ("QDR", 8e9),
    ("FDR10", 10e9),
    ("FDR", 14.0625e9 * 64.0 / 66.0),
    ("EDR", 25e9),
    ("HDR", 50e9),
    ("NDR", 100e9),
    ("XDR", 200e9),
];

/// The description of a channel adapter inside a switch.
const AGGREGATION: &str = "Aggregation Node";

/// An end of a cable: a node, and the number of its port.
type PortOf<'s> = (u32, &'s str);

/// Whether a text is such output: it has a line that begins a switch or a channel adapter.
pub(super) fn is_one(text: &str) -> bool {
    text.lines().any(|line| begin(line).is_some())
}

/// The kind and the identifier of the node that a line begins.
fn begin(line: &str) -> Option<(NodeKind, &str)> {
    let (_, kind) =
        NODES.iter().find(|(word, _)| line.strip_prefix(word).is_some_and(|rest| rest.starts_with(['\t', ' '])))?;
    let (ports, rest) = line.split_once('"')?;
    ports.split_whitespace().nth(1)?.parse::<u32>().ok()?;
    Some((*kind, rest.split_once('"')?.0))
}

/// Reads the output.
pub(super) fn read(source: &Source) -> Checked<Cabling<'_>> {
    let mut discovery = Discovery { cabling: Cabling::new(source), listed: FxHashSet::default(), at: At::Nothing };
    let mut start = 0;
    for line in source.text().split_inclusive('\n') {
        let text = line.trim_end();
        let place = start..start + text.len();
        start += line.len();
        if let Some((kind, id)) = begin(text) {
            discovery.begin_node(kind, id, text, place);
        } else if text.starts_with('[') {
            discovery.add_cable(text, place)?;
        }
    }
    Ok(discovery.cabling)
}

/// The part of the output that has been read.
struct Discovery<'s> {
    cabling: Cabling<'s>,
    /// The cables that have been listed, by their lower end first.
    listed: FxHashSet<(PortOf<'s>, PortOf<'s>)>,
    at: At,
}

/// The node whose cables are listed.
#[derive(Clone, Copy)]
enum At {
    Nothing,
    Node(u32),
    /// One that is left out.
    Aggregation,
}

impl<'s> Discovery<'s> {
    fn begin_node(&mut self, kind: NodeKind, id: &str, line: &str, place: Place) {
        // The description in quotes is after the identifier in quotes.
        let description = line.split('"').nth(3).map_or("", str::trim);
        if kind == NodeKind::Host && description.contains(AGGREGATION) {
            self.at = At::Aggregation;
            return;
        }
        let node = self.cabling.node(id, place);
        self.cabling.set_kind(node, kind);
        if !description.is_empty() {
            self.cabling.rename(node, description);
        }
        self.at = At::Node(node);
    }

    /// Reads the line of a port: `[1] "H-0002c90300000002"[1](2c90300000003) # "node1 HCA-1" lid 2 4xHDR`.
    fn add_cable(&mut self, line: &'s str, place: Place) -> Checked<()> {
        let wrong = |message: &str| wrong(self.cabling.source(), &place, message);
        let at = match self.at {
            At::Node(node) if !line.contains(AGGREGATION) => node,
            At::Node(_) | At::Aggregation => return Ok(()),
            At::Nothing => return Err(wrong("the cable of a node that has not begun")),
        };
        let between = |text: &'s str, open: char, close: char| text.split_once(open)?.1.split_once(close);
        let read = || {
            let (port, rest) = between(line, '[', ']')?;
            let (id, rest) = between(rest, '"', '"')?;
            let (other_port, rest) = between(rest, '[', ']')?;
            Some((port, id, other_port, rest))
        };
        let (port, id, other_port, rest) = read().ok_or_else(|| wrong("this is not the line of a port"))?;
        let node = self.cabling.node(id, place.clone());
        let (one, other) = ((at, port), (node, other_port));
        if self.listed.insert((one.min(other), one.max(other))) {
            let rate = rest.split_whitespace().rev().find_map(data_rate);
            let properties = CableProperties { bandwidth: rate.map(|bits| bits / 8.0), ..CableProperties::default() };
            self.cabling.join(Bundle { ends: [at, node], place, properties })?;
        }
        Ok(())
    }
}

fn wrong(source: &Source, place: &Place, message: &str) -> Mistake {
    let help = "a port is listed as [1] \"H-0002c90300000002\"[1](2c90300000003) # \"name\" lid 2 4xHDR";
    source.mistake(place.clone(), message).with_help(help)
}

/// The bits a second of data of a cable of a width and speed, such as `4xHDR`.
fn data_rate(word: &str) -> Option<f64> {
    let (lanes, speed) = word.split_once('x')?;
    let (_, rate) = SPEEDS.iter().find(|(name, _)| *name == speed)?;
    Some(f64::from(lanes.parse::<u32>().ok().filter(|lanes| (1..=12).contains(lanes))?) * rate)
}
