//! `<cluster>`: identical hosts on one of SimGrid's regular topologies.

use std::ops::RangeInclusive;

use super::Reading;
use super::element::{Attribute, Element, Known};
use super::units::{BANDWIDTH, SPEED, TIME};
use titr_document::{Checked, Located, Table, Value};

const ATTRIBUTES: Known = &[
    "id",
    "prefix",
    "suffix",
    "radical",
    "speed",
    "core",
    "bw",
    "lat",
    "sharing_policy",
    "topology",
    PARAMETERS,
    "bb_bw",
    "bb_lat",
    "bb_sharing_policy",
    "router_id",
    "limiter_link",
    "loopback_bw",
    "loopback_lat",
];

/// The attribute with the sizes of a topology that is not flat.
const PARAMETERS: &str = "topo_parameters";

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClusterTopology {
    Flat,
    Torus,
    FatTree,
    Dragonfly,
}

const TOPOLOGIES: [(&str, ClusterTopology); 4] = [
    ("FLAT", ClusterTopology::Flat),
    ("TORUS", ClusterTopology::Torus),
    ("FAT_TREE", ClusterTopology::FatTree),
    ("DRAGONFLY", ClusterTopology::Dragonfly),
];

/// The topology of a cluster, if its names are valid.
pub(crate) fn topology(cluster: &Element) -> Checked<ClusterTopology> {
    cluster.check_attributes(ATTRIBUTES)?;
    cluster.check_children(&["prop"])?;
    cluster.attribute("topology").map_or(Ok(ClusterTopology::Flat), |written| written.one_of(&TOPOLOGIES))
}

/// Reads a cluster that is the whole platform, or a topology as if it were.
pub(crate) fn read(cluster: &Element, reading: &mut Reading) -> Checked<()> {
    let topology = topology(cluster)?;
    hosts(cluster, reading)?;
    match topology {
        ClusterTopology::Flat => star(cluster, reading)?,
        ClusterTopology::Torus => reading.set("topology.torus.dims", numbers(&cluster.required(PARAMETERS)?)?),
        ClusterTopology::FatTree => fat_tree(&cluster.required(PARAMETERS)?, reading)?,
        ClusterTopology::Dragonfly => dragonfly(&cluster.required(PARAMETERS)?, reading)?,
    }
    if topology != ClusterTopology::Flat
        && let Some(backbone) = cluster.attribute("bb_bw")
    {
        reading.warn(&backbone.place, "only a cluster of topology FLAT has a backbone");
    }
    cables(cluster, reading)?;
    loopback(cluster, topology, reading)
}

fn hosts(cluster: &Element, reading: &mut Reading) -> Checked<()> {
    let radical = cluster.required("radical")?;
    let speed = cluster.required("speed")?;
    // The speed of the first power state.
    let speed = speed.split(',').next().unwrap_or(speed);
    let count = count(&ranges(&radical)?);
    let count = u32::try_from(count).map_err(|_| radical.wrong(format!("{count} hosts are too many")))?;
    reading.set("hosts.count", radical.says(count));
    reading.set("hosts.speed", speed.located(&SPEED)?);
    if let Some(cores) = cluster.attribute("core") {
        reading.set("hosts.cores", cores.says(cores.count()?));
    }
    Ok(())
}

/// The numbers of hosts, in ranges: `0-9,12` are eleven.
pub(crate) fn ranges(radical: &Attribute) -> Checked<Vec<RangeInclusive<u32>>> {
    let mut ranges: Vec<RangeInclusive<u32>> = Vec::new();
    for range in radical.split(',') {
        let number = |text: &str| {
            let wrong = || range.wrong("the radical is a list of numbers and ranges").with_help("such as 0-15,20");
            text.trim().parse::<u32>().map_err(|_| wrong())
        };
        let (first, last) = match range.value.split_once('-') {
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(range.value)?, number(range.value)?),
        };
        if last < first {
            return Err(range.wrong(format!("a range from {first} to {last} has no numbers")));
        }
        if ranges.iter().any(|before| first <= *before.end() && *before.start() <= last) {
            return Err(range.wrong("a second host of the same number"));
        }
        ranges.push(first..=last);
    }
    Ok(ranges)
}

/// The number of hosts in ranges of their numbers.
pub(crate) fn count(ranges: &[RangeInclusive<u32>]) -> u64 {
    ranges.iter().map(|range| u64::from(range.end() - range.start()) + 1).sum()
}

fn star(cluster: &Element, reading: &mut Reading) -> Checked<()> {
    reading.set("topology.star", cluster.says(Table::default()));
    if optional_link(cluster, "a backbone", ["bb_bw", "bb_lat"], "topology.star.backbone", reading)?
        && let Some(sharing) = cluster.attribute("bb_sharing_policy")
    {
        let choice = sharing.one_of(&[("SHARED", "shared"), ("FATPIPE", "fat-pipe")])?;
        reading.set("topology.star.backbone.sharing", sharing.says(choice));
    }
    Ok(())
}

/// Whether an optional link exists, because its bandwidth or latency is above 0.
pub(crate) fn is_given(bandwidth: &Option<Attribute>, latency: &Option<Attribute>) -> Checked<bool> {
    let quantity =
        |written: &Option<Attribute>, units| written.as_ref().map_or(Ok(0.0), |written| written.quantity(units));
    let (bandwidth, latency) = (quantity(bandwidth, &BANDWIDTH)?, quantity(latency, &TIME)?);
    Ok(bandwidth > 0.0 || latency > 0.0)
}

