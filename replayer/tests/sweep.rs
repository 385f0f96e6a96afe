//! `titr sweep`: a study has one table, however its points are simulated.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::time::SystemTime;

use serde_json::Value;

use titr_test_support::cannot_run;

use crate::page::COLOURS;
use crate::support::browser::Browser;
use crate::support::command::{Folder, TITR, TITR_REPLAY, here};

/// A stencil on 8 ranks, a study of 2 × 3 × 2 points, of which a constraint leaves out 3, and the machines that it names.
const STUDY: &str = r#"
schema = 1
platform = ["torus.toml", "fat-tree.toml"]
trace = "stencil"
split-communication = true

[axes]
hosts.speed = "2.5 Ginstr/s"
network.latency = { from = "500 ns", to = "2 us", count = 3, scale = "log" }
placement.policy = ["block", "round-robin"]

[constraints]
slow-tree = "platform == 'torus.toml' or network.latency < '1.5 us' and placement.policy == 'block' or network.latency > '1.5 us'"

[cost]
host = 1000
link = "20 + 1e-5 / network.latency"
switch = 500
watt = 0.2
host-watts = 300
"#;

fn study() -> Folder {
    let folder = Folder::new();
    let kernel = ["generate", "stencil", "--ranks", "8", "--dimensions", "4x2", "--bytes", "20kB"];
    folder.run(TITR, &[&kernel[..], &["--iterations", "3", "--compute", "1e5", "-o", "stencil"]].concat());
    for platform in ["torus.toml", "fat-tree.toml"] {
        folder.file(platform, fs::read(here(&format!("../examples/{platform}"))).unwrap());
    }
    folder.file("study.toml", STUDY);
    folder
}

fn read(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).unwrap()
}

fn sweep(folder: &Folder, options: &[&str]) -> String {
    let shown = folder.run(TITR, &[&["sweep", "study.toml"], options].concat());
    assert!(shown.ends_with("[0]"), "{shown}");
    shown
}

#[test]
fn the_table_has_a_row_for_each_point() {
    let folder = study();
    let shown = sweep(&folder, &["--output", "results"]);
    insta::assert_snapshot!(
        [shown, read(&folder, "results/results.csv"), read(&folder, "results/results.units.csv")].join("\n")
    );
}

#[test]
fn a_row_is_the_replay_of_its_point() {
    let folder = study();
    sweep(&folder, &["--output", "results"]);
    let table = read(&folder, "results/results.csv");
    let mut rows = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = rows.next().unwrap();
    let mut checked = 0;
    for row in rows {
        let cells: BTreeMap<&str, &str> = names.iter().copied().zip(row).collect();
        let latency = format!("network.latency={} {}", cells["network.latency"], cells["network.latency_unit"]);
        let placement = format!("placement.policy={}", cells["placement.policy"]);
        let set = ["--set", "hosts.speed=2.5 Ginstr/s", "--set", &latency, "--set", &placement];
        let replay = ["--json", "--platform", cells["platform"], "--analyse", "critical-path", "stencil"];
        let shown = folder.run(TITR_REPLAY, &[&replay[..], &set].concat());
        let result: Value = serde_json::from_str(shown.strip_suffix("[0]").unwrap()).unwrap();
        assert_eq!(cells["simulated_time"].parse::<f64>().unwrap(), result["simulated_time"].as_f64().unwrap());
        let transfer = result["efficiencies"]["transfer"].as_f64().unwrap();
        assert_eq!(cells["efficiencies_transfer"].parse::<f64>().unwrap(), transfer);
        checked += 1;
    }
    assert_eq!(checked, 10);
}

#[test]
fn any_number_of_jobs_gives_the_same_files() {
    let folder = study();
    for jobs in ["1", "2", "5"] {
        sweep(&folder, &["--output", jobs, "--jobs", jobs]);
    }
    for file in ["results.csv", "results.units.csv", "points/1.json", "points/10.json"] {
        let [one, two, five] = ["1", "2", "5"].map(|jobs| read(&folder, &format!("{jobs}/{file}")));
        assert!(one == two && one == five, "{file}");
    }
}

