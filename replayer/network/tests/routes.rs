//! Routes: equality with SimGrid's, link by link, and properties that hold on any topology.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::HashMap;
use std::io::Read;

use flate2::read::MultiGzDecoder;
use proptest::prelude::*;
use titr_common::units::Seconds;
use titr_network::topology::{
    Ascent, Cable, Dragonfly, Duplex, FatTree, GlobalLinks, Grid, HostId, Link, LinkId, PortChoice, RouteVariant,
    Shape, Sharing, Stage, Star, Topology,
};

const FULL: Cable = Cable { bandwidth: 1.25e8, latency: Seconds(15e-6), duplex: Duplex::Full };
const HALF: Cable = Cable { duplex: Duplex::Half, ..FULL };

fn route(topology: &dyn Topology, from: u32, to: u32) -> Vec<LinkId> {
    let mut route = Vec::new();
    topology.route(HostId(from), HostId(to), &mut route);
    route
}

/// Compares every route with SimGrid's: as many links, and one link of ours for each name of SimGrid's. A line of the
/// data is `from to latency link…`, as SimGrid 3.32's `route_to` gives them.
#[track_caller]
fn assert_routes_as_simgrid(topology: &dyn Topology, data: &[u8]) {
    let mut text = String::new();
    MultiGzDecoder::new(data).read_to_string(&mut text).unwrap();
    let mut ours_of_theirs: HashMap<&str, LinkId> = HashMap::new();
    let mut theirs_of_ours: HashMap<LinkId, &str> = HashMap::new();
    let mut pairs = 0;
    for line in text.lines() {
        let mut words = line.split(' ');
        let mut number = || words.next().unwrap().parse::<f64>().unwrap();
        let (from, to, latency) = (number() as u32, number() as u32, number());
        let ours = route(topology, from, to);
        let theirs: Vec<&str> = words.collect();
        assert_eq!(ours.len(), theirs.len(), "{line}");
        let sum: f64 = ours.iter().map(|link| topology.links()[link.index()].latency.0).sum();
        assert!((sum - latency).abs() < 1e-12, "{line}");
        for (ours, theirs) in ours.into_iter().zip(theirs) {
            assert_eq!(*ours_of_theirs.entry(theirs).or_insert(ours), ours, "{line}: {theirs}");
            assert_eq!(*theirs_of_ours.entry(ours).or_insert(theirs), theirs, "{line}: {theirs}");
        }
        pairs += 1;
    }
    assert_eq!(pairs, topology.hosts() * topology.hosts());
}

macro_rules! simgrid_routes {
    ($file:literal) => {
        include_bytes!(concat!("data/routes/", $file, ".txt.gz"))
    };
}

#[test]
fn stars_route_as_simgrid() {
    let backbone = Link { bandwidth: 1.25e9, latency: Seconds(15e-6), sharing: Sharing::Shared };
    assert_routes_as_simgrid(&Star::new(16, FULL, Some(backbone)), simgrid_routes!("star_with_backbone"));
    assert_routes_as_simgrid(&Star::new(16, HALF, Some(backbone)), simgrid_routes!("star_half_duplex"));
}

#[test]
fn tori_route_as_simgrid() {
    assert_routes_as_simgrid(&Grid::torus(&[4, 4], FULL), simgrid_routes!("torus_4x4"));
    assert_routes_as_simgrid(&Grid::torus(&[4, 4], HALF), simgrid_routes!("torus_4x4_half_duplex"));
    assert_routes_as_simgrid(&Grid::torus(&[3, 5, 2], FULL), simgrid_routes!("torus_3x5x2"));
    assert_routes_as_simgrid(&Grid::torus(&[6, 1, 4], FULL), simgrid_routes!("torus_6x1x4"));
}

#[test]
fn fat_trees_route_as_simgrid() {
    let tree = |stages: &[[u32; 3]]| {
        let stages: Vec<_> = stages.iter().map(|&[down, up, count]| Stage { down, up, count }).collect();
        FatTree::new(&stages, FULL)
    };
    assert_routes_as_simgrid(&tree(&[[4, 1, 1], [4, 2, 2]]), simgrid_routes!("fat_tree_16"));
    assert_routes_as_simgrid(&tree(&[[6, 2, 3]]), simgrid_routes!("fat_tree_1_level"));
    assert_routes_as_simgrid(&tree(&[[4, 2, 1], [4, 3, 3]]), simgrid_routes!("fat_tree_2_levels"));
    assert_routes_as_simgrid(&tree(&[[3, 2, 1], [2, 3, 1], [4, 2, 3]]), simgrid_routes!("fat_tree_3_levels"));
}

fn shape([groups, chassis, blades, nodes]: [u32; 4]) -> Shape {
    Shape { groups, chassis, black: 2, blades, green: 4, nodes, global: GlobalLinks::OfGroups(3) }
}

