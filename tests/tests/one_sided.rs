//! One-sided communication of real programs: each way to synchronise is recorded, is valid, and takes as long in a
//! replay as an equivalent program with messages.

use std::path::Path;

use titr_tests::{EXTENDED, Family, assert_sound, binary, run, traced_as};

/// Enough for the messages that only synchronise, microseconds each, to be less than 1 % of the time.
const BYTES: &str = "4000000";

/// The predicted time of a trace with each rank on its own host, without computation.
fn seconds(trace: &Path, family: Family, model: &str) -> f64 {
    let platform = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/torus.toml");
    let library = match family {
        Family::OpenMpi => "openmpi",
        Family::Mpich => "mpich",
    };
    let replayed = run(binary("titr-replay")
        .arg("--platform")
        .arg(platform)
        .args(["--json", "--compute", "none", "--collectives", library, "--set", "hosts.cores=1"])
        .args(["--set", &format!("network.model={model}"), "--set", &format!("mpi.collectives={library}")])
        .arg(trace));
    assert_eq!(replayed.status, Some(0), "{}", replayed.stderr);
    let report: serde_json::Value = serde_json::from_str(&replayed.stdout).unwrap();
    let warnings = report["warnings"].as_array().unwrap().iter().map(|warning| warning.as_str().unwrap());
    assert_eq!(warnings.filter(|warning| warning.contains("not simulated")).count(), 0, "{report}");
    report["simulated_time"].as_f64().unwrap()
}

macro_rules! ways {
    ($($way:ident)*) => {$(
        #[test]
        fn $way() {
            for family in Family::ALL {
                let program = family.build("windows.c", &[]);
                let trace = |variables: &[(&str, &str)], arguments: &[&str]| {
                    let arguments = [&[stringify!($way), BYTES], arguments].concat();
                    let trace = traced_as(variables, family, 4, &program, &arguments, str::to_owned);
                    assert_eq!(trace.run.status, Some(0), "{family:?}: {}", trace.run.stderr);
                    assert_sound(&trace.path());
                    trace
                };
                let (windows, extended, messages) = (trace(&[], &[]), trace(&[EXTENDED], &[]), trace(&[], &["messages"]));
                for model in ["flow", "packet"] {
                    let time = |path: &Path| seconds(path, family, model);
                    let (one_sided, plain) = (time(&windows.path()), time(&messages.path()));
                    let off = one_sided / plain - 1.0;
                    assert!(off.abs() < 0.01, "{family:?}, {model}: {one_sided} s, {plain} s as messages");
                    assert_eq!(time(&extended.path()), one_sided, "{family:?}, {model}");
                }
            }
        }
    )*};
}

ways! { fence pscw locks flush requests dynamic shared }
