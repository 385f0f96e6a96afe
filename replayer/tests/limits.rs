//! Input without bounds: anything too large, too wide, too numerous or not a file gives an error message, quickly.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::support::command::{Folder, TITR, TITR_REPLAY};

const PLATFORM: &str = "schema = 1\n[hosts]\nspeed = \"1 Ginstr/s\"\n[topology.torus]\ndims = [4]\n[network]\n\
    bandwidth = \"1 GB/s\"\nlatency = \"1 us\"\n";
const TRACE: &str = "0 init\n0 send 1 7 100\n0 finalize\n1 init\n1 recv 0 7 100\n1 finalize\n";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.file("cluster.toml", PLATFORM);
    folder.file("trace.txt", TRACE);
    folder
}

fn replay(folder: &Folder, arguments: &[&str]) -> String {
    folder.run(TITR_REPLAY, &[&["-q", "--platform", "cluster.toml"], arguments].concat())
}

/// Runs a line of the shell in the folder, with the commands in `$titr` and `$replay`.
fn shell(folder: &Folder, line: &str) -> String {
    let mut command = Command::new("bash");
    command.args(["-c", line]).env("titr", TITR).env("replay", TITR_REPLAY).current_dir(folder.path());
    let output = command.output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    format!("{out}{err}[{}]", output.status.code().unwrap_or(-1))
}

#[test]
fn a_message_that_never_arrives_is_an_error_on_any_network() {
    let folder = folder();
    let trace = |bytes: &str| {
        let text = format!("0 init\n0 send 1 0 {bytes}\n0 finalize\n1 init\n1 recv 0 0 {bytes}\n1 finalize\n");
        folder.file("trace.txt", text);
    };
    let on = |model: &str, further: &[&str]| {
        let model = format!("network.model={model}");
        replay(&folder, &[&["--set", &model, "trace.txt"], further].concat())
    };
    let end_of_time = "titr-replay: trace.txt:2: rank 0: simulated time runs past 213 days: is a volume, a bandwidth or a speed \
        wrong?\n[1]";
    trace(&u64::MAX.to_string());
    for model in ["flow", "ideal", "packet"] {
        assert_eq!(on(model, &[]), end_of_time, "{model}");
    }
    trace("1000000000000000");
    assert_eq!(on("flow", &[]), "[0]");
    let refused = on("packet", &[]);
    assert!(refused.contains("is 15,625,000,000,000 packets") && refused.ends_with("[1]"), "{refused}");
    // Cycles so short that their numbers run out.
    trace("8");
    let refused = on("packet", &["--set", "network.bandwidth=1e300 B/s", "--compute-scale", "1"]);
    assert!(refused == "[0]" || refused.contains("counts cycles"), "{refused}");
    folder.file("trace.txt", "0 init\n0 sleep 1000\n0 send 1 0 8\n0 finalize\n1 init\n1 recv 0 0 8\n1 finalize\n");
    let refused = on("packet", &["--set", "network.bandwidth=1e300 B/s"]);
    assert!(refused.contains("counts cycles") && refused.ends_with("[1]"), "{refused}");
}

