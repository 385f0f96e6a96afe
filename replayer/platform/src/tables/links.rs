//! The meaning of `[[network.link]]`, `[[network.failed]]` and `[network.failures]`: links that are unlike the others, and
//! failures.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use titr_common::time::Time;
use titr_common::units::{Quantity, Seconds};
use titr_document::Checked;
use titr_network::chance;
use titr_network::properties::{CableEnds, DeviceGraph};
use titr_network::topology::{
    ChangedLinks, Failure, HostId, LinkId, RouteTable, RouterGraph, RouterId, Topology, WithFailures,
};
use toml::Spanned;

use super::Builder;
use super::network::{FailedTable, NetworkTable, RandomFailuresTable, UnlikeLinkTable};

/// The links and routers of a topology by their names.
struct Names {
    links: FxHashMap<String, LinkId>,
    routers: FxHashMap<String, RouterId>,
    cables: Vec<CableEnds>,
    /// The other direction of each link, where a cable has two.
    opposite: FxHashMap<LinkId, LinkId>,
}

/// A failure that the platform describes.
struct WrittenFailure {
    /// Its place in the platform, and the only rail on which it is, if it is on one.
    rail: Spanned<Option<u32>>,
    failure: Failure,
}

impl Names {
    fn of(topology: &dyn Topology, graph: Option<&RouterGraph>) -> Self {
        let links = (0..topology.links().len() as u32).map(LinkId);
        // Written links are no cables, and their routers have no names.
        let graph = graph.filter(|graph| graph.geometry::<RouteTable>().is_none());
        let cables = graph.map(|graph| DeviceGraph::of(graph).cables()).unwrap_or_default();
        let both = cables.iter().filter_map(|cable| cable.there.zip(cable.back));
        // A number is a name, too.
        let numbered =
            graph.into_iter().flat_map(RouterGraph::routers).map(|router| (format!("router-{}", router.0), router));
        let named =
            graph.into_iter().flat_map(|graph| graph.routers().map(|router| (graph.router_name(router), router)));
        let routers = numbered.chain(named);
        Self {
            links: links.map(|link| (topology.link_name(link), link)).collect(),
            routers: routers.collect(),
            opposite: both.flat_map(|(there, back)| [(there, back), (back, there)]).collect(),
            cables,
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
        let draws_failures = network.failures.as_ref().is_some_and(|failures| failures.get_ref().links > 0);
        if network.link.is_empty() && network.failed.is_empty() && !draws_failures {
            return Ok(vec![topology]);
        }
        let of_links = network.link.iter().filter_map(|unlike| unlike.rail.as_ref());
        let of_failures = network.failed.iter().filter_map(|failed| failed.get_ref().rail.as_ref());
        let rails = self.unlike_rails(&of_links.chain(of_failures).collect::<Vec<_>>(), network)?;
        let graph = topology.router_graph();
        let names = Names::of(&*topology, graph.as_ref().ok());
        let failures = self.failures(network, &*topology, &names)?;
        let topology: Arc<dyn Topology> = topology.into();
        let is_on =
            |written: &Option<Spanned<u32>>, rail: u32| written.as_ref().is_none_or(|only| *only.get_ref() == rail);
        let links_of = |rail: u32| {
            let of_rail = network.link.iter().filter(|unlike| is_on(&unlike.rail, rail));
            self.with_links(&topology, of_rail, &names)
        };
        let Some(WrittenFailure { rail: first, .. }) = failures.first() else {
            return (0..rails).map(|rail| Ok(Box::new(links_of(rail)?) as Box<dyn Topology>)).collect();
        };
        let graph = graph.map_err(|why| {
            let name = topology.name();
            self.wrong(first, format!("titr does not find ways around failures in this {name}: {why}"))
        })?;
        let with_failures = |rail: u32| {
            let topology = match network.link.is_empty() {
                true => Arc::clone(&topology),
                false => Arc::new(links_of(rail)?),
            };
            let of_rail = failures.iter().filter(|failed| failed.rail.get_ref().is_none_or(|only| only == rail));
            Ok(WithFailures::new(topology, &graph, of_rail.map(|failed| failed.failure.clone()).collect()))
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
    fn check_all_reached(&self, rails: &[WithFailures], failures: &[WrittenFailure]) -> Checked<()> {
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
            let Some(lost) = lost else { return Ok(()) };
            separated = lost;
        }
        let [from, to] = [separated.0, separated.1].map(|host| rails[0].host_name(host));
        let mut from_the_start = failures.iter().filter(|failed| failed.failure.at == Time::ZERO);
        let Some(last) = from_the_start.next_back() else { return Ok(()) };
        let mistake = self.wrong(&last.rail, format!("with these failures, there is no path from {from} to {to}"));
        Err(mistake.with_help("hosts cannot be cut off from the start, as by the failure of the switch that they are at: fail another one, or set `at`"))
    }

    /// The failures that a table describes.
    fn failures(&self, network: &NetworkTable, topology: &dyn Topology, names: &Names) -> Checked<Vec<WrittenFailure>> {
        let mut failures: Vec<WrittenFailure> =
            network.failed.iter().map(|failed| self.failure(failed, names)).collect::<Checked<_>>()?;
        let Some(written) = &network.failures else { return Ok(failures) };
        let RandomFailuresTable { links, class, seed } = written.get_ref();
        let (links, class) = (*links as usize, class.as_ref().map(Spanned::get_ref));
        if links > 0 && names.cables.is_empty() {
            let message = format!("titr draws no failures in this {}", topology.name());
            let help = "it draws them among cables with a link for each direction, without limiters, if each host has one; \
                        [[network.failed]] names links";
            return Err(self.wrong(written, message).with_help(help));
        }
        let is_in = |link: LinkId| class.is_none_or(|class| topology.link_class(link) == *class);
        let cables = names.cables.iter().filter(|cable| cable.is_between_routers());
        let mut cables: Vec<LinkId> = cables.filter_map(|cable| cable.there).filter(|link| is_in(*link)).collect();
        if let Some(class) = class.filter(|_| cables.is_empty()) {
            let between = names.cables.iter().filter(|cable| cable.is_between_routers());
            let classes: BTreeSet<String> =
                between.filter_map(|cable| cable.there).map(|link| topology.link_class(link)).collect();
            let mistake = self.wrong(written, format!("there is no link of class `{class}` between switches"));
            let classes = classes.into_iter().collect::<Vec<_>>().join(", ");
            return Err(if classes.is_empty() { mistake } else { mistake.with_help(format!("there are {classes}")) });
        }
        if cables.len() < links {
            let of_class = class.map(|class| format!(" of class `{class}`")).unwrap_or_default();
            let message = format!("there are {} links{of_class} between switches that could fail", cables.len());
            return Err(self.wrong(written, message));
        }
        cables.sort_by_cached_key(|link| chance(*seed, link.0.into(), 0));
        failures.extend(cables[..links].iter().map(|&link| WrittenFailure {
            rail: Spanned::new(written.span(), None),
            failure: Failure {
                name: format!("link `{}`", topology.link_name(link)),
                links: names.cable(link).collect(),
                routers: BTreeSet::new(),
                at: Time::ZERO,
                until: Time::NEVER,
            },
        }));
        Ok(failures)
    }

    fn failure(&self, failed: &Spanned<FailedTable>, names: &Names) -> Checked<WrittenFailure> {
        let FailedTable { link, switch, at, until, rail } = failed.get_ref();
        let rail = Spanned::new(failed.span(), rail.as_ref().map(|rail| *rail.get_ref()));
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
        Ok(WrittenFailure { rail, failure: Failure { name, links, routers, at: begin, until: end } })
    }

    /// The number that a name stands for.
    fn named<T: Copy>(&self, kind: &str, name: &Spanned<String>, names: &FxHashMap<String, T>) -> Checked<T> {
        let written = name.get_ref();
        names.get(written).copied().ok_or_else(|| {
            // A beginning of a name is nearer than another name with fewer other letters.
            let differs = |known: &str| (!known.starts_with(written), strsim::levenshtein(written, known));
            let near = names.keys().min_by_key(|known| (differs(known), known.as_str()));
            let mistake = self.wrong(name, format!("no {kind} is called `{written}`"));
            match near {
                Some(near) if kind == "link" => {
                    mistake.with_help(format!("did you mean `{near}`? `titr platform show --links` lists all links"))
                }
                Some(near) => mistake.with_help(format!("did you mean `{near}`?")),
                None => mistake,
            }
        })
    }
}
