//! Applications that were recorded in the lab and are predicted for it: computation takes the times that were recorded, so
//! that only the network and the MPI library are predicted. The directory RESULTS/timed/SHAPE-HOSTSxSLOTS-RATE has an extended trace
//! of each application, which has the name of the application.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;
use std::path::Path;

use titr_common::event::{Annotation, Event, Rank};
use titr_simulation::{Computation, Simulation, Trace};

use crate::Calibrations;
use crate::configuration::{Configuration, Model};
use crate::machine;
use crate::measured::median;

/// A run of an application, recorded and predicted.
struct Run {
    /// The model that suits the shape of the network.
    suited: Model,
    /// From the first call of a rank to the last one, in seconds.
    recorded: f64,
    /// The part of the ranks' time that is spent in calls.
    in_mpi: f64,
    /// The prediction of each model, in seconds, in the order of [`Model`].
    predicted: [f64; 2],
}

/// The table of all runs in RESULTS/timed, a row for each number of hosts and application, with its networks in order; and the median
/// and the worst error for each number of hosts by the model that suits the shape. Empty if there are none.
pub fn table(results: &Path, calibrations: &Calibrations) -> Result<String, Box<dyn Error>> {
    let directory = results.join("timed");
    if !directory.is_dir() {
        return Ok(String::new());
    }
    let mut runs: BTreeMap<u32, BTreeMap<String, Vec<Run>>> = BTreeMap::new();
    for configuration in Configuration::measured(&directory)? {
        for file in std::fs::read_dir(directory.join(configuration.to_string()))? {
            let application = file?.file_name().to_string_lossy().into_owned();
            let run = Run::of(&directory, &application, &configuration, calibrations)?;
            runs.entry(configuration.hosts).or_default().entry(application).or_default().push(run);
        }
    }
    let mut text = INTRODUCTION.to_owned();
    for (hosts, applications) in &runs {
        for (application, networks) in applications {
            let list = |cell: &dyn Fn(&Run) -> String| networks.iter().map(cell).collect::<Vec<String>>().join(", ");
            let in_mpi = list(&|run: &Run| format!("{:.0}", 100.0 * run.in_mpi));
            let [flow, packet] = [Model::Flow, Model::Packet]
                .map(|model| list(&|run: &Run| format!("{:+.1}", 100.0 * run.error(model))));
            writeln!(text, "| {application} | {hosts} | {in_mpi} % | {flow} % | {packet} % |")?;
        }
    }
    writeln!(text)?;
    for (hosts, applications) in &runs {
        let all = applications.values().flatten();
        let errors: Vec<f64> = all.map(|run| 100.0 * run.error(run.suited).abs()).collect();
        let worst = errors.iter().copied().fold(0.0, f64::max);
        writeln!(
            text,
            "By the suited model, the median error on {hosts} hosts is {:.1} %, the worst {worst:.1} %.",
            median(&errors)
        )?;
    }
    Ok(text)
}

impl Run {
    fn of(
        directory: &Path,
        application: &str,
        configuration: &Configuration,
        calibrations: &Calibrations,
    ) -> Result<Self, Box<dyn Error>> {
        let trace = Trace::open(&directory.join(configuration.to_string()).join(application))?;
        let machine = configuration.machine();
        let calibration = calibrations.get(&machine).ok_or_else(|| format!("there is no cluster-{machine}.toml"))?;
        let predict = |model: Model| -> Result<f64, Box<dyn Error>> {
            let platform = machine::platform(calibration, configuration, model, &[])?;
            Ok(Simulation::new(&platform, &trace).computation(Computation::Timed).run()?.simulated_time.0)
        };
        let predicted = [predict(Model::Flow)?, predict(Model::Packet)?];
        let (mut begin, mut end, mut in_calls, mut all) = (u64::MAX, 0, 0, 0);
        for rank in (0..trace.ranks()).map(Rank) {
            let mut stream = trace.stream(rank)?;
            let mut called: Option<[u64; 2]> = None;
            while let Some(event) = stream.next_event()? {
                if let Event::Annotation(Annotation::Call(call)) = event {
                    let first = called.map_or(call.begin.0, |[first, _]| first);
                    called = Some([first, call.end.0]);
                    in_calls += call.end.0 - call.begin.0;
                }
            }
            if let Some([first, last]) = called {
                (begin, end, all) = (begin.min(first), end.max(last), all + (last - first));
            }
        }
        let recorded = end.saturating_sub(begin) as f64 * 1e-9;
        let in_mpi = in_calls as f64 / all as f64;
        Ok(Self { suited: configuration.shape.model(), recorded, in_mpi, predicted })
    }

    /// The signed error of a model's prediction, as a fraction of the recorded time.
    fn error(&self, model: Model) -> f64 {
        self.predicted[model as usize] / self.recorded - 1.0
    }
}

const INTRODUCTION: &str = "
## The machine that was recorded

These applications ran in the lab at 100 Mbit/s, with a rank on each host, the tracer (`TITRACE_MODE=extended`), and all
connections made in `MPI_Init`, and were replayed with `--compute timed` on the calibrated platform. Each of two hosts has a
processor of its own; four hosts share two. *In MPI* is the part of the time that ranks spend in calls, the only part that is
predicted. Cells have a star, a tree and a ring, in this order.

| application | hosts | in MPI | error, flow | error, packet |
|---|--:|--:|--:|--:|
";
