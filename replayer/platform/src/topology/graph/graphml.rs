//! GraphML (U. Brandes et al., "GraphML Progress Report", GD 2001): nodes are hosts and routers, edges are cables.
//!
//! titr reads the attributes `type` (`host`, `router` or `switch`) and `name` or `label` of nodes, and `bandwidth`,
//! `latency` and `cables` of edges. An edge of a directed graph is the same cable as the edge back.

use roxmltree::{Document, Node};
use rustc_hash::FxHashMap;
use titr_document::{Checked, Place, Source};

use super::cable_list::set;
use super::cabling::{Bundle, CableProperties, Cabling, NodeKind};
use crate::xml;

/// The names of attributes by the identifiers of their keys.
type Keys<'a> = FxHashMap<&'a str, &'a str>;

/// Reads GraphML.
pub(super) fn read(source: &Source) -> Checked<Cabling<'_>> {
    xml::check(source)?;
    let document = Document::parse(source.text()).map_err(|error| xml::malformed(source, &error))?;
    let root = document.root_element();
    if root.tag_name().name() != "graphml" {
        let mistake = source.mistake(start_of(root), format!("<{}> is not GraphML", root.tag_name().name()));
        return Err(mistake.with_help("titr reads GraphML, lists of cables, and the output of ibnetdiscover"));
    }
    let keys: Keys =
        elements(root, "key").filter_map(|key| Some((key.attribute("id")?, key.attribute("attr.name")?))).collect();
    let not_one = |node: Node| source.mistake(start_of(node), "there is one <graph> in <graphml>");
    let mut graphs = elements(root, "graph");
    let graph = graphs.next().ok_or_else(|| not_one(root))?;
    if let Some(second) = graphs.next() {
        return Err(not_one(second));
    }
    let mut cabling = Cabling::new(source);
    for node in elements(graph, "node") {
        read_node(node, &keys, &mut cabling)?;
    }
    let is_directed = graph.attribute("edgedefault") == Some("directed");
    for edge in elements(graph, "edge") {
        read_edge(edge, &keys, is_directed, &mut cabling)?;
    }
    Ok(cabling)
}

fn elements<'a>(of: Node<'a, 'a>, name: &'static str) -> impl Iterator<Item = Node<'a, 'a>> {
    of.children().filter(move |node| node.is_element() && node.tag_name().name() == name)
}

/// The place of an element's name.
fn start_of(node: Node) -> Place {
    let start = node.range().start + 1;
    start..start + node.tag_name().name().len()
}

/// The attributes of a node or an edge, by name.
fn data<'a>(of: Node<'a, 'a>, keys: &Keys<'a>) -> Vec<(&'a str, &'a str, Place)> {
    let read = |data: Node<'a, 'a>| {
        let name = data.attribute("key").and_then(|key| keys.get(key).copied())?;
        Some((name, data.text().unwrap_or_default().trim(), start_of(data)))
    };
    elements(of, "data").filter_map(read).collect()
}

/// An attribute that an element has to have.
fn required<'a>(node: Node<'a, 'a>, name: &str, cabling: &Cabling) -> Checked<&'a str> {
    let missing = || {
        let message = format!("<{}> needs the attribute `{name}`", node.tag_name().name());
        cabling.source().mistake(start_of(node), message)
    };
    node.attribute(name).ok_or_else(missing)
}

fn read_node<'a>(node: Node<'a, 'a>, keys: &Keys<'a>, cabling: &mut Cabling) -> Checked<()> {
    let id = required(node, "id", cabling)?;
    if cabling.known(id).is_some() {
        return Err(cabling.source().mistake(start_of(node), format!("a second node is called `{id}`")));
    }
    let number = cabling.node(id, start_of(node));
    for (name, value, place) in data(node, keys) {
        match (name, value.to_ascii_lowercase().as_str()) {
            ("type", "host") => cabling.set_kind(number, NodeKind::Host),
            ("type", "router" | "switch") => cabling.set_kind(number, NodeKind::Router),
            ("type", _) => {
                let mistake = cabling.source().mistake(place, format!("unknown type of node `{value}`"));
                return Err(mistake.with_help("expected `host`, `router` or `switch`"));
            }
            ("name" | "label", _) if !value.is_empty() => cabling.rename(number, value),
            _ => {}
        }
    }
    Ok(())
}

/// The node at an end of an edge.
fn end_of(edge: Node, end: &str, cabling: &Cabling) -> Checked<u32> {
    let id = required(edge, end, cabling)?;
    let unknown = || cabling.source().mistake(start_of(edge), format!("no node is called `{id}`"));
    cabling.known(id).ok_or_else(unknown)
}

fn read_edge<'a>(edge: Node<'a, 'a>, keys: &Keys<'a>, is_directed: bool, cabling: &mut Cabling) -> Checked<()> {
    let ends = [end_of(edge, "source", cabling)?, end_of(edge, "target", cabling)?];
    if is_directed && cabling.are_joined(ends[0], ends[1]) {
        return Ok(());
    }
    let mut properties = CableProperties::default();
    for (name, value, place) in data(edge, keys) {
        set(&mut properties, name, value).map_err(|why| cabling.source().mistake(place, why))?;
    }
    cabling.join_once(Bundle { ends, place: start_of(edge), properties })
}
