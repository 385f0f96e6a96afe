//! `<trace>` and `<trace_connect>`: speeds, bandwidths, latencies and states by time. titr has those that stay as they are when
//! the simulation starts, and refuses others.

use std::collections::HashMap;

use super::super::element::{Attribute, Element, Known};
use crate::source::{Checked, Mistake};

const TRACE: Known = Known { read: &["id", "periodicity"], refused: &[("file", "what changes by a file")] };
const TRACE_CONNECT: Known = Known { read: &["kind", "trace", "element"], refused: &[] };

/// The quantity that a profile gives by time.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
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

/// The profiles of hosts and links.
#[derive(Default)]
pub(super) struct Profiles<'a> {
    connected: HashMap<(Kind, String), Profile<'a>>,
}

struct Profile<'a> {
    /// The host or link.
    element: Attribute<'a>,
    values: Vec<(f64, f64)>,
    is_used: bool,
}

impl<'a> Profiles<'a> {
    /// The profiles that a platform connects to hosts and links.
    pub fn read(platform: &Element<'a>) -> Checked<Self> {
        let mut profiles = Self::default();
        let traces: Vec<Element> = platform.descendants().filter(|child| child.name() == "trace").collect();
        for connection in platform.descendants().filter(|child| child.name() == "trace_connect") {
            connection.check_attributes(&TRACE_CONNECT)?;
            let kind = connection.attribute("kind").map_or(Ok(Kind::HostState), |kind| kind.one_of(&KINDS))?;
            let (name, element) = (connection.required("trace")?, connection.required("element")?);
            let is_it = |trace: &&Element| trace.attribute("id").is_some_and(|id| id.value == name.value);
            let Some(trace) = traces.iter().find(is_it) else {
                return Err(name.wrong(format!("no trace is called `{}`", name.value)));
            };
            trace.check_attributes(&TRACE)?;
            let values = values(trace)?;
            profiles.connected.insert((kind, element.value.to_owned()), Profile { element, values, is_used: false });
        }
        Ok(profiles)
    }

    /// The value that a host or link has from the start; `None`: nothing changes the one that is written.
    pub fn value(&mut self, kind: Kind, name: &str) -> Checked<Option<f64>> {
        let Some(profile) = self.connected.get_mut(&(kind, name.to_owned())) else { return Ok(None) };
        profile.is_used = true;
        let Some(&(start, value)) = profile.values.first() else { return Ok(None) };
        let is_constant = profile.values.iter().all(|&(_, other)| other == value);
        let is_normal = match kind {
            Kind::Speed => value == 1.0,
            Kind::HostState | Kind::LinkState => value > 0.0,
            Kind::Bandwidth | Kind::Latency => false,
        };
        match kind {
            _ if is_constant && is_normal => Ok(None),
            Kind::Speed | Kind::Bandwidth | Kind::Latency if is_constant && start == 0.0 => Ok(Some(value)),
            Kind::Speed => Err(profile.changes("speeds that change")),
            Kind::Bandwidth => Err(profile.changes("bandwidths that change")),
            Kind::Latency => Err(profile.changes("latencies that change")),
            Kind::HostState => Err(profile.changes("hosts that fail")),
            Kind::LinkState => Err(profile.changes("links that fail")),
        }
    }

    /// Finds fault with profiles of hosts and links that there are not.
    pub fn check_elements(&self) -> Checked<()> {
        let unused = self.connected.iter().filter(|(_, profile)| !profile.is_used);
        match unused.min_by_key(|(_, profile)| profile.element.place.start) {
            Some(((Kind::Speed | Kind::HostState, name), Profile { element, .. })) => {
                Err(element.wrong(format!("no host is called `{name}`")))
            }
            Some(((_, name), Profile { element, .. })) => Err(element.wrong(format!("no link is called `{name}`"))),
            None => Ok(()),
        }
    }
}

impl Profile<'_> {
    fn changes(&self, what: &str) -> Box<Mistake> {
        self.element.wrong(format!("titr does not simulate {what}")).with_help("leave the <trace_connect> out")
    }
}

/// The times and values of a trace.
fn values(trace: &Element) -> Checked<Vec<(f64, f64)>> {
    let mut values = Vec::new();
    for line in trace.text().lines().map(str::trim) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [] | ["PERIODICITY" | "LOOPAFTER", _] => {}
            [first, ..] if first.starts_with(['#', '%']) => {}
            [time, value, ..] if time.parse::<f64>().is_ok() && value.parse::<f64>().is_ok() => {
                values.push((time.parse().unwrap_or_default(), value.parse().unwrap_or_default()));
            }
            _ => return Err(trace.wrong("titr reads traces of times and values only")),
        }
    }
    Ok(values)
}
