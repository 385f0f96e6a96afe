//! The call sites of real programs.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;
use titr_tests::{Family, assert_sound, binary, lines, run, traced_only};

/// A machine with a known speed, on which messages take microseconds.
const PLATFORM: &str = "schema = 1\n[hosts]\ncount = 4\nspeed = '1 Ginstr/s'\n[topology.star]\n[network]\nbandwidth = '10 Gbit/s'\nlatency = '1 us'\n";

/// The result of a replay with all causes of waiting.
fn replayed(trace: &Path) -> Value {
    let platform = trace.with_file_name("platform.toml");
    fs::write(&platform, PLATFORM).unwrap();
    let arguments = ["--json", "--analyse", "wait-states", "--platform"];
    let replayed = run(binary("titr-replay").args(arguments).arg(platform).arg(trace));
    assert_eq!(replayed.status, Some(0), "{}", replayed.stderr);
    serde_json::from_str(&replayed.stdout).unwrap()
}

/// The call sites that a replay names.
fn call_sites(result: &Value) -> BTreeSet<String> {
    let places = result["analyses"]["wait-states"]["places"].as_array().unwrap();
    places.iter().filter_map(|place| place["call_site"].as_str()).map(str::to_owned).collect()
}

/// The places in the program that calls of a trace are made from.
fn recorded(trace: &Path) -> BTreeSet<String> {
    let printed = run(binary("titr").args(["cat", "--names"]).arg(trace));
    assert_eq!((printed.status, printed.stderr.as_str()), (Some(0), ""));
    let stacks = printed.stdout.lines().filter_map(|line| line.split_once(" call_site ")?.1.split_once(' '));
    stacks.flat_map(|(_, places)| places.split(' ')).map(|place| place.replace('\u{a0}', " ")).collect()
}

/// The names of the call sites that a program marks by comments: `in sweep`.
fn marked(source: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("programs").join(source)).unwrap();
    let marks = text.lines().zip(1..).filter_map(|(line, number)| {
        let (_, mark) = line.rsplit_once(" in ").filter(|(code, _)| code.ends_with("/*") || code.ends_with('!'))?;
        Some(format!("{} ({source}:{number})", mark.trim_end_matches(" */")))
    });
    marks.collect()
}

#[test]
fn calls_are_where_the_program_makes_them() {
    for family in Family::ALL {
        for source in ["call_sites.c", "call_sites.f90"] {
            let program = family.build(source, &["-g", "-O2", "-pthread"]);
            for mode in ["ti", "extended"] {
                let settings = [("TITRACE_CALLSITES", "1"), ("TITRACE_MODE", mode)];
                let trace = traced_only(&settings, family, 2, &program);
                assert_sound(&trace.path());
                let (found, marked) = (recorded(&trace.path()), marked(source));
                assert!(!marked.is_empty() && found.is_superset(&marked), "{family:?} {source} {mode}: {found:?}");
            }
        }
    }
}

#[test]
fn deeper_call_sites_name_those_who_call() {
    let program = Family::OpenMpi.build("call_sites.f90", &["-g", "-O1"]);
    let trace = traced_only(&[("TITRACE_CALLSITES", "2")], Family::OpenMpi, 2, &program);
    let found = call_sites(&replayed(&trace.path()));
    let has = |begin: &str, end: &str| found.iter().any(|site| site.starts_with(begin) && site.contains(end));
    assert!(has("solver::sweep (call_sites.f90:", ") < main"), "{found:?}");
    assert!(has("other (call_sites.f90:", ") < main"), "{found:?}");
}

/// Whatever a compiler makes of the frames.
#[test]
fn four_places_are_those_of_the_functions_around() {
    let chains = [
        ("call_chain.c", ["innermost", "growing", "aligned", "outermost"]),
        ("call_chain.cc", ["innermost", "guarded", "handling", "outermost"]),
        ("call_chain.f90", ["innermost", "growing", "section", "outermost"]),
    ];
    let frames = ["-fomit-frame-pointer", "-fno-omit-frame-pointer"];
    let levels = ["-O0", "-O1", "-O2", "-O3"];
    for family in Family::ALL {
        for (source, chain) in chains {
            let marked = marked(source);
            let named = chain.map(|name| marked.iter().find(|mark| mark.starts_with(&format!("{name} ("))).unwrap());
            let expected = named.map(|mark| mark.replace(' ', "\u{a0}")).join(" ");
            for (place, level) in levels.into_iter().enumerate() {
                // Each function is to be one of its own, and to be there when those that it calls call MPI.
                let options =
                    ["-g", level, frames[place % 2], "-fno-inline", "-fno-ipa-cp", "-fno-optimize-sibling-calls"];
                let trace = traced_only(&[("TITRACE_CALLSITES", "4")], family, 2, &family.build(source, &options));
                assert_sound(&trace.path());
                let printed = run(binary("titr").args(["cat", "--names"]).arg(trace.path()));
                let has = |line: &str| line.contains(" call_site ") && line.ends_with(&expected);
                assert!(printed.stdout.lines().any(has), "{family:?} {source} {level}: {}", printed.stdout);
            }
        }
    }
}

/// Call sites are beside the events of a trace, which are the same without them.
#[test]
fn call_sites_change_no_event() {
    for family in Family::ALL {
        for (source, options) in [("tour.c", &[][..]), ("tour.F90", &["-DBINDING=3"]), ("wavefront.f90", &[])] {
            let program = family.build(source, options);
            let [without, with] = ["0", "2"].map(|depth| {
                let trace = traced_only(&[("TITRACE_CALLSITES", depth)], family, 4, &program);
                assert_sound(&trace.path());
                let all = lines(&trace.path());
                let is_site = |line: &&str| line.split(' ').any(|word| word == "at" || word == "call_site");
                assert_eq!(all.lines().any(|line| is_site(&line)), depth != "0", "{family:?} {source}");
                all.lines().filter(|line| !is_site(line)).map(str::to_owned).collect::<Vec<_>>()
            });
            assert_eq!(without, with, "{family:?} {source}");
        }
    }
}

#[test]
fn without_symbols_there_are_addresses_and_the_reason() {
    let program = Family::OpenMpi.build("call_sites.c", &["-s", "-pthread"]);
    let trace = traced_only(&[("TITRACE_CALLSITES", "1")], Family::OpenMpi, 2, &program);
    let name = program.file_name().unwrap().to_str().unwrap();
    let result = replayed(&trace.path());
    assert!(call_sites(&result).iter().all(|site| site.starts_with(&format!("{name}+0x"))), "{result}");
    let told = |result: &Value, why: &str| {
        let warnings: Vec<&str> = result["warnings"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let about: Vec<&&str> =
            warnings.iter().filter(|warning| warning.contains("call sites without names")).collect();
        assert!(about.len() == 1 && about[0].contains(why) && about[0].contains(name), "{warnings:?}");
    };
    told(&result, "no table of symbols");

    // Another file at the same path is not taken for the one that was traced.
    let built = program.with_file_name("another_build");
    fs::copy(&program, &built).unwrap();
    fs::remove_file(&program).unwrap();
    fs::copy("/bin/true", &program).unwrap();
    told(&replayed(&trace.path()), "its build id is another one");
    fs::rename(&built, &program).unwrap();
}
