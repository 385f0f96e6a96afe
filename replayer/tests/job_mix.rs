//! Several jobs on one machine: when each starts, where its ranks are, and how much the jobs slow each other.

use std::fmt::Write as _;

use serde_json::Value;

use crate::page::{COLOURS, open};
use crate::support::command::{Folder, TITR, TITR_REPLAY};

/// A rank sends 100 MB to another.
const STREAM: &str = "0 init\n0 send 1 7 100000000\n0 finalize\n1 init\n1 recv 0 7 100000000\n1 finalize\n";

/// Two ranks exchange messages between computations.
const EXCHANGE: &str = "\
0 init\n0 compute 1000000\n0 send 1 7 100000\n0 recv 1 8 50000\n0 barrier\n0 compute 30000\n0 finalize\n\
1 init\n1 compute 2000000\n1 recv 0 7 100000\n1 send 0 8 50000\n1 barrier\n1 finalize\n";

/// Eight hosts in a ring of links of 1 GB/s.
fn platform(model: &str, cores: u32) -> String {
    format!(
        "schema = 1\n[hosts]\nspeed = '1 Ginstr/s'\ncores = {cores}\n[topology.torus]\ndims = [8]\n[network]\n\
         model = '{model}'\nbandwidth = '1 GB/s'\nlatency = '1 us'\n"
    )
}

/// A folder with traces, a platform and a file of jobs.
fn folder(platform: &str, jobs: &str) -> Folder {
    let folder = Folder::new();
    folder.file("stream.txt", STREAM);
    folder.file("exchange.txt", EXCHANGE);
    folder.file("p.toml", platform);
    folder.file("jobs.toml", jobs);
    folder
}

/// The result of a file of jobs, or of a trace.
fn replayed(folder: &Folder, what: &str, more: &[&str]) -> Value {
    let shown = folder.run(TITR, &[&["replay", "-p", "p.toml", what, "--json"], more].concat());
    let object = shown.strip_suffix("[0]").unwrap_or_else(|| panic!("{shown}"));
    serde_json::from_str(object).unwrap()
}

/// A number of each job.
fn of_jobs(result: &Value, key: &str) -> Vec<f64> {
    result["jobs"].as_array().unwrap().iter().map(|job| job[key].as_f64().unwrap()).collect()
}

#[test]
fn jobs_that_share_no_link_are_as_fast_as_alone() {
    let jobs = "[[job]]\nname = 'a'\ntrace = 'stream.txt'\nhosts = '0-1'\n[[job]]\nname = 'b'\ntrace = 'exchange.txt'\nhosts = [4, 5]\n";
    for model in ["flow", "packet", "ideal"] {
        let folder = folder(&platform(model, 1), jobs);
        let result = replayed(&folder, "jobs.toml", &[]);
        let [stream, exchange] = ["stream.txt", "exchange.txt"]
            .map(|trace| replayed(&folder, trace, &[])["simulated_time"].as_f64().unwrap());
        assert_eq!(of_jobs(&result, "simulated_time"), [stream, exchange], "{model}");
        assert_eq!(of_jobs(&result, "alone"), [stream, exchange], "{model}");
        assert_eq!(of_jobs(&result, "slowdown"), [1.0, 1.0], "{model}");
        assert_eq!(result["simulated_time"], stream.max(exchange), "{model}");
    }
}

/// Two streams of 100 MB over one link of 1 GB/s take 100 ms more than one. Their sources and destinations differ.
#[test]
fn two_streams_over_one_link_share_it() {
    let job = |name: &str, hosts: &str| format!("[[job]]\nname = '{name}'\ntrace = 'stream.txt'\nhosts = {hosts}\n");
    let jobs = job("a", "[0, 2]") + &job("b", "[1, 3]");
    // In the packet model, a packet of 64 bytes more or less.
    for (model, precision) in [("flow", 2e-12), ("packet", 64e-9)] {
        let result = replayed(&folder(&platform(model, 1), &jobs), "jobs.toml", &[]);
        let (together, alone) = (of_jobs(&result, "simulated_time"), of_jobs(&result, "alone"));
        assert_eq!(alone[0], alone[1], "{model}");
        assert!((alone[0] - 0.1).abs() < 1e-5, "{model}: {alone:?}");
        let link = &result["jobs"][0]["shared_links"].as_array().unwrap()[..];
        assert_eq!((link.len(), &link[0]["with"], &link[0]["link"]), (1, &"b".into(), &"node-1 +x".into()), "{model}");
        assert!((link[0]["time"].as_f64().unwrap() - 0.2).abs() < 1e-5, "{model}: {link:?}");
        let late = together.iter().map(|time| (time - alone[0] - 0.1).abs()).fold(0.0, f64::max);
        assert!(late <= precision, "{model}: {together:?} {alone:?}");
    }
}

