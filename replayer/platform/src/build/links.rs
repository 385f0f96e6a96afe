//! The meaning of `[[network.link]]` and `[[network.failed]]`: links that are unlike the others, and failures.

use rustc_hash::FxHashMap;
use titr_document::Checked;
use titr_network::properties::DeviceGraph;
use titr_network::topology::{
    ChangedLinks, Failures, HostId, LinkId, RouteTable, RouterGraph, RouterId, Topology, WithFailures,
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
        let mut failures = Failures::default();
        for failed in written {
            let FailedTable { link, switch, from } = failed.get_ref();
            if let Some(from) = from.as_ref().filter(|from| from.get_ref().0.0 > 0.0) {
                let mistake = self.wrong(from, "titr does not simulate failures that happen during a run");
                return Err(mistake.with_help("leave `from` out for a failure from the start"));
            }
            match (link, switch) {
                (Some(link), None) => failures.links.extend(names.cable(self.named("link", link, &names.links)?)),
                (None, Some(switch)) => {
                    failures.routers.insert(self.named("switch or router", switch, &names.routers)?);
                }
                (Some(_), Some(_)) | (None, None) => {
                    let mistake = self.wrong(failed, "a failure is of one link or of one switch");
                    return Err(mistake.with_help("write link = \"…\" or switch = \"…\""));
                }
            }
        }
        let hosts: Vec<String> = (0..topology.hosts()).map(|host| topology.host_name(HostId(host))).collect();
        let network = WithFailures::new(topology, graph, &failures).map_err(|separated| {
            let (from, to) = (&hosts[separated.from.index()], &hosts[separated.to.index()]);
            let last = written.last().unwrap_or(&written[0]);
            self.wrong(last, format!("with these failures, there is no path from {from} to {to}"))
        })?;
        Ok(Box::new(network))
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
