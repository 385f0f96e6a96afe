//! The nodes and cables of a file, and which nodes are hosts.

use rustc_hash::FxHashMap;
use titr_common::format::counted;
use titr_common::units::Seconds;
use titr_document::{Checked, Mistake, Place, Source};
use titr_network::topology::{Cable, RouterCable, RouterId, Wiring};

/// Nodes, and the cables between them.
#[derive(Debug)]
pub(super) struct Cabling<'s> {
    source: &'s Source,
    nodes: Vec<Node>,
    /// The numbers of nodes by name.
    numbers: FxHashMap<String, u32>,
    bundles: Vec<Bundle>,
    /// The bundle of each two nodes, where a second is a mistake.
    joined: FxHashMap<[u32; 2], u32>,
}

/// A host or a router.
#[derive(Debug)]
struct Node {
    name: String,
    /// Where it is first mentioned.
    place: Place,
    kind: Option<NodeKind>,
}

/// What a file says that a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeKind {
    Host,
    Router,
}

/// Cables side by side between two nodes.
#[derive(Clone, Debug)]
pub(super) struct Bundle {
    /// The nodes at the ends.
    pub ends: [u32; 2],
    /// Where the file says so.
    pub place: Place,
    pub properties: CableProperties,
}

/// What a file says of a cable, or of several side by side.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CableProperties {
    /// Cables side by side. Default: 1.
    pub cables: Option<u32>,
    /// Bytes per second. Default: as the platform says.
    pub bandwidth: Option<f64>,
    /// Default: as the platform says.
    pub latency: Option<Seconds>,
}

/// Cables side by side at most.
pub(super) const MOST_PARALLEL: u32 = 64;

impl CableProperties {
    fn count(&self) -> u32 {
        self.cables.unwrap_or(1)
    }

    /// A cable with these properties, and those of `cable` otherwise.
    fn over(&self, cable: &Cable) -> Cable {
        let (bandwidth, latency) = (self.bandwidth.unwrap_or(cable.bandwidth), self.latency.unwrap_or(cable.latency));
        Cable { bandwidth, latency, ..*cable }
    }
}

impl<'s> Cabling<'s> {
    pub(super) fn new(source: &'s Source) -> Self {
        let (numbers, joined) = (FxHashMap::default(), FxHashMap::default());
        Self { source, nodes: Vec::new(), numbers, bundles: Vec::new(), joined }
    }

