//! Files that commands write: complete or unchanged, never an input, and named in errors.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::support::command::{Folder, TITR, TITR_REPLAY, here};

/// A folder with a trace `t.txt` and a platform `p.toml`.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.file("t.txt", fs::read(here("../examples/ring.txt")).unwrap());
    folder.file("p.toml", fs::read(here("../examples/torus.toml")).unwrap());
    folder
}

fn names(path: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// All options of `titr-replay` with a file to write.
const OPTIONS: [&str; 6] = ["--report", "--perfetto", "--paje", "--timeline-csv", "--states", "--network-trace"];

#[test]
fn an_output_that_is_an_input_is_refused() {
    let folder = folder();
    let contents = ["t.txt", "p.toml"].map(|name| fs::read(folder.path().join(name)).unwrap());
    fs::hard_link(folder.path().join("t.txt"), folder.path().join("hard")).unwrap();
    symlink("p.toml", folder.path().join("soft")).unwrap();
    for option in OPTIONS {
        for output in ["t.txt", "p.toml", "hard", "soft"] {
            let said = folder.run(TITR_REPLAY, &["-q", "-p", "p.toml", option, output, "t.txt"]);
            assert!(said.contains(output) && said.contains("nothing is written") && said.ends_with("[1]"), "{said}");
        }
    }
    let said = folder.run(TITR, &["convert", "--to", "paje", "t.txt", "-o", "t.txt"]);
    assert!(said.contains("nothing is written") && said.ends_with("[1]"), "{said}");
    assert_eq!(["t.txt", "p.toml"].map(|name| fs::read(folder.path().join(name)).unwrap()), contents);
    assert_eq!(names(folder.path()), ["hard", "p.toml", "soft", "t.txt"]);
}

#[test]
fn files_of_a_trace_are_no_outputs_and_others_beside_them_are() {
    let folder = folder();
    folder.trace(&["0 init\n0 finalize\n"]);
    let stream = folder.path().join("traces/rank-000000.tit.gz");
    let before = fs::read(&stream).unwrap();
    let replay = |output: &str| folder.run(TITR_REPLAY, &["-q", "-p", "p.toml", "--report", output, "traces"]);
    for part in ["traces/rank-000000.tit.gz", "traces/manifest.json", "traces/rank-000009.tit.gz"] {
        let said = replay(part);
        assert!(said.contains("nothing is written") && said.ends_with("[1]"), "{said}");
    }
    assert_eq!(fs::read(&stream).unwrap(), before);
    assert_eq!(replay("traces/report.html"), "[0]");
    assert_eq!(replay("traces/report.html"), "[0]");
}

#[test]
fn one_file_is_not_written_twice() {
    let folder = folder();
    let twice: [&[&str]; 2] =
        [&["--report", "out", "--paje", "./out"], &["--csv", "c", "--timeline-csv", "c/links.csv"]];
    fs::create_dir(folder.path().join("c")).unwrap();
    for outputs in twice {
        let said = folder.run(TITR_REPLAY, &[&["-q", "-p", "p.toml", "t.txt"], outputs].concat());
        assert!(said.contains("written twice") && said.ends_with("[1]"), "{said}");
    }
    assert_eq!(names(folder.path()), ["c", "p.toml", "t.txt"]);
    let both = ["-q", "-p", "p.toml", "t.txt", "--report", "/dev/null", "--paje", "/dev/null"];
    assert_eq!(folder.run(TITR_REPLAY, &both), "[0]");
}

/// A file may grow to 2 KiB only, as on a disk that is full.
#[test]
fn on_a_full_disk_the_old_file_stays() {
    let folder = folder();
    for option in OPTIONS {
        folder.file("out", "old");
        let line = format!("ulimit -f 4; exec {TITR_REPLAY} -q -p p.toml {option} out --set 'hosts.cores=1' big.txt");
        let pairs: String = (0..4000).map(|tag| format!("0 send 1 {tag} 8\n1 recv 0 {tag} 8\n")).collect();
        folder.file("big.txt", format!("0 init\n1 init\n{pairs}0 finalize\n1 finalize\n"));
        let said = folder.run("sh", &["-c", &line]);
        assert!(said.contains("cannot write out: File too large") && said.ends_with("[1]"), "{option}: {said}");
        assert_eq!(fs::read_to_string(folder.path().join("out")).unwrap(), "old", "{option}");
        fs::remove_file(folder.path().join("big.txt")).unwrap();
        let left: Vec<String> = names(folder.path()).into_iter().filter(|name| name.contains("unfinished")).collect();
        assert!(left.is_empty(), "{option}: {left:?}");
    }
}

#[test]
fn a_directory_that_could_not_be_filled_is_gone() {
    let folder = folder();
    for (name, arguments) in [
        ("generated", "generate random --ranks 8 --bytes 10kB --messages 20000 --wave 20000"),
        ("simgrid", "convert --to simgrid big.txt"),
        ("ti", "convert --to ti big.txt"),
    ] {
        let pairs: String =
            (0..30_000).map(|tag| format!("0 send 1 {} 8\n1 recv 0 {0} 8\n", tag * 7919 % 30_011)).collect();
        folder.file("big.txt", format!("0 init\n1 init\n{pairs}0 finalize\n1 finalize\n"));
        let line = format!("ulimit -f 4; exec {TITR} {arguments} -o {name}");
        let said = folder.run("sh", &["-c", &line]);
        let is_full = said.contains(&format!("cannot write {name}")) && said.contains("File too large");
        assert!(is_full && said.ends_with("[1]"), "{name}: {said}");
        assert!(!folder.path().join(name).exists(), "{name}");
    }
}

#[test]
fn what_cannot_be_written_is_named_wherever_it_is() {
    let folder = folder();
    for option in OPTIONS {
        for output in ["nowhere/out", "/dev/full"] {
            let said = folder.run(TITR_REPLAY, &["-q", "-p", "p.toml", option, output, "t.txt"]);
            // Paraver's other files would lie beside the device.
            let is_named = said.contains(&format!("cannot write {}", output.split('.').next().unwrap()));
            assert!(is_named && said.ends_with("[1]"), "{option} {output}: {said}");
        }
    }
    let said = folder.run("sh", &["-c", &format!("{TITR} cat t.txt > /dev/full")]);
    assert!(said.contains("cannot write to standard output: No space left on device"), "{said}");
    let said = folder.run("sh", &["-c", &format!("{TITR} cat t.txt >> t.txt")]);
    assert!(said.contains("nothing is written") && said.ends_with("[1]"), "{said}");
}

#[test]
fn standard_output_and_pipes_are_written_as_they_are() {
    let folder = folder();
    let paje = format!("{TITR_REPLAY} -q -p p.toml t.txt --paje");
    let whole = folder.run("sh", &["-c", &format!("{paje} file && cat file")]);
    for line in [
        format!("{paje} /dev/stdout"),
        format!("{paje} /dev/stdout | cat"),
        format!("{paje} /dev/stdout > out && cat out"),
        format!("mkfifo pipe; {paje} pipe & cat pipe; wait"),
    ] {
        assert_eq!(folder.run("sh", &["-c", &line]), whole, "{line}");
    }
}

#[test]
fn a_command_that_is_interrupted_leaves_nothing() {
    let folder = folder();
    // Some shells tell of the signal while they wait.
    let line = format!(
        "{TITR} generate all-to-all --ranks 64 --bytes 10kB --iterations 100000000 -o made & \
         until [ -s made/rank-000000.tit.gz ]; do sleep 0.01; done; kill -TERM $!; wait $! 2>/dev/null; echo $?"
    );
    assert_eq!(folder.run("sh", &["-c", &line]), "143\n[0]");
    assert_eq!(names(&folder.path().join("made")), [""; 0]);
}

/// The first of two commands stands still in the middle of its output while the second writes, and then goes on or is killed.
/// Before there is anything in it, the output may not be locked yet, and would be removed and made again.
#[test]
fn what_a_killed_command_left_goes_with_the_next_output_and_what_a_living_one_writes_stays() {
    let folder = folder();
    let pairs: String = (0..200_000).map(|tag| format!("0 send 1 {tag} 8\n1 recv 0 {tag} 8\n")).collect();
    folder.file("big.txt", format!("0 init\n1 init\n{pairs}0 finalize\n1 finalize\n"));
    folder.run(TITR, &["generate", "all-to-all", "--ranks", "2000", "--bytes", "1kB", "-o", "big"]);
    folder.trace(&["0 init\n0 finalize\n"]);
    folder.file(".titr-1-1.unfinished.txt", "of somebody else");
    let file = format!("{TITR_REPLAY} -q -p p.toml --paje out");
    let directory = format!("{TITR} gather -o out");
    for (command, long, short) in [(&file, "big.txt", "t.txt"), (&directory, "big", "traces")] {
        let hidden = "ls -A | grep -c '^[.]titr-[0-9-]*[.]unfinished$'";
        for (signal, status) in [("CONT", 0), ("KILL", 137)] {
            let line = format!(
                "{command} {long} > /dev/null 2>&1 & \
                 until set -- .titr-*.unfinished/* .titr-*.unfinished; [ -e \"$1\" ] || [ -f \"$2\" -a -s \"$2\" ]; do :; done; \
                 kill -STOP $!; rm -rf out; \
                 {command} {short} > /dev/null 2>&1; echo $?; {hidden}; rm -rf out; kill -{signal} $!; wait $! 2> /dev/null; echo $?; \
                 rm -rf out; {command} {short} > /dev/null 2>&1; {hidden}; rm -rf out"
            );
            let said = folder.run("sh", &["-c", &line]);
            assert_eq!(said, format!("0\n1\n{status}\n0\n[0]"), "{command} {signal}");
        }
    }
    assert!(names(folder.path()).contains(&".titr-1-1.unfinished.txt".to_owned()));
}

#[test]
fn cells_of_tables_are_no_formulas() {
    let folder = folder();
    let hosts = ["=cmd|'/C calc'!A0", "+1+1", "-2+3", "@x"];
    let links: String = hosts
        .iter()
        .map(|name| {
            format!("[[topology.explicit.links]]\nname = \"{name}\"\nbandwidth = \"1 Gbit/s\"\nlatency = \"1 us\"\n")
        })
        .collect();
    let routes: String = hosts
        .iter()
        .flat_map(|from| hosts.iter().filter(move |to| *to != from).map(move |to| (from, to)))
        .map(|(from, to)| {
            format!("[[topology.explicit.routes]]\nfrom = \"{from}\"\nto = \"{to}\"\nlinks = [\"{from}\", \"{to}\"]\n")
        })
        .collect();
    let platform = format!(
        "schema = 1\n[hosts]\ncores = 1\nspeed = \"1 Ginstr/s\"\n[topology.explicit]\nhosts = {hosts:?}\nrouting = \"full\"\n{links}{routes}[network]\n"
    );
    folder.file("f.toml", platform);
    let said = folder.run(TITR_REPLAY, &["-q", "-p", "f.toml", "--csv", "c", "--timeline-csv", "t.csv", "t.txt"]);
    assert_eq!(said, "[0]");
    for table in ["c/links.csv", "t.csv"] {
        let text = fs::read_to_string(folder.path().join(table)).unwrap();
        assert!(text.contains("'=cmd"), "{table}: {text}");
        for record in csv::Reader::from_reader(text.as_bytes()).records() {
            for cell in record.unwrap().iter() {
                let is_formula = cell.starts_with(['=', '+', '-', '@']) && cell.parse::<f64>().is_err();
                assert!(!is_formula, "{table}: {cell}");
            }
        }
    }
}

/// An index names files elsewhere, and these are inputs, too.
#[test]
fn files_of_an_index_are_inputs() {
    let folder = folder();
    assert!(folder.run(TITR, &["convert", "--to", "simgrid", "t.txt", "-o", "s"]).ends_with("[0]"));
    let stream = folder.path().join("s/rank-000001.txt");
    let before = fs::read(&stream).unwrap();
    let said = folder.run(TITR_REPLAY, &["-q", "-p", "p.toml", "--paje", "s/rank-000001.txt", "s/index.txt"]);
    assert!(said.contains("nothing is written") && said.ends_with("[1]"), "{said}");
    assert_eq!(fs::read(&stream).unwrap(), before);
}

/// A copy of a sample of a foreign trace, as `name` in `folder`, with files that can be written.
fn foreign(folder: &Folder, sample: &str, name: &str) {
    let line =
        format!("cp -r '{}' {name} && chmod -R u+w {name}", here("../tests/data/foreign").join(sample).display());
    assert_eq!(folder.run("sh", &["-c", &line]), "[0]");
}

#[test]
fn every_file_that_a_command_opens_is_no_output_of_it() {
    let folder = folder();
    for (sample, name) in
        [("otf2/library", "o"), ("dumpi/stencil", "d"), ("paraver/stencil", "p"), ("liballprof/stencil", "l")]
    {
        foreign(&folder, sample, name);
    }
    folder.file("g.toml", fs::read(here("../examples/graph.toml")).unwrap());
    folder.file("cables.txt", fs::read(here("../examples/cables.txt")).unwrap());
    folder.trace(&["0 init\n0 finalize\n"]);
    assert!(
        folder.run(TITR, &["generate", "all-to-all", "--ranks", "8", "--bytes", "1kB", "-o", "a2a"]).ends_with("[0]")
    );
    folder.file("jobs.toml", "[[job]]\nname = \"a\"\ntrace = \"traces\"\n");
    folder.file(
        "runs.toml",
        "platform = \"g.toml\"\nvalues = [\"network.bandwidth\"]\n[[run]]\ntrace = \"a2a\"\nseconds = 0.005\n",
    );
    assert_eq!(folder.run("sh", &["-c", &format!("{TITR_REPLAY} -p p.toml --json t.txt > before.json")]), "[0]");
    let replay = |platform: &str, output: &str, trace: &str| {
        format!("replay -q --platform '{platform}' --report {output} {trace}")
    };
    let star = "star:64 10Gbit/s 1us";
    let lines = [
        ("o/traces/1.evt", replay(star, "o/traces/1.evt", "o")),
        ("o/traces/0.def", "convert --to paje -o o/traces/0.def o/traces.otf2".to_owned()),
        ("d/*-0007.bin", replay(star, "d/*-0007.bin", "d/*.meta")),
        ("d/*.meta", "convert --to paraver -o d/*.meta d/*.meta".to_owned()),
        ("p/stencil.pcf", "convert --to paraver -o p/stencil.prv p/stencil.prv.gz".to_owned()),
        ("l/pmpi-trace-rank-8.txt.gz", replay(star, "./l/../l/pmpi-trace-rank-8.txt.gz", "l")),
        ("cables.txt", replay("g.toml", "cables.txt", "t.txt")),
        ("cables.txt", "platform show g.toml --report cables.txt".to_owned()),
        ("traces/rank-000000.tit.gz", replay(star, "traces/rank-000000.tit.gz", "jobs.toml")),
        ("traces/manifest.json", replay(star, "traces/manifest.json", "jobs.toml")),
        ("a2a/manifest.json", "calibrate --from runs.toml --output a2a/manifest.json".to_owned()),
        ("g.toml", "calibrate --from runs.toml --output g.toml".to_owned()),
        // What is read last is no output that is begun first.
        (
            "before.json",
            "replay -q -p p.toml --report r.html --compare before.json --paje before.json t.txt".to_owned(),
        ),
    ];
    for (file, line) in lines {
        let said = folder.run("sh", &["-c", &format!("cp {file} kept; {TITR} {line}; echo $?; cmp kept {file}")]);
        assert!(
            said.starts_with("1\n") && said.ends_with("nothing is written; name another file\n[0]"),
            "{line}: {said}"
        );
    }
    let left: Vec<String> = names(folder.path()).into_iter().filter(|name| name.contains("unfinished")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn what_is_appended_to_an_input_is_refused_before_the_first_letter() {
    let folder = folder();
    foreign(&folder, "otf2/library", "o");
    foreign(&folder, "dumpi/stencil", "d");
    folder.trace(&["0 init\n0 finalize\n"]);
    for (file, line) in [
        ("o/traces/1.evt", "cat o/traces.otf2 >> $f"),
        ("o/traces/1.def", "info o >> $f"),
        ("d/*-0005.bin", "check d/*.meta >> $f"),
        ("traces/manifest.json", "replay -p p.toml traces >> $f"),
        ("p.toml", "platform write p.toml >> $f"),
        ("p.toml", "replay -q -p p.toml t.txt --paje /dev/fd/5 5>> $f"),
    ] {
        let line = format!("f=$(echo {file}); cp $f kept; {TITR} {line}; echo $? >&2; cmp kept $f");
        let said = folder.run("sh", &["-c", &line]);
        assert!(said.ends_with("nothing is written; name another file\n1\n[0]"), "{line}: {said}");
    }
}

/// To a user who is not root: the file may be written, and its directory may not.
#[test]
fn a_file_in_a_directory_that_may_not_be_written_is_replaced_unless_it_is_an_input() {
    let folder = folder();
    let replay = |output: &str| {
        let line = format!(
            "chmod 755 .; mkdir fixed; cp p.toml fixed; echo old > fixed/out; chmod 666 fixed/*; chmod 555 fixed; \
             [ $(id -u) != 0 ] || user='setpriv --reuid=65534 --regid=65534 --clear-groups'; \
             $user {TITR_REPLAY} -q -p fixed/p.toml --paje fixed/{output} t.txt; status=$?; chmod 755 fixed; exit $status"
        );
        let said = folder.run("sh", &["-c", &line]);
        let [platform, out] = ["p.toml", "out"].map(|name| fs::read(folder.path().join("fixed").join(name)).unwrap());
        assert_eq!(platform, fs::read(folder.path().join("p.toml")).unwrap());
        assert_eq!(names(&folder.path().join("fixed")), ["out", "p.toml"]);
        fs::remove_dir_all(folder.path().join("fixed")).unwrap();
        (said, String::from_utf8(out).unwrap())
    };
    let (said, out) = replay("p.toml");
    assert!(said.ends_with("nothing is written; name another file\n[1]") && out == "old\n", "{said}");
    let (said, out) = replay("out");
    assert!(said == "[0]" && out.starts_with("%EventDef"), "{said}");
}

#[test]
fn of_two_gathers_onto_one_name_the_first_to_end_has_it() {
    let folder = folder();
    folder.trace(&["0 init\n0 finalize\n"]);
    for output in ["all.tar", "all"] {
        folder.file(&format!("{output}.unfinished"), "precious");
        let line = format!(
            "{TITR} gather traces -o {output} 2> 1 & {TITR} gather traces -o {output} 2> 2; second=$?; wait $!; \
             echo $(($? + second)) $(cat 1 2)"
        );
        let said = folder.run("sh", &["-c", &line]);
        assert!(said.starts_with("1 ") && said.contains(&format!("titr: {output}: it exists already")), "{said}");
        assert!(said.contains(&format!("{output}: 1 rank, ")), "{said}");
        assert_eq!(folder.run(TITR, &["check", output]), format!("{output}: sound\n[0]"));
        assert_eq!(fs::read_to_string(folder.path().join(format!("{output}.unfinished"))).unwrap(), "precious");
    }
    let expected = ["1", "2", "all", "all.tar", "all.tar.unfinished", "all.unfinished", "p.toml", "t.txt", "traces"];
    assert_eq!(names(folder.path()), expected);
}

#[test]
fn a_command_whose_directory_was_interrupted_can_be_repeated() {
    let folder = folder();
    for ranks in ["4", "6"] {
        let made = format!("generate stencil --ranks {ranks} --bytes 64KiB --iterations 4 --compute 1e6 -o {ranks}");
        assert!(folder.run("sh", &["-c", &format!("{TITR} {made}")]).ends_with("[0]"));
    }
    for signal in ["INT", "TERM", "HUP"] {
        for (ranks, output) in [("200000", "new"), ("200000", "empty")] {
            let line = format!(
                "mkdir -p empty; {TITR} extrapolate --ranks {ranks} 4 6 -o {output} 2> /dev/null & \
                 until [ -s {output}/rank-000100.tit.gz ]; do sleep 0.01; done; kill -{signal} $!; wait $! 2> /dev/null; \
                 ls -A {output}; {TITR} extrapolate --ranks 8 4 6 -o {output} 2> /dev/null; echo $?; rm -r {output}"
            );
            assert_eq!(folder.run("sh", &["-c", &line]), "0\n[0]", "{signal} {output}");
        }
    }
}

#[test]
fn a_file_in_the_place_of_a_directory_is_named_with_what_to_do() {
    let folder = folder();
    folder.file("f", "text");
    folder.file("s.toml", "schema = 1\nplatform = 'p.toml'\ntrace = 't.txt'\n[axes]\nnetwork.latency = ['1 us']\n");
    let cases: [&[&str]; 4] = [
        &["sweep", "s.toml", "-o", "f"],
        &["convert", "--to", "simgrid", "t.txt", "-o", "f"],
        &["convert", "--to", "ti", "t.txt", "-o", "f/deep/er"],
        &["generate", "all-to-all", "--ranks", "4", "--bytes", "1kB", "-o", "f"],
    ];
    for words in cases {
        let said = folder.run(TITR, words);
        assert!(said.contains("f is a file, and a directory is written here: name another place"), "{words:?}: {said}");
        assert!(said.ends_with("[1]"), "{said}");
    }
    assert_eq!(fs::read(folder.path().join("f")).unwrap(), b"text");
}