#[test]
fn dragonflies_route_as_simgrid() {
    let fly = |sizes, cable| Dragonfly::new(shape(sizes), RouteVariant::SimGrid, cable);
    assert_routes_as_simgrid(&fly([2, 2, 2, 2], FULL), simgrid_routes!("dragonfly_16"));
    assert_routes_as_simgrid(&fly([3, 3, 3, 2], FULL), simgrid_routes!("dragonfly_3x3x3x2"));
    assert_routes_as_simgrid(&fly([2, 3, 5, 1], HALF), simgrid_routes!("dragonfly_half_duplex"));
}

/// Checks that each link of a route begins where the one before ends, going by their names (`a to b`).
fn assert_connected(topology: &dyn Topology, from: u32, to: u32) {
    let names: Vec<String> = route(topology, from, to).iter().map(|&link| topology.link_name(link)).collect();
    let ends = |name: &str| -> (String, String) {
        let (a, rest) = name.split_once(" to ").unwrap();
        (a.to_owned(), rest.split(' ').next().unwrap().to_owned())
    };
    let mut here = format!("node-{from}");
    for name in &names {
        let (start, end) = ends(name);
        assert_eq!(start, here, "{names:?}");
        here = end;
    }
    assert_eq!(here, format!("node-{to}"), "{names:?}");
}

/// Each coordinate of a host.
fn coordinates(sizes: &[u32], mut host: u32) -> Vec<u32> {
    let mut coordinate = |&size: &u32| {
        let here = host % size;
        host /= size;
        here
    };
    sizes.iter().map(&mut coordinate).collect()
}

proptest! {
    /// On a grid, a route is as long as the coordinates are apart, and each of its links moves one step in one dimension.
    #[test]
    fn grids_route_minimally(
        sizes in prop::collection::vec(1_u32..7, 1..5),
        closed: bool,
        ends in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
    ) {
        let grid = if closed { Grid::torus(&sizes, FULL) } else { Grid::mesh(&sizes, FULL) };
        let hosts = grid.hosts();
        let (from, to) = (ends.0.index(hosts as usize) as u32, ends.1.index(hosts as usize) as u32);
        let apart = |((a, b), size): ((u32, u32), u32)| {
            let straight = a.abs_diff(b);
            if closed { straight.min(size - straight) } else { straight }
        };
        let pairs = coordinates(&sizes, from).into_iter().zip(coordinates(&sizes, to)).zip(sizes.iter().copied());
        let expected: u32 = pairs.map(apart).sum();
        let taken = route(&grid, from, to);
        prop_assert_eq!(taken.len(), expected as usize);

        let mut here = coordinates(&sizes, from);
        for link in taken {
            prop_assert!(link.index() < grid.links().len());
            let name = grid.link_name(link);
            let (node, step) = name.split_once(' ').unwrap();
            prop_assert_eq!(node, format!("node-{}", number(&sizes, &here)));
            let axis = match &step[1..] { "x" => 0, "y" => 1, "z" => 2, other => other[1..].parse().unwrap() };
            let forward = if step.starts_with('+') { 1 } else { sizes[axis] - 1 };
            here[axis] = (here[axis] + forward) % sizes[axis];
        }
        prop_assert_eq!(number(&sizes, &here), to);
    }

    /// In a fat-tree, a route goes up to the first switch above both ends and down again, from cable to cable.
    #[test]
    fn fat_trees_route_minimally(
        stages in prop::collection::vec((1_u32..5, 1_u32..4, 1_u32..3), 1..4),
        ends in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
        ascent in prop::sample::select(vec![Ascent::DModK, Ascent::SModK, Ascent::Hashed]),
        seed: u64,
    ) {
        let stages: Vec<_> = stages.into_iter().map(|(down, up, count)| Stage { down, up, count }).collect();
        let tree = FatTree::new(&stages, FULL).choosing(PortChoice { ascent, seed });
        prop_assert_eq!(FatTree::cables(&stages) * 2, tree.links().len() as u64);
        let hosts = tree.hosts() as usize;
        let (from, to) = (ends.0.index(hosts) as u32, ends.1.index(hosts) as u32);
        let mut below = 1;
        let mut height = 0;
        while height == 0 || from / below != to / below {
            below *= stages[height].down;
            height += 1;
        }
        prop_assert_eq!(route(&tree, from, to).len(), 2 * height);
        assert_connected(&tree, from, to);
    }
}

proptest! {
    /// In a dragonfly, a route goes from cable to cable, and none of its routers twice.
    #[test]
    fn dragonflies_route_minimally(
        (groups, chassis, blades, nodes) in (1_u32..5, 1_u32..4, 0_u32..3, 1_u32..4),
        ends in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
    ) {
        let shape = shape([groups, chassis, groups + blades, nodes]);
        let fly = Dragonfly::new(shape, RouteVariant::Minimal, FULL);
        prop_assert_eq!(shape.cables() * 2, fly.links().len() as u64);
        let hosts = fly.hosts() as usize;
        let (from, to) = (ends.0.index(hosts) as u32, ends.1.index(hosts) as u32);
        assert_connected(&fly, from, to);
        let mut taken = route(&fly, from, to);
        let length = taken.len();
        taken.sort_unstable();
        taken.dedup();
        prop_assert_eq!(taken.len(), length);
    }
}