/// The streams of ranks 0 and 2 share a link where both take the same rail, or all rails.
#[test]
fn two_streams_share_the_links_of_their_rails() {
    let job = |name: &str, hosts: &str| format!("[[job]]\nname = '{name}'\ntrace = 'stream.txt'\nhosts = {hosts}\n");
    let jobs = job("a", "[0, 2]") + &job("b", "[1, 3]");
    type Case<'c> = (&'c str, f64, &'c [(&'c str, f64)]);
    let cases: [Case; 3] = [
        ("count = 2, choice = 'rank'", 0.2, &[("rail-0 node-1 +x", 0.2)]),
        ("count = 3, choice = 'rank'", 0.1, &[]),
        ("count = 2, choice = 'size'", 0.1, &[("rail-0 node-1 +x", 0.1), ("rail-1 node-1 +x", 0.1)]),
    ];
    for (rails, time, shared) in cases {
        let platform = format!("{}rails = {{ {rails} }}\n", platform("flow", 1));
        let result = replayed(&folder(&platform, &jobs), "jobs.toml", &[]);
        let times = of_jobs(&result, "simulated_time");
        assert!(times.iter().all(|found| (found - time).abs() < 1e-5), "{rails}: {times:?}");
        let links = result["jobs"][0]["shared_links"].as_array().cloned().unwrap_or_default();
        assert_eq!(links.len(), shared.len(), "{rails}: {links:?}");
        for (found, (link, time)) in links.iter().zip(shared) {
            assert_eq!(found["link"], *link, "{rails}");
            assert!((found["time"].as_f64().unwrap() - time).abs() < 1e-5, "{rails}: {links:?}");
        }
    }
}

/// Contention is divided among the jobs and loads whose messages a message has met. Messages of one size that have a link
/// in common from beginning to end are in it alike: here two of `a` and one of `b`, then one of `a` and a load.
#[test]
fn causes_of_waiting_name_the_other_job() {
    let two = "0 init\n0 send 2 7 100000000\n0 finalize\n1 init\n1 send 3 7 100000000\n1 finalize\n\
               2 init\n2 recv 0 7 100000000\n2 finalize\n3 init\n3 recv 1 7 100000000\n3 finalize\n";
    let job = |name: &str, trace: &str, hosts: &str| {
        format!("[[job]]\nname = '{name}'\ntrace = '{trace}'\nhosts = {hosts}\n")
    };
    let load =
        "[[background]]\nname = 'load'\npattern = 'neighbour'\nrate = '1 GB/s'\nmessage = '1MB'\nhosts = [1, 3]\n";
    let causes = |jobs: &str, model: &str| {
        let folder = folder(&platform(model, 1), jobs);
        folder.file("two.txt", two);
        let result = replayed(&folder, "jobs.toml", &["--analyse", "wait-states", "--analyse", "critical-path"]);
        let of_kind = |list: &Value| {
            let segments = list.as_array().unwrap().iter().filter(|segment| segment["kind"] == "contention");
            let one = |segment: &Value| {
                let with = segment["with"].as_str().map(str::to_owned);
                (segment["rank"].as_u64().unwrap(), with, (segment["seconds"].as_f64().unwrap() * 1e3).round())
            };
            let mut all: Vec<_> = segments.map(one).filter(|(.., time)| *time > 0.0).collect();
            all.sort_by(|one, other| one.partial_cmp(other).unwrap());
            all
        };
        let analyses = &result["analyses"];
        (of_kind(&analyses["wait-states"]["causes"]), of_kind(&analyses["critical-path"]["segments"]))
    };
    let with = |name: &str| Some(name.to_owned());
    // Both ends of a message wait for it.
    let (waits, path) = causes(&(job("a", "two.txt", "[0, 1, 3, 4]") + &job("b", "stream.txt", "[2, 5]")), "flow");
    let whose = [(0, None), (0, with("b")), (1, None), (1, with("b")), (4, with("a"))];
    let times = [200.0, 200.0, 200.0, 200.0, 400.0];
    assert_eq!(waits, whose.into_iter().zip(times).map(|((rank, with), time)| (rank, with, time)).collect::<Vec<_>>());
    assert_eq!(path.iter().map(|(.., time)| time).sum::<f64>(), 200.0, "{path:?}");
    for model in ["flow", "packet"] {
        let (waits, path) = causes(&(job("a", "stream.txt", "[0, 2]") + load), model);
        assert_eq!((waits, path), (vec![(0, with("load"), 200.0)], vec![(0, with("load"), 100.0)]), "{model}");
    }
}

