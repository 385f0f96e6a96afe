//! A trace in parts, gathered, and in an archive.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod support;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use support::{Folder, events, read};
use titr_common::event::Rank;
use titr_common::trace::manifest::Ended;
use titr_common::trace::{Manifest, Trace, TraceError, directory, gather};

/// A trace of four ranks on two hosts that share nothing.
fn two_hosts() -> Folder {
    let folder = Folder::new();
    folder.manifest("a", 4);
    folder.ranks("a", [0, 2], 4);
    folder.ranks("b", [1, 3], 4);
    folder
}

fn paths(folder: &Folder, names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(|name| folder.path(name)).collect()
}

fn gathered(folder: &Folder, places: &[&str], output: &str) -> Result<PathBuf, TraceError> {
    let output = folder.path(output);
    gather(&paths(folder, places), &output).map(|_| output)
}

#[test]
fn parts_are_read_as_one_trace_in_any_order() {
    let folder = two_hosts();
    for places in [["a", "b"], ["b", "a"]] {
        assert_eq!(read(&paths(&folder, &places)).unwrap(), vec![events(); 4]);
    }
}

#[test]
fn what_is_gathered_is_what_the_parts_hold() {
    let folder = two_hosts();
    let apart = Trace::open_all(&paths(&folder, &["a", "b"])).unwrap().manifest().cloned().unwrap();
    for output in ["all", "all.tar"] {
        let output = gathered(&folder, &["a", "b"], output).unwrap();
        assert_eq!(read(&[&output]).unwrap(), vec![events(); 4]);
        let gathered = Trace::open(&output).unwrap().manifest().cloned().unwrap();
        let facts = |manifest: &Manifest| {
            let ranks =
                manifest.per_rank.iter().map(|entry| (entry.rank, entry.events, entry.host.clone(), entry.ended));
            ranks.collect::<Vec<_>>()
        };
        assert_eq!((facts(&gathered), &gathered.command), (facts(&apart), &apart.command));
        assert!(gathered.per_rank.iter().all(|entry| entry.ended == Ended::Finalize && entry.crc32.is_some()));
    }
    // A gathered trace can be gathered again, and does not change by a byte.
    let (once, twice) = (folder.path("all.tar"), gathered(&folder, &["all"], "again.tar").unwrap());
    assert_eq!(fs::read(once).unwrap(), fs::read(twice).unwrap());
}

