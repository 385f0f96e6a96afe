//! The cost of calls on files on servers: computed by hand for a single rank.
//!
//! A disk reads a byte in 1 ns and writes it in 2 ns, after 10 µs. A message of *n* bytes takes 2 µs + *n* ns.

use std::sync::Arc;

use titr_common::units::{Bandwidth, Bytes, Seconds, Speed};
use titr_network::Network;
use titr_network::flow::{Flow, FlowParameters, Preset};
use titr_network::ideal::Ideal;
use titr_network::topology::{Cable, Duplex, HostId, Star};
use titr_platform::{CollectiveAccess, DiskParameters, Servers, Service, Storage, Striping};
use titr_simulation::observe::Breakdown;
use titr_simulation::ranks::Core;
use titr_simulation::replay::{Options, replay};
use titr_test_machine::{events, finishes, mpi};
use titr_workload::Workload;

fn storage(servers: Servers) -> Storage {
    let bandwidth = |bytes_per_second| Bandwidth { bytes_per_second };
    let (read_bandwidth, write_bandwidth) = (bandwidth(1e9), bandwidth(0.5e9));
    let disk = DiskParameters { read_bandwidth, write_bandwidth, latency: Seconds(10e-6), service: Service::Shared };
    let striping = Striping { size: Bytes(1000), count: u32::MAX };
    let collective = CollectiveAccess::Independent;
    Storage { disk, servers, striping, control: Bytes(0), collective, is_assumed: false, ..Storage::default() }
}

/// A server at each of these hosts.
fn at(hosts: &[u32]) -> Storage {
    storage(Servers::Hosts(hosts.iter().copied().map(HostId).collect()))
}

fn star(hosts: u32) -> Arc<Star> {
    Arc::new(Star::new(hosts, Cable { bandwidth: 1e9, latency: Seconds(1e-6), duplex: Duplex::Full }, None))
}

/// When each rank is done, in microseconds; rank *n* is at host *n* of eight.
fn over(network: &mut dyn Network, storage: &Storage, ranks: u32, trace: &str) -> Vec<f64> {
    let workload = Workload::new(events(ranks, trace).into_iter().map(Vec::into_iter).collect());
    let cores = (0..ranks).map(|rank| Core::new(HostId(rank), Speed { per_second: 1e9 })).collect();
    let options = Options { storage: storage.clone(), ..Options::default() };
    finishes(&replay(workload, cores, &mpi(), network, Breakdown::new(ranks), options).unwrap())
}

fn run(storage: &Storage, ranks: u32, trace: &str) -> Vec<f64> {
    over(&mut Ideal::new(star(8)), storage, ranks, trace)
}

#[test]
fn an_access_is_asked_for_served_and_answered() {
    let server = at(&[7]);
    assert_eq!(run(&server, 1, "0 file_open 0"), [14.0]);
    // The disk needs longer than the data on its way.
    assert_eq!(run(&server, 1, "0 file_open 0\n0 file_write 0 1000"), [14.0 + 2.0 + 12.0 + 2.0]);
    assert_eq!(run(&server, 1, "0 file_open 0\n0 file_read 0 100000"), [14.0 + 2.0 + 110.0 + 2.0]);
    // The data on its way needs longer than the disk.
    let fast = Storage { disk: DiskParameters::INSTANT, ..server.clone() };
    assert_eq!(run(&fast, 1, "0 file_open 0\n0 file_read 0 100000"), [4.0 + 2.0 + 102.0 + 2.0]);
    let talkative = Storage { control: Bytes(500), ..fast };
    assert_eq!(run(&talkative, 1, "0 file_open 0"), [5.0]);
}

#[test]
fn servers_apart_are_shared_by_all_ranks_and_need_no_network() {
    let apart = |count| storage(Servers::Apart(count));
    let write = |rank| format!("{rank} on 1 file_open 0\n{rank} file_write 0 1000\n");
    assert_eq!(run(&apart(1), 1, &write(0)), [22.0]);
    assert_eq!(run(&apart(1), 2, &(write(0) + &write(1))), [24.0; 2]);
    // Each file begins on the next server.
    assert_eq!(run(&apart(2), 2, &(write(0) + &write(1))), [22.0; 2]);
}