/// Each names the size and the limit before it takes time or memory.
#[test]
fn sizes_that_no_machine_has_are_refused_at_once() {
    let folder = folder();
    shell(
        &folder,
        "$titr generate all-to-all --ranks 2 --bytes 1kB -o traces; $titr generate all-to-all --ranks 4 --bytes 1kB -o 4",
    );
    let manifest = folder.path().join("traces/manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    assert!(text.contains("\"ranks\": 2") || text.contains("\"ranks\":2"), "{text}");
    fs::write(manifest, text.replace("\"ranks\": 2", "\"ranks\":2").replace("\"ranks\":2", "\"ranks\":1000000000"))
        .unwrap();
    let cluster = |more: &str| {
        format!(
            "<cluster id=\"c\" prefix=\"n\" suffix=\"\" radical=\"0-99999999\" speed=\"1Gf\" bw=\"1GBps\" lat=\"1us\" {more}/>"
        )
    };
    let torus = cluster("topology=\"TORUS\" topo_parameters=\"10000,10000\"");
    folder.file("torus.xml", format!("<platform version=\"4.1\">{torus}</platform>"));
    let zone = format!("<zone id=\"w\" routing=\"Full\">{0}{0}</zone>", cluster(""));
    folder.file("zones.xml", format!("<platform version=\"4.1\">{zone}</platform>"));
    folder.file("star.xml", format!("<platform version=\"4.1\">{}</platform>", cluster("")));
    let file = |name: &str, table: &str| {
        folder.file(name, PLATFORM.replace("[topology.torus]\ndims = [4]", table));
    };
    file("torus.toml", "[topology.torus]\ndims = [4096, 4096, 4096]");
    file("star.toml", "[topology.star]\nhosts = 10000000");
    file("fat-tree.toml", "[topology.fat-tree]\nlevels = 1\ndown = [1000]\nup = [1000]\ncount = [1000]");
    file("xgft.toml", "[topology.xgft]\nm = [1000, 1000]\nw = [1000, 1000]");
    let wide = "10Gbit/s 1us";
    let on = |platform: &str| format!("$titr platform show '{platform}'; $replay -q -p '{platform}' trace.txt");
    let cases = [
        (on("torus.toml"), "torus.toml:5:8", "68719476736 hosts"),
        (on("fat-tree.toml"), "fat-tree.toml", "1000000000 cables"),
        (on("xgft.toml"), "xgft.toml", "cables"),
        (on("torus.xml"), "torus.xml", "100000000 hosts"),
        (on("zones.xml"), "zones.xml", "100000000 hosts"),
        (on("star.xml"), "star.xml", "100000000 hosts"),
        (on(&format!("torus:4096x4096x4096 {wide}")), "platform:1:", "68719476736 hosts"),
        (on(&format!("dragonfly:g=100000,a=400,h=250,p=100 {wide}")), "platform:1:", "4000000000 hosts"),
        (on(&format!("slim-fly:q=10007 {wide}")), "platform:1:", "10007"),
        ("$titr generate all-to-all --ranks 1000000000 --bytes 1kB -o g".to_owned(), "--ranks", "1000000000"),
        ("$titr extrapolate --ranks 1000000000 4 4 -o g".to_owned(), "--ranks", "1000000000"),
        ("$titr schedule allreduce --ranks 1000000000".to_owned(), "--ranks", "1000000000"),
        ("$titr check traces".to_owned(), "traces/manifest.json", "1000000000"),
        ("$replay -q -p cluster.toml traces".to_owned(), "traces/manifest.json", "1000000000"),
        ("$titr place -p cluster.toml traces -o hosts".to_owned(), "traces/manifest.json", "1000000000"),
        ("$titr place -p torus.toml trace.txt -o hosts".to_owned(), "torus.toml", "68719476736 hosts"),
        ("$titr traffic -p torus.toml uniform".to_owned(), "torus.toml", "68719476736 hosts"),
        (
            format!("$titr traffic -p 'torus:64x64 {wide}' --set network.model=packet --cycles 1000000000000 uniform"),
            "fewer cycles",
            "years",
        ),
    ];
    let said = cases.map(|(line, place, size)| {
        let said = shell(&folder, &format!("ulimit -v 1000000; {line}"));
        let is_named = said.contains(place) && said.contains(size) && !said.contains("out of memory");
        (is_named && (said.ends_with("[1]") || said.ends_with("[2]")), format!("{line}: {said}"))
    });
    let others: Vec<_> = said.into_iter().filter(|(is_refused, _)| !is_refused).map(|(_, said)| said).collect();
    assert!(others.is_empty(), "{}", others.join("\n"));
}

#[test]
fn more_variations_than_fit_are_refused() {
    let folder = folder();
    let values = (1..=100).map(|number| format!("{number}us")).collect::<Vec<_>>().join(",");
    let latency = format!("network.latency={values}");
    let loopback = format!("network.loopback.latency={values}");
    let eager = format!("mpi.eager_threshold={}", "1kB,2kB,3kB");
    let said = replay(&folder, &["--vary", &latency, "--vary", &loopback, "--vary", &eager, "trace.txt"]);
    assert_eq!(said, "titr-replay: 30,000 combinations of values, and at most 10,000 are compared\n[1]");
}

#[test]
fn mistakes_in_wide_lines_are_shown() {
    let folder = folder();
    let blanks = " ".repeat(70_000);
    folder.file("p.xml", format!("<platform version=\"4.1\">{blanks}<zone id=\"w\" routing=\"Nope\"/></platform>"));
    folder.file("p.toml", format!("{PLATFORM}x = [1,{blanks}2]\n{blanks}[nothing]\n"));
    folder.file("long.toml", format!("{PLATFORM}x = \"{}\"\n", "a".repeat(70_000)));
    for platform in ["p.xml", "p.toml", "long.toml"] {
        let said = folder.run(TITR_REPLAY, &["--platform", platform, "trace.txt"]);
        assert!(said.ends_with("[1]") && said.contains(platform) && said.len() < 3000, "{said}");
    }
    let set = format!("network.x={}", "b".repeat(70_000));
    let said = replay(&folder, &["--set", &set, "trace.txt"]);
    assert!(said.ends_with("[1]") && said.contains("unknown key `x`") && said.len() < 3000, "{said}");
    folder.file("changes.toml", format!("[[change]]\nkind = \"scale-compute\"\n{blanks}factor = -1\n"));
    let said = replay(&folder, &["--what-if", "changes.toml", "trace.txt"]);
    assert!(said.contains("changes.toml:3:70010: 'factor' is a number from 0 on"), "{said}");
    assert!(said.ends_with("[1]") && said.len() < 3000, "{said}");
}

