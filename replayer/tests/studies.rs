//! The results of the studies in `docs/studies` that need no foreign traces.

use crate::support::command::Folder;
use titr_common::units::Bytes;
use titr_platform::Platform;
use titr_replayer::generate::{Kernel, Pattern, program};
use titr_simulation::ranks::Core;
use titr_simulation::replay::{Options, replay};
use titr_workload::Workload;

/// 32 hosts with so many ports each, on a torus of 8×4 and on the twisted one.
fn machines(ports: u32) -> [Platform; 2] {
    ["torus", "twisted-torus"].map(|topology| {
        let folder = Folder::new();
        let path = folder.file(
            "cluster.toml",
            format!(
                "schema = 1\nhosts.speed = \"1 Ginstr/s\"\ntopology.{topology}.dims = [8, 4]\n\
                 [network]\nmodel = \"packet\"\nbandwidth = \"10 Gbit/s\"\n\
                 packet = {{ routing = \"adaptive\", injection_ports = {ports}, consumption_ports = {ports} }}\n"
            ),
        );
        Platform::load(&path, &[]).unwrap()
    })
}

/// What a kernel takes, in the mean of three seeds.
fn time(platform: &Platform, kernel: &Kernel) -> f64 {
    let ranks = kernel.ranks;
    let cores: Vec<_> = platform.place(ranks).unwrap().0;
    let cores: Vec<_> = cores.into_iter().map(|host| Core::on(platform, host)).collect();
    let times = (0..3).map(|run| {
        let events = |me| program(kernel, me, 1, None).collect::<Vec<_>>().into_iter();
        let mut network = platform.network(run);
        let workload = Workload::new((0..ranks).map(events).collect());
        replay(workload, cores.clone(), &platform.mpi, &mut *network, (), Options::default()).unwrap().simulated_time.0
    });
    times.sum::<u64>() as f64 / 3.0
}

/// How much less a kernel takes on the twisted torus, of what it takes on the plain one.
fn gain(ports: u32, kernel: &Kernel) -> f64 {
    let [plain, twisted] = machines(ports).map(|platform| time(&platform, kernel));
    1.0 - twisted / plain
}

/// Cámara et al. 2010: all-to-all of 10 KB is about 20 % faster.
#[test]
fn all_to_all_gains_by_a_twist() {
    let kernel = Kernel::new(Pattern::AllToAll, 32, Bytes(10_000)).unwrap();
    let gain = gain(2, &kernel);
    assert!((0.1..0.25).contains(&gain), "{gain}");
}

/// One-to-all is equal, as the root's port takes all the time.
#[test]
fn one_to_all_gains_nothing() {
    let kernel = Kernel::new(Pattern::OneToAll { root: 0 }, 32, Bytes(10_000)).unwrap();
    assert!(gain(1, &kernel).abs() < 0.001);
}

/// Synchronized random traffic gains the more the larger its waves are.
#[test]
fn random_traffic_gains_with_its_waves() {
    let random = |wave| Pattern::Random { messages: 10_000, wave, seed: 1 };
    let gains = [10, 100, 10_000].map(|wave| gain(2, &Kernel::new(random(wave), 32, Bytes(1000)).unwrap()));
    assert!(gains.is_sorted() && gains[0].abs() < 0.03 && gains[2] > 0.1, "{gains:?}");
}
