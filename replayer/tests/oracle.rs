//! Against SimGrid 3.32: the simulated time of every row of `data/simgrid/oracle.csv` that titr can replay is within
//! 0.1 % of what `smpirun -replay` says. The platforms there say in TOML what SimGrid's XML and defaults mean.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use titr_common::trace::Source;
use titr_replayer::platform::Platform;
use titr_replayer::ranks::Seat;
use titr_replayer::replay::{Options, replay};
use titr_replayer::workload::Workload;

/// One replay by SimGrid.
struct Row<'a> {
    trace: &'a str,
    platform: &'a str,
    /// `--cfg` keys.
    config: &'a str,
    seconds: f64,
    events: u64,
}

fn data(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/simgrid").join(path)
}

impl<'a> Row<'a> {
    fn of(line: &'a str) -> Self {
        let fields: Vec<&str> = line.split(',').collect();
        let [trace, _, platform, config, seconds, events] = fields[..] else { panic!("{line}") };
        Self { trace, platform, config, seconds: seconds.parse().unwrap(), events: events.parse().unwrap() }
    }

    /// Why titr cannot replay it like SimGrid, or not here.
    fn out_of_reach(&self) -> Option<&'static str> {
        if self.platform.starts_with("dragonfly") {
            return Some("dragonfly");
        }
        if self.config.contains("network/model:IB") {
            return Some("IB model");
        }
        // Its selector follows the rules of Open MPI 1.6; titr's "openmpi" those of 4.1.
        if self.config.contains("coll-selector:ompi") {
            return Some("Open MPI 1.6");
        }
        if cfg!(debug_assertions) && self.events > 300_000 {
            return Some("too long without optimisation");
        }
        None
    }

    fn trace(&self) -> PathBuf {
        match self.trace.strip_prefix("npb/") {
            Some(program) => data(&format!("traces/{program}.idx")),
            None => data(&format!("traces/{}.txt", self.trace)),
        }
    }

    /// What its `--cfg` means in titr's platform file.
    fn overrides(&self) -> Vec<String> {
        let setting = |pair: &str| {
            let (key, value) = pair.split_once(':').unwrap();
            let (key, value) = match key {
                "network/model" => ("network.flow.preset", format!("\"{}\"", value.to_lowercase())),
                "network/crosstraffic" => ("network.flow.crosstraffic", value.to_owned()),
                "network/TCP-gamma" => ("network.flow.tcp_gamma", value.to_owned()),
                "network/weight-S" => ("network.flow.weight_s", value.to_owned()),
                "smpi/bw-factor" => ("network.flow.bandwidth_factor", steps(value)),
                "smpi/lat-factor" => ("network.flow.latency_factor", steps(value)),
                "smpi/send-is-detached-thresh" => ("mpi.eager_threshold", format!("\"{value} B\"")),
                "smpi/async-small-thresh" => ("mpi.eager_transfer", "\"at-once\"".to_owned()),
                "smpi/os" => ("mpi.send_overhead", steps(value)),
                "smpi/ois" => ("mpi.isend_overhead", steps(value)),
                "smpi/or" => ("mpi.recv_overhead", steps(value)),
                "smpi/simulate-computation" => ("hosts.speed", "\"1e30 instr/s\"".to_owned()),
                _ => panic!("{pair}"),
            };
            format!("{key}={value}")
        };
        self.config.split_whitespace().map(setting).collect()
    }

    fn simulated(&self) -> Result<f64, String> {
        let platform = self.platform.trim_end_matches(".xml").trim_end_matches("_zone");
        let platform = Platform::load(&data(&format!("platforms/{platform}.toml")), &self.overrides())
            .map_err(|error| error.to_string())?;
        let source = Source::open(&self.trace()).map_err(|error| error.to_string())?;
        let hosts = platform.place(source.ranks()).map_err(|error| error.to_string())?.0.into_iter();
        let seats = hosts.map(|host| Seat { host, speed: platform.speed(host) }).collect();
        let workload = Workload::new(source.streams().map_err(|error| error.to_string())?);
        let mut network = platform.network();
        let outcome = replay(workload, seats, &platform.mpi, network.as_mut(), (), Options::default());
        Ok(outcome.map_err(|error| error.to_string())?.simulated_time.seconds().0)
    }
}

/// SimGrid's `from:a:b;from:a:b`.
fn steps(value: &str) -> String {
    let steps = value.split(';').map(|step| format!("[{}]", step.replace(':', ", ")));
    format!("[{}]", steps.collect::<Vec<_>>().join(", "))
}

#[test]
fn every_row_agrees_with_simgrid() {
    let text = std::fs::read_to_string(data("oracle.csv")).unwrap();
    let rows: Vec<Row> = text.lines().skip(1).map(Row::of).collect();
    let within: Vec<&Row> = rows.iter().filter(|row| row.out_of_reach().is_none()).collect();
    assert!(within.len() > 660, "{} rows of {}", within.len(), rows.len());

    let next = AtomicUsize::new(0);
    let work = || {
        let mut wrong = String::new();
        while let Some(row) = within.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Row { trace, platform, config, seconds, .. } = row;
            let simulated = row.simulated();
            if !simulated.as_ref().is_ok_and(|time| (time - seconds).abs() <= 1e-3 * seconds) {
                writeln!(wrong, "{trace} {platform} {config}: {simulated:?}, SimGrid says {seconds}").unwrap();
            }
        }
        wrong
    };
    let wrong: String = thread::scope(|scope| {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "\n{wrong}");
}
