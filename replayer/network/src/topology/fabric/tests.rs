//! Closed forms of the families of fabrics, and shortest routes in any graph.

use std::collections::VecDeque;

use proptest::prelude::*;
use titr_common::units::Seconds;

use super::*;

const CABLE: Cable = Cable { bandwidth: 1e9, latency: Seconds(0.0), duplex: Duplex::Full };

/// The hops from one router to all others, by a search of its own; `None` if there is no way.
fn hops_from(wiring: &Wiring, start: RouterId) -> Vec<Option<u32>> {
    let mut hops = vec![None; wiring.routers.len()];
    hops[start.index()] = Some(0);
    let mut queue = VecDeque::from([start]);
    while let Some(at) = queue.pop_front() {
        for RouterCable { ends: [one, other], .. } in &wiring.cables {
            for (from, to) in [(one, other), (other, one)] {
                if *from == at && hops[to.index()].is_none() {
                    hops[to.index()] = hops[at.index()].map(|hops| hops + 1);
                    queue.push_back(*to);
                }
            }
        }
    }
    hops
}

/// The cables of each router to others.
fn degrees(wiring: &Wiring) -> Vec<u32> {
    let mut degrees = vec![0; wiring.routers.len()];
    wiring.cables.iter().flat_map(|cable| cable.ends).for_each(|router| degrees[router.index()] += 1);
    degrees
}

/// The largest and the mean number of hops between routers, a router and itself included.
fn distances(wiring: &Wiring) -> (u32, f64) {
    let routers = (0..wiring.routers.len() as u32).map(RouterId);
    let all: Vec<u32> = routers.flat_map(|from| hops_from(wiring, from)).map(Option::unwrap).collect();
    (all.iter().copied().max().unwrap(), f64::from(all.iter().sum::<u32>()) / all.len() as f64)
}

fn hyperx(sizes: &[u32], cables: &[u32], hosts: u32) -> HyperX {
    HyperX { sizes: sizes.to_vec(), cables: cables.to_vec(), hosts }
}

/// Two random routers differ in a dimension of S routers with probability 1 − 1/S, and each difference is a hop.
#[test]
fn a_hyperx_has_a_hop_a_dimension() {
    for (sizes, cables) in
        [(vec![5], vec![1]), (vec![4, 3], vec![1, 2]), (vec![2, 3, 4], vec![3, 1, 1]), (vec![1, 4], vec![1, 1])]
    {
        let hyperx = hyperx(&sizes, &cables, 2);
        let wiring = hyperx.wiring();
        assert_eq!(wiring.routers.len() as u32, sizes.iter().product::<u32>());
        assert_eq!(wiring.hosts.len(), 2 * wiring.routers.len());
        assert_eq!((wiring.hosts.len() + wiring.cables.len()) as u64, hyperx.cables());
        let degree: u32 = sizes.iter().zip(&cables).map(|(size, cables)| (size - 1) * cables).sum();
        assert!(degrees(&wiring).iter().all(|&cables| cables == degree));
        let (most, mean) = distances(&wiring);
        assert_eq!(most as usize, sizes.iter().filter(|&&size| size > 1).count());
        let expected: f64 = sizes.iter().map(|&size| 1.0 - 1.0 / f64::from(size)).sum();
        assert!((mean - expected).abs() < 1e-12, "{mean}, not {expected}");
    }
}

#[test]
fn a_slim_fly_has_two_hops() {
    for (q, degree) in [(3, 5), (4, 6), (5, 7), (7, 11), (8, 12), (9, 13), (11, 17), (13, 19)] {
        let slim_fly = SlimFly::new(q, None).unwrap();
        let wiring = slim_fly.wiring();
        assert_eq!(wiring.routers.len() as u32, 2 * q * q);
        assert!(degrees(&wiring).iter().all(|&cables| cables == degree), "q = {q}");
        let hosts = degree.div_ceil(2);
        assert_eq!((slim_fly.hosts, wiring.hosts.len() as u32), (hosts, 2 * q * q * hosts));
        assert_eq!((wiring.hosts.len() + wiring.cables.len()) as u64, slim_fly.cables());
        let fabric = Fabric::new(wiring, CABLE).unwrap();
        assert_eq!(fabric.diameter(), 2, "q = {q}");
    }
    assert!([0, 1, 2, 6, 10, 12].iter().all(|&q| SlimFly::new(q, None).is_none()));
}