/// A stream of M bytes over a link of bandwidth B, where another host sends at the rate r: up to half the bandwidth, the load
/// gets its rate, and the stream takes M / (B - r). A load that wants more gets half, as the stream does.
#[test]
fn a_background_load_slows_a_stream() {
    let time = |load: &str| {
        let stream = "[[job]]\nname = 'a'\ntrace = 'stream.txt'\nhosts = [0, 2]\n";
        let jobs = format!("{stream}[[background]]\npattern = 'neighbour'\nhosts = [1, 3]\n{load}\n");
        let result = replayed(&folder(&platform("flow", 1), &jobs), "jobs.toml", &[]);
        assert_eq!(of_jobs(&result, "alone"), [0.100002]);
        of_jobs(&result, "simulated_time")[0]
    };
    // A message more or less, of 10 kB or 1 MB, and its latency.
    let near = |one: f64, other: f64, message: f64| assert!((one - other).abs() < message + 1e-5, "{one} {other}");
    for rate in [0.1, 0.25, 0.4] {
        near(time(&format!("rate = '{rate} GB/s'\nmessage = '10kB'")), 0.1 / (1.0 - rate), 1e-5);
    }
    near(time("rate = '1 GB/s'\nmessage = '1MB'"), 0.2, 1e-3);
    // Half the time with a load of a quarter of the bandwidth, half without.
    let until = 0.05 / 0.75;
    near(time(&format!("rate = '250 MB/s'\nmessage = '10kB'\nend = {until}")), until + 0.05, 1e-5);
    near(time("rate = '250 MB/s'\nmessage = '10kB'\nstart = '50 ms'"), 0.05 + until, 1e-5);
    near(time("rate = '250 MB/s'\nstart = '200 ms'"), 0.1, 0.0);
}

#[test]
fn a_load_does_not_hide_a_deadlock() {
    let jobs = "[[job]]\nname = 'a'\ntrace = 'stuck.txt'\n[[background]]\npattern = 'uniform'\nrate = '1 MB/s'\n";
    for model in ["flow", "packet"] {
        let folder = folder(&platform(model, 1), jobs);
        folder.file("stuck.txt", "0 init\n0 recv 1 7 10\n0 finalize\n1 init\n1 recv 0 7 10\n1 finalize\n");
        let shown = folder.run(TITR, &["replay", "-p", "p.toml", "jobs.toml"]);
        assert!(shown.contains("deadlock") && shown.ends_with("[1]"), "{shown}");
    }
}

#[test]
fn jobs_start_at_their_times_and_one_after_another() {
    let jobs = "[[job]]\nname = 'last'\ntrace = 'exchange.txt'\nafter = 'middle'\nhosts = '0-1'\n\
                [[job]]\nname = 'first'\ntrace = 'stream.txt'\nstart = 0.25\nhosts = '0-1'\n\
                [[job]]\nname = 'middle'\ntrace = 'exchange.txt'\nafter = 'first'\n\
                [[job]]\nname = 'beside'\ntrace = 'exchange.txt'\nstart = '10 ms'\nplacement = 'block'\n";
    for model in ["flow", "packet"] {
        let result = replayed(&folder(&platform(model, 1), jobs), "jobs.toml", &[]);
        let (start, time) = (of_jobs(&result, "start"), of_jobs(&result, "simulated_time"));
        // The packet model moves messages in cycles of its own, which do not begin at these times.
        let precision = if model == "flow" { 1e-12 } else { 20e-9 };
        let near = |one: f64, other: f64| assert!((one - other).abs() <= precision, "{model}: {one} {other}");
        near(start[1], 0.25);
        near(start[2], start[1] + time[1]);
        near(start[0], start[2] + time[2]);
        near(start[3], 0.01);
        near(result["simulated_time"].as_f64().unwrap(), start[0] + time[0]);
        of_jobs(&result, "slowdown").into_iter().for_each(|slowdown| near(slowdown * 1e-3, 1e-3));
    }
}