/// The times at which the outcomes of points were written.
fn written(folder: &Folder) -> BTreeMap<String, SystemTime> {
    let entries = fs::read_dir(folder.path().join("results/points")).into_iter().flatten().map(Result::unwrap);
    let outcomes = entries.filter(|entry| entry.path().extension().is_some_and(|kind| kind == "json"));
    outcomes
        .map(|entry| (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().modified().unwrap()))
        .collect()
}

#[test]
fn what_killed_sweeps_left_is_gone_after_the_one_that_ends() {
    let folder = study();
    let start = |options: &[&str]| {
        let mut command = Command::new(TITR);
        command.args(["sweep", "study.toml", "--output", "results"]).args(options).current_dir(folder.path());
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    // Before it has said of which study the folder is, and later.
    for (name, options) in [("", &[][..]), ("points", &["--reports"])] {
        let place = folder.path().join("results").join(name);
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join(".titr-1-1.unfinished"), "half").unwrap();
        let mut process = start(options);
        while !folder.path().join("results/points").exists() {
            std::thread::yield_now();
        }
        process.kill().unwrap();
        process.wait().unwrap();
    }
    sweep(&folder, &["--output", "results"]);
    let line = "find results -name '.*'; ls results/points/*.json | wc -l";
    assert_eq!(folder.run("sh", &["-c", line]), "10\n[0]");
}

/// The sweep is killed after its first, second, … outcome, and started again each time.
#[test]
fn a_sweep_that_is_killed_continues_and_simulates_no_point_twice() {
    let folder = study();
    sweep(&folder, &["--output", "whole"]);
    let mut done = BTreeMap::new();
    for round in 0..20 {
        let mut sweep = Command::new(TITR);
        sweep.args(["sweep", "study.toml", "--output", "results", "--jobs", "1"]).current_dir(folder.path());
        let mut process = sweep.stdout(Stdio::null()).spawn().unwrap();
        while process.try_wait().unwrap().is_none() && written(&folder).len() <= done.len() {
            std::thread::yield_now();
        }
        let _ = process.kill();
        process.wait().unwrap();
        let now = written(&folder);
        assert!(done.iter().all(|(name, time)| now.get(name) == Some(time)), "round {round} simulated a point again");
        done = now;
    }
    assert_eq!(done.len(), 10);
    sweep(&folder, &["--output", "results"]);
    assert_eq!(written(&folder), done);
    for file in ["results.csv", "results.units.csv"] {
        assert_eq!(read(&folder, &format!("results/{file}")), read(&folder, &format!("whole/{file}")));
    }
}

#[test]
fn reports_are_pages_of_points() {
    let folder = study();
    sweep(&folder, &["--output", "results", "--reports"]);
    for point in 1..=10 {
        let page = read(&folder, &format!("results/points/{point}.html"));
        assert!(page.starts_with("<!DOCTYPE html>"), "{point}");
    }
}

#[test]
fn a_dry_run_counts_the_replays_and_writes_nothing() {
    let folder = study();
    let before: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    let shown = sweep(&folder, &["--dry-run"]);
    assert!(shown.starts_with("10 points, 20 replays\n  torus.toml, stencil: 6 points\n"), "{shown}");
    let after: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(before, after);
}

#[test]
fn a_latin_hypercube_and_repeated_seeds() {
    let folder = study();
    folder.file(
        "study.toml",
        r#"schema = 1
platform = "torus.toml"
trace = "stencil"
repeats = 3
[sample.latin-hypercube]
points = 4
seed = 7
[axes]
hosts.speed = "2.5 Ginstr/s"
placement.policy = "random"
network.bandwidth = { from = "1 Gbit/s", to = "100 Gbit/s", scale = "log" }
hosts.cores = { from = 1, to = 4 }
"#,
    );
    sweep(&folder, &["--output", "results"]);
    insta::assert_snapshot!(read(&folder, "results/results.csv"));
}