#[test]
fn tar_unpacks_an_archive_into_a_trace_directory_and_packs_one() {
    let folder = two_hosts();
    gathered(&folder, &["a", "b"], "all.tar").unwrap();
    let tar = |arguments: &[&str]| {
        let output = Command::new("tar").args(arguments).current_dir(folder.path("")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let names = tar(&["-tf", "all.tar"]);
    let streams: String = (0..4).map(|rank| format!("rank-{rank:06}.tit.gz\n")).collect();
    assert_eq!(names, format!("manifest.json\n{streams}"));
    fs::create_dir(folder.path("unpacked")).unwrap();
    tar(&["-xf", "all.tar", "-C", "unpacked"]);
    tar(&["-cf", "packed.tar", "./unpacked"]);
    tar(&["--format=posix", "-cf", "a-and-b.tar", "a", "b"]);
    for name in ["unpacked", "packed.tar", "a-and-b.tar"] {
        assert_eq!(read(&[folder.path(name)]).unwrap(), vec![events(); 4], "{name}");
    }
}

#[test]
fn a_torn_archive_is_known_as_one() {
    let folder = two_hosts();
    let whole = fs::read(gathered(&folder, &["a", "b"], "all.tar").unwrap()).unwrap();
    let torn = folder.path("torn.tar");
    for length in (512..whole.len()).step_by(61) {
        fs::write(&torn, &whole[..length]).unwrap();
        let error = read(&[&torn]).unwrap_err();
        assert!(matches!(error, TraceError::Archive { .. }), "{length} of {}: {error}", whole.len());
    }
}

#[test]
fn thousands_of_ranks_take_sub_folders_and_few_open_files() {
    const RANKS: u32 = 4100;
    let folder = Folder::new();
    folder.manifest("many", RANKS);
    folder.ranks("many", 0..RANKS, RANKS);
    assert!(folder.path("many/rank-003999.tit.gz").exists() && folder.path("many/004/rank-004099.tit.gz").exists());
    let archive = gathered(&folder, &["many"], "many.tar").unwrap();
    for place in [folder.path("many"), archive] {
        let source = Trace::open(&place).unwrap();
        let mut streams = source.streams().unwrap();
        for stream in &mut streams {
            stream.next_event().unwrap();
        }
        let open = fs::read_dir("/proc/self/fd").unwrap().count();
        assert!(open < 100, "{open} open files");
    }
}

#[test]
fn what_does_not_belong_together_is_named() {
    let mut all = Vec::new();
    let mut refuse = |what: &str, places: &[&str], damage: &dyn Fn(&Folder)| {
        let folder = two_hosts();
        damage(&folder);
        let error = gathered(&folder, places, "all.tar").unwrap_err().to_string();
        assert!(!folder.path("all.tar.unfinished").exists(), "{what}");
        all.push(format!("{what}\n    {}", folder.without_its_name(&error)));
    };
    let nothing = |_: &Folder| {};
    refuse("a host is missing", &["a"], &nothing);
    refuse("the host of rank 0 is missing", &["b"], &nothing);
    refuse("a directory twice", &["a", "b", "a"], &nothing);
    refuse("a rank twice", &["a", "b", "c"], &|folder| folder.ranks("c", [3], 4));
    refuse("a stranger", &["a", "b", "c"], &|folder| folder.ranks("c", [7], 4));
    refuse("a rank of another run", &["a", "c"], &|folder| {
        folder.ranks_of("another run", "c", [1, 3], 4);
    });
    refuse("a stream is missing", &["a", "b"], &|folder| {
        fs::remove_file(folder.path("b/rank-000003.tit.gz")).unwrap();
    });
    refuse("a stream that was changed", &["a", "b"], &|folder| {
        let path = directory::stream(&folder.path("b"), Rank(3));
        let mut bytes = fs::read(&path).unwrap();
        bytes[20] ^= 1;
        fs::write(path, bytes).unwrap();
    });
    refuse("an entry of another rank", &["a", "b"], &|folder| {
        fs::copy(folder.path("b/rank-000001.json"), folder.path("b/rank-000003.json")).unwrap();
    });
    refuse("nothing", &["nowhere"], &nothing);
    refuse("no trace", &["empty"], &|folder| fs::create_dir(folder.path("empty")).unwrap());
    refuse("another file", &["a", "text"], &|folder| fs::write(folder.path("text"), "0 init\n").unwrap());
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn nothing_is_overwritten() {
    let folder = two_hosts();
    fs::write(folder.path("all.tar"), "mine").unwrap();
    let error = gathered(&folder, &["a", "b"], "all.tar").unwrap_err().to_string();
    assert_eq!(folder.without_its_name(&error), "DIR/all.tar: it exists already, and nothing is overwritten");
    assert_eq!(fs::read(folder.path("all.tar")).unwrap(), b"mine");
}

#[test]
fn a_rank_that_was_killed_is_gathered_as_it_is() {
    let folder = two_hosts();
    let path = directory::stream(&folder.path("b"), Rank(3));
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 40]).unwrap();
    folder.running("b", 3);
    let result = gather(&paths(&folder, &["a", "b"]), &folder.path("all.tar")).unwrap();
    assert_eq!((result.ranks, result.unchecked), (4, 1));
    assert!(matches!(read(&[folder.path("all.tar")]), Err(TraceError::Torn { .. })));
    let source = Trace::open(&folder.path("all.tar")).unwrap().partial(true);
    let mut stream = source.stream(Rank(3)).unwrap();
    while stream.next_event().unwrap().is_some() {}
    assert_eq!(stream.events(), 2);
    let manifest: &Manifest = source.manifest().unwrap();
    assert_eq!(manifest.per_rank[3].ended, Ended::Running);
}
