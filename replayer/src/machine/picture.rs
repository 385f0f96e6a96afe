//! The picture of a machine: a self-contained SVG of its devices and cables.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use titr_network::properties::{CableEnds, Device};
use titr_network::topology::{HostId, LinkId, RouterId, Topology};

use super::drawable;
use super::drawing::{Drawing, Point};

/// Hosts of the largest machine that is drawn.
pub(crate) const MOST_DRAWN: u32 = 4096;

/// Hosts of the largest machine whose devices have their numbers beside them.
const MOST_NUMBERED: u32 = 144;

/// The width of the border.
const MARGIN: f64 = 30.0;

/// The height of a line of text.
const LINE: f64 = 20.0;

/// The width of a letter of the title; those of the legend are narrower, and it has numbers.
const LETTER: f64 = 9.0;

/// Colours of classes of links, which differ for colour-blind readers, too (M. Okabe, K. Ito, "Color Universal Design", 2008).
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555"];

/// The picture of a topology of at most [`MOST_DRAWN`] hosts.
///
/// # Errors
/// If its routers are unknown.
pub(crate) fn picture(topology: &dyn Topology) -> Result<String, String> {
    let (graph, devices) = drawable(topology)?;
    let drawing = Drawing::of(&graph, &devices);
    let mut classes: BTreeMap<String, Vec<CableEnds>> = BTreeMap::new();
    for cable in devices.cables() {
        let class = cable.there.or(cable.back).map_or_else(String::new, |link| topology.link_class(link));
        classes.entry(class).or_default().push(cable);
    }
    let points = || drawing.routers.iter().chain(&drawing.hosts);
    let edge = |of: fn(&Point) -> f64, least: fn(f64, f64) -> f64| points().map(of).reduce(least).unwrap_or_default();
    let (left, right) = (edge(|point| point.x, f64::min), edge(|point| point.x, f64::max));
    let (top, bottom) = (edge(|point| point.y, f64::min), edge(|point| point.y, f64::max));
    let legend = LINE * (classes.len() + 2) as f64;
    let bend = if drawing.is_bent { STEP_OF_BENDS } else { 0.0 };
    let texts = classes.keys().map(|class| class.chars().count() + 12).chain([topology.name().chars().count()]);
    let text_width = LETTER * texts.max().unwrap_or_default() as f64 + 2.0 * MARGIN;
    let width = (right - left + 2.0 * (MARGIN + bend)).max(text_width);
    let height = bottom - top + 2.0 * (MARGIN + bend) + legend;
    let (across, down) = ((width - (right - left)) / 2.0 - left, MARGIN + bend + legend - top);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{MARGIN}\" y=\"{MARGIN}\" font-size=\"16\">{}</text>\n",
        escaped(&topology.name())
    );
    for (number, (class, cables)) in classes.iter().enumerate() {
        let (y, colour) = (MARGIN + LINE * (number as f64 + 1.2), COLOURS[number % COLOURS.len()]);
        let _ = writeln!(
            svg,
            "<line x1=\"{MARGIN}\" y1=\"{:.1}\" x2=\"{}\" y2=\"{:.1}\" stroke=\"{colour}\" stroke-width=\"3\"/>\
             <text x=\"{}\" y=\"{y:.1}\">{} ({})</text>",
            y - 4.0,
            MARGIN + 24.0,
            y - 4.0,
            MARGIN + 32.0,
            escaped(class),
            cables.len()
        );
    }
    let _ = writeln!(svg, "<g transform=\"translate({across:.1} {down:.1})\">");
    for (number, cables) in classes.values().enumerate() {
        let colour = COLOURS[number % COLOURS.len()];
        let _ = writeln!(svg, "<g fill=\"none\" stroke=\"{colour}\" stroke-opacity=\"0.6\" stroke-width=\"1.3\">");
        for cable in cables {
            draw_cable(&mut svg, topology, &drawing, cable);
        }
        svg += "</g>\n";
    }
    let is_numbered = topology.hosts() <= MOST_NUMBERED;
    for router in (0..devices.routers).map(RouterId) {
        let label = graph.router_name(router);
        let number = label.trim_start_matches(|letter: char| !letter.is_ascii_digit());
        draw_device(&mut svg, drawing.at(Device::Router(router)), &label, number, is_numbered, true);
    }
    let with_cables = devices.channels.iter().filter_map(|channel| match channel.from {
        Device::Host(host) => Some(host),
        Device::Router(_) => None,
    });
    for host in with_cables {
        draw_device(&mut svg, drawing.at(Device::Host(host)), &name(host), &host.0.to_string(), is_numbered, false);
    }
    Ok(svg + "</g>\n</svg>\n")
}

/// How far a bent cable leaves its line at most.
const STEP_OF_BENDS: f64 = 24.0;

/// The name of a host as in the names of links.
fn name(host: HostId) -> String {
    format!("node-{}", host.0)
}

fn draw_cable(svg: &mut String, topology: &dyn Topology, drawing: &Drawing, cable: &CableEnds) {
    let (from, to) = (drawing.at(cable.one), drawing.at(cable.other));
    let (across, down) = (to.x - from.x, to.y - from.y);
    let length = across.hypot(down);
    // Parallel cables are drawn once.
    let title = |link: Option<LinkId>| link.map_or_else(String::new, |link| escaped(&topology.link_name(link)));
    let title = title(cable.there.or(cable.back));
    if drawing.is_bent && length > 1.2 * drawing.spacing {
        let bend = 2.0 * STEP_OF_BENDS.min(length / 4.0) / length;
        let middle = ((from.x + to.x) / 2.0 - down * bend / 2.0, (from.y + to.y) / 2.0 + across * bend / 2.0);
        let _ = writeln!(
            svg,
            "<path d=\"M{:.1} {:.1} Q{:.1} {:.1} {:.1} {:.1}\" stroke-width=\"0.8\"><title>{title}</title></path>",
            from.x, from.y, middle.0, middle.1, to.x, to.y
        );
    } else {
        let _ = writeln!(
            svg,
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"><title>{title}</title></line>",
            from.x, from.y, to.x, to.y
        );
    }
}

fn draw_device(svg: &mut String, at: Point, title: &str, number: &str, is_numbered: bool, is_router: bool) {
    let Point { x, y } = at;
    let title = escaped(title);
    let _ = match is_router {
        true => writeln!(
            svg,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"20\" height=\"14\" rx=\"3\" fill=\"#eeeeee\" stroke=\"#333333\">\
             <title>{title}</title></rect>",
            x - 10.0,
            y - 7.0
        ),
        false => writeln!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5.5\" fill=\"#ffffff\" stroke=\"#333333\"><title>{title}</title></circle>"
        ),
    };
    if is_numbered {
        let size = if is_router { 8 } else { 6 };
        let _ = writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{:.1}\" font-size=\"{size}\" text-anchor=\"middle\">{}</text>",
            y + 0.35 * f64::from(size),
            escaped(number)
        );
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
