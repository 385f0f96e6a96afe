//! Profiles of hosts and links: speeds, bandwidths and latencies by time, and whether there is a failure. Attributes of hosts and
//! links name files with them, and `<trace_connect>` connects a `<trace>` to an element that may be anywhere.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use titr_common::step_function::StepFunction;
use titr_document::{Checked, Mistake};
use titr_network::topology::{HostId, LinkChange, LinkId, Topology};

use super::super::Reading;
use super::super::element::{Attribute, Element, Known};
use super::profile::Profile;
use super::{NamedLink, Reader};

const TRACE: Known = &["id", "periodicity", "file"];
const TRACE_CONNECT: Known = &["kind", "trace", "element"];

/// The quantity that a profile gives by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// The part of its speed that a host has.
    Speed,
    HostState,
    Bandwidth,
    Latency,
    LinkState,
}

const KINDS: [(&str, Kind); 5] = [
    ("HOST_AVAIL", Kind::HostState),
    ("SPEED", Kind::Speed),
    ("LINK_AVAIL", Kind::LinkState),
    ("BANDWIDTH", Kind::Bandwidth),
    ("LATENCY", Kind::Latency),
];

/// Attributes of hosts that name profiles. If there are several of a kind, SimGrid reads the first of these.
pub(super) const OF_HOSTS: [(&str, Kind); 3] =
    [("speed_file", Kind::Speed), ("availability_file", Kind::Speed), ("state_file", Kind::HostState)];

/// Attributes of links that name profiles.
pub(super) const OF_LINKS: [(&str, Kind); 3] =
    [("bandwidth_file", Kind::Bandwidth), ("latency_file", Kind::Latency), ("state_file", Kind::LinkState)];

/// The profiles of a platform that are connected to hosts and links.
#[derive(Default)]
pub(super) struct Profiles<'a>(Vec<Connected<'a>>);

/// A profile of a host or a link.
struct Connected<'a> {
    kind: Kind,
    /// The name of the host or link.
    name: String,
    by: Attribute<'a>,
    profile: Rc<Profile<'a>>,
}

impl<'a> Profiles<'a> {
    /// Connects the profiles that attributes of an element name.
    pub(crate) fn connect_files(
        &mut self,
        element: &Element<'a>,
        name: &str,
        attributes: &[(&str, Kind)],
        reading: &mut Reading,
    ) -> Checked<()> {
        let mut connected = HashSet::new();
        for &(attribute, kind) in attributes {
            if let Some(file) = element.attribute(attribute)
                && connected.insert(kind)
            {
                let profile = Profile::of_file(&file, reading)?.into();
                self.0.push(Connected { kind, name: name.to_owned(), by: file, profile });
            }
        }
        Ok(())
    }
}

impl<'a> Reader<'a, '_, '_> {
    /// Connects the profiles that are connected by elements of their own, when there are all hosts and links.
    pub(super) fn connect_traces(&mut self, platform: &Element<'a>) -> Checked<()> {
        let traces: Vec<Element> = platform.descendants().filter(|child| child.name() == "trace").collect();
        let mut read: HashMap<&str, Rc<Profile>> = HashMap::new();
        let mut connected = HashSet::new();
        for connection in platform.descendants().filter(|child| child.name() == "trace_connect") {
            connection.check_attributes(TRACE_CONNECT)?;
            let kind = connection.attribute("kind").map_or(Ok(Kind::HostState), |kind| kind.one_of(&KINDS))?;
            let (name, element) = (connection.required("trace")?, connection.required("element")?);
            let is_it = |trace: &&Element| trace.attribute("id").is_some_and(|id| id.value == name.value);
            let Some(trace) = traces.iter().find(is_it) else {
                return Err(name.wrong(format!("no trace is called `{}`", name.value)));
            };
            trace.check_attributes(TRACE)?;
            let profile = match read.get(name.value) {
                Some(profile) => Rc::clone(profile),
                None => Rc::new(Profile::of_trace(trace, self.reading)?),
            };
            read.insert(name.value, Rc::clone(&profile));
            if !connected.insert((kind, name.value)) {
                let message = "SimGrid connects a trace to one element of a kind and ignores this; titr does not";
                self.reading.warn(&element.place, message);
            }
            self.profiles.0.push(Connected { kind, name: element.value.to_owned(), by: element, profile });
        }
        Ok(())
    }

    /// Gives hosts and links what their profiles say. Returns the parts of their speeds that hosts have.
    pub(super) fn apply_profiles(&mut self) -> Checked<BTreeMap<HostId, StepFunction>> {
        let mut speeds = BTreeMap::new();
        let mut links: BTreeMap<LinkId, LinkChange> = BTreeMap::new();
        for connected in std::mem::take(&mut self.profiles).0 {
            let Connected { kind, name, .. } = &connected;
            match kind {
                Kind::Speed | Kind::HostState => {
                    let host = self.points.get(name).and_then(|point| self.hosts.get(point)).copied();
                    let host = host.ok_or_else(|| connected.by.wrong(format!("no host is called `{name}`")))?;
                    let part = connected.function(1.0)?;
                    if *kind == Kind::HostState {
                        connected.check_state(&part, "host")?;
                    } else if part.constant() != Some(1.0) && speeds.insert(host, part).is_some() {
                        return Err(connected.second());
                    }
                }
                Kind::Bandwidth | Kind::Latency | Kind::LinkState => {
                    let link = self.links.get(name).copied();
                    let link = link.ok_or_else(|| connected.by.wrong(format!("no link is called `{name}`")))?;
                    let ways = match link {
                        NamedLink::OneWay(link) => vec![link],
                        NamedLink::SplitDuplex { up, down } => vec![up, down],
                    };
                    for id in ways {
                        let link = self.network.links()[id.index()];
                        let nothing = LinkChange { link: id, bandwidth: None, latency: None };
                        let change = links.entry(id).or_insert(nothing);
                        let before = match kind {
                            Kind::Bandwidth if connected.profile.has(0.0) => {
                                let mistake = connected.profile.wrong_value(0.0, "a bandwidth is more than 0");
                                return Err(mistake.with_help("titr does not simulate links that fail"));
                            }
                            Kind::Bandwidth => change.bandwidth.replace(connected.function(link.bandwidth)?),
                            Kind::Latency => change.latency.replace(connected.function(link.latency.0)?),
                            Kind::Speed | Kind::HostState | Kind::LinkState => {
                                connected.check_state(&connected.function(1.0)?, "link")?;
                                None
                            }
                        };
                        if before.is_some() {
                            return Err(connected.second());
                        }
                    }
                }
            }
        }
        links.into_values().for_each(|change| self.network.change_link(change));
        Ok(speeds)
    }
}

impl Connected<'_> {
    fn function(&self, initial: f64) -> Checked<StepFunction> {
        self.profile.function(initial).map_err(|error| self.by.wrong(error.to_string()))
    }

    /// Finds fault with a host or link that fails.
    fn check_state(&self, state: &StepFunction, what: &str) -> Checked<()> {
        let Some(at) = state.first_zero() else { return Ok(()) };
        let message = format!(
            "the {what} `{}` fails at {} s, and an MPI program does not survive that",
            self.name,
            at.seconds().0
        );
        Err(self
            .profile
            .wrong_at(at, message)
            .with_help("leave the profile of states out to simulate a program without failures"))
    }

    fn second(&self) -> Mistake {
        self.by.wrong(format!("a second profile of the same quantity of `{}`", self.name))
    }
}