/// The critical path passes from a job to the job that waits for it, and leads to the end of the last one.
/// A rank waits no longer for others than in its calls: not for the start of its job.
#[test]
fn the_time_before_a_job_is_no_waiting() {
    let jobs = "[[job]]\nname = 'a'\ntrace = 'stream.txt'\n[[job]]\nname = 'b'\ntrace = 'exchange.txt'\nafter = 'a'\n\
                [[job]]\nname = 'c'\ntrace = 'stream.txt'\nstart = '20 ms'\n";
    let folder = folder(&platform("flow", 1), jobs);
    let result = replayed(&folder, "jobs.toml", &["--analyse", "wait-states"]);
    let waiting = |rank: &Value| {
        ["recv", "send", "wait", "collective"].map(|part| rank[part].as_f64().unwrap()).iter().sum::<f64>()
    };
    let in_calls: f64 = result["per_rank"].as_array().unwrap().iter().map(waiting).sum();
    let waiting = result["analyses"]["wait-states"]["waiting"].as_f64().unwrap();
    assert!((waiting - in_calls).abs() <= 1e-9 && waiting > 0.0, "{waiting} {in_calls}");
}

#[test]
fn the_critical_path_passes_through_jobs_that_wait_for_each_other() {
    let jobs = "[[job]]\nname = 'a'\ntrace = 'stream.txt'\n[[job]]\nname = 'b'\ntrace = 'exchange.txt'\nafter = 'a'\n";
    let result = replayed(&folder(&platform("flow", 1), jobs), "jobs.toml", &["--analyse", "critical-path"]);
    let path = &result["analyses"]["critical-path"];
    assert_eq!(path["length"], result["simulated_time"]);
    let ranks: Vec<u64> =
        path["visits"].as_array().unwrap().iter().map(|visit| visit["rank"].as_u64().unwrap()).collect();
    assert!(ranks.starts_with(&[0]) && ranks.iter().any(|rank| *rank >= 2), "{ranks:?}");
}

#[test]
fn a_summary_has_a_row_for_each_job() {
    let jobs = "[[job]]\nname = 'stream'\ntrace = 'stream.txt'\n[[job]]\nname = 'exchange'\ntrace = 'exchange.txt'\nstart = '1 ms'\n";
    let folder = folder(&platform("flow", 1), jobs);
    let shown = folder.run(TITR_REPLAY, &["--platform", "p.toml", "jobs.toml"]);
    insta::assert_snapshot!(shown.split("\nReplayed in").next().unwrap());
}

#[test]
fn mistakes_are_shown_where_they_are() {
    let job = |name: &str, more: &str| format!("[[job]]\nname = \"{name}\"\ntrace = \"stream.txt\"\n{more}\n");
    let cases = [
        ("no job", String::new()),
        ("an unknown key", job("a", "hostz = 1")),
        ("two names", job("a", "") + &job("a", "")),
        ("no trace", "[[job]]\nname = \"a\"\ntrace = \"absent.txt\"\n".to_owned()),
        ("no host", job("a", "hosts = \"6-9\"")),
        ("no list of hosts", job("a", "hosts = [0, \"one\"]")),
        ("a host twice", job("a", "hosts = [0, \"0-1\"]")),
        ("one core for two jobs", job("a", "hosts = \"0-1\"") + &job("b", "hosts = \"1-2\"")),
        ("too few cores", job("a", "hosts = \"0-5\"") + &job("b", "hosts = 6")),
        ("no such job", job("a", "after = \"b\"")),
        ("a circle", job("a", "after = \"b\"") + &job("b", "after = \"a\"")),
        ("its own end", job("a", "after = \"a\"")),
        ("two starts", job("a", "") + &job("b", "after = \"a\"\nstart = 1")),
        ("a start before the beginning", job("a", "start = -1")),
        ("a start without unit", job("a", "start = \"5\"")),
        ("a pattern", job("a", "") + "[[background]]\npattern = \"square\"\nrate = \"1 GB/s\"\n"),
        (
            "hosts of a pattern",
            job("a", "") + "[[background]]\npattern = \"transpose\"\nhosts = \"0-4\"\nrate = \"1 GB/s\"\n",
        ),
        ("a rate", job("a", "") + "[[background]]\npattern = \"uniform\"\nrate = \"0 GB/s\"\n"),
        ("an end", job("a", "") + "[[background]]\npattern = \"uniform\"\nrate = \"1 GB/s\"\nstart = 1\nend = 1\n"),
        ("a policy", job("a", "placement = \"file\"")),
    ];
    let mut shown = String::new();
    for (name, jobs) in cases {
        let folder = folder(&platform("flow", 1), &jobs);
        writeln!(shown, "── {name}\n{}", folder.run(TITR, &["replay", "--platform", "p.toml", "jobs.toml"])).unwrap();
    }
    let folder = folder(&platform("flow", 1), &job("a", ""));
    for command in [["vary", "--key", "hosts.cores=1,2"], ["replay", "--steady", "--json"]] {
        let shown_here = folder.run(TITR, &[&command[..], &["--platform", "p.toml", "jobs.toml"]].concat());
        writeln!(shown, "── titr {}\n{shown_here}", command.join(" ")).unwrap();
    }
    insta::assert_snapshot!(shown);
}

