//! SimGrid's platform files (XML), with the meaning that they have in SimGrid 3.32.
//!
//! What such a file says is said again in titr's own schema ([`Translation`]): a `<cluster>` as a star, torus, fat-tree or
//! dragonfly, a `<zone>` as an explicit network. So defaults, limits and `--set` are those of every platform, and mistakes
//! are shown in the XML. What the file leaves open is as SimGrid has it: the `smpi` preset, its collectives, eager
//! messages that travel once they are received, and ranks on hosts in their order, one each and then again from the
//! first. Elements and attributes without a meaning here are refused where they would change the prediction.
//!
//! Sources: the DTD, and of SimGrid 3.32 `surfxml_sax_cb.cpp`, `sg_platf.cpp`, `xbt_parse_units.cpp` and the zones of
//! `kernel/routing`.

mod cluster;
mod config;
mod element;
mod units;
mod zone;

use roxmltree::{Document, ParsingOptions};

use self::config::Options;
use self::element::{Element, Known, Read};
use super::source::{Place, Source, Translation};

const PLATFORM: Known = Known { read: &["version"], refused: &[] };

/// SimGrid's network/loopback-bw, in bytes per second.
const LOOPBACK_BANDWIDTH: f64 = 1e10;

/// What has been read of a file.
struct Reading<'a> {
    source: &'a Source,
    toml: Translation,
    warnings: Vec<String>,
}

/// Whether a platform is of this kind.
pub fn is_xml(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with('<')
}

/// What the source's file says, and what should be known about that.
pub fn read(source: &Source) -> Read<(Translation, Vec<String>)> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let document = Document::parse_with_options(source.text(), options).map_err(|error| {
        let place = source.at(error.pos().row as usize, error.pos().col as usize);
        // The message without the position that it ends with.
        let message = error.to_string();
        source.mistake(Some(place), message.rsplit_once(" at ").map_or(message.as_str(), |(message, _)| message))
    })?;
    let mut reading = Reading { source, toml: Translation::default(), warnings: Vec::new() };
    let platform = Element::new(document.root_element(), source);
    if platform.name() != "platform" {
        return Err(platform.wrong("this is not a SimGrid platform, which is a <platform>"));
    }
    platform.check_attributes(&PLATFORM)?;
    check_version(&platform)?;
    reading.toml.value("schema", 1, platform.place());
    let options = read_children(&platform, &mut reading)?;
    write_options(options, &platform, &mut reading);
    Ok((reading.toml, reading.warnings))
}

/// Before version 4, quantities had other units.
fn check_version(platform: &Element) -> Read<()> {
    let version = platform.required("version")?;
    match version.value.trim().parse::<f64>() {
        Ok(number) if (4.0..5.0).contains(&number) => Ok(()),
        _ => {
            let mistake = version.wrong(format!("titr reads version 4 of SimGrid's platforms, not {}", version.value));
            Err(mistake.with_help("SimGrid's simgrid_update_xml converts older ones"))
        }
    }
}

fn read_children(platform: &Element, reading: &mut Reading) -> Read<Options> {
    let mut options = Options::default();
    let mut whole: Option<Element> = None;
    for child in platform.children() {
        match child.name() {
            "config" => options.read(&child, reading)?,
            "AS" | "zone" | "cluster" if whole.is_none() => whole = Some(child),
            "AS" | "zone" | "cluster" => return Err(several(&child)),
            "actor" | "process" => reading.warn(&child.place(), "what is said of processes is ignored"),
            "random" => {}
            _ => return Err(child.unexpected(platform)),
        }
    }
    match whole {
        Some(whole) => read_whole(whole, reading)?,
        None => return Err(platform.wrong("a platform has a <cluster> or a <zone>")),
    }
    Ok(options)
}

/// Reads what holds all hosts, perhaps within zones that hold nothing else.
fn read_whole(mut whole: Element, reading: &mut Reading) -> Read<()> {
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

fn several(second: &Element) -> Box<super::Mistake> {
    let mistake = second.wrong("titr reads platforms of one cluster, or of one zone that has no others beside it");
    mistake.with_help("write all hosts and routes into one zone")
}

/// Writes down the options that were given, and what SimGrid has for those that were not.
fn write_options(mut options: Options, platform: &Element, reading: &mut Reading) {
    let place = platform.place();
    let mut default = |key, value: &str| {
        options.mpi.entry(key).or_insert((value.into(), place.clone()));
    };
    default("collectives", "simgrid");
    default("eager_transfer", "on-match");
    options.flow.entry("preset").or_insert(("smpi".into(), place.clone()));
    for (table, options) in [("[network.flow]", options.flow), ("[mpi]", options.mpi)] {
        reading.toml.table(table);
        for (key, (value, place)) in options {
            reading.toml.value(key, value, place);
        }
    }
    reading.toml.table("[placement]");
    reading.toml.value("policy", "round-robin", place);
}

impl Reading<'_> {
    fn warn(&mut self, place: &Place, message: &str) {
        self.warnings.push(format!("{}: {message}", self.source.name_of(place)));
    }
}

fn rate(bytes_per_second: f64) -> String {
    format!("{bytes_per_second} B/s")
}

fn seconds(seconds: f64) -> String {
    format!("{seconds} s")
}

fn speed(per_second: f64) -> String {
    format!("{per_second} flop/s")
}
