//! Small files, and predictions in closed form.

use std::fmt::Write;
use std::path::Path;

use proptest::collection::vec;
use proptest::sample::select;
use proptest::{option, prop_assert, proptest};
use titr_common::collectives::Library;
use titr_common::event::CollectiveKind;
use titr_common::units::{Bytes, Seconds};
use titr_document::Source;
use titr_platform::Platform;

use super::{
    Benchmark, Compared, DataSheet, Errors, FittedMachine, FullHosts, Job, Place, Results, Row, Selection, compare,
    node_range, predict, read, results,
};
use crate::NamedTopology;

const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");

fn results_of(file: &str, job: Job) -> Results {
    read(&Path::new(FILES).join(file), job).unwrap_or_else(|error| panic!("{error}"))
}

/// A row a line.
fn shown(Results { rows, passed_over }: &Results) -> String {
    let mut text = String::new();
    for row in rows {
        let Row { machine, library, benchmark, place, nodes, ranks_per_node, ranks, bytes, runs, line, .. } = row;
        let results = (row.time.map(|time| (time.0 * 1e9).round() / 1e3), row.messages_per_second, row.bandwidth);
        writeln!(
            text,
            "{line}: {machine:?} {library:?} {benchmark} {place:?} {nodes} × {ranks_per_node}, {ranks} ranks, {} B: {results:?} ({runs})",
            bytes.0
        )
        .unwrap();
    }
    text + &format!("{passed_over:?}")
}

fn mistake(text: &str, job: Job) -> String {
    let source = Source::new("results", text.to_owned(), []);
    results(&source, job).map(|results| shown(&results)).expect_err("a mistake").to_string()
}

const ON_TWO_NODES: Job = Job { ranks: Some(8), nodes: Some(2) };

