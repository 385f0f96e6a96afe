//! A list of cables: a line for each, with the names of the two nodes that it joins.
//!
//! ```text
//! # A comment.
//! spine1 leaf1 bandwidth=200Gbit/s cables=2
//! leaf1 a
//! hosts: a b c
//! ```
//!
//! Names are separated by blanks, or by a comma. A line that begins with `hosts:` says which nodes are hosts. The empty
//! braces that networkx writes after two names are left out; so are lines that begin with `%`.

use titr_common::units::{Bandwidth, Quantity, Seconds};
use titr_document::{Checked, Mistake, Place, Source};

use super::cabling::{Bundle, CableProperties, Cabling, MOST_PARALLEL, NodeKind};

/// The beginning of a line that names hosts.
const HOSTS: &str = "hosts:";

/// A word of a line, and its place in the file.
#[derive(Clone)]
struct Word<'s> {
    text: &'s str,
    place: Place,
}

/// Reads a list of cables.
pub(super) fn read(source: &Source) -> Checked<Cabling<'_>> {
    let mut cabling = Cabling::new(source);
    let mut hosts = Vec::new();
    let mut start = 0;
    for line in source.text().split_inclusive('\n') {
        let words = words(line, start);
        start += line.len();
        match &words[..] {
            [] => {}
            [first, ..] if first.text.starts_with('%') => {}
            [first, names @ ..] if first.text == HOSTS => hosts.extend_from_slice(names),
            [one, other, rest @ ..] => {
                let ends = [one, other].map(|word| cabling.node(word.text, word.place.clone()));
                let mut properties = CableProperties::default();
                for word in rest.iter().filter(|word| word.text != "{}") {
                    property(source, word, &mut properties)?;
                }
                cabling.join_once(Bundle { ends, place: one.place.start..other.place.end, properties })?;
            }
            [one] => return Err(not_a_cable(source, one, format!("`{}` is joined to nothing", one.text))),
        }
    }
    for host in hosts {
        let Some(node) = cabling.known(host.text) else {
            return Err(source.mistake(host.place, format!("no cable leads to the host `{}`", host.text)));
        };
        cabling.set_kind(node, NodeKind::Host);
    }
    Ok(cabling)
}

/// The words of a line that begins at `start`.
fn words(line: &str, start: usize) -> Vec<Word<'_>> {
    let line = line.split('#').next().unwrap_or_default();
    let mut at = start;
    let parts = line.split([' ', '\t', ',', ';', '\r', '\n']).map(|text| {
        let place = at..at + text.len();
        at = place.end + 1;
        Word { text, place }
    });
    parts.filter(|word| !word.text.is_empty()).collect()
}

/// Notes a property of a cable, such as `bandwidth=100Gbit/s`.
fn property(source: &Source, word: &Word, properties: &mut CableProperties) -> Checked<()> {
    let Some((name, value)) = word.text.split_once('=') else {
        return Err(not_a_cable(source, word, format!("`{}` is no property of a cable", word.text)));
    };
    set(properties, name, value)
        .map_err(|why| source.mistake(word.place.clone(), why))?
        .ok_or_else(|| not_a_cable(source, word, format!("a cable has no property `{name}`")))
}

/// Sets a property of cables; `None` if there is none with this name.
pub(super) fn set(properties: &mut CableProperties, name: &str, value: &str) -> Result<Option<()>, String> {
    match name {
        "bandwidth" => {
            let Quantity(bandwidth) = value.parse::<Quantity<Bandwidth>>().map_err(|error| error.to_string())?;
            properties.bandwidth = Some(bandwidth.bytes_per_second);
        }
        "latency" => {
            let Quantity(latency) = value.parse::<Quantity<Seconds>>().map_err(|error| error.to_string())?;
            properties.latency = Some(latency);
        }
        "cables" => match value.parse::<u32>() {
            Ok(cables @ 1..=MOST_PARALLEL) => properties.cables = Some(cables),
            _ => return Err(format!("`{value}` is no number of cables from 1 to {MOST_PARALLEL}")),
        },
        _ => return Ok(None),
    }
    Ok(Some(()))
}

fn not_a_cable(source: &Source, word: &Word, message: String) -> Mistake {
    source.mistake(word.place.clone(), message).with_help(
        "a line has the names of two nodes, and then, if you like, `bandwidth=`, `latency=` and `cables=`. titr also reads \
         the output of ibnetdiscover",
    )
}
