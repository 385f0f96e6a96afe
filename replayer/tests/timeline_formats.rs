//! Timelines as a table, counters, and excerpts of a timeline.

use std::collections::BTreeMap;
use std::fs;

use crate::support::command::{Folder, TITR, TITR_REPLAY, pj_dump};
use crate::timeline::{PLATFORM, PROGRAMS, TRACE, generated};
use serde_json::Value;
use titr_test_support::perfetto::{Picture, Slice};

/// Replays what is in `t` on `platform` with timelines in all formats, and returns the report.
fn replay(folder: &Folder, platform: &str, more: &[&str]) -> Value {
    folder.file("p.toml", platform);
    let formats = ["--paje", "t.paje", "--perfetto", "t.pftrace", "--timeline-csv", "t.csv"];
    let arguments = [&["--platform", "p.toml", "--json"], &formats[..], more, &["t"]].concat();
    let report = folder.run(TITR_REPLAY, &arguments);
    let report = report.strip_suffix("[0]").unwrap_or_else(|| panic!("{report}"));
    serde_json::from_str(report).unwrap()
}

fn picture(folder: &Folder) -> Picture {
    Picture::read(&fs::read(folder.path().join("t.pftrace")).unwrap())
}

/// The rows of the table by their kind.
fn table(folder: &Folder) -> BTreeMap<String, Vec<Vec<String>>> {
    let text = fs::read_to_string(folder.path().join("t.csv")).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("kind,rank,to,begin,end,name,activity,value"));
    let mut rows = BTreeMap::<String, Vec<Vec<String>>>::new();
    for line in lines {
        // A name in quotes may have a comma.
        let plain: String = line
            .split('"')
            .enumerate()
            .map(|(n, part)| if n % 2 == 1 { part.replace(',', ";") } else { part.to_owned() })
            .collect();
        let row: Vec<String> = plain.split(',').map(str::to_owned).collect();
        assert_eq!(row.len(), 8, "{line}");
        rows.entry(row[0].clone()).or_default().push(row);
    }
    rows
}

/// Every format has as many states, messages and changes of the bytes in flight as the replay had.
#[test]
fn every_format_has_all_of_it() {
    for program in PROGRAMS {
        let folder = generated(program);
        let report = replay(&folder, PLATFORM, &[]);
        let (picture, table) = (picture(&folder), table(&folder));
        let messages = report["messages"].as_u64().unwrap() as usize;
        assert_eq!(picture.ends.len(), 2 * messages, "{program}");
        assert_eq!(table["message"].len(), messages, "{program}");
        let bytes = report["bytes"].as_u64().unwrap();
        assert_eq!(table["message"].iter().map(|row| row[7].parse::<u64>().unwrap()).sum::<u64>(), bytes, "{program}");

        assert_eq!(table["state"].len(), picture.slices.len(), "{program}");
        let in_flight = &picture.counters["bytes in flight"];
        assert_eq!(in_flight.last().unwrap().1, 0.0, "{program}: all messages arrive");
    }
}

#[test]
fn the_table_is_one_that_spreadsheets_read() {
    let folder = Folder::new();
    folder.file("t", TRACE);
    replay(&folder, PLATFORM, &[]);
    insta::assert_snapshot!(fs::read_to_string(folder.path().join("t.csv")).unwrap());
}

/// The load of a link over time adds up to the bytes that it carried, with one rail or two, and where routes change.
#[test]
fn the_load_of_a_link_adds_up() {
    const SHARED: &str = "schema = 1\nhosts = { count = 16, speed = \"1 Ginstr/s\" }\ntopology.torus = { dims = [4, 4] }\n\
                          [network]\nbandwidth = \"1 GB/s\"\nlatency = \"1 us\"\n";
    const RAILS: &str = "rails = { count = 2, choice = \"round-robin\" }\n";
    const FAILED: &str = "failed = [{ link = \"node-0 +x\", at = \"100 us\" }]\n";
    for (program, more) in PROGRAMS.iter().flat_map(|program| ["", RAILS, FAILED].map(|more| (program, more))) {
        let folder = generated(program);
        let report = replay(&folder, &format!("{SHARED}{more}"), &[]);
        let picture = picture(&folder);
        let links = report["links"].as_array().unwrap();
        assert!(!links.is_empty(), "{program}");
        for link in links {
            let name = link["name"].as_str().unwrap();
            let loads = &picture.counters[&format!("{name}, % of bandwidth")];
            assert!(loads.iter().all(|(_, percent)| *percent < 100.000_1), "{program}: {name}: {loads:?}");
            let spans = loads.windows(2).map(|pair| (pair[1].0 - pair[0].0) as f64 * 1e-9 * pair[0].1 / 100.0 * 1e9);
            let (carried, bytes) = (spans.sum::<f64>(), link["bytes"].as_f64().unwrap());
            // Times in the file are whole nanoseconds.
            assert!((carried / bytes - 1.0).abs() < 0.01, "{program}: {name} carried {carried}, not {bytes}");
        }
        let many = table(&folder)["counter"].iter().filter(|row| row[5].ends_with("% of bandwidth")).count();
        let loads = picture.counters.iter().filter(|(name, _)| name.ends_with("% of bandwidth"));
        assert_eq!(many, loads.map(|(_, loads)| loads.len()).sum::<usize>(), "{program}");
    }
}