#[test]
fn studies_that_make_no_sense_are_refused_and_leave_nothing() {
    let folder = study();
    folder.file("small.toml", STUDY.replace("speed", "cores = 2\nhosts.speed"));
    let axes = |axes: &str| format!("schema = 1\nplatform = \"torus.toml\"\ntrace = \"stencil\"\n[axes]\n{axes}\n");
    let studies = [
        axes("hosts.colour = [1, 2]"),
        axes("network.bandwidth = [\"1 Gbit/s\", \"fast\"]"),
        axes("hosts.cores = []"),
        axes("network.latency = { from = \"1 us\", to = \"2 us\" }"),
        axes("topology.torus.dims = [[4, 4, 4], [2, 2]]\nhosts.cores = 1"),
        axes("hosts.cores = [1, 2]\n[constraints]\nnone = \"cores > 2\""),
        axes("hosts.cores = [1, 2]\n[constraints]\nnone = \"colour > 2\""),
        "schema = 1\nplatform = \"none.toml\"\ntrace = \"stencil\"".to_owned(),
        "schema = 1\nplatform = \"torus.toml\"\ntrace = \"none\"".to_owned(),
        "schema = 1\nplatform = \"torus.toml\"\ntrace = \"stencil\"\nwhat-if = \"none.what-if\"".to_owned(),
        "schema = 2\nplatform = \"torus.toml\"\ntrace = \"stencil\"".to_owned(),
        "schema = ".to_owned(),
    ];
    let shown = studies.map(|study| {
        folder.file("bad.toml", study);
        let shown = folder.run(TITR, &["sweep", "bad.toml", "--output", "results"]);
        assert!(shown.ends_with("[1]") && !folder.path().join("results").exists(), "{shown}");
        shown
    });
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn a_folder_has_the_results_of_one_study() {
    let folder = study();
    sweep(&folder, &["--output", "results"]);
    folder.file("other/file", "");
    let mut shown = vec![folder.run(TITR, &["sweep", "study.toml", "--output", "other"])];
    folder.file("study.toml", STUDY.replace("2 us", "3 us"));
    shown.push(folder.run(TITR, &["sweep", "study.toml", "--output", "results"]));
    folder.file("study.toml", STUDY);
    let machine = read(&folder, "torus.toml");
    folder.file("torus.toml", machine.replace("10 Gbit/s", "20 Gbit/s"));
    shown.push(folder.run(TITR, &["sweep", "study.toml", "--output", "results"]));
    folder.file("torus.toml", machine);
    folder.file("results/points/3.json", "{}");
    shown.push(folder.run(TITR, &["sweep", "study.toml", "--output", "results"]));
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn without_slurm_nothing_is_written() {
    let folder = study();
    let mut sweep = Command::new(TITR);
    sweep.args(["sweep", "study.toml", "--output", "results", "--engine", "slurm"]).current_dir(folder.path());
    let output = sweep.env("PATH", folder.path()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && said.contains("cannot run sbatch"), "{said}");
    assert!(!folder.path().join("results").exists());
}

#[test]
fn the_page_shows_axes_effects_and_the_front() {
    let folder = study();
    sweep(&folder, &["--output", "results", "--reports"]);
    let Some(mut browser) = Browser::open(&folder.path().join("results/page.html")) else {
        return cannot_run("there is no chromium (`ci/install test` installs it)");
    };
    let title = browser.evaluate("document.title");
    assert_eq!(title, "study.toml: 10\u{a0}points – titr");
    let charts = browser.evaluate("[...document.querySelectorAll('canvas')].map(({ id }) => id).join(' ')");
    assert_eq!(charts, "machines-chart pareto-chart effects-chart axis-0-chart axis-2-chart axis-3-chart");
    // A drawn chart has several colours.
    let colours = browser.evaluate(COLOURS);
    assert!(colours.as_object().unwrap().values().all(|colours| colours.as_u64().unwrap() >= 3), "{colours}");
    // Of the table, the points that no other point beats in time and in cost.
    let table = read(&folder, "results/results.csv");
    let mut rows = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = rows.next().unwrap();
    let column = |name: &str| names.iter().position(|known| *known == name).unwrap();
    let (time, cost) = (column("simulated_time"), column("cost"));
    let points: Vec<[f64; 2]> = rows.map(|row| [time, cost].map(|column| row[column].parse().unwrap())).collect();
    let beats = |one: &[f64; 2], other: &[f64; 2]| one != other && one[0] <= other[0] && one[1] <= other[1];
    let front = points.iter().filter(|point| !points.iter().any(|other| beats(other, point))).count();
    let saved = "(async () => {
        const files = [];
        URL.createObjectURL = (blob) => { files.push(blob); return 'data:,'; };
        HTMLAnchorElement.prototype.click = () => {};
        document.querySelectorAll('.menu button').forEach((button) => button.click());
        return (await Promise.all(files.map((file) => file.text()))).find((text) => text.startsWith('machine,price,'));
    })()";
    let shown = browser.evaluate(saved);
    assert_eq!(shown.as_str().unwrap().matches(",yes\n").count(), front, "{shown}");
    let links = browser
        .evaluate("[...document.querySelectorAll('#points td a')].map((link) => link.getAttribute('href')).join(' ')");
    for link in links.as_str().unwrap().split(' ') {
        assert!(folder.path().join("results").join(link).exists(), "{link}");
    }
    assert_eq!(browser.complaints, [""; 0]);
}