#[test]
fn stripes_are_accessed_at_the_same_time() {
    let apart = |count| storage(Servers::Apart(count));
    let read = "0 file_open 0\n0 file_read_at 0 8000";
    assert_eq!(run(&apart(1), 1, read), [28.0]);
    assert_eq!(run(&apart(4), 1, read), [22.0]);
    // Four stripes from the second on, of which the first and the last are halves, on servers 1, 2, 3, 0 and 1.
    assert_eq!(run(&apart(4), 1, "0 file_open 0\n0 file_read_at 0 4000 +1500"), [21.0]);
    // The next access is where the first has ended, unless it says otherwise.
    let two = |skip| format!("0 file_open 0\n0 file_iread 0 1000 1\n0 file_iread 0 1000 2{skip}\n0 waitall 2");
    assert_eq!(run(&apart(4), 1, &two("")), [21.0]);
    assert_eq!(run(&apart(4), 1, &two(" +3000")), [22.0]);
    assert_eq!(run(&apart(4), 1, &two(" -1000")), [22.0]);
}

/// Four ranks go through their own parts of one file stripe by stripe, all from the first server on. Sharing it they
/// are done with it at one time, and go on to the next together, while the other servers have nothing to do. In turn,
/// each is served alone and the others follow one server behind another.
#[test]
fn ranks_that_are_served_in_turn_spread_over_the_servers() {
    let storage = |service| {
        let storage = storage(Servers::Apart(4));
        let disk = DiskParameters { service, latency: Seconds(0.0), ..storage.disk };
        Storage { disk, ..storage }
    };
    let rank = |rank| format!("{rank} on 1 file_open 0\n") + &format!("{rank} file_read 0 1000\n").repeat(8);
    let trace: String = (0..4).map(rank).collect();
    // One file that all ranks go through has the same first server for all.
    let trace = trace.replace("on 1 file_open", "file_open");
    let opened =
        run(&storage(Service::Shared), 4, &(0..4).map(|rank| format!("{rank} file_open 0\n")).collect::<String>());
    // All come at one time: who is first is not promised.
    let after = |ends: Vec<f64>| -> Vec<f64> {
        let mut after: Vec<f64> = ends.iter().zip(&opened).map(|(end, open)| (end - open).round()).collect();
        after.sort_by(f64::total_cmp);
        after
    };
    assert_eq!(after(run(&storage(Service::Shared), 4, &trace)), [32.0; 4]);
    assert_eq!(after(run(&storage(Service::Fifo), 4, &trace)), [8.0, 9.0, 10.0, 11.0]);
}

/// Links that are shared fairly, without any corrections.
fn flow() -> Flow {
    let plain = FlowParameters { crosstraffic: 0.0, envelope: Bytes(0), ..Preset::Cm02.into() };
    Flow::new(star(8), plain)
}

/// Data from several servers shares the cable of the rank that reads.
#[test]
fn data_takes_the_network() {
    let mut network = flow();
    let storage = Storage { disk: DiskParameters::INSTANT, ..at(&[4, 5]) };
    let [once] = over(&mut network, &storage, 1, "0 file_open 0\n0 file_read 0 1000000")[..] else { panic!() };
    assert!((once - (4.0 + 2.0 + 1002.0 + 2.0)).abs() < 1.0, "{once}");
    let mut network = flow();
    let both = "0 on 1 file_open 0\n1 on 1 file_open 0\n0 file_read 0 1000000\n1 file_read 0 1000000";
    let both = over(&mut network, &storage, 2, both);
    assert!(both.iter().all(|took| (took - once).abs() < 1.0), "{both:?}");
}

#[test]
fn interleaved_data_goes_through_aggregators() {
    let automatic = Storage { collective: CollectiveAccess::Automatic, ..storage(Servers::Local) };
    let forced = |collective| Storage { collective, ..automatic.clone() };
    let open = "0 file_open 0\n1 file_open 0\n";
    let blocks = format!("{open}0 file_write_at_all 0 1000\n1 file_write_at_all 0 1000 +1000\n");
    let cyclic = format!("{open}0 file_write_at_all 0 1000\n1 file_write_at_all 0 1000 +100\n");
    assert_eq!(run(&automatic, 2, &blocks), run(&forced(CollectiveAccess::Independent), 2, &blocks));
    assert_eq!(run(&automatic, 2, &cyclic), run(&forced(CollectiveAccess::TwoPhase), 2, &cyclic));
    assert_ne!(run(&automatic, 2, &blocks), run(&automatic, 2, &cyclic));
    // Ordered accesses follow one another in the file.
    let ordered = format!("{open}0 file_write_ordered 0 1000\n1 file_write_ordered 0 1000\n");
    assert_eq!(run(&automatic, 2, &ordered), run(&forced(CollectiveAccess::Independent), 2, &ordered));
}