/// Two streams over one link, with names that files of timelines would not read as they are.
const NAMED: &str = "[[job]]\nname = 'first'\ntrace = 'stream.txt'\nhosts = [0, 2]\n\
                     [[job]]\nname = 'a \"second\", later'\ntrace = 'stream.txt'\nhosts = [1, 3]\nstart = '50 ms'\n";

#[test]
fn timelines_name_the_job_of_each_rank() {
    let folder = folder(&platform("flow", 1), NAMED);
    let files = ["--paje", "t.paje", "--perfetto", "t.pftrace", "--timeline-csv", "t.csv"];
    replayed(&folder, "jobs.toml", &files);
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    let text = |name: &str| String::from_utf8_lossy(&read(name)).into_owned();
    for (rank, job) in ["first", "first", "a _second_, later", "a _second_, later"].into_iter().enumerate() {
        let name = format!("rank {rank} ({job})");
        for file in ["t.paje", "t.pftrace"] {
            assert!(text(file).contains(&name), "{file}: {name}");
        }
        let table = text("t.csv");
        let states: Vec<&str> = table.lines().filter(|line| line.starts_with(&format!("state,{rank},"))).collect();
        assert!(!states.is_empty() && states.iter().all(|line| line.ends_with(&format!(",,\"{job}\""))), "{states:?}");
    }
    let mut rows = csv_rows(&text("t.csv"));
    assert_eq!(rows.remove(0).last().unwrap(), "job");
    assert!(rows.iter().all(|row| row.len() == 9), "{rows:?}");
    assert!(rows.iter().filter(|row| row[0] == "counter").all(|row| row[8].is_empty()));
    let messages: Vec<&str> = rows.iter().filter(|row| row[0] == "message").map(|row| row[8].as_str()).collect();
    assert_eq!(messages, ["first", "a _second_, later"]);
}

/// The cells of a table (RFC 4180) without line breaks in cells.
fn csv_rows(text: &str) -> Vec<Vec<String>> {
    let row = |line: &str| {
        let (mut cells, mut is_quoted) = (vec![String::new()], false);
        for letter in line.chars() {
            match letter {
                '"' => is_quoted = !is_quoted,
                ',' if !is_quoted => cells.push(String::new()),
                letter => cells.last_mut().unwrap().push(letter),
            }
        }
        cells
    };
    text.lines().map(row).collect()
}

