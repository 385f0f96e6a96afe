//! Properties of networks against their closed forms.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;

use proptest::prelude::*;
use titr_common::time::Time;
use titr_common::units::Seconds;
use titr_network::properties::{DeviceGraph, bisection, distances, route_lengths};
use titr_network::topology::{
    Cable, Dragonfly, Duplex, Failure, FatTree, Grid, LinkId, RouteVariant, Shape, Stage, Star, Topology, WithFailures,
};

const CABLE: Cable = Cable { bandwidth: 1e9, latency: Seconds(1e-6), duplex: Duplex::Full };

fn devices(topology: &dyn Topology) -> DeviceGraph {
    DeviceGraph::of(&topology.router_graph().unwrap())
}

/// The bisection in cables, and whether it is exact.
fn halves(topology: &dyn Topology) -> (f64, bool) {
    let graph = topology.router_graph().unwrap();
    let found = bisection(topology, &graph, &DeviceGraph::of(&graph)).unwrap();
    (found.bandwidth / CABLE.bandwidth, found.is_exact)
}

fn tree(stages: &[(u32, u32)]) -> FatTree {
    let stages: Vec<_> = stages.iter().map(|&(down, up)| Stage { down, up, count: 1 }).collect();
    FatTree::new(&stages, CABLE)
}

fn dragonfly() -> Dragonfly {
    Dragonfly::new(Shape::canonical(9, 4, 2, 2), RouteVariant::Minimal, CABLE)
}

/// In a ring of even length k, the mean distance of two places, which may be the same, is k/4.
#[test]
fn torus() {
    let torus = Grid::torus(&[4, 4, 4], CABLE);
    let found = distances(&devices(&torus));
    assert_eq!((found.diameter, found.is_complete, found.all_reached), (6, true, true));
    assert!((found.mean - 3.0 * 64.0 / 63.0).abs() < 1e-12, "{found:?}");
    let routes = route_lengths(&torus);
    assert_eq!((routes.longest, routes.pairs, routes.without_route), (6, 64 * 63, None));
    assert!((routes.mean - found.mean).abs() < 1e-12 && (routes.longest_latency.0 - 6e-6).abs() < 1e-18);
    assert_eq!(halves(&torus), (32.0, true));
    assert_eq!(halves(&Grid::mesh(&[8, 4], CABLE)), (4.0, true));
    assert_eq!(devices(&torus).cables().len(), 192);
}

#[test]
fn trees() {
    let full = tree(&[(8, 1), (8, 8)]);
    let found = distances(&devices(&full));
    // Of 63 other hosts, 7 are at the same switch, and the others at the other ends of two cables.
    assert_eq!(found.diameter, 2);
    assert!((found.mean - 2.0 * 56.0 / 63.0).abs() < 1e-12, "{found:?}");
    let routes = route_lengths(&full);
    assert_eq!(routes.longest, 4);
    assert!((routes.mean - (found.mean + 2.0)).abs() < 1e-12);
    assert_eq!(halves(&full), (32.0, true));
    assert_eq!(halves(&tree(&[(8, 1), (8, 2)])), (8.0, true));
    assert_eq!(halves(&tree(&[(4, 1), (4, 4), (4, 4)])), (32.0, true));
    assert_eq!(devices(&full).cables().len(), 128);
}

/// What has failed at the start is in no cut: a torus of 8×8 without a cable between its halves, and a tree whose switches 0 to 3
/// have kept one cable each to the second level.
#[test]
fn networks_with_failures() {
    let without = |topology: Box<dyn Topology>, is_failed: &dyn Fn(&str) -> bool| {
        let links = (0..topology.links().len() as u32).map(LinkId).filter(|link| is_failed(&topology.link_name(*link)));
        let failure = Failure {
            name: String::new(),
            links: links.collect(),
            routers: BTreeSet::new(),
            at: Time::ZERO,
            until: Time::NEVER,
        };
        let graph = topology.router_graph().unwrap();
        WithFailures::new(topology.into(), &graph, vec![failure])
    };
    let torus = without(Box::new(Grid::torus(&[8, 8], CABLE)), &|name| ["node-3 +x", "node-4 -x"].contains(&name));
    assert_eq!((halves(&torus), devices(&torus).cables().len()), ((15.0, false), 127));
    let is_failed = |name: &str| {
        let of_level = name.contains("switch-2.") && !name.contains("switch-2.0");
        of_level && (0..4).any(|leaf| name.contains(&format!("switch-1.{leaf}")))
    };
    let tree = without(Box::new(tree(&[(8, 1), (8, 4)])), &is_failed);
    assert_eq!((halves(&tree), devices(&tree).cables().len()), ((4.0, false), 84));
}

#[test]
fn star() {
    let star = Star::new(5, CABLE, None);
    assert_eq!((distances(&devices(&star)).diameter, route_lengths(&star).longest), (0, 2));
    assert_eq!(halves(&star), (2.0, true));
}

/// A router to another in its group, the link to the other group, and a router there.
#[test]
fn dragonflies() {
    let found = distances(&devices(&dragonfly()));
    assert_eq!(found.diameter, 3);
    assert_eq!(route_lengths(&dragonfly()).longest, 5);
    let (cables, is_exact) = halves(&dragonfly());
    assert!(!is_exact);
    // Four groups, and half of a fifth: 16 links between the others, and at most 8 from the fifth and 4 within it.
    assert!((16.0..=28.0).contains(&cables), "{cables}");
}

/// The bisection of a network by brute force.
fn smallest_cut(topology: &dyn Topology) -> f64 {
    let devices = devices(topology);
    let hosts = devices.hosts_of_routers();
    let all: u32 = hosts.iter().sum();
    let cut = |division: u32| {
        let is_first = |device| match device {
            titr_network::properties::Device::Router(router) => division >> router.0 & 1 == 1,
            titr_network::properties::Device::Host(host) => division >> devices.hosts[host.index()].0 & 1 == 1,
        };
        let halves: u32 = (0..devices.routers)
            .filter(|router| division >> router & 1 == 1)
            .map(|router| hosts[router as usize])
            .sum();
        let crossing =
            devices.cables().into_iter().filter(|cable| is_first(cable.one) != is_first(cable.other)).count();
        (2 * halves == all).then_some(crossing as f64)
    };
    (0..1 << devices.routers).filter_map(cut).min_by(f64::total_cmp).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// A closed form is the smallest cut of all divisions, and an estimate is not below it.
    #[test]
    fn no_division_is_smaller(
        sizes in prop::collection::vec(1_u32..5, 1..3),
        is_torus: bool,
    ) {
        let grid = if is_torus { Grid::torus(&sizes, CABLE) } else { Grid::mesh(&sizes, CABLE) };
        prop_assume!(grid.hosts().is_multiple_of(2) && grid.hosts() <= 12);
        let (cables, is_exact) = halves(&grid);
        let smallest = smallest_cut(&grid);
        prop_assert!(cables >= smallest, "{} {cables} {smallest}", grid.name());
        if is_exact {
            prop_assert_eq!(cables, smallest, "{}", grid.name());
        }
    }
}