#[test]
fn pipes_are_read_and_devices_refused() {
    let folder = folder();
    let time = "grep -o '\"simulated_time\": *[0-9.e-]*'";
    let expected = shell(&folder, &format!("$replay -p cluster.toml --json trace.txt | {time}"));
    assert!(expected.ends_with("[0]"), "{expected}");
    for line in [
        "cat trace.txt | $replay -p cluster.toml --json /dev/stdin",
        "$replay -p <(cat cluster.toml) --json <(cat trace.txt)",
        "gzip -c trace.txt | $replay -p cluster.toml --json /dev/stdin",
        "mkfifo pipe; cat trace.txt > pipe & $replay -p cluster.toml --json pipe",
    ] {
        assert_eq!(shell(&folder, &format!("({line}) | {time}")), expected, "{line}");
    }
    let page = shell(&folder, "$replay -q -p <(cat cluster.toml) --report page.html trace.txt");
    assert_eq!(page, "[0]");
    let variations =
        shell(&folder, "$replay -q -p <(cat cluster.toml) --vary network.latency=1us,2us <(cat trace.txt)");
    assert_eq!(variations, "[0]");
    shell(&folder, "$titr generate all-to-all --ranks 2 --bytes 1kB -o traces; tar -cf traces.tar -C traces .");
    let archive = shell(&folder, "$titr check <(cat traces.tar)");
    assert!(archive.ends_with("sound\n[0]"), "{archive}");

    let device = "a device or a terminal where a file or a pipe is expected";
    for line in [
        "$titr info /dev/zero",
        "$replay -p /dev/zero trace.txt",
        "$replay -p cluster.toml --what-if /dev/zero trace.txt",
        "$replay -p cluster.toml --triggered /dev/zero",
        "$titr diff /dev/zero /dev/zero",
    ] {
        let said = shell(&folder, line);
        assert!(said.contains(device) && said.ends_with("[1]"), "{line}: {said}");
    }
    for (name, make) in [("manifest.json", "ln -s /dev/zero"), ("rank-000001.tit.gz", "mkfifo")] {
        let said = shell(&folder, &format!("rm -f traces/{name}; {make} traces/{name}; $titr info traces"));
        assert!(said.contains(&format!("{name} in it is no regular file")) && said.ends_with("[1]"), "{said}");
        fs::remove_file(folder.path().join("traces").join(name)).unwrap();
    }
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let folder = folder();
    fs::File::create(folder.path().join("huge")).unwrap().set_len(1 << 40).unwrap();
    for line in
        ["$replay -p huge trace.txt", "$replay -p cluster.toml --what-if huge trace.txt", "$titr diff huge huge"]
    {
        let said = shell(&folder, &format!("ulimit -v 4000000; {line}"));
        assert!(said.contains("the most that is read of such a file") && said.ends_with("[1]"), "{line}: {said}");
    }
    fs::create_dir(folder.path().join("traces")).unwrap();
    fs::rename(folder.path().join("huge"), folder.path().join("traces/manifest.json")).unwrap();
    let said = folder.run(TITR, &["info", "traces"]);
    assert!(said.contains("traces/manifest.json:1:1: expected value") && said.ends_with("[1]"), "{said}");
}