/// The second stream starts 50 ms after the first, and both share a link for 100 ms.
#[test]
fn the_page_has_a_row_for_each_job() {
    let folder = folder(&platform("flow", 1), NAMED);
    replayed(&folder, "jobs.toml", &["--report", "page.html"]);
    let Some(mut browser) = open(&folder.path().join("page.html")) else { return };
    let rows =
        "[...document.querySelectorAll('#jobs tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))";
    let rows = browser.evaluate(rows);
    let rows: Vec<Vec<&str>> = rows
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row.as_array().unwrap().iter().map(|cell| cell.as_str().unwrap()).collect())
        .collect();
    assert_eq!(
        rows.iter().map(|row| (row[0], row[1])).collect::<Vec<_>>(),
        [("first", "0–1"), ("a \"second\", later", "2–3")]
    );
    for (row, other) in rows.iter().zip(["a \"second\", later", "first"]) {
        assert!(row.last().unwrap().starts_with(other) && row.last().unwrap().contains("node-1 +x"), "{row:?}");
    }
    let colours = browser.evaluate(COLOURS);
    // Both jobs, what they add to each other, the panel below, and the text.
    assert!(colours["jobs-chart"].as_u64().unwrap() >= 5, "{colours}");
    assert_eq!(browser.complaints, [""; 0]);
}

/// Jobs alone have the same time wherever they are in a mix, and the cores of a job are free for those that wait for it.
#[test]
fn jobs_in_chains_and_trees_take_the_cores_of_those_that_they_wait_for() {
    let job = |name: usize, after: Option<usize>| {
        let after = after.map_or(String::new(), |after| format!("after = 'j{after}'\n"));
        format!("[[job]]\nname = 'j{name}'\ntrace = '{}'\n{after}", ["stream.txt", "exchange.txt"][name % 2])
    };
    // A chain; a tree in which two jobs wait for the same one; and a chain that is written from its end.
    let chain: String = (0..60).map(|at| job(at, at.checked_sub(1))).collect();
    let tree: String = (0..15).map(|at: usize| job(at, (at > 0).then(|| (at - 1) / 2))).collect();
    let backwards: String = (0..20).rev().map(|at| job(at, at.checked_sub(1))).collect();
    for (jobs, cores, number) in [(chain, 1, 60), (tree, 2, 15), (backwards, 1, 20)] {
        let folder = folder(&platform("flow", cores), &jobs);
        let result = replayed(&folder, "jobs.toml", &[]);
        let names: Vec<&str> =
            result["jobs"].as_array().unwrap().iter().map(|job| job["name"].as_str().unwrap()).collect();
        assert_eq!(names.len(), number);
        let (alone, together) = (of_jobs(&result, "alone"), of_jobs(&result, "simulated_time"));
        for kind in [0, 1] {
            let trace = ["stream.txt", "exchange.txt"][kind];
            let time = replayed(&folder, trace, &[])["simulated_time"].as_f64().unwrap();
            let of_kind = |name: &str| name[1..].parse::<usize>().unwrap() % 2 == kind;
            for ((name, alone), together) in names.iter().zip(&alone).zip(&together) {
                assert!(!of_kind(name) || cores > 1 || *alone == time, "{name}: {alone}, and {time} as one trace");
                assert!(cores > 1 || (together / alone - 1.0).abs() < 1e-9, "{name}: {together} {alone}");
            }
        }
    }
    // Two jobs that do not wait for each other need cores of their own.
    let beside = job(0, None) + &job(1, Some(0)) + &job(2, Some(0)) + &job(3, Some(1)) + &job(4, Some(0));
    let folder = folder(&platform("flow", 1).replace("dims = [8]", "dims = [4]"), &beside);
    let refused = folder.run(TITR, &["replay", "-p", "p.toml", "jobs.toml"]);
    assert!(refused.contains("j4 has 2 ranks, and 0 cores are free for it beside j1, j2, j3"), "{refused}");
}

/// The rank of a trace is the rank of the job, and its communicators are the job's, when it is replayed alone.
#[test]
fn a_job_alone_is_its_trace_with_communicators_and_collectives() {
    let split = "init\ncomm_split 2 0 0-1\non 2 allreduce 80000 1\nbcast 4000 1\non 2 barrier\ncomm_free 2\nfinalize\n";
    let lines = |rank: u32| split.lines().map(|line| format!("{rank} {line}\n")).collect::<String>();
    let folder = folder(
        &platform("flow", 1),
        "[[job]]\nname = 'a'\ntrace = 'stream.txt'\n[[job]]\nname = 'b'\ntrace = 'split.txt'\n",
    );
    folder.file("split.txt", lines(0) + &lines(1));
    let alone = replayed(&folder, "split.txt", &[])["simulated_time"].as_f64().unwrap();
    let result = replayed(&folder, "jobs.toml", &[]);
    assert!((of_jobs(&result, "alone")[1] / alone - 1.0).abs() < 1e-9, "{result}");
}