/// An excerpt has the states of its ranks, clipped to its window, and the messages between these.
#[test]
fn an_excerpt_is_a_part_of_the_whole() {
    for program in PROGRAMS {
        let folder = generated(program);
        replay(&folder, PLATFORM, &[]);
        let whole = picture(&folder);
        let end = whole.slices.iter().map(|slice| slice.end).max().unwrap();
        let (from, to) = (end / 3, end / 3 * 2);
        let window = format!("{from}ns..{to}ns");
        replay(&folder, PLATFORM, &["--timeline-ranks", "1-2,5", "--timeline-window", &window]);
        let part = picture(&folder);
        assert_eq!(part.ranks, [1, 2, 5], "{program}");
        let of_interest = |slice: &&Slice| [1, 2, 5].contains(&slice.rank) && slice.end > from && slice.begin < to;
        let clip = |slice: &Slice| Slice { begin: slice.begin.max(from), end: slice.end.min(to), ..slice.clone() };
        // States that only touch the window are in it, too, and last no time.
        let some = |slices: Vec<Slice>| {
            let mut slices: Vec<_> = slices.into_iter().filter(|slice| slice.end > slice.begin).collect();
            slices.sort_by_key(|slice| (slice.rank, slice.begin));
            slices
        };
        let expected = some(whole.slices.iter().filter(of_interest).map(clip).collect());
        assert_eq!(&some(part.slices.clone()), &expected, "{program}");
        let keys = |arrives| part.ends.iter().filter(move |end| end.arrives == arrives).map(|end| end.key);
        let (mut departed, mut arrived) = (Vec::from_iter(keys(false)), Vec::from_iter(keys(true)));
        departed.sort_unstable();
        arrived.sort_unstable();
        assert_eq!(departed, arrived, "{program}");
        for end in &part.ends {
            assert!((from..=to).contains(&end.at) && part.ranks.contains(&end.rank), "{program}: {end:?}");
            assert!(whole.ends.iter().any(|other| other.rank == end.rank && other.name == end.name), "{program}");
        }
        // The other formats show the same part.
        assert_eq!(table(&folder)["state"].len(), part.slices.len(), "{program}");
        // `pj_dump` leaves out some of the states that last no time.
        let dump = pj_dump(&folder, "t.paje");
        let lasts = |line: &&str| line.starts_with("State") && line.split(", ").nth(5) != Some("0.000000000");
        assert_eq!(dump.lines().filter(lasts).count(), expected.len(), "{program}");
    }
}

#[test]
fn what_an_excerpt_cannot_be_is_told() {
    let folder = Folder::new();
    folder.file("t", TRACE);
    folder.file("p.toml", PLATFORM);
    let mut said = String::new();
    for (ranks, window) in [("0-7", "0..1s"), ("x", "0..1s"), ("0", "2s..1s"), ("0", "1s"), ("0", "1 metre..")] {
        let excerpt = ["--timeline-ranks", ranks, "--timeline-window", window];
        said +=
            &folder.run(TITR_REPLAY, &[&["--platform", "p.toml", "--paje", "t.paje"], &excerpt[..], &["t"]].concat());
        said += "\n\n";
    }
    said += &folder.run(TITR_REPLAY, &["--platform", "p.toml", "--timeline-ranks", "0", "t"]);
    said += "\n\n";
    said += &folder.run(TITR, &["convert", "--to", "ti", "--timeline-window", "..1ms", "-o", "none", "t"]);
    insta::assert_snapshot!(said);
}
