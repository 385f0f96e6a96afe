//! SimGrid's platform files (XML), with the meaning that they have in SimGrid 3.32.
//!
//! Such a file becomes the tables of titr's own schema, with the places of their values in the XML: a `<cluster>` is a
//! star, torus, fat-tree or dragonfly, a `<zone>` an explicit network. Defaults, limits and `--set` therefore work as
//! for every platform, and mistakes are shown in the XML. Values that the file does not define follow SimGrid: the
//! `smpi` preset, its collectives, eager messages that travel once they are received, and ranks on hosts in their
//! order, one each and then again from the first. Elements and attributes that titr does not support are rejected if
//! they would change the prediction.
//!
//! Sources: the DTD, and of SimGrid 3.32 `surfxml_sax_cb.cpp`, `sg_platf.cpp`, `xbt_parse_units.cpp` and the zones of
//! `kernel/routing`.

mod cluster;
mod config;
mod element;
mod units;
mod zones;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use roxmltree::{Document, ParsingOptions};
use titr_common::step_function::StepFunction;
use titr_document::{Checked, Located, Place, Source, Table};
use titr_network::topology::{HostId, Zones};

use self::element::{Element, Known};
use crate::xml;

pub(crate) use zones::BuildTopology;

const PLATFORM: Known = &["version"];

/// SimGrid's network/loopback-bw, in bytes per second.
const LOOPBACK_BANDWIDTH: f64 = 1e10;

/// Keys that SimGrid has another default for than titr, and that default.
const LEFT_OPEN: [(&str, &str); 4] = [
    ("mpi.collectives", "simgrid"),
    ("mpi.eager_transfer", "on-match"),
    ("network.flow.preset", "smpi"),
    ("placement.policy", "round-robin"),
];

/// The tables that have been read of a file, and remarks on them.
struct Reading<'a> {
    source: &'a Source,
    /// The file, from which other files are found.
    path: &'a Path,
    /// Files of profiles that have been read.
    profiles: Vec<PathBuf>,
    tables: Table,
    warnings: Vec<String>,
    /// Kinds of things that a remark was made on.
    remarked: BTreeSet<String>,
    /// Options that a replay does not need.
    left_out: BTreeSet<String>,
    /// Options of SimGrid that are about zones.
    options: BTreeMap<&'static str, f64>,
}

/// The contents of a SimGrid platform that tables do not say.
#[derive(Default)]
pub(crate) struct BesideTables {
    /// Its network, if that is no topology that tables describe.
    pub network: Option<Zones>,
    /// The parts of their speeds that hosts have by time, where these change.
    pub parts_of_speed: BTreeMap<HostId, StepFunction>,
    /// The files of profiles that it names.
    pub profiles: Vec<PathBuf>,
    /// Remarks on how it was read.
    pub warnings: Vec<String>,
}

/// Whether the text of a platform is XML.
pub(crate) fn is_xml(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with('<')
}

/// Reads the source's file. `build` makes a topology of the tables of a cluster.
pub(crate) fn read(source: &Source, path: &Path, build: BuildTopology) -> Checked<(Located, BesideTables)> {
    xml::check(source)?;
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let text = with_declaration_first(source.text());
    let document = Document::parse_with_options(&text, options).map_err(|error| xml::malformed(source, &error))?;
    let mut reading = Reading::new(source, path);
    let platform = Element::new(document.root_element(), source);
    if platform.name() != "platform" {
        return Err(platform.wrong("this is not a SimGrid platform, which is a <platform>"));
    }
    platform.check_attributes(PLATFORM)?;
    check_version(&platform)?;
    reading.begin(&platform);
    let (network, parts_of_speed) = match read_children(&platform, build, &mut reading)? {
        Some((network, parts_of_speed)) => (Some(network), parts_of_speed),
        None => (None, BTreeMap::new()),
    };
    for (key, value) in LEFT_OPEN {
        reading.set(key, platform.says(value));
    }
    if !reading.left_out.is_empty() {
        let options = reading.left_out.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        reading
            .warn(&platform.place(), &format!("a replay does not need these options, which are left out: {options}"));
    }
    let Reading { tables, profiles, warnings, .. } = reading;
    let beside = BesideTables { network, parts_of_speed, profiles, warnings };
    Ok((Located::new(tables, platform.place()), beside))
}