/// Sets the keys of a link that may be given by two attributes, in the table `key`; returns whether it is.
fn optional_link(cluster: &Element, link: &str, names: [&str; 2], key: &str, reading: &mut Reading) -> Checked<bool> {
    let [bandwidth, latency] = names.map(|name| cluster.attribute(name));
    if !is_given(&bandwidth, &latency)? {
        return Ok(false);
    }
    let Some(bandwidth) = bandwidth else {
        return Err(cluster.wrong(format!("{link} with `{}` needs `{}` too", names[1], names[0])));
    };
    reading.set(&format!("{key}.bandwidth"), bandwidth.located(&BANDWIDTH)?);
    let none = || Ok(bandwidth.says(Value::Quantity(0.0)));
    reading.set(&format!("{key}.latency"), latency.map_or_else(none, |latency| latency.located(&TIME))?);
    Ok(true)
}

/// A list of numbers separated by commas.
fn numbers(written: &Attribute) -> Checked<Located> {
    let numbers = written.split(',').map(|number| Ok(number.says(number.count()?)));
    Ok(written.says(numbers.collect::<Checked<Vec<_>>>()?))
}

fn fat_tree(written: &Attribute, reading: &mut Reading) -> Checked<()> {
    let parts: Vec<_> = written.split(';').collect();
    let [levels, down, up, count] = parts.as_slice() else {
        return Err(written.wrong("a fat-tree has four parameters").with_help("levels;down,…;up,…;count,…"));
    };
    reading.set("topology.fat-tree.levels", levels.says(levels.count()?));
    reading.set("topology.fat-tree.down", numbers(down)?);
    reading.set("topology.fat-tree.up", numbers(up)?);
    reading.set("topology.fat-tree.count", numbers(count)?);
    reading.set("topology.fat-tree.routing", written.says("simgrid"));
    Ok(())
}

fn dragonfly(written: &Attribute, reading: &mut Reading) -> Checked<()> {
    let parts: Vec<Vec<_>> = written.split(';').map(|part| part.split(',').collect()).collect();
    let parts: Vec<&[Attribute]> = parts.iter().map(Vec::as_slice).collect();
    let [[groups, blue], [chassis, black], [blades, green], [nodes]] = parts[..] else {
        let mistake = written.wrong("a dragonfly has seven parameters");
        return Err(mistake.with_help("groups,blue;chassis,black;blades,green;nodes"));
    };
    for (key, number) in [
        ("topology.dragonfly.groups", groups),
        ("topology.dragonfly.blue", blue),
        ("topology.dragonfly.chassis", chassis),
        ("topology.dragonfly.black", black),
        ("topology.dragonfly.blades", blades),
        ("topology.dragonfly.green", green),
        ("topology.dragonfly.nodes", nodes),
    ] {
        reading.set(key, number.says(number.count()?));
    }
    reading.set("topology.dragonfly.routing", written.says("simgrid"));
    Ok(())
}

/// Whether both directions of the cluster's cables share their bandwidth, in the vocabulary of titr's own platforms.
pub(crate) fn duplex(sharing: &Attribute) -> Checked<&'static str> {
    sharing.one_of(&[("SPLITDUPLEX", "full"), ("FULLDUPLEX", "full"), ("SHARED", "half"), ("FATPIPE", "half")])
}

fn cables(cluster: &Element, reading: &mut Reading) -> Checked<()> {
    let (bandwidth, latency) = (cluster.required("bw")?, cluster.required("lat")?);
    reading.set("network.bandwidth", bandwidth.located(&BANDWIDTH)?);
    reading.set("network.latency", latency.located(&TIME)?);
    if let Some(sharing) = cluster.attribute("sharing_policy") {
        let duplex = duplex(&sharing)?;
        if sharing.value == "FATPIPE" {
            reading.warn(
                &sharing.place,
                "SimGrid 3.32 makes a cluster's FATPIPE links SHARED, and so does titr; --set network.duplex=fat-pipe \
                 makes them what they are called",
            );
        }
        reading.set("network.duplex", sharing.says(duplex));
    }
    if let Some(limiter) = cluster.attribute("limiter_link")
        && limiter.quantity(&BANDWIDTH)? > 0.0
    {
        reading.set("network.limiter", limiter.located(&BANDWIDTH)?);
    }
    Ok(())
}

/// A message within a host takes the host's loopback, or goes to the first switch and back, or on a torus has no route:
/// SimGrid stops there. In that case it takes SimGrid's loopback of hosts outside clusters.
fn loopback(cluster: &Element, topology: ClusterTopology, reading: &mut Reading) -> Checked<()> {
    let limiter = cluster.attribute("limiter_link").map_or(Ok(0.0), |limiter| limiter.quantity(&BANDWIDTH))?;
    if optional_link(cluster, "a loopback", ["loopback_bw", "loopback_lat"], "network.loopback", reading)? {
        return Ok(());
    }
    if topology != ClusterTopology::Torus || limiter > 0.0 {
        reading.set("network.loopback.through", cluster.says("switch"));
    } else {
        reading.set("network.loopback.bandwidth", cluster.says(Value::Quantity(super::LOOPBACK_BANDWIDTH)));
        reading.set("network.loopback.latency", cluster.says(Value::Quantity(0.0)));
    }
    Ok(())
}
