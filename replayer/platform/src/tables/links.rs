//! The meaning of `[[network.link]]` and `[[network.failed]]`: links that are unlike the others, and failures.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use titr_common::time::Time;
use titr_common::units::{Quantity, Seconds};
use titr_document::Checked;
use titr_network::properties::DeviceGraph;
use titr_network::topology::{
    ChangedLinks, Failure, HostId, LinkId, RouteTable, RouterGraph, RouterId, Separated, Topology, WithFailures,
};
use toml::Spanned;

use super::Builder;
use super::network::{FailedTable, NetworkTable, UnlikeLinkTable};

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
    /// The topology with the links that the table describes one by one, and with failures: for each rail, or once if all rails
    /// are the same.
    pub(super) fn with_unlike_links(
        &self,
        topology: Box<dyn Topology>,
        network: &NetworkTable,
    ) -> Checked<Vec<Box<dyn Topology>>> {
        if network.link.is_empty() && network.failed.is_empty() {
            return Ok(vec![topology]);
        }
        let of_links = network.link.iter().filter_map(|unlike| unlike.rail.as_ref());
        let of_failures = network.failed.iter().filter_map(|failed| failed.get_ref().rail.as_ref());
        let rails = self.unlike_rails(&of_links.chain(of_failures).collect::<Vec<_>>(), network)?;
        let graph = topology.router_graph();
        let names = Names::of(&*topology, graph.as_ref().ok());
        let topology: Arc<dyn Topology> = topology.into();
        let is_on =
            |written: &Option<Spanned<u32>>, rail: u32| written.as_ref().is_none_or(|only| *only.get_ref() == rail);
        let links_of = |rail: u32| {
            let of_rail = network.link.iter().filter(|unlike| is_on(&unlike.rail, rail));
            self.with_links(&topology, of_rail, &names)
        };
        let Some(first) = network.failed.first() else {
            return (0..rails).map(|rail| Ok(Box::new(links_of(rail)?) as Box<dyn Topology>)).collect();
        };
        let graph = graph.map_err(|why| {
            let name = topology.name();
            self.wrong(first, format!("titr does not find ways around failures in this {name}: {why}"))
        })?;
        let failures: Vec<(&Spanned<FailedTable>, Failure)> =
            network.failed.iter().map(|failed| Ok((failed, self.failure(failed, &names)?))).collect::<Checked<_>>()?;
        let of_rail = |rail: u32| failures.iter().filter(move |(failed, _)| is_on(&failed.get_ref().rail, rail));
        let with_failures = |rail: u32| {
            let topology = match network.link.is_empty() {
                true => Arc::clone(&topology),
                false => Arc::new(links_of(rail)?),
            };
            Ok(WithFailures::new(topology, &graph, of_rail(rail).map(|(_, failure)| failure.clone()).collect()))
        };
        let topologies: Vec<WithFailures> = (0..rails).map(with_failures).collect::<Checked<_>>()?;
        self.check_all_reached(&topologies, &failures)?;
        Ok(topologies.into_iter().map(|topology| Box::new(topology) as Box<dyn Topology>).collect())
    }

    /// The number of rails if some links or failures are of one rail, whose numbers are `written`; otherwise 1.
    fn unlike_rails(&self, written: &[&Spanned<u32>], network: &NetworkTable) -> Checked<u32> {
        if written.is_empty() {
            return Ok(1);
        }
        let count = match &network.rails {
            Some(table) => self.rails(table.get_ref())?.count.get(),
            None => 1,
        };
        if let Some(wrong) = written.iter().find(|rail| *rail.get_ref() >= count) {
            let mistake = self.wrong(wrong, format!("there is no rail {}: the first rail is 0", wrong.get_ref()));
            return Err(mistake.with_help("network.rails.count is the number of rails"));
        }
        Ok(count)
    }

    fn with_links<'w>(
        &self,
        topology: &Arc<dyn Topology>,
        written: impl Iterator<Item = &'w UnlikeLinkTable>,
        names: &Names,
    ) -> Checked<ChangedLinks> {
        let mut links = topology.links().to_vec();
        for unlike in written {
            let named = self.named("link", &unlike.name, &names.links)?;
            let directions = if unlike.one_way { 1 } else { 2 };
            for link in names.cable(named).take(directions) {
                let link = &mut links[link.index()];
                link.bandwidth = unlike.bandwidth.map_or(link.bandwidth, |bandwidth| bandwidth.0.bytes_per_second);
                link.latency = unlike.latency.map_or(link.latency, |latency| latency.0);
            }
        }
        Ok(ChangedLinks::one_by_one(Arc::clone(topology), links))
    }

    /// Checks that each host reaches each other host at the start, on some rail.
    fn check_all_reached(&self, rails: &[WithFailures], failures: &[(&Spanned<FailedTable>, Failure)]) -> Checked<()> {
        let Some(mut separated) = rails.first().and_then(WithFailures::separated) else { return Ok(()) };
        if rails.iter().any(|rail| rail.separated().is_none()) {
            return Ok(());
        }
        if rails.len() > 1 {
            let hosts = || (0..rails[0].hosts()).map(HostId);
            let mut pairs = hosts().flat_map(|from| hosts().filter(move |to| *to != from).map(move |to| (from, to)));
            let mut route = Vec::new();
            let mut has_route = |rail: &WithFailures, from, to| {
                route.clear();
                rail.route(from, to, &mut route);
                !route.is_empty()
            };
            let lost = pairs.find(|&(from, to)| !rails.iter().any(|rail| has_route(rail, from, to)));
            let Some((from, to)) = lost else { return Ok(()) };
            separated = Separated { from, to };
        }
        let [from, to] = [separated.from, separated.to].map(|host| rails[0].host_name(host));
        let mut from_the_start = failures.iter().filter(|(_, failure)| failure.at == Time::ZERO);
        let Some((last, _)) = from_the_start.next_back() else { return Ok(()) };
        Err(self.wrong(last, format!("with these failures, there is no path from {from} to {to}")))
    }

    fn failure(&self, failed: &Spanned<FailedTable>, names: &Names) -> Checked<Failure> {
        let FailedTable { link, switch, at, until, rail: _ } = failed.get_ref();
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
