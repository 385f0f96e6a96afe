//! The meaning of `[[network.link]]` and `[[network.failed]]`: links that are unlike the others, and failures.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use titr_common::time::Time;
use titr_common::units::{Quantity, Seconds};
use titr_document::Checked;
use titr_network::properties::DeviceGraph;
use titr_network::topology::{
    ChangedLinks, Failure, HostId, LinkId, RouteTable, RouterGraph, RouterId, Topology, WithFailures,
};
use toml::Spanned;

use super::Builder;
use crate::schema::{FailedTable, NetworkTable, UnlikeLinkTable};

/// The links and routers of a topology by their names.
struct Names {
    links: FxHashMap<String, LinkId>,
    routers: FxHashMap<String, RouterId>,
    /// The other direction of each link, where a cable has two.
    opposite: FxHashMap<LinkId, LinkId>,
}

impl Names {
    fn of(topology: &dyn Topology, graph: Option<&RouterGraph>) -> Self {
        let links = (0..topology.links().len() as u32).map(LinkId);
        // Written links are no cables, and their routers have no names.
        let graph = graph.filter(|graph| graph.geometry::<RouteTable>().is_none());
        let cables = graph.map(|graph| DeviceGraph::of(graph).cables()).unwrap_or_default();
        let both = cables.iter().filter_map(|cable| cable.there.zip(cable.back));
        let routers =
            graph.into_iter().flat_map(|graph| graph.routers().map(|router| (graph.router_name(router), router)));
        Self {
            links: links.map(|link| (topology.link_name(link), link)).collect(),
            routers: routers.collect(),
            opposite: both.flat_map(|(there, back)| [(there, back), (back, there)]).collect(),
        }
    }

    /// A link, and the other direction of its cable.
    fn cable(&self, link: LinkId) -> impl Iterator<Item = LinkId> + use<> {
        std::iter::once(link).chain(self.opposite.get(&link).copied())
    }
}

impl Builder<'_> {
    /// The topology with the links that the table describes one by one, and with failures.
    pub(super) fn with_unlike_links(
        &self,
        topology: Box<dyn Topology>,
        network: &NetworkTable,
    ) -> Checked<Box<dyn Topology>> {
        if network.link.is_empty() && network.failed.is_empty() {
            return Ok(topology);
        }
        let graph = topology.router_graph();
        let names = Names::of(&*topology, graph.as_ref().ok());
        let topology = self.with_links(topology, &network.link, &names)?;
        let Some(first) = network.failed.first() else { return Ok(topology) };
        let graph = graph.map_err(|why| {
            let name = topology.name();
            self.wrong(first, format!("titr does not find ways around failures in this {name}: {why}"))
        })?;
        self.with_failures(topology, &graph, &network.failed, &names)
    }

    fn with_links(
        &self,
        topology: Box<dyn Topology>,
        written: &[UnlikeLinkTable],
        names: &Names,
    ) -> Checked<Box<dyn Topology>> {
        if written.is_empty() {
            return Ok(topology);
        }
        let mut links = topology.links().to_vec();
        for unlike in written {
            let named = self.named("link", &unlike.name, &names.links)?;
            for link in names.cable(named) {
                let link = &mut links[link.index()];
                link.bandwidth = unlike.bandwidth.map_or(link.bandwidth, |bandwidth| bandwidth.0.bytes_per_second);
                link.latency = unlike.latency.map_or(link.latency, |latency| latency.0);
            }
        }
        Ok(Box::new(ChangedLinks::one_by_one(topology.into(), links)))
    }

    fn with_failures(
        &self,
        topology: Box<dyn Topology>,
        graph: &RouterGraph,
        written: &[Spanned<FailedTable>],
        names: &Names,
    ) -> Checked<Box<dyn Topology>> {
        let failures: Vec<Failure> =
            written.iter().map(|failed| self.failure(failed, names)).collect::<Checked<_>>()?;
        let hosts: Vec<String> = (0..topology.hosts()).map(|host| topology.host_name(HostId(host))).collect();
        let network = WithFailures::new(topology, graph, &failures).map_err(|separated| {
            let (from, to) = (&hosts[separated.from.index()], &hosts[separated.to.index()]);
            let mut from_the_start = written.iter().zip(&failures).filter(|(_, failure)| failure.at == Time::ZERO);
            let last = from_the_start.next_back().map_or(&written[0], |(written, _)| written);
            self.wrong(last, format!("with these failures, there is no path from {from} to {to}"))
        })?;
        Ok(Box::new(network))
    }

    fn failure(&self, failed: &Spanned<FailedTable>, names: &Names) -> Checked<Failure> {
        let FailedTable { link, switch, at, until } = failed.get_ref();
        let time = |written: &Option<Spanned<Quantity<Seconds>>>, default| {
            written.as_ref().map_or(default, |time| Time::from_seconds(time.get_ref().0))
        };
        let (begin, end) = (time(at, Time::ZERO), time(until, Time::NEVER));
        if let Some(until) = until.as_ref().filter(|_| end <= begin) {
            let mistake = self.wrong(until, "the failure would end before it begins");
            return Err(mistake.with_help("write a time after `at`, or leave `until` out"));
        }
        let (mut links, mut routers) = (BTreeSet::new(), BTreeSet::new());
        let name = match (link, switch) {
            (Some(link), None) => {
                links.extend(names.cable(self.named("link", link, &names.links)?));
                format!("link `{}`", link.get_ref())
            }
            (None, Some(switch)) => {
                routers.insert(self.named("switch or router", switch, &names.routers)?);
                format!("`{}`", switch.get_ref())
            }
            (Some(_), Some(_)) | (None, None) => {
                let mistake = self.wrong(failed, "a failure is of one link or of one switch");
                return Err(mistake.with_help("write link = \"…\" or switch = \"…\""));
            }
        };
        Ok(Failure { name, links, routers, at: begin, until: end })
    }

    /// The number that a name stands for.
    fn named<T: Copy>(&self, kind: &str, name: &Spanned<String>, names: &FxHashMap<String, T>) -> Checked<T> {
        let written = name.get_ref();
        names.get(written).copied().ok_or_else(|| {
            let near = names.keys().min_by_key(|known| (strsim::levenshtein(written, known), known.as_str()));
            let mistake = self.wrong(name, format!("no {kind} is called `{written}`"));
            match near {
                Some(near) => mistake.with_help(format!("did you mean `{near}`?")),
                None => mistake,
            }
        })
    }
}