    pub(super) fn source(&self) -> &'s Source {
        self.source
    }

    pub(super) fn nodes(&self) -> u32 {
        self.nodes.len() as u32
    }

    pub(super) fn cables(&self) -> u64 {
        self.bundles.iter().map(|bundle| u64::from(bundle.properties.count())).sum()
    }

    /// Whether the file says which nodes are hosts.
    pub(super) fn names_hosts(&self) -> bool {
        self.nodes.iter().any(|node| node.kind == Some(NodeKind::Host))
    }

    /// The node with a name in the file, which is new if the name is.
    pub(super) fn node(&mut self, name: &str, place: Place) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.nodes();
        self.nodes.push(Node { name: name.to_owned(), place, kind: None });
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// The node with a name in the file, if there is one.
    pub(super) fn known(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// Notes what a node is.
    pub(super) fn set_kind(&mut self, node: u32, kind: NodeKind) {
        self.nodes[node as usize].kind = Some(kind);
    }

    /// Gives a node the name that reports show.
    pub(super) fn rename(&mut self, node: u32, name: &str) {
        name.clone_into(&mut self.nodes[node as usize].name);
    }

    /// Adds cables between two nodes, which may be joined already.
    pub(super) fn join(&mut self, bundle: Bundle) -> Checked<()> {
        let [one, other] = bundle.ends;
        if one == other {
            let name = &self.nodes[one as usize].name;
            return Err(self.source.mistake(bundle.place, format!("a cable from `{name}` to itself")));
        }
        self.bundles.push(bundle);
        Ok(())
    }

    /// Adds all cables between two nodes.
    pub(super) fn join_once(&mut self, bundle: Bundle) -> Checked<()> {
        let [one, other] = bundle.ends;
        let number = self.bundles.len() as u32;
        if let Some(first) = self.joined.insert([one.min(other), one.max(other)], number) {
            let [one, other] = bundle.ends.map(|node| &self.nodes[node as usize].name);
            let mistake = self.source.mistake(bundle.place, format!("`{one}` and `{other}` are joined a second time"));
            let first = self.source.name_of(&self.bundles[first as usize].place);
            let help = format!("the first time is at {first}, where `cables` may be the number of cables side by side");
            return Err(mistake.with_help(help));
        }
        self.join(bundle)
    }

    /// The nodes as routers, each with this number of hosts.
    pub(super) fn with_hosts(self, hosts: u32, cable: &Cable) -> Checked<Wiring> {
        let routers = self.nodes();
        let mut wiring = self.wired(&vec![false; routers as usize], cable)?;
        wiring.hosts = (0..routers).flat_map(|router| std::iter::repeat_n(RouterId(router), hosts as usize)).collect();
        wiring.unlike.iter_mut().for_each(|(number, _)| *number += routers * hosts);
        wiring.name = name_of(&wiring);
        Ok(wiring)
    }

    /// The nodes as hosts and routers. If the file does not say which are hosts, those with a single cable are.
    pub(super) fn wiring(self, cable: &Cable) -> Checked<Wiring> {
        let names_hosts = self.names_hosts();
        let mut cables = vec![0; self.nodes.len()];
        for Bundle { ends, properties, .. } in &self.bundles {
            ends.iter().for_each(|&node| cables[node as usize] += properties.count());
        }
        let is_host: Vec<bool> = self
            .nodes
            .iter()
            .zip(&cables)
            .map(|(node, &cables)| match node.kind {
                Some(kind) => kind == NodeKind::Host,
                None => !names_hosts && cables == 1,
            })
            .collect();
        for ((node, _), &cables) in self.nodes.iter().zip(&is_host).zip(&cables).filter(|((_, is_host), _)| **is_host) {
            if cables != 1 {
                return Err(self.wrong_host(node, cables));
            }
        }
        let mut wiring = self.wired(&is_host, cable)?;
        wiring.name = name_of(&wiring);
        Ok(wiring)
    }

    fn wrong_host(&self, node: &Node, cables: u32) -> Mistake {
        let message = format!("the host `{}` has {cables} cables, and a host has one", node.name);
        let mistake = self.source.mistake(node.place.clone(), message);
        mistake.with_help(
            "a node that passes messages on is a router: `hosts = 1` in [topology.graph] gives every node a host of its own",
        )
    }

    /// The wiring in which some nodes are hosts.
    fn wired(self, is_host: &[bool], cable: &Cable) -> Checked<Wiring> {
        let Self { source, nodes, bundles, .. } = self;
        let mut wiring = Wiring { classes: vec!["between routers".to_owned()], ..Wiring::default() };
        let mut number = Vec::with_capacity(nodes.len());
        for (node, &is_host) in nodes.into_iter().zip(is_host) {
            let names = if is_host { &mut wiring.host_names } else { &mut wiring.routers };
            number.push(names.len() as u32);
            names.push(node.name);
        }
        let hosts = wiring.host_names.len();
        wiring.hosts = vec![RouterId(0); hosts];
        for Bundle { ends: [one, other], place, properties } in bundles {
            let own = properties.over(cable);
            let (one, other) = (one as usize, other as usize);
            let cables = match (is_host[one], is_host[other]) {
                (true, true) => {
                    let [one, other] = [one, other].map(|node| &wiring.host_names[number[node] as usize]);
                    let mistake = source.mistake(place, format!("the hosts `{one}` and `{other}` are joined directly"));
                    return Err(mistake.with_help("a host has a cable to a router"));
                }
                (true, false) | (false, true) => {
                    let (host, router) = if is_host[one] { (one, other) } else { (other, one) };
                    wiring.hosts[number[host] as usize] = RouterId(number[router]);
                    number[host]..number[host] + 1
                }
                (false, false) => {
                    let ends = [one, other].map(|router| RouterId(number[router]));
                    let first = (hosts + wiring.cables.len()) as u32;
                    let count = properties.count();
                    wiring.cables.extend(std::iter::repeat_n(RouterCable { ends, class: 0 }, count as usize));
                    first..first + count
                }
            };
            if own != *cable {
                wiring.unlike.extend(cables.map(|number| (number, own)));
            }
        }
        Ok(wiring)
    }
}

/// The name of a wiring in reports.
fn name_of(wiring: &Wiring) -> String {
    let (routers, hosts) = (wiring.routers.len(), wiring.hosts.len());
    format!("graph of {} and {}", counted(routers, "router", "routers"), counted(hosts, "host", "hosts"))
}
