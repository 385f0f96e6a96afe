//! The canonical dragonfly: which groups and routers its links join.

use titr_common::units::Seconds;

use super::*;

const CABLE: Cable = Cable { bandwidth: 1e9, latency: Seconds(0.0), duplex: Duplex::Full };

fn canonical(groups: u32, routers: u32, links: u32) -> Dragonfly {
    Dragonfly::new(Shape::canonical(groups, routers, links, 1), RouteVariant::Minimal, CABLE)
}

/// Each channel has a channel back over the same cable, every two groups have the same number of links, and no router has
/// more of them than it may.
#[test]
fn groups_are_joined_evenly() {
    for (groups, routers, links) in [(1, 3, 1), (2, 3, 2), (5, 2, 2), (9, 4, 2), (7, 4, 2), (4, 5, 1), (3, 4, 3)] {
        let fly = canonical(groups, routers, links);
        let graph = fly.router_graph().unwrap();
        let group = |RouterId(router)| router / routers;
        let mut joined = vec![0; (groups * groups) as usize];
        for at in graph.routers() {
            let mut leaving = 0;
            for port in graph.ports(at) {
                let (to, (cable, direction)) = (port.to.unwrap(), CABLE.of_link(port.link));
                let back = CABLE.link(cable, direction.unwrap().opposite());
                let same = graph.ports(to).iter().filter(|port| port.link == back && port.to == Some(at)).count();
                assert_eq!(same, 1, "{} from {at:?} to {to:?}", fly.name());
                if group(at) != group(to) {
                    leaving += 1;
                    joined[(group(at) * groups + group(to)) as usize] += 1;
                }
            }
            assert!(leaving <= links, "{}: {at:?} has {leaving}", fly.name());
        }
        let expected = fly.shape.links_of_two_groups();
        for (place, count) in (0..).zip(joined) {
            assert_eq!(count, if place / groups == place % groups { 0 } else { expected }, "{}", fly.name());
        }
    }
}

/// The palm tree of nine groups of four routers with two links each, by hand: link 0 of group 0 leads to group 8, where it
/// is link 7, the second of router 3; link 2, the first of router 1, leads to group 6 and is its link 5.
#[test]
fn links_of_a_palm_tree_by_hand() {
    let fly = canonical(9, 4, 2);
    let names: Vec<_> = [8, 6].map(|group| fly.link_name(fly.blue(0, group, 0))).into();
    assert_eq!(names, ["router-0.0 to router-8.3 global", "router-0.1 to router-6.2 global"]);
    assert_eq!(fly.shape.global_link(0, 6, 0).ports, 3..4, "after the three ports to other routers of the group");
}

/// Of the links between two groups, a route takes one that needs the fewest hops.
#[test]
fn routes_take_the_nearest_link() {
    // Two groups of three routers with two links each have six links: each router has two.
    let fly = canonical(2, 3, 2);
    let mut route = Vec::new();
    for (from, to) in (0..6).flat_map(|from| (0..6).map(move |to| (from, to))).filter(|(from, to)| from != to) {
        route.clear();
        fly.route(HostId(from), HostId(to), &mut route);
        // Two cables of hosts, and a link inside or between the groups. Router r is joined with router r of the other group.
        let direct = from / 3 == to / 3 || from % 3 == to % 3;
        assert_eq!(route.len(), if direct { 3 } else { 4 }, "from {from} to {to}");
    }
}