fn number(sizes: &[u32], coordinates: &[u32]) -> u32 {
    sizes.iter().zip(coordinates).rev().fold(0, |number, (&size, &coordinate)| number * size + coordinate)
}

/// The longest route and the mean over all pairs of hosts, a host and itself included.
fn diameter_and_mean(topology: &dyn Topology) -> (usize, f64) {
    let hosts = topology.hosts();
    let lengths: Vec<_> = (0..hosts)
        .flat_map(|from| (0..hosts).map(move |to| (from, to)))
        .map(|(a, b)| route(topology, a, b).len())
        .collect();
    let mean = lengths.iter().sum::<usize>() as f64 / lengths.len() as f64;
    (lengths.into_iter().max().unwrap(), mean)
}

/// A ring of even size s has mean distance s/4, of odd size (s² − 1)/4s, and a row (s² − 1)/3s; dimensions add up.
#[test]
fn distances_on_grids_have_closed_forms() {
    let (diameter, mean) = diameter_and_mean(&Grid::torus(&[8, 4, 3], FULL));
    assert_eq!(diameter, 4 + 2 + 1);
    assert!((mean - (8.0 / 4.0 + 4.0 / 4.0 + 8.0 / 12.0)).abs() < 1e-12);
    let (diameter, mean) = diameter_and_mean(&Grid::mesh(&[5, 3], FULL));
    assert_eq!(diameter, 4 + 2);
    assert!((mean - (24.0 / 15.0 + 8.0 / 9.0)).abs() < 1e-12);
}

/// A blade is left by a green link unless it is the right one already, a chassis by a black one; between groups, that
/// happens at either end of the blue link.
#[test]
fn distances_in_dragonflies_have_closed_forms() {
    let (diameter, mean) = diameter_and_mean(&Dragonfly::new(shape([4, 3, 5, 2]), RouteVariant::Minimal, FULL));
    assert_eq!(diameter, 1 + 2 + 1 + 2 + 1);
    let (same_group, within) = (1.0 / 4.0, 4.0 / 5.0 + 2.0 / 3.0);
    assert!((mean - (2.0 + same_group * within + (1.0 - same_group) * (2.0 * within + 1.0))).abs() < 1e-12);
}

/// In a canonical dragonfly with one link between every two groups, each router of a group has the same part of the links
/// to other groups, so the link begins at any router of a group, and ends at any router of the other, equally often.
#[test]
fn distances_in_canonical_dragonflies_have_closed_forms() {
    for (routers, links, hosts) in [(4, 2, 2), (3, 1, 2), (5, 2, 1)] {
        let groups = routers * links + 1;
        let shape = Shape::canonical(groups, routers, links, hosts);
        let fly = Dragonfly::new(shape, RouteVariant::Minimal, FULL);
        assert_eq!(shape.cables() * 2, fly.links().len() as u64);
        let (diameter, mean) = diameter_and_mean(&fly);
        assert_eq!(diameter, 1 + 1 + 1 + 1 + 1);
        let (same_group, within) = (1.0 / f64::from(groups), 1.0 - 1.0 / f64::from(routers));
        let expected = 2.0 + same_group * within + (1.0 - same_group) * (2.0 * within + 1.0);
        assert!((mean - expected).abs() < 1e-12, "{mean}, not {expected}");
    }
}

/// Cables side by side are one link, as wide as all of them.
#[test]
fn dragonflies_bundle_their_cables() {
    let fly = Dragonfly::new(shape([2, 2, 2, 1]), RouteVariant::Minimal, FULL);
    let name = |link: &LinkId| fly.link_name(*link).split(' ').next_back().unwrap().to_owned();
    for link in route(&fly, 3, 7) {
        let expected = match name(&link).as_str() {
            "blue" => 3.0,
            "black" => 2.0,
            "green" => 4.0,
            _ => 1.0,
        };
        assert_eq!(fly.links()[link.index()].bandwidth, expected * FULL.bandwidth);
    }
}

/// With as many cables up as down, and none of them parallel, no two messages of a shift permutation share a link
/// (Zahavi 2010).
#[test]
fn shifts_do_not_collide_in_full_fat_trees() {
    let stage = |down, up, count| Stage { down, up, count };
    let tree = FatTree::new(&[stage(4, 1, 1), stage(3, 4, 1), stage(2, 3, 1)], FULL);
    for shift in 1..tree.hosts() {
        let mut used = vec![0; tree.links().len()];
        for from in 0..tree.hosts() {
            for link in route(&tree, from, (from + shift) % tree.hosts()) {
                used[link.index()] += 1;
            }
        }
        let most = used.into_iter().max();
        assert_eq!(most, Some(1), "shift by {shift}");
    }
}