/// Machines are ranked by all programs together, each as often as it runs, and by what they cost.
#[test]
fn the_machine_that_is_worth_most_is_named() {
    let folder = study();
    let kernel = ["generate", "all-to-all", "--ranks", "8", "--bytes", "20kB", "-o", "fft"];
    folder.run(TITR, &kernel);
    let text = r#"
schema = 1
platform = [{ name = "ring of 8", file = "torus:8 10Gbit/s 1us" }, { name = "square", file = "torus:4x4 10Gbit/s 1us" }]
trace = ["stencil", { name = "FFT", file = "fft" }]
[weights]
FFT = 3
[axes]
network.bandwidth = ["10 Gbit/s", "40 Gbit/s"]
[cost]
currency = "€"
host = 1000
link = "network.bandwidth / 1e6"
"#;
    folder.file("study.toml", text);
    let said = sweep(&folder, &["--output", "results"]);
    for (right, wrong, why) in [
        ("host = 1000", "host = -1000", "a price is at least 0, and this is -1000"),
        ("FFT = 3", "fft3 = 3", "there are stencil, FFT"),
        ("1us\" }, ", "1us\", price = 9 }, ", "this machine has no price, and others have one"),
        ("file = \"fft\"", "file = \"fft\", price = 9", "`trace` names a file"),
    ] {
        folder.file("study.toml", text.replace(right, wrong));
        let refused = folder.run(TITR, &["sweep", "study.toml", "--output", "refused"]);
        assert!(refused.contains(why) && refused.ends_with("[1]"), "{refused}");
    }
    // The price of a whole machine stands in place of those of its parts.
    folder.file(
        "study.toml",
        text.replace("1us\" }, ", "1us\", price = 9 }, ").replace("1us\" }]", "1us\", price = 7 }]"),
    );
    assert!(sweep(&folder, &["--output", "whole"]).contains(", at 7 €\n"));
    folder.file("study.toml", text);
    // By hand, from the table.
    let table = read(&folder, "results/results.csv");
    let mut rows = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = rows.next().unwrap();
    let column = |name: &str| names.iter().position(|known| *known == name).unwrap();
    let mut machines: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for row in rows {
        let platform = if row[column("platform")].starts_with("torus:8") { "ring of 8" } else { "square" };
        let name =
            format!("{platform}, {} {}", row[column("network.bandwidth")], row[column("network.bandwidth_unit")]);
        let weight = if row[column("trace")] == "fft" { 3.0 } else { 1.0 };
        let machine = machines.entry(name).or_default();
        machine.0 += weight * row[column("simulated_time")].parse::<f64>().unwrap();
        machine.1 = row[column("cost")].parse().unwrap();
    }
    assert_eq!(machines.len(), 4);
    let least =
        |by: fn(&(f64, f64)) -> f64| machines.iter().min_by(|one, other| by(one.1).total_cmp(&by(other.1))).unwrap();
    let (fastest, _) = least(|machine| machine.0);
    let (worth, (_, price)) = least(|machine| machine.0 * machine.1);
    assert!(said.contains(&format!("fastest: {fastest}: ")), "{fastest}: {said}");
    assert!(said.contains("least price x time: ") && (said.contains(worth) || fastest == worth), "{worth}: {said}");
    // A ring of 8 has 8 cables, and a torus of 4 × 4 has 32.
    let of = |name: &str| machines[name].1;
    assert_eq!(of("ring of 8, 10 Gbit/s"), 8.0 * 1000.0 + 8.0 * 1250.0);
    assert_eq!(of("square, 40 Gbit/s"), 16.0 * 1000.0 + 32.0 * 5000.0);
    let Some(mut browser) = Browser::open(&folder.path().join("results/page.html")) else {
        return cannot_run("there is no chromium (`ci/install test` installs it)");
    };
    let answer = browser.evaluate("document.querySelector('.answer').textContent");
    assert_eq!(answer, worth.replace(" Gbit", "\u{a0}Gbit"));
    let sure = browser.evaluate("document.querySelector('.sure').textContent");
    let thousands = price / 1000.0;
    assert!(
        sure.as_str().unwrap().contains(&format!("{thousands:.0},")) && sure.as_str().unwrap().contains('€'),
        "{sure}"
    );
    assert_eq!(browser.complaints, [""; 0]);
}