#[test]
fn a_jellyfish_is_regular_and_random() {
    for (routers, degree) in [(2, 1), (5, 2), (6, 5), (10, 3), (20, 5), (100, 8)] {
        let jellyfish = Jellyfish { routers, degree, hosts: 3, seed: 1 };
        let wiring = jellyfish.wiring().unwrap();
        assert!(degrees(&wiring).iter().all(|&cables| cables == degree), "{routers} {degree}");
        assert!(wiring.cables.windows(2).all(|two| two[0].ends != two[1].ends), "cables are sorted, and none is twice");
        assert!(wiring.cables.iter().all(|cable| cable.ends[0] != cable.ends[1]));
        assert!(hops_from(&wiring, RouterId(0)).iter().all(Option::is_some));
        assert_eq!(wiring.cables, jellyfish.wiring().unwrap().cables, "the same seed");
        let other = Jellyfish { seed: 2, ..jellyfish }.wiring().unwrap().cables;
        assert!(routers < 10 || wiring.cables != other, "another seed");
    }
    assert!(Jellyfish { routers: 4, degree: 1, hosts: 1, seed: 0 }.wiring().is_err(), "two pairs are not connected");
}

/// Leaves of one group are two hops apart, and leaves of different groups three: through a spine of each.
#[test]
fn a_dragonfly_plus_joins_every_two_groups() {
    for (groups, leaves, spines, global_links) in [(1, 2, 3, 1), (5, 3, 2, 2), (9, 4, 4, 2), (3, 2, 3, 2)] {
        let plus = DragonflyPlus { groups, leaves, spines, global_links, hosts: 2 };
        let wiring = plus.wiring();
        assert_eq!(wiring.routers.len() as u32, groups * (leaves + spines));
        assert_eq!(wiring.hosts.len() as u32, groups * leaves * 2);
        let group = |router: RouterId| router.0 / (leaves + spines);
        let is_leaf = |router: RouterId| router.0 % (leaves + spines) < leaves;
        for (router, cables) in (0..).map(RouterId).zip(degrees(&wiring)) {
            assert!(if is_leaf(router) { cables == spines } else { cables <= leaves + global_links }, "{router:?}");
        }
        let between = wiring.cables.iter().filter(|cable| group(cable.ends[0]) != group(cable.ends[1])).count() as u32;
        assert_eq!(between, groups * (groups - 1) / 2 * plus.links_of_two_groups());
        for from in (0..wiring.routers.len() as u32).map(RouterId).filter(|&router| is_leaf(router)) {
            for (to, hops) in
                (0..).map(RouterId).zip(hops_from(&wiring, from)).filter(|&(to, _)| is_leaf(to) && to != from)
            {
                let expected = if group(from) == group(to) { 2 } else { 3 };
                // Through spines that are not joined to each other, a path has two hops more.
                assert!(hops == Some(expected) || hops == Some(expected + 2), "{from:?} {to:?} {hops:?}");
                assert!(hops == Some(expected) || group(from) != group(to));
            }
        }
    }
}

/// A connected graph of some routers, with cables side by side and hosts at some of the routers.
fn any_wiring() -> impl Strategy<Value = Wiring> {
    (2_u32..90).prop_flat_map(|routers| {
        let tree = prop::collection::vec(any::<u32>(), routers as usize - 1);
        let more = prop::collection::vec((0..routers, 0..routers), 0..60);
        let hosts = prop::collection::vec(0..routers, 2..90);
        (tree, more, hosts).prop_map(move |(tree, more, hosts)| {
            let mut wiring = Wiring {
                routers: (0..routers).map(|router| format!("r{router}")).collect(),
                hosts: hosts.into_iter().map(RouterId).collect(),
                classes: vec![String::new()],
                ..Wiring::default()
            };
            (1..).zip(tree).for_each(|(router, draw)| wiring.join(router, draw % router, 0));
            more.into_iter().filter(|(one, other)| one != other).for_each(|(one, other)| wiring.join(one, other, 0));
            wiring
        })
    })
}

proptest! {
    /// A route begins and ends with the cables of its hosts, and is a shortest path between.
    #[test]
    fn routes_are_shortest_paths(wiring in any_wiring(), ends in any::<(u32, u32)>()) {
        let fabric = Fabric::new(wiring.clone(), CABLE).unwrap();
        let (from, to) = (HostId(ends.0 % fabric.hosts()), HostId(ends.1 % fabric.hosts()));
        let mut route = Vec::new();
        fabric.route(from, to, &mut route);
        let [first, between @ .., last] = &route[..] else { panic!("a route has the cables of both hosts") };
        prop_assert_eq!((*first, *last), (CABLE.link(from.0, Direction::Up), CABLE.link(to.0, Direction::Down)));
        let mut at = wiring.hosts[from.index()];
        for &link in between {
            let (cable, direction) = CABLE.of_link(link);
            let [one, other] = wiring.cables[(cable - fabric.hosts()) as usize].ends;
            let (begin, end) = if direction == Some(Direction::Up) { (one, other) } else { (other, one) };
            prop_assert_eq!(begin, at);
            at = end;
        }
        prop_assert_eq!(at, wiring.hosts[to.index()]);
        let hops = hops_from(&wiring, wiring.hosts[from.index()])[at.index()];
        prop_assert_eq!(between.len() as u32, hops.unwrap());
    }

    /// The diameter is the most hops between routers with hosts.
    #[test]
    fn the_diameter_is_between_hosts(wiring in any_wiring()) {
        let fabric = Fabric::new(wiring.clone(), CABLE).unwrap();
        let most = |&from: &RouterId| {
            let hops = hops_from(&wiring, from);
            wiring.hosts.iter().map(|to| hops[to.index()].unwrap()).max().unwrap()
        };
        prop_assert_eq!(fabric.diameter(), wiring.hosts.iter().map(most).max().unwrap());
    }
}

