//! SimGrid's platform files (XML), with the meaning that they have in SimGrid 3.32.
//!
//! Such a file becomes the tables of titr's own schema, with the places of their values in the XML: a `<cluster>` is a star,
//! torus, fat-tree or dragonfly, a `<zone>` an explicit network. So defaults, limits and `--set` are those of every platform,
//! and mistakes are shown in the XML. What the file leaves open is as SimGrid has it: the `smpi` preset, its collectives, eager
//! messages that travel once they are received, and ranks on hosts in their order, one each and then again from the
//! first. Elements and attributes without a meaning here are refused where they would change the prediction.
//!
//! Sources: the DTD, and of SimGrid 3.32 `surfxml_sax_cb.cpp`, `sg_platf.cpp`, `xbt_parse_units.cpp` and the zones of
//! `kernel/routing`.

mod cluster;
mod config;
mod element;
mod limits;
mod units;
mod zone;

use roxmltree::{Document, ParsingOptions};

use self::element::{Element, Known};
use crate::document::{Located, Table};
use crate::source::{Checked, Mistake, Place, Source};

const PLATFORM: Known = Known { read: &["version"], refused: &[] };

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
    tables: Table,
    warnings: Vec<String>,
}

/// Whether the text of a platform is XML.
pub fn is_xml(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with('<')
}

/// Reads the tables of the source's file, and remarks on them.
pub fn read(source: &Source) -> Checked<(Located, Vec<String>)> {
    limits::check(source)?;
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let document = Document::parse_with_options(source.text(), options).map_err(|error| {
        let place = source.at(error.pos().row as usize, error.pos().col as usize);
        // The message without the position that it ends with.
        let message = error.to_string();
        source.mistake(Some(place), message.rsplit_once(" at ").map_or(message.as_str(), |(message, _)| message))
    })?;
    let mut reading = Reading { source, tables: Table::default(), warnings: Vec::new() };
    let platform = Element::new(document.root_element(), source);
    if platform.name() != "platform" {
        return Err(platform.wrong("this is not a SimGrid platform, which is a <platform>"));
    }
    platform.check_attributes(&PLATFORM)?;
    check_version(&platform)?;
    reading.set("schema", platform.says(1));
    reading.set("network", platform.says(Table::default()));
    read_children(&platform, &mut reading)?;
    for (key, value) in LEFT_OPEN {
        reading.set(key, platform.says(value));
    }
    Ok((Located::new(reading.tables, platform.place()), reading.warnings))
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

fn read_children(platform: &Element, reading: &mut Reading) -> Checked<()> {
    let mut whole: Option<Element> = None;
    for child in platform.children() {
        match child.name() {
            "config" => config::read(&child, reading)?,
            "AS" | "zone" | "cluster" if whole.is_none() => whole = Some(child),
            "AS" | "zone" | "cluster" => return Err(several(&child)),
            "actor" | "process" => reading.warn(&child.place(), "what is said of processes is ignored"),
            "random" => {}
            _ => return Err(child.unexpected(platform)),
        }
    }
    match whole {
        Some(whole) => read_whole(whole, reading),
        None => Err(platform.wrong("a platform has a <cluster> or a <zone>")),
    }
}

/// Reads the zone or cluster that holds all hosts, perhaps within zones that hold nothing else.
fn read_whole(mut whole: Element, reading: &mut Reading) -> Checked<()> {
    let holds_hosts = |child: &Element| matches!(child.name(), "AS" | "zone" | "cluster");
    while whole.name() != "cluster" {
        let Some(inner) = whole.children().find(holds_hosts) else {
            return zone::read(&whole, reading);
        };
        let mut others = whole.children().filter(|child| child.place() != inner.place() && child.name() != "prop");
        if let Some(other) = others.next() {
            return Err(if holds_hosts(&other) { several(&other) } else { other.unexpected(&whole) });
        }
        whole = inner;
    }
    cluster::read(&whole, reading)
}

fn several(second: &Element) -> Box<Mistake> {
    let mistake = second.wrong("titr reads platforms of one cluster, or of one zone that has no others beside it");
    mistake.with_help("write all hosts and routes into one zone")
}

impl Reading<'_> {
    /// Sets a key of the platform, such as `network.flow.preset`, unless it has been set before.
    fn set(&mut self, key: &str, value: Located) {
        self.tables.set(key, value);
    }

    fn warn(&mut self, place: &Place, message: &str) {
        self.warnings.push(format!("{}: {message}", self.source.name_of(place)));
    }
}