#[test]
fn the_text_of_imb() {
    insta::assert_snapshot!(shown(&results_of("imb.txt", ON_TWO_NODES)), @r#"
    18: "" "" PingPong None 1 × 4, 2 ranks, 0 B: (Some(0.6), None, None) (1)
    19: "" "" PingPong None 1 × 4, 2 ranks, 1024 B: (Some(0.8), None, None) (1)
    26: "" "" Sendrecv None 2 × 4, 8 ranks, 1024 B: (Some(2.0), None, None) (1)
    33: "" "" Uniband None 2 × 4, 8 ranks, 1024 B: (None, Some(4000000.0), Some(4096000000.0)) (1)
    40: "" "" alltoall None 2 × 4, 8 ranks, 64 B: (Some(10.0), None, None) (1)
    66: "" "" barrier None 2 × 4, 8 ranks, 0 B: (Some(3.0), None, None) (1)
    {"Multi-PingPong", "PingPong with -map"}
    "#);
}

#[test]
fn the_text_of_osu() {
    insta::assert_snapshot!(shown(&results_of("osu.txt", ON_TWO_NODES)), @r#"
    3: "" "" PingPong None 2 × 1, 2 ranks, 0 B: (Some(1.5), None, None) (1)
    4: "" "" PingPong None 2 × 1, 2 ranks, 1024 B: (Some(2.0), None, None) (1)
    8: "" "" Uniband None 2 × 4, 8 ranks, 8 B: (None, Some(4000000.0), Some(32000000.0)) (1)
    12: "" "" Biband None 2 × 1, 2 ranks, 1048576 B: (None, None, Some(20000000000.0)) (1)
    17: "" "" alltoall None 2 × 4, 8 ranks, 64 B: (Some(10.0), None, None) (1)
    21: "" "" bcast None 2 × 4, 8 ranks, 1 B: (Some(4.0), None, None) (1)
    25: "" "" barrier None 2 × 4, 8 ranks, 0 B: (Some(3.0), None, None) (1)
    {"OSU MPI Non-blocking Allreduce Latency", "OSU OpenSHMEM Put"}
    "#);
}

#[test]
fn a_table() {
    insta::assert_snapshot!(shown(&results_of("table.csv", Job::default())), @r#"
    2: "north" "MPICH" PingPong None 4 × 2, 2 ranks, 8 B: (Some(0.5), None, None) (3)
    3: "north" "MPICH" PingPong Some(BetweenNodes) 2 × 1, 2 ranks, 8 B: (Some(1.5), None, None) (3)
    4: "north" "MPICH" alltoall None 4 × 32, 128 ranks, 64 B: (Some(250.25), None, None) (1)
    5: "north" "Open MPI" allreduce None 2 × 32, 64 ranks, 4 B: (Some(12.0), None, None) (1)
    6: "south" "MPICH" Uniband None 2 × 16, 32 ranks, 1024 B: (None, Some(2000000.0), None) (1)
    {}
    "#);
}

/// What launchers and logs write before each line and between two does not end a table.
#[test]
fn tables_in_logs() {
    let table =
        ["# OSU MPI Latency Test v7.3", "# Size  Latency (us)", "# Datatype: MPI_CHAR.", "1 1.5", "2 1.6", "4 1.7"];
    let log = |before: &dyn Fn(usize) -> String| {
        let lines: Vec<String> = (0..).zip(table).map(|(line, text)| before(line) + text).collect();
        let warned =
            [&lines[..4], &["", "[node01:1234] WARNING: something", "16 ranks"].map(str::to_owned), &lines[4..]];
        let text = warned.concat().join("\n");
        results(&Source::new("log", text, []), ON_TWO_NODES).unwrap().rows.into_iter().map(|row| row.bytes.0).collect()
    };
    let befores: [&dyn Fn(usize) -> String; 4] =
        [&|_| String::new(), &|_| "[1,0]<stdout>:".to_owned(), &|line| format!("2026-11-30 12:00:0{line} "), &|_| {
            "> ".to_owned()
        }];
    for before in befores {
        let sizes: Vec<u64> = log(before);
        assert_eq!(sizes, [1, 2, 4], "{}", before(0));
    }
}

#[test]
fn mistakes_in_files() {
    let mut all = String::new();
    let imb = "# Benchmarking Bcast\n# #processes = 8\n #bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]\n";
    let osu = "# OSU MPI Allgather Latency Test v7.4\n# Size       Avg Latency(us)\n";
    let table = "bench,nodes,ranks,bytes,microseconds\n";
    for (text, job) in [
        (String::new(), ON_TWO_NODES),
        ("ring 1 2 3\n".to_owned(), ON_TWO_NODES),
        (format!("{imb}1 1000 1.0 1.0"), ON_TWO_NODES),
        (format!("{imb}1 1000 1.0 1.0 nan"), ON_TWO_NODES),
        (format!("{imb}1 1000 1.0 1.0 1.0"), Job::default()),
        (format!("{osu}1 1.0"), Job { nodes: Some(2), ..Job::default() }),
        (format!("{osu}1"), ON_TWO_NODES),
        ("# OSU MPI Latency Test v7.4\n# Size  Latency (ms)\n1 1.0".to_owned(), ON_TWO_NODES),
        ("# OSU MPI Put Latency Test v7.4\n# Size  Latency (us)\n1 1.0".to_owned(), ON_TWO_NODES),
        ("bench,nodes,rank\n".to_owned(), ON_TWO_NODES),
        (format!("{table}Alltoall,1,8,8"), ON_TWO_NODES),
        (format!("{table}Alltoall,1,8,8,"), ON_TWO_NODES),
        (format!("{table}Uniband,1,8,8,1"), ON_TWO_NODES),
        (format!("{table}Alltoall,1,,8,1"), ON_TWO_NODES),
        (format!("{table}Alltoall,1,-8,8,1"), ON_TWO_NODES),
        (format!("{table}Alltoall,0,8,8,1"), ON_TWO_NODES),
        (format!("{table}PingPong,1,1,8,1"), ON_TWO_NODES),
        ("bench,nodes,ranks,bytes,microseconds,place\nPingPong,1,2,8,1,near".to_owned(), ON_TWO_NODES),
    ] {
        all += &mistake(&text, job);
        all += "\n\n";
    }
    insta::assert_snapshot!(all);
}

proptest! {
    /// Parts of the formats in any order.
    #[test]
    fn no_text_is_too_strange(parts in vec(select(PARTS), 0..40), nodes in option::of(0..3_u32)) {
        let source = Source::new("results", parts.concat(), []);
        if let Ok(results) = results(&source, Job { ranks: Some(8), nodes }) {
            prop_assert!(results.rows.iter().all(|row| row.ranks <= row.nodes * row.ranks_per_node));
        }
    }
}

const PARTS: &[&str] = &[
    "# Benchmarking PingPong\n",
    "# Benchmarking Uniband\n",
    "# #processes = 2\n",
    "# #processes = \n",
    "# ( 1 additional process waiting in MPI_Barrier)\n",
    "#bytes #repetitions t[usec]\n",
    "#repetitions Msg/sec t_avg[usec]\n",
    "# OSU MPI Latency Test v5.6.2\n",
    "# OSU MPI Multiple Bandwidth / Message Rate Test\n",
    "# OSU MPI Allgather Latency Test",
    "# [ pairs: 4 ] [ window size: 64 ]\n",
    "# [ pairs: \n",
    "# Size  Latency (us)\n",
    "# Size  MB/s Messages/s\n",
    "# Avg Latency(us)\n",
    "bench,nodes,ranks,bytes,microseconds\n",
    "PingPong,2,2,8,1\n",
    ",",
    "\"",
    "1 1 1 1\n",
    "0 1000 0.5\n",
    "1e3 -1 nan\n",
    "99999999999999999999 1 1\n",
    "µ\r\n",
    "\n",
];

#[test]
fn rows_are_selected() {
    let rows = results_of("table.csv", Job::default()).rows;
    let lines = |machine: &str, library: &str, nodes: &str| {
        let name = |name: &str| Some(name.to_owned()).filter(|name| !name.is_empty());
        let nodes = name(nodes).map(|nodes| node_range(&nodes).unwrap());
        let selection = Selection { machine: name(machine), library: name(library), nodes };
        let selected = selection.of(rows.clone()).map_err(|error| error.to_string())?;
        Ok::<_, String>(selected.iter().map(|row| row.line).collect::<Vec<_>>())
    };
    assert_eq!(lines("north", "MPICH", ""), Ok(vec![2, 3, 4]));
    assert_eq!(lines("north", "MPICH", "1-2"), Ok(vec![3]));
    assert_eq!(lines("south", "", "2"), Ok(vec![6]));
    let mistakes = [("", "", ""), ("west", "", ""), ("north", "", ""), ("north", "Intel", ""), ("south", "", "3-4")];
    let mistakes = mistakes.map(|(machine, library, nodes)| lines(machine, library, nodes).unwrap_err());
    insta::assert_snapshot!(mistakes.join("\n"), @"
    the results are of more than one machine: choose with --machine one of north, south
    the results are of no machine `west`, but of north, south
    the results are of more than one library: choose with --library one of MPICH, Open MPI
    the results are of no library `Intel`, but of MPICH, Open MPI
    no results are on 3 to 4 nodes, but on 2
    ");
    for text in ["", "a", "1-", "2-1", "-1"] {
        assert!(node_range(text).is_err(), "{text}");
    }
}

/// Eight hosts of eight cores, whose messages take 2 µs and their bytes at 10 GB/s, and on a host 0.5 µs and at 50 GB/s.
fn platform(model: &str) -> Platform {
    let text = format!(
        "schema = 1\n[hosts]\ncount = 8\ncores = 8\nspeed = \"1000 Pinstr/s\"\n[topology.star]\n[network]\nmodel = \"{model}\"\n\
         bandwidth = \"10 GB/s\"\nlatency = \"1 us\"\n[network.loopback]\nbandwidth = \"50 GB/s\"\nlatency = \"0.5 us\"\n\
         [mpi]\neager_threshold = \"1 MB\"\n"
    );
    Platform::parse(Path::new("ideal.toml"), text, &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn between(bytes: u64) -> f64 {
    2e-6 + bytes as f64 / 10e9
}

fn within(bytes: u64) -> f64 {
    0.5e-6 + bytes as f64 / 50e9
}

fn row(benchmark: Benchmark, [nodes, ranks_per_node, ranks]: [u32; 3], bytes: u64) -> Row {
    Row {
        machine: String::new(),
        library: String::new(),
        benchmark,
        place: None,
        nodes,
        ranks_per_node,
        ranks,
        bytes: Bytes(bytes),
        time: None,
        messages_per_second: None,
        bandwidth: None,
        runs: 1,
        line: 7,
    }
}

#[track_caller]
fn assert_predicted(model: &str, row: &Row, seconds: f64) {
    let predicted = predict(&platform(model), row).unwrap_or_else(|error| panic!("{error}")).expect("a prediction");
    assert!((predicted.0 / seconds - 1.0).abs() < 1e-5, "{predicted:?} instead of {seconds:e}");
}

#[test]
fn without_contention_each_message_takes_its_time() {
    use Benchmark::{Biband, Collective, Exchange, PingPing, PingPong, Sendrecv, Uniband};
    for bytes in [0, 1000, 100_000] {
        for (benchmark, ranks) in [(PingPong, 2), (PingPong, 8), (PingPing, 2), (Sendrecv, 7), (Exchange, 8)] {
            assert_predicted("ideal", &row(benchmark, [8, 1, ranks], bytes), between(bytes));
            assert_predicted("ideal", &row(benchmark, [1, 8, ranks], bytes), within(bytes));
        }
        // A window, and its answer.
        for (benchmark, messages) in [(Uniband, 64.0), (Biband, 128.0)] {
            let window = between(bytes) + between(1);
            assert_predicted("ideal", &row(benchmark, [8, 1, 2], bytes), window / messages);
            assert_predicted("ideal", &row(benchmark, [8, 1, 8], bytes), window / messages / 4.0);
        }
    }
    let pairwise = row(Collective(CollectiveKind::Alltoall), [8, 1, 8], 100_000);
    assert_predicted("ideal", &pairwise, 7.0 * between(100_000));
    let doubling = row(Collective(CollectiveKind::Allreduce), [8, 1, 8], 8);
    assert_predicted("ideal", &doubling, 3.0 * between(8));
    // Rabenseifner's algorithm: half of the vector, a quarter, an eighth, and back.
    let halving = row(Collective(CollectiveKind::Allreduce), [8, 1, 8], 1_000_000);
    assert_predicted("ideal", &halving, 2.0 * (between(500_000) + between(250_000) + between(125_000)));
    assert_predicted("ideal", &row(Collective(CollectiveKind::Barrier), [8, 1, 8], 0), 3.0 * between(0));
}

#[test]
fn two_ranks_are_where_their_place_is() {
    let mut pair = row(Benchmark::PingPong, [4, 1, 2], 8);
    pair.place = Some(Place::Socket);
    assert_predicted("ideal", &pair, within(8));
    pair = row(Benchmark::PingPong, [2, 2, 2], 8);
    assert_predicted("ideal", &pair, within(8));
    pair.place = Some(Place::BetweenNodes);
    assert_predicted("ideal", &pair, between(8));
}

#[test]
fn pairs_of_two_nodes_share_their_link() {
    let bytes = 1_000_000;
    // The windows of four pairs pass the link one after another; then their answers.
    let seconds = 4.0 * 64.0 * bytes as f64 / 10e9 + 2e-6 + between(1);
    assert_predicted("flow", &row(Benchmark::Uniband, [2, 4, 8], bytes), seconds / (4.0 * 64.0));
}

#[test]
fn every_collective_is_predicted() {
    for kind in CollectiveKind::ALL {
        for ranks in [1, 5] {
            let row = row(Benchmark::Collective(kind), [5, 1, ranks], 1000);
            let predicted = predict(&platform("flow"), &row).unwrap_or_else(|error| panic!("{kind}: {error}"));
            assert!(predicted.is_some_and(|seconds| (ranks == 1) == (seconds.0 == 0.0)), "{kind}: {predicted:?}");
        }
    }
}

#[test]
fn what_is_not_predicted() {
    let many = row(Benchmark::Collective(CollectiveKind::Alltoall), [100, 100, 10_000], 100_000);
    assert!(predict(&platform("flow"), &many).unwrap().is_none());
    let few = |nodes, ranks_per_node, ranks| {
        predict(&platform("flow"), &row(Benchmark::Sendrecv, [nodes, ranks_per_node, ranks], 8))
            .unwrap_err()
            .to_string()
    };
    insta::assert_snapshot!([few(9, 2, 18), few(1, 9, 9)].join("\n"), @"
    Sendrecv in line 7 was measured on 9 nodes, and the platform has 8 hosts: choose rows with --nodes
    Sendrecv in line 7: the benchmark puts rank 8 on host 0, of whose 8 cores none is free
    ");
}

#[test]
fn windows_are_compared_by_message() {
    let mut uniband = row(Benchmark::Uniband, [2, 1, 2], 1000);
    assert_eq!(uniband.measured(), None);
    uniband.bandwidth = Some(1e9);
    assert_eq!(uniband.measured(), Some(Seconds(1e-6)));
    uniband.messages_per_second = Some(2e6);
    assert_eq!(uniband.measured(), Some(Seconds(0.5e-6)));
}

/// Rows of a full machine of four cores a node, measured on a platform that is known.
fn rows_of(platform: &Platform, nodes: &[u32]) -> Vec<Row> {
    let sizes = [64, 4096, 65_536].map(Bytes);
    let benchmarks = [
        Benchmark::PingPong,
        Benchmark::Sendrecv,
        Benchmark::Collective(CollectiveKind::Alltoall),
        Benchmark::Collective(CollectiveKind::Allgather),
        Benchmark::Collective(CollectiveKind::Allreduce),
    ];
    let mut rows = Vec::new();
    for (&nodes, benchmark, bytes) in combinations(nodes, &benchmarks, &sizes) {
        let ranks = if benchmark == Benchmark::PingPong { 2 } else { 4 * nodes };
        let place = (benchmark == Benchmark::PingPong).then_some(Place::Node);
        let mut row = Row {
            machine: String::new(),
            library: String::new(),
            benchmark,
            place,
            nodes,
            ranks_per_node: 4,
            ranks,
            bytes,
            time: None,
            messages_per_second: None,
            bandwidth: None,
            runs: 1,
            line: 1,
        };
        row.time = predict(platform, &row).unwrap();
        rows.push(row);
    }
    rows
}

/// Each combination of nodes, benchmark and size.
fn combinations<'n>(
    nodes: &'n [u32],
    benchmarks: &[Benchmark],
    sizes: &[Bytes],
) -> impl Iterator<Item = (&'n u32, Benchmark, Bytes)> {
    nodes.iter().flat_map(move |node| {
        benchmarks
            .iter()
            .flat_map(move |&benchmark| sizes.iter().map(move |&size| (node, benchmark, size)))
            .collect::<Vec<_>>()
    })
}

/// A machine with copies, memory, cards and algorithms that the fit does not know is predicted on eight nodes by its results on one
/// and two.
#[test]
fn a_machine_is_found_again_by_its_results_on_two_nodes() {
    let text = r#"
schema = 1
topology = { star = {} }
hosts = { count = 8, cores = 4, speed = "1 x recorded" }
network = { bandwidth = "5 GB/s", latency = "2 us", card = { messages_per_second = 2e6 } }

[node]
cache = "512 KiB"
memory = "6 GB/s"
send_overhead = [[0, 4e-7, 1e-10]]
recv_overhead = [[0, 3e-7, 2e-10]]

[mpi]
send_overhead = [[0, 5e-7, 1e-10]]
isend_overhead = [[0, 5e-7, 1e-10]]
recv_overhead = [[0, 6e-7, 1e-10]]
collectives = { library = "mpich", allgather = "ring", allreduce = "recursive_doubling" }
"#;
    let platform = Platform::parse(Path::new("known.toml"), text.to_owned(), &[]).unwrap();
    let sheet = DataSheet {
        hosts: 8,
        cores: 1,
        topology: NamedTopology::Star,
        bandwidth: 6e9,
        latency: Seconds(1.5e-6),
        memory: Some(30e9),
        cache: Some(Bytes(512 << 10)),
        library: Library::Mpich,
    };
    let found = FittedMachine::of(&rows_of(&platform, &[1, 2]), &sheet).unwrap();
    let fitted = Errors::of(&found.fitted).unwrap();
    assert!(fitted.median < 0.02 && fitted.most < 0.1, "{fitted}");
    let found = Platform::parse(Path::new("found.toml"), found.cluster, &[]).unwrap();
    let many = Errors::of(&compare(&found, &rows_of(&platform, &[4, 8])).unwrap()).unwrap();
    assert!(many.median < 0.1 && many.most < 0.35, "{many}");
    // The data sheet alone is further off.
    let typical = Platform::parse(Path::new("sheet.toml"), FittedMachine::of_sheet(&sheet, 4), &[]).unwrap();
    let by_sheet = Errors::of(&compare(&typical, &rows_of(&platform, &[4, 8])).unwrap()).unwrap();
    assert!(many.median < by_sheet.median, "{many}, by the data sheet {by_sheet}");
}

/// A data sheet of a star of 10 GB/s and 1 µs.
fn sheet(hosts: u32, memory: f64, cache: u64) -> DataSheet {
    DataSheet {
        hosts,
        cores: 1,
        topology: NamedTopology::Star,
        bandwidth: 10e9,
        latency: Seconds(1e-6),
        memory: Some(memory),
        cache: Some(Bytes(cache)),
        library: Library::Mpich,
    }
}

/// Ping-pongs between hosts and within one are found again at all sizes, beside a chain in which all ranks send.
#[test]
fn pairs_alone_are_found_again_beside_full_nodes() {
    let text = "schema = 1\ntopology = { star = {} }\nhosts = { count = 4, cores = 8, speed = \"1 x recorded\" }\n\
                network = { bandwidth = \"10 GB/s\", latency = \"0.5 us\", card = { process_bandwidth = \"6 GB/s\" } }\n\
                [node]\nmemory = \"8 GB/s\"\ncache = \"64 KiB\"\n[mpi]\neager_threshold = \"16 KiB\"\n\
                send_overhead = [[0, 4e-7, 1e-11]]\nisend_overhead = [[0, 4e-7, 1e-11]]\nrecv_overhead = [[0, 4e-7, 1e-11]]\n\
                rendezvous_overhead = [[0, 3e-6, 0]]\n";
    let platform = Platform::parse(Path::new("known.toml"), text.to_owned(), &[]).unwrap();
    let measured = |mut row: Row| {
        row.time = predict(&platform, &row).unwrap();
        row
    };
    let sizes = [64, 4096, 16_384, 262_144, 4 << 20];
    let pair = |place| move |bytes| Row { place: Some(place), ..row(Benchmark::PingPong, [2, 8, 2], bytes) };
    let chain = |bytes| row(Benchmark::Sendrecv, [2, 8, 16], bytes);
    let pairs = sizes.into_iter().map(pair(Place::Node)).chain(sizes.into_iter().map(pair(Place::BetweenNodes)));
    let rows: Vec<Row> = pairs.chain(sizes[..4].iter().copied().map(chain)).map(measured).collect();
    let sheet = sheet(4, 40e9, 64 << 10);
    let found = FittedMachine::of(&rows, &sheet).unwrap();
    let alone = |compared: &&Compared| compared.row.benchmark == Benchmark::PingPong;
    let errors = Errors::of(found.fitted.iter().filter(alone)).unwrap();
    assert!(errors.most < 0.2, "{errors}: {:#?}", found.fitted);
}

/// Ping-pongs between hosts and windows of messages tell what all-to-alls of full hosts take.
#[test]
fn windows_tell_what_full_hosts_take() {
    let text = "schema = 1\ntopology = { star = {} }\nhosts = { count = 2, cores = 8, speed = \"1 x recorded\" }\n\
                network = { bandwidth = \"10 GB/s\", latency = \"0.5 us\", limiter = \"12 GB/s\" }\n\
                [node]\nmemory = \"6 GB/s\"\ncache = \"256 KiB\"\nsend_overhead = [[0, 6e-7, 3e-10]]\n\
                [mpi]\neager_threshold = \"16 KiB\"\nsend_overhead = [[0, 4e-7, 1e-11]]\nisend_overhead = [[0, 4e-7, 1e-11]]\n\
                recv_overhead = [[0, 4e-7, 1e-11]]\nrendezvous_overhead = [[0, 3e-6, 0]]\n";
    let platform = Platform::parse(Path::new("known.toml"), text.to_owned(), &[]).unwrap();
    let measured = |mut row: Row| {
        row.time = predict(&platform, &row).unwrap();
        row.messages_per_second = row.time.map(|time| 1.0 / time.0);
        row
    };
    let of_size = |bytes| {
        let windows = [Benchmark::Uniband, Benchmark::Biband].into_iter().flat_map(move |benchmark| {
            [[2, 8, 2], [2, 8, 8], [2, 8, 16], [2, 1, 2]].map(|nodes| row(benchmark, nodes, bytes))
        });
        windows.chain([row(Benchmark::PingPong, [2, 1, 2], bytes)])
    };
    let rows: Vec<Row> = [64, 4096, 65_536, 1 << 20].into_iter().flat_map(of_size).map(measured).collect();
    let sheet = sheet(2, 100e9, 256 << 10);
    let found = FittedMachine::of(&rows, &sheet).unwrap();
    let found = Platform::parse(Path::new("found.toml"), found.cluster, &[]).unwrap();
    let all_to_all = |bytes| measured(row(Benchmark::Collective(CollectiveKind::Alltoall), [2, 8, 16], bytes));
    let all_to_alls = [4096, 65_536, 1 << 20].map(all_to_all);
    let errors = Errors::of(&compare(&found, &all_to_alls).unwrap()).unwrap();
    assert!(errors.most < 0.15, "{errors}");
}

/// Hosts of two sockets whose cores share a level, with a card that messages of several processes fill, and a limit on both
/// directions together: everything is found again by rows, and collectives are predicted.
#[test]
fn full_hosts_are_found_again() {
    let head = "schema = 1\ntopology = { star = {} }\nhosts = { count = 3, cores = 8, speed = \"1 x recorded\" }\n";
    let rest = "[mpi]\nsend_overhead = [[0, 5e-7, 1e-10]]\nisend_overhead = [[0, 5e-7, 1e-10]]\nrecv_overhead = [[0, 6e-7, 1e-10]]\n";
    let known = format!(
        "{head}network = {{ bandwidth = \"8 GB/s\", latency = \"2 us\", limiter = \"10 GB/s\", card = {{ messages_per_second = 2e6, \
         process_bandwidth = \"5 GB/s\" }} }}\n[node]\ncache = \"1 MiB\"\nmemory = \"9 GB/s\"\nsend_overhead = [[0, 4e-7, 1e-10]]\n\
         recv_overhead = [[0, 3e-7, 2e-10]]\n[[node.level]]\nname = \"socket\"\ncores = 4\nlatency = \"300 ns\"\nbandwidth = \"100 GB/s\"\n\
         [[node.level]]\nname = \"node\"\nlatency = \"800 ns\"\nbandwidth = \"4 GB/s\"\nshared = \"6 GB/s\"\n{rest}reduction = [[0, 1e-7, 1e-10]]\n"
    );
    let platform = Platform::parse(Path::new("known.toml"), known, &[]).unwrap();
    let measured = |benchmark, place, nodes, ranks_per_node, ranks, bytes| {
        let mut row = Row { place, ..row(benchmark, [nodes, ranks_per_node, ranks], bytes) };
        row.time = predict(&platform, &row).unwrap();
        row.messages_per_second = row.time.map(|time| 1.0 / time.0);
        row
    };
    let mut rows = Vec::new();
    for size in [8, 512, 8 << 10, 64 << 10, 512 << 10, 8 << 20] {
        for (place, ranks) in [(Place::Socket, 2), (Place::Socket, 8), (Place::Node, 2), (Place::Node, 8)] {
            rows.push(measured(Benchmark::PingPong, Some(place), 1, 8, ranks, size));
        }
        rows.push(measured(Benchmark::Sendrecv, None, 1, 8, 8, size));
        rows.push(measured(Benchmark::ReduceLocal, None, 1, 8, 8, size));
        for each in [1, 2, 4, 8] {
            rows.push(measured(Benchmark::Uniband, None, 2, each, 2 * each, size));
        }
        rows.push(measured(Benchmark::Biband, None, 2, 8, 16, size));
        rows.push(measured(Benchmark::Collective(CollectiveKind::Alltoall), None, 1, 8, 8, size));
    }
    let full = FullHosts {
        processors: 8,
        cache: Bytes(1 << 20),
        levels: vec![(Place::Socket, 4), (Place::Node, 8)],
        are_bound: true,
        are_in_order: true,
        rows,
    };
    let text = serde_json::to_string(&full).unwrap();
    assert_eq!(serde_json::from_str::<FullHosts>(&text).unwrap().rows.len(), full.rows.len());
    let fit = full.fit(5e9, false);
    assert!(fit.remarks.is_empty(), "{:?}", fit.remarks);
    let near = |found: Option<f64>, expected: f64| {
        assert!((found.unwrap() / expected - 1.0).abs() < 0.1, "{found:?} {expected}")
    };
    near(fit.bandwidth, 8e9);
    near(fit.limiter, 10e9);
    let found = format!(
        "{head}[network]\nlatency = \"2 us\"\nbandwidth = \"{} B/s\"\nlimiter = \"{} B/s\"\n{}{rest}reduction = {}\n",
        fit.bandwidth.unwrap(),
        fit.limiter.unwrap(),
        fit.tables,
        fit.reduction.unwrap()
    );
    let found = Platform::parse(Path::new("found.toml"), found, &[]).unwrap();
    let levels = found.node.as_ref().unwrap().levels.clone();
    near(Some(levels[1].bandwidth), 4e9);
    near(levels[1].shared, 6e9);
    assert_eq!((levels[0].cores, levels[0].shared), (4, None));
    near(found.messages_per_second, 2e6);
    let errors = |benchmark: fn(Benchmark) -> bool| {
        let rows: Vec<Row> = full.rows.iter().filter(|row| benchmark(row.benchmark)).cloned().collect();
        Errors::of(&compare(&found, &rows).unwrap()).unwrap()
    };
    let (pairs, collectives) = (errors(Benchmark::has_pairs), errors(|one| matches!(one, Benchmark::Collective(_))));
    assert!(pairs.median < 0.05 && collectives.median < 0.35, "{pairs}; {collectives}");

    // Pairs that are faster together than alone are left out, and said.
    let mut doubtful = full;
    for row in doubtful.rows.iter_mut().filter(|row| row.ranks == 8 && row.benchmark == Benchmark::PingPong) {
        row.time = Some(Seconds(1e-8));
    }
    let remarks = doubtful.fit(5e9, false).remarks;
    assert!(remarks.iter().any(|remark| remark.contains("faster than any memory")), "{remarks:?}");
    assert!(remarks.iter().any(|remark| remark.contains("faster than one pair alone, which cannot be")), "{remarks:?}");
}
