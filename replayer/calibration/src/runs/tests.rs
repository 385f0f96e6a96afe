//! Runs on a machine whose platform is known, the simulator: a platform with other values is refined to it.

use std::path::Path;

use tempfile::TempDir;
use titr_common::event::Event;
use titr_common::trace::{Trace, TraceError};
use titr_common::units::{Bytes, Instructions};
use titr_platform::Platform;
use titr_simulation::Simulation;

use super::{RefineError, Refinement, first_dependent, solve};
use crate::events::{recv, send};
use crate::residuals::Programs;

/// A platform of two hosts.
fn platform(speed: f64, bandwidth: f64, latency: f64, duplex: bool) -> String {
    format!(
        "schema = 1\n[hosts]\ncount = 2\nspeed = \"{speed} Ginstr/s\"\n[topology.star]\n[network]\n\
         bandwidth = \"{bandwidth} MB/s\"\nlatency = \"{latency} us\"\n[mpi]\nrendezvous_duplex = {duplex}\n"
    )
}

/// Two ranks that compute, and play ping-pong with small and large messages, each so often.
fn program(computations: usize, small: usize, large: usize) -> Trace {
    let rank = |me: u32| {
        let other = 1 - me;
        let play = |bytes| {
            let turns = [send(other, bytes), recv(other, bytes)];
            if me == 0 { turns } else { [turns[1].clone(), turns[0].clone()] }
        };
        let mut events = vec![Event::Init];
        events.extend((0..computations).map(|_| Event::Compute(Instructions(1e6))));
        events.extend((0..small).flat_map(|_| play(Bytes(8))));
        events.extend((0..large).flat_map(|_| play(Bytes(1_000_000))));
        events.push(Event::Finalize);
        events
    };
    Trace::new(2, Programs([rank(0), rank(1)].into()))
}

/// The programs by their names: `10-0-3` computes ten times and plays thrice with large messages.
fn open(path: &Path) -> Result<Trace, TraceError> {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let counts: Vec<usize> = name.split('-').map(|count| count.parse().unwrap()).collect();
    Ok(program(counts[0], counts[1], counts[2]))
}

/// Refines a platform by runs on another one. `settings` are the first lines of the file of runs, and a name that begins with `!` is
/// of a run that is held out.
fn refine(settings: &str, names: &[&str]) -> Result<Refinement, RefineError> {
    let folder = TempDir::new().unwrap();
    let truth = Platform::parse(Path::new("truth.toml"), platform(3.0, 100.0, 20.0, true), &[]).unwrap();
    std::fs::write(folder.path().join("cluster.toml"), platform(2.0, 150.0, 10.0, false)).unwrap();
    let mut file = format!("platform = \"cluster.toml\"\n{settings}\n");
    for name in names {
        let (trace, held_out) = name.strip_prefix('!').map_or((*name, false), |trace| (trace, true));
        let seconds = Simulation::new(&truth, &open(Path::new(trace)).unwrap()).run().unwrap().simulated_time.0;
        file += &format!("[[run]]\ntrace = \"{trace}\"\nseconds = {seconds}\nheld_out = {held_out}\n");
    }
    std::fs::write(folder.path().join("runs.toml"), file).unwrap();
    Refinement::of(&folder.path().join("runs.toml"), open)
}

const VALUES: &str = "values = [\"hosts.speed\", \"network.bandwidth\", \"network.latency\"]";

/// The factors are those by which the platforms differ, and a run that was held out is predicted to a part in ten thousand.
#[test]
fn the_machine_is_found_from_its_runs() {
    let runs = ["100-0-0", "5-400-0", "5-10-20", "20-100-5", "!50-50-10"];
    let found = refine(VALUES, &runs).unwrap();
    for (value, expected) in found.values.iter().zip([1.5, 100.0 / 150.0, 2.0]) {
        assert!((value.factor / expected - 1.0).abs() < 1e-3, "{value:?}");
        assert!(value.uncertainty.is_some_and(|error| error < 1e-3), "{value:?}");
    }
    let [before, after] = found.errors(true).unwrap();
    assert!(before > 0.2 && after < 1e-4, "{before} {after}");
    let text = found.cluster.clone();
    assert!(text.contains("# Median error of the runs that were held out: "), "{text}");
    let again = Platform::parse(Path::new("refined.toml"), text, &[]).unwrap();
    let predicted = Simulation::new(&again, &program(50, 50, 10)).run().unwrap().simulated_time.0;
    assert!((predicted / found.runs[4].after - 1.0).abs() < 1e-9);
}

