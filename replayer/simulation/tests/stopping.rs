//! Replays that end early because another part of the program asks for it.

use std::path::Path;

use titr_platform::Platform;
use titr_simulation::observe::Breakdown;
use titr_simulation::ranks::{Core, ReplayError};
use titr_simulation::replay::{Options, replay};
use titr_simulation::{Follower, StopRequest};
use titr_test_machine::events;
use titr_workload::Workload;

/// Messages between two ranks, each of which is received before the next is sent.
const MESSAGES: usize = 20_000;

/// Keeps what is reported, and asks for a stop at the first report if it is to.
struct Watch {
    stop: StopRequest,
    stops: bool,
    reports: Vec<u64>,
}

impl Follower for Watch {
    fn at(&mut self, events: u64, _: f64) {
        self.reports.push(events);
        if self.stops {
            self.stop.make();
        }
    }
}

/// Replays the messages; what was reported, and the number of events or the error.
fn replayed(stops: bool) -> (Vec<u64>, Result<u64, ReplayError>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/torus.toml");
    let platform = Platform::load(&path, &["hosts.cores=1".to_owned()]).unwrap();
    let cores = platform.place(2).unwrap().0.into_iter().map(|host| Core::on(&platform, host)).collect();
    let trace = "0 send 1 0 10\n0 recv 1 0 10\n1 recv 0 0 10\n1 send 0 0 10\n".repeat(MESSAGES / 2);
    let mut network = platform.network(0);
    let mut watch = Watch { stop: StopRequest::default(), stops, reports: Vec::new() };
    let options = Options { stop: watch.stop.clone(), follower: Some(&mut watch), ..Options::default() };
    let workload = Workload::of_lists(events(2, &trace));
    let outcome = replay(workload, cores, &platform.mpi, &mut *network, Breakdown::new(2), options);
    (watch.reports, outcome.map(|outcome| outcome.events))
}

#[test]
fn a_request_ends_a_replay_at_the_next_report() {
    let (reports, whole) = replayed(false);
    let whole = whole.unwrap();
    assert!(reports.len() > 1 && reports.iter().all(|&events| events < whole));
    let (stopped, error) = replayed(true);
    assert!(matches!(error, Err(ReplayError::Stopped)));
    assert_eq!(stopped, reports[..1]);
}