/// A folder with commands of that name, which answer to `--version` and print this otherwise.
fn slurm(folder: &Folder, sbatch: &str, squeue: &str) -> String {
    for (name, said) in [("sbatch", sbatch), ("squeue", squeue)] {
        let script = format!("#!/bin/sh\n[ \"$1\" = --version ] && exit 0\n{said}\n");
        let path = folder.file(&format!("bin/{name}"), script);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = Command::new("timeout");
    command.args(["20", TITR, "sweep", "study.toml", "--engine", "slurm", "-o", "results"]).current_dir(folder.path());
    let path = format!("{}:{}", folder.path().join("bin").display(), std::env::var("PATH").unwrap());
    let output = command.env("PATH", path).output().unwrap();
    format!("{}[{}]", String::from_utf8_lossy(&output.stderr), output.status.code().unwrap_or(-1))
}

#[test]
fn a_batch_system_that_answers_nonsense_is_not_waited_for() {
    let cases = [
        ("echo hello", "true", "sbatch says"),
        ("true", "true", "sbatch says"),
        ("echo 4711", "echo hello", "squeue says \"hello\" in place of a task of job 4711"),
        ("echo '4711;cluster'", "echo '47110_1 part titr user R 0:01 1 node'", "squeue says"),
        ("echo 4711", "printf '4711_1 part titr user R 0:01 1 node\\n\\377\\376\\n'", "squeue says"),
    ];
    for (sbatch, squeue, why) in cases {
        let said = slurm(&study(), sbatch, squeue);
        assert!(said.contains(why) && said.ends_with("[1]"), "{sbatch}, {squeue}: {said}");
    }
    // A task of the job, and then none.
    let folder = study();
    let once = "[ -e looked ] || echo '  4711_[0-7]  part titr user PD 0:00 1 (Priority)'; touch looked";
    let said = slurm(&folder, "echo 4711", once);
    assert!(
        said.contains("no task of job 4711 has simulated a point") && folder.path().join("looked").exists(),
        "{said}"
    );
    // The number of the job that an earlier sweep left.
    folder.file("results/slurm/job", "nonsense");
    let said = slurm(&folder, "echo 4711", "true");
    assert!(said.contains("results/slurm/job has no number of a job") && said.ends_with("[1]"), "{said}");
}