/// Messages between different hosts are spread over all shortest paths: in a HyperX of 4 × 4, two.
#[test]
fn flows_are_spread_over_shortest_paths() {
    let fabric = Fabric::new(hyperx(&[4, 4], &[1, 1], 8).wiring(), CABLE).unwrap();
    let (mut route, mut first_links) = (Vec::new(), Vec::new());
    // From the hosts of router (0, 0) to the hosts of router (1, 1).
    for (from, to) in (0..8).flat_map(|from| (40..48).map(move |to| (from, to))) {
        route.clear();
        fabric.route(HostId(from), HostId(to), &mut route);
        first_links.push(route[1]);
    }
    first_links.sort_unstable();
    let first = first_links.iter().filter(|&&link| link == first_links[0]).count();
    assert!((16..=48).contains(&first), "{first} of 64");
    first_links.dedup();
    assert_eq!(first_links.len(), 2);
}

#[test]
fn links_have_the_names_of_their_ends() {
    let fabric = Fabric::new(hyperx(&[2, 2], &[1, 2], 1).wiring(), CABLE).unwrap();
    let names: Vec<String> = (0..fabric.links().len() as u32).map(|link| fabric.link_name(LinkId(link))).collect();
    assert_eq!(names[..3], ["node-0 to router-0.0", "router-0.0 to node-0", "node-1 to router-1.0"]);
    assert_eq!(names[8..10], ["router-0.0 to router-1.0", "router-1.0 to router-0.0"]);
    assert_eq!(
        names[12..16],
        [
            "router-0.0 to router-0.1 cable 0",
            "router-0.1 to router-0.0 cable 0",
            "router-0.0 to router-0.1 cable 1",
            "router-0.1 to router-0.0 cable 1",
        ]
    );
    let classes: Vec<String> = [0, 8, 12].map(|link| fabric.link_class(LinkId(link))).into();
    assert_eq!(classes, ["to hosts", "dimension 0", "dimension 1"]);
    let mut sorted = names.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), names.len());
}

#[test]
fn hosts_that_cannot_reach_each_other_are_named() {
    let two = |cables: &[(u32, u32)], routers: u32| {
        let mut wiring = Wiring {
            routers: (0..routers).map(|router| format!("r{router}")).collect(),
            hosts: vec![RouterId(0), RouterId(routers - 1)],
            classes: vec![String::new()],
            ..Wiring::default()
        };
        cables.iter().for_each(|&(one, other)| wiring.join(one, other, 0));
        Fabric::new(wiring, CABLE)
    };
    assert_eq!(two(&[(0, 1)], 3).unwrap_err().to_string(), "there is no way from `r2` to `r0`");
    let row = |routers: u32| two(&(1..routers).map(|next| (next - 1, next)).collect::<Vec<_>>(), routers);
    assert_eq!(row(255).unwrap().diameter(), 254);
    assert_eq!(row(256).unwrap_err().to_string(), "a path has more than 254 hops");
}

/// Cables that are not alike are links with their own bandwidth; packets then follow written routes.
#[test]
fn cables_may_differ() {
    let mut wiring = hyperx(&[3], &[1], 1).wiring();
    wiring.unlike.push((3, Cable { bandwidth: 2e9, latency: Seconds(1e-6), ..CABLE }));
    let fabric = Fabric::new(wiring, CABLE).unwrap();
    let bandwidths: Vec<f64> = fabric.links().iter().map(|link| link.bandwidth / 1e9).collect();
    assert_eq!(bandwidths, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0]);
    assert!(fabric.router_graph().unwrap().geometry::<HopTable>().is_none());
}

/// A route passes the limiter of each host and router on it.
#[test]
fn routes_pass_limiters() {
    let fabric = Fabric::new(hyperx(&[3], &[1], 1).wiring(), CABLE).unwrap().limited(5e8);
    let mut route = Vec::new();
    fabric.route(HostId(0), HostId(2), &mut route);
    let names: Vec<String> = route.iter().map(|&link| fabric.link_name(link)).collect();
    assert_eq!(
        names,
        [
            "node-0 limiter",
            "node-0 to router-0",
            "router-0 limiter",
            "router-0 to router-2",
            "router-2 limiter",
            "router-2 to node-2",
            "node-2 limiter",
        ]
    );
}
