//! `<cluster>`: hosts that are all alike, on one of SimGrid's regular topologies.

use std::ops::RangeInclusive;

use super::element::{Attribute, Element, Known, Read};
use super::units::{BANDWIDTH, SPEED, TIME};
use super::{Reading, rate, seconds};

const ATTRIBUTES: Known = Known {
    read: &[
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
        "topo_parameters",
        "bb_bw",
        "bb_lat",
        "bb_sharing_policy",
        "router_id",
        "limiter_link",
        "loopback_bw",
        "loopback_lat",
    ],
    refused: &[],
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Topology {
    Flat,
    Torus,
    FatTree,
    Dragonfly,
}

const TOPOLOGIES: [(&str, Topology); 4] = [
    ("FLAT", Topology::Flat),
    ("TORUS", Topology::Torus),
    ("FAT_TREE", Topology::FatTree),
    ("DRAGONFLY", Topology::Dragonfly),
];

/// Reads a cluster that is the whole platform.
pub fn read(cluster: &Element, reading: &mut Reading) -> Read<()> {
    cluster.check_attributes(&ATTRIBUTES)?;
    cluster.check_children(&["prop"])?;
    let topology = match cluster.attribute("topology") {
        Some(written) => written.one_of(&TOPOLOGIES)?,
        None => Topology::Flat,
    };
    hosts(cluster, reading)?;
    match topology {
        Topology::Flat => star(cluster, reading)?,
        Topology::Torus => torus(&parameters(cluster)?, reading)?,
        Topology::FatTree => fat_tree(&parameters(cluster)?, reading)?,
        Topology::Dragonfly => dragonfly(&parameters(cluster)?, reading)?,
    }
    if topology != Topology::Flat
        && let Some(backbone) = cluster.attribute("bb_bw")
    {
        reading.warn(&backbone.place, "only a cluster of topology FLAT has a backbone");
    }
    cables(cluster, reading)?;
    loopback(cluster, topology, reading)
}

fn hosts(cluster: &Element, reading: &mut Reading) -> Read<()> {
    let radical = cluster.required("radical")?;
    let speed = cluster.required("speed")?;
    // The speed of the first power state.
    let speed = speed.split(',').next().unwrap_or(speed);
    reading.toml.table("[hosts]");
    let count = count(&ranges(&radical)?);
    let count = u32::try_from(count).map_err(|_| radical.wrong(format!("{count} hosts are too many")))?;
    reading.toml.value("count", count, radical.place);
    reading.toml.value("speed", super::speed(speed.quantity(&SPEED)?), speed.place);
    if let Some(cores) = cluster.attribute("core") {
        reading.toml.value("cores", cores.count()?, cores.place);
    }
    Ok(())
}

/// The numbers of hosts, in ranges: `0-9,12` are eleven.
pub fn ranges(radical: &Attribute) -> Read<Vec<RangeInclusive<u32>>> {
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

/// How many numbers there are in such ranges.
pub fn count(ranges: &[RangeInclusive<u32>]) -> u64 {
    ranges.iter().map(|range| u64::from(range.end() - range.start()) + 1).sum()
}

fn star(cluster: &Element, reading: &mut Reading) -> Read<()> {
    reading.toml.table("[topology.star]");
    let quantity = |name, units| cluster.attribute(name).map(|written| written.quantity(units)).transpose();
    let latency = cluster.attribute("bb_lat");
    let latency_is = quantity("bb_lat", &TIME)?.unwrap_or(0.0);
    match (cluster.attribute("bb_bw"), quantity("bb_bw", &BANDWIDTH)?.unwrap_or(0.0)) {
        (Some(bandwidth), bandwidth_is) if bandwidth_is > 0.0 || latency_is > 0.0 => {
            reading.toml.table("[topology.star.backbone]");
            reading.toml.value("bandwidth", rate(bandwidth_is), bandwidth.place.clone());
            let latency_place = latency.map_or(bandwidth.place, |latency| latency.place);
            reading.toml.value("latency", seconds(latency_is), latency_place);
            if let Some(sharing) = cluster.attribute("bb_sharing_policy") {
                let written = sharing.one_of(&[("SHARED", "shared"), ("FATPIPE", "fat-pipe")])?;
                reading.toml.value("sharing", written, sharing.place);
            }
            Ok(())
        }
        (None, _) if latency_is > 0.0 => Err(cluster.wrong("a backbone with `bb_lat` needs `bb_bw` too")),
        _ => Ok(()),
    }
}

/// What `topo_parameters` says.
fn parameters<'a>(cluster: &Element<'a>) -> Read<Attribute<'a>> {
    cluster.required("topo_parameters")
}

/// Numbers separated by commas, each with its place.
fn numbers(written: &Attribute, reading: &mut Reading, key: &str) -> Read<()> {
    let numbers = written.split(',').map(|number| Ok((number.count()?, number.place)));
    let numbers = numbers.collect::<Read<Vec<_>>>()?;
    reading.toml.list(key, numbers, written.place.clone());
    Ok(())
}

