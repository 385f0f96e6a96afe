//! Collectives that know which ranks share a host, each message of them counted.

use std::sync::Arc;

use titr_common::collectives::{Library, Selection};
use titr_common::units::{Seconds, Speed};
use titr_network::ideal::Ideal;
use titr_network::topology::{Cable, Duplex, HostId, Star};
use titr_platform::Mpi;
use titr_simulation::observe::Breakdown;
use titr_simulation::ranks::Core;
use titr_simulation::replay::{Options, replay};
use titr_test_machine::{events, mpi};
use titr_workload::Workload;

/// The messages of a program by a library's algorithms, with each rank on its host.
fn messages(library: Library, hosts: &[u32], trace: &str) -> u64 {
    let ranks = hosts.len() as u32;
    let cable = Cable { bandwidth: 1e9, latency: Seconds(1e-6), duplex: Duplex::Full };
    let mut network = Ideal::new(Arc::new(Star::new(8, cable, None)));
    let cores = hosts.iter().map(|&host| Core::new(HostId(host), Speed { per_second: 1e9 })).collect();
    let workload = Workload::new(events(ranks, trace).into_iter().map(Vec::into_iter).collect());
    let mpi = Mpi { collectives: Selection::from(library), ..mpi() };
    let outcome = replay(workload, cores, &mpi, &mut network, Breakdown::new(ranks), Options::default());
    outcome.unwrap_or_else(|error| panic!("{error}\n{trace}")).messages
}

/// A line of each of these ranks.
fn each(ranks: &[u32], line: &str) -> String {
    ranks.iter().map(|rank| format!("{rank} {line}\n")).collect()
}

const ALL: [u32; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

/// On two hosts of four ranks: three up each tree, an exchange, and three down each tree; else an exchange in each of three
/// rounds.
#[test]
fn an_allreduce_goes_through_one_rank_of_each_host() {
    let allreduce = each(&ALL, "allreduce 8 0");
    let two_hosts = [0, 0, 0, 0, 1, 1, 1, 1];
    assert_eq!(messages(Library::Mpich, &two_hosts, &allreduce), 6 + 2 + 6);
    assert_eq!(messages(Library::Mpich, &[0, 1, 0, 1, 0, 1, 0, 1], &allreduce), 6 + 2 + 6);
    for (library, hosts) in [(Library::Mpich, ALL), (Library::Mpich, [3; 8]), (Library::OpenMpi, two_hosts)] {
        assert_eq!(messages(library, &hosts, &allreduce), 24, "{library:?} {hosts:?}");
    }
}

/// The hosts are those of the members of each communicator, also of one that comes after another.
#[test]
fn each_communicator_has_its_hosts() {
    let hosts = [0, 0, 0, 0, 1, 1, 1, 1];
    let on = |members: &[u32], list: &str| {
        let made = each(members, &format!("comm_create_group 2 0 {list}"));
        made + &each(members, "on 2 allreduce 8 0") + &each(members, "comm_free 2")
    };
    let count = |trace: &str| messages(Library::Mpich, &hosts, trace);
    let agreement = |members: &[u32], list: &str| {
        count(&(each(members, &format!("comm_create_group 2 0 {list}")) + &each(members, "comm_free 2")))
    };
    let of = |members: &[u32], list: &str| count(&on(members, list)) - agreement(members, list);
    // One rank of each host, all of one host, and two of one host with two of the other.
    assert_eq!(of(&[0, 4], "0,4"), 2);
    assert_eq!(of(&[0, 1, 2, 3], "0-3"), 8);
    assert_eq!(of(&[0, 1, 4, 5], "0,1,4,5"), 2 + 2 + 2);
    let (one, other) = (on(&[0, 1, 2, 3], "0-3"), on(&[0, 1, 4, 5], "0,1,4,5"));
    assert_eq!(count(&(one.clone() + &other)), count(&one) + count(&other));
}