#[test]
fn texts_of_other_encodings_are_read_or_named() {
    let folder = folder();
    let marked = |name: &str, text: &str| folder.file(name, format!("\u{feff}{text}"));
    marked("trace.txt", TRACE);
    marked("cluster.toml", PLATFORM);
    let index = marked("index.txt", "trace.txt\n");
    assert_eq!(replay(&folder, &["trace.txt"]), "[0]");
    assert_eq!(replay(&folder, &[index.to_str().unwrap()]), "[0]");
    folder.file("windows.txt", TRACE.replace('\n', "\r\n"));
    assert_eq!(replay(&folder, &["windows.txt"]), "[0]");

    let utf_16 = |text: &str| -> Vec<u8> {
        [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
    };
    folder.file("trace.txt", utf_16(TRACE));
    folder.file("other.toml", utf_16(PLATFORM));
    for arguments in [&["--platform", "cluster.toml", "trace.txt"], &["--platform", "other.toml", "windows.txt"]] {
        let said = folder.run(TITR_REPLAY, arguments);
        assert!(said.contains("UTF-16") && said.contains("iconv") && said.ends_with("[1]"), "{said}");
    }
}

#[test]
fn the_first_time_independent_format_is_named() {
    let folder = folder();
    folder.file("old.txt", "p0 compute 1e6\np0 send p1 1e6\np1 recv p0\n");
    let said = replay(&folder, &["old.txt"]);
    assert!(said.contains("SimGrid up to 3.10") && said.ends_with("[1]"), "{said}");
}

#[test]
fn xml_does_not_expand() {
    let folder = folder();
    let references = "&a;".repeat(1000);
    let text = "A".repeat(1000);
    folder.file(
        "p.xml",
        format!("<!DOCTYPE platform [<!ENTITY a \"{text}\">]><platform version=\"4.1\"><zone id=\"{references}\"/></platform>"),
    );
    let said = folder.run(TITR_REPLAY, &["--platform", "p.xml", "trace.txt"]);
    assert!(said.contains("entities are not read") && said.ends_with("[1]"), "{said}");
}

#[test]
fn ranks_without_events_can_be_written() {
    let folder = folder();
    folder.file("gap.txt", "0 init\n0 finalize\n2 init\n2 finalize\n");
    assert!(folder.run(TITR, &["convert", "--to", "ti", "gap.txt", "-o", "traces"]).ends_with("[0]"));
    let said = folder.run(TITR, &["cat", "traces"]);
    assert!(said.contains("2 finalize"), "{said}");
}

/// Short of memory, wherever that is, a command says so.
#[test]
fn too_little_memory_is_a_message() {
    let folder = folder();
    shell(&folder, "$titr generate all-to-all --ranks 64 --bytes 10kB --iterations 20 -o traces");
    let mut refused = 0;
    for megabytes in [12, 16, 20, 24, 28, 32, 40, 50, 60, 80, 120] {
        // Below some limit the system does not start the command.
        if !shell(&folder, &format!("ulimit -v {}; $titr --version", megabytes * 1024)).ends_with("[0]") {
            continue;
        }
        for line in ["$replay -q -p cluster.toml --set topology.torus.dims=[8,8] traces", "$titr check traces"] {
            let said = shell(&folder, &format!("ulimit -v {}; {line}", megabytes * 1024));
            let is_refused =
                said.ends_with("\n[1]") && said.contains("titr: out of memory:") && !said.contains("panicked");
            let is_done = said.ends_with("[0]");
            assert!(is_refused || is_done, "{megabytes} MB: {line}: {said}");
            refused += u32::from(is_refused);
        }
    }
    assert!(refused > 0, "no limit was too low");
}

#[test]
fn a_pipe_without_a_writer_is_waited_for_with_a_word() {
    let folder = folder();
    shell(&folder, "mkfifo pipe");
    let mut command = Command::new(TITR_REPLAY);
    command.args(["-q", "--platform", "cluster.toml", "pipe"]).current_dir(folder.path());
    let child = command.stderr(Stdio::piped()).spawn().unwrap();
    // Long enough for the word, and then somebody writes.
    std::thread::sleep(std::time::Duration::from_millis(2500));
    let mut pipe = fs::OpenOptions::new().write(true).open(folder.path().join("pipe")).unwrap();
    pipe.write_all(TRACE.as_bytes()).unwrap();
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "titr: waiting until a program writes to the pipe pipe\n");
}

#[test]
fn what_takes_for_ever_is_named_with_its_file_and_line() {
    let folder = folder();
    let sentence = "simulated time runs past 213 days";
    let cases = [
        ("0 init\n0 compute 1e30\n0 finalize\n1 init\n1 finalize\n", "trace.txt:2: rank 0: "),
        ("0 init\n0 finalize\n1 init\n1 sleep 1e30\n1 finalize\n", "trace.txt:4: rank 1: "),
        (
            "0 init\n0 alltoall 9e18 9e18\n0 finalize\n1 init\n1 alltoall 9e18 9e18\n1 finalize\n",
            "trace.txt:2: rank 0: ",
        ),
    ];
    for (text, place) in cases {
        folder.file("trace.txt", text);
        let said = replay(&folder, &["--compute", "counted", "trace.txt"]);
        assert!(said.contains(place) && said.contains(sentence) && said.ends_with("[1]"), "{text}: {said}");
    }
}