fn torus(written: &Attribute, reading: &mut Reading) -> Read<()> {
    reading.toml.table("[topology.torus]");
    numbers(written, reading, "dims")
}

fn fat_tree(written: &Attribute, reading: &mut Reading) -> Read<()> {
    let parts: Vec<_> = written.split(';').collect();
    let [levels, down, up, count] = parts.as_slice() else {
        return Err(written.wrong("a fat-tree has four parameters").with_help("levels;down,…;up,…;count,…"));
    };
    reading.toml.table("[topology.fat-tree]");
    reading.toml.value("levels", levels.count()?, levels.place.clone());
    numbers(down, reading, "down")?;
    numbers(up, reading, "up")?;
    numbers(count, reading, "count")?;
    reading.toml.value("routing", "simgrid", written.place.clone());
    Ok(())
}

fn dragonfly(written: &Attribute, reading: &mut Reading) -> Read<()> {
    let parts: Vec<Vec<_>> = written.split(';').map(|part| part.split(',').collect()).collect();
    let parts: Vec<&[Attribute]> = parts.iter().map(Vec::as_slice).collect();
    let [[groups, blue], [chassis, black], [blades, green], [nodes]] = parts[..] else {
        let mistake = written.wrong("a dragonfly has seven parameters");
        return Err(mistake.with_help("groups,blue;chassis,black;blades,green;nodes"));
    };
    reading.toml.table("[topology.dragonfly]");
    for (key, number) in [
        ("groups", groups),
        ("blue", blue),
        ("chassis", chassis),
        ("black", black),
        ("blades", blades),
        ("green", green),
        ("nodes", nodes),
    ] {
        reading.toml.value(key, number.count()?, number.place.clone());
    }
    reading.toml.value("routing", "simgrid", written.place.clone());
    Ok(())
}

fn cables(cluster: &Element, reading: &mut Reading) -> Read<()> {
    let (bandwidth, latency) = (cluster.required("bw")?, cluster.required("lat")?);
    reading.toml.table("[network]");
    reading.toml.value("bandwidth", rate(bandwidth.quantity(&BANDWIDTH)?), bandwidth.place);
    reading.toml.value("latency", seconds(latency.quantity(&TIME)?), latency.place);
    if let Some(sharing) = cluster.attribute("sharing_policy") {
        let duplex = sharing.one_of(&[
            ("SPLITDUPLEX", "full"),
            ("FULLDUPLEX", "full"),
            ("SHARED", "half"),
            ("FATPIPE", "half"),
        ])?;
        if sharing.value == "FATPIPE" {
            reading.warn(
                &sharing.place,
                "SimGrid 3.32 makes a cluster's FATPIPE links SHARED, and so does titr; --set network.duplex=fat-pipe \
                 makes them what they are called",
            );
        }
        reading.toml.value("duplex", duplex, sharing.place);
    }
    if let Some(limiter) = cluster.attribute("limiter_link") {
        let bandwidth = limiter.quantity(&BANDWIDTH)?;
        if bandwidth > 0.0 {
            reading.toml.value("limiter", rate(bandwidth), limiter.place);
        }
    }
    Ok(())
}

/// A message within a host takes the host's loopback, or else goes out to the first switch and back, or on a torus has
/// no route: SimGrid stops there. It then takes what SimGrid has for hosts outside clusters.
fn loopback(cluster: &Element, topology: Topology, reading: &mut Reading) -> Read<()> {
    let (bandwidth, latency) = (cluster.attribute("loopback_bw"), cluster.attribute("loopback_lat"));
    let quantity =
        |written: &Option<Attribute>, units| written.as_ref().map(|written| written.quantity(units)).transpose();
    let bandwidth_is = quantity(&bandwidth, &BANDWIDTH)?.unwrap_or(0.0);
    let latency_is = quantity(&latency, &TIME)?.unwrap_or(0.0);
    let written = |attribute: Option<Attribute>| attribute.map_or(cluster.place(), |attribute| attribute.place);
    reading.toml.table("[network.loopback]");
    if bandwidth_is > 0.0 || latency_is > 0.0 {
        if bandwidth.is_none() {
            return Err(cluster.wrong("a loopback with `loopback_lat` needs `loopback_bw` too"));
        }
        reading.toml.value("bandwidth", rate(bandwidth_is), written(bandwidth));
        reading.toml.value("latency", seconds(latency_is), written(latency));
    } else if topology != Topology::Torus || quantity(&cluster.attribute("limiter_link"), &BANDWIDTH)? > Some(0.0) {
        reading.toml.value("through", "switch", cluster.place());
    } else {
        reading.toml.value("bandwidth", rate(super::LOOPBACK_BANDWIDTH), cluster.place());
        reading.toml.value("latency", seconds(0.0), cluster.place());
    }
    Ok(())
}