/// The text with blanks in place of an XML declaration that has comments or empty lines before it, where XML has no room for
/// one, and SimGrid reads it.
fn with_declaration_first(text: &str) -> Cow<'_, str> {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '\u{feff}');
        match rest.strip_prefix("<!--").and_then(|comment| comment.split_once("-->")) {
            Some((_, after)) => rest = after,
            None => break,
        }
    }
    let start = text.len() - rest.len();
    match rest.find("?>") {
        Some(end) if start > 0 && rest.starts_with("<?xml ") => {
            let end = start + end + "?>".len();
            let blanks = text[start..end]
                .chars()
                .map(|letter| if letter == '\n' { "\n".into() } else { " ".repeat(letter.len_utf8()) });
            Cow::Owned([&text[..start], &blanks.collect::<String>(), &text[end..]].concat())
        }
        _ => Cow::Borrowed(text),
    }
}

/// Refuses platforms older than version 4, where quantities had other units.
fn check_version(platform: &Element) -> Checked<()> {
    let version = platform.required("version")?;
    match version.value.trim().parse::<f64>() {
        Ok(number) if (4.0..5.0).contains(&number) => Ok(()),
        _ => {
            let mistake = version.wrong(format!("titr reads version 4 of SimGrid's platforms, not {}", version.value));
            Err(mistake.with_help("SimGrid's simgrid_update_xml converts older ones"))
        }
    }
}

/// Reads options, and then the zones or the cluster: the network that these are, if tables cannot say it.
fn read_children<'a>(
    platform: &Element<'a>,
    build: BuildTopology,
    reading: &mut Reading,
) -> Checked<Option<(Zones, BTreeMap<HostId, StepFunction>)>> {
    let mut zones = Vec::new();
    for child in platform.children() {
        match child.name() {
            "config" => config::read(&child, reading)?,
            "AS" | "zone" | "cluster" => zones.push(child),
            "actor" | "process" => reading.skip(&child),
            "random" | "trace" | "trace_connect" => {}
            _ => return Err(child.unexpected(platform)),
        }
    }
    match (&zones[..], only_cluster(platform, &zones)) {
        ([], _) => Err(platform.wrong("a platform has a <cluster> or a <zone>")),
        (_, Some(cluster)) => cluster::read(&cluster, reading).map(|()| None),
        (zones, None) => zones::read(platform, zones, build, reading).map(Some),
    }
}

/// The cluster that holds all hosts, perhaps within zones that hold nothing else.
fn only_cluster<'a>(platform: &Element<'a>, zones: &[Element<'a>]) -> Option<Element<'a>> {
    let &[mut whole] = zones else { return None };
    if platform.descendants().any(|element| element.name() == "trace_connect") {
        return None;
    }
    while whole.name() != "cluster" {
        let mut children = whole.children().filter(|child| child.name() != "prop");
        let inner = children.next().filter(|child| matches!(child.name(), "AS" | "zone" | "cluster"))?;
        if children.next().is_some() {
            return None;
        }
        whole = inner;
    }
    Some(whole)
}

impl<'a> Reading<'a> {
    fn new(source: &'a Source, path: &'a Path) -> Self {
        let (tables, warnings) = (Table::default(), Vec::new());
        Self {
            source,
            path,
            profiles: Vec::new(),
            tables,
            warnings,
            remarked: BTreeSet::new(),
            left_out: BTreeSet::new(),
            options: BTreeMap::new(),
        }
    }

    /// Sets the keys that the tables of any platform have.
    fn begin(&mut self, element: &Element) {
        self.set("schema", element.says(1));
        self.set("network", element.says(Table::default()));
    }

    /// The tables of an element that is read as a separate platform.
    fn apart(&mut self, element: &Element, read: impl FnOnce(&mut Self) -> Checked<()>) -> Checked<Table> {
        let outer = std::mem::take(&mut self.tables);
        self.begin(element);
        let result = read(self);
        let inner = std::mem::replace(&mut self.tables, outer);
        result.map(|()| inner)
    }

    /// Sets a key of the platform, such as `network.flow.preset`, unless it has been set before.
    fn set(&mut self, key: &str, value: Located) {
        self.tables.set(key, value);
    }

    fn warn(&mut self, place: &Place, message: &str) {
        self.warnings.push(format!("{}: {message}", self.source.name_of(place)));
    }

    /// Remarks on something, unless there is a remark on one of its kind.
    fn warn_once(&mut self, kind: &str, place: &Place, message: &str) {
        if self.remarked.insert(kind.to_owned()) {
            self.warn(place, message);
        }
    }

    /// Ignores an element that does not change what a replay predicts.
    fn skip(&mut self, element: &Element) {
        self.warn_once(
            element.name(),
            &element.place(),
            &format!("<{}> changes nothing here and is ignored", element.name()),
        );
    }
}