/// Two ranks compute at 2.4 Ginstr/s on one host, and at 3 Ginstr/s on two. The platform, where they compute at 2 Ginstr/s, has no step yet
/// that matters.
#[test]
fn the_cost_of_sharing_a_host_is_found_from_runs_with_and_without() {
    let folder = TempDir::new().unwrap();
    let text = |speed: f64, part: f64| {
        platform(speed, 100.0, 20.0, true).replace("speed", &format!("cores = 2\nsharing = [[2, {part}]]\nspeed"))
    };
    let trace = open(Path::new("100-5-0")).unwrap();
    std::fs::write(folder.path().join("cluster.toml"), text(2.0, 1.0)).unwrap();
    let mut file = "platform = \"cluster.toml\"\nvalues = [\"hosts.speed\", \"hosts.sharing\"]\n".to_owned();
    for set in ["", "hosts.cores=1"] {
        let set: Vec<String> = [set].into_iter().filter(|set| !set.is_empty()).map(str::to_owned).collect();
        let truth = Platform::parse(Path::new("truth.toml"), text(3.0, 0.8), &set).unwrap();
        let seconds = Simulation::new(&truth, &trace).run().unwrap().simulated_time.0;
        file += &format!("[[run]]\ntrace = \"100-5-0\"\nseconds = {seconds}\nset = {set:?}\n");
    }
    std::fs::write(folder.path().join("runs.toml"), file).unwrap();
    let found = Refinement::of(&folder.path().join("runs.toml"), open).unwrap();
    for (value, expected) in found.values.iter().zip([1.5, 0.8]) {
        assert!((value.factor / expected - 1.0).abs() < 1e-3, "{value:?}");
    }
    assert!(!found.cluster.contains("NOTE"), "{}", found.cluster);

    // Cores that are faster because others work.
    let file = folder.path().join("runs.toml");
    let runs = std::fs::read_to_string(&file).unwrap();
    let alone = found.runs[1].measured;
    std::fs::write(&file, runs.replace(&format!("{alone}"), &format!("{}", 1.5 * alone))).unwrap();
    let found = Refinement::of(&file, open).unwrap();
    assert!(found.cluster.contains("# NOTE: cores cannot compute at "), "{}", found.cluster);
}

#[test]
fn flags_are_tried_both_ways() {
    let found = refine("choices = [\"mpi.rendezvous_duplex\"]\nvalues = [\"hosts.speed\"]", &["100-0-0"]).unwrap();
    assert_eq!(found.choices.len(), 1);
    assert!(found.errors(false).unwrap()[1] < 1e-4);
}

/// Values that the runs do not determine are named, with the place in the file.
#[test]
fn more_than_runs_can_tell_is_refused() {
    let cases: [(&str, &[&str], &str); 6] = [
        (VALUES, &["100-0-0", "5-400-0"], "2 runs cannot tell 3 values apart"),
        (VALUES, &["100-0-0", "50-0-0", "25-0-0"], "no run depends on `network.bandwidth`"),
        (
            "values = [\"network.latency\", \"network.bandwidth\"]",
            &["0-1000-20", "0-2000-40", "0-3000-60"],
            "the runs cannot tell `network.bandwidth` from `network.latency`",
        ),
        ("values = []", &["100-0-0"], "there is nothing to refine"),
        ("values = [\"hosts.speed\"]", &["!100-0-0"], "there is no run to refine the platform by"),
        ("values = [\"hosts.speed\", \"hosts.speed\"]", &["1-0-0", "2-0-0"], "`hosts.speed` is there twice"),
    ];
    for (settings, runs, expected) in cases {
        let refused = refine(settings, runs).unwrap_err().to_string();
        assert!(refused.contains(expected) && refused.contains("runs.toml"), "{expected}: {refused}");
    }
}

#[test]
fn a_plane_through_points_is_found() {
    let columns = [vec![1.0, 1.0, 1.0, 1.0], vec![0.0, 1.0, 2.0, 3.0]];
    let (found, errors) = solve(&columns, &[1.0, 3.0, 5.0, 7.0]);
    assert!((found[0] - 1.0).abs() < 1e-12 && (found[1] - 2.0).abs() < 1e-12, "{found:?}");
    // Of the slope: 1 / Σ (x - x̄)².
    assert!((errors[1] - 0.2).abs() < 1e-12, "{errors:?}");
}

#[test]
fn what_cannot_be_told_apart_is_found() {
    let one = vec![1.0, 2.0, 3.0];
    let twice: Vec<f64> = one.iter().map(|number| 2.0 * number).collect();
    assert_eq!(first_dependent(&[one.clone(), vec![1.0, 0.0, 0.0]], 0.1), None);
    assert_eq!(first_dependent(&[one.clone(), twice], 0.1), Some(1));
    assert_eq!(first_dependent(&[vec![0.01; 3]], 0.1), Some(0));
    let several = [vec![1.0, 0.0], vec![0.0, 1.0], vec![1.0, 1.0]];
    assert_eq!(first_dependent(&several, 0.1), Some(2));
}
