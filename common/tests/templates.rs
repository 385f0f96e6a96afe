//! Streams for several ranks from outside: each rank has the events that it had in its own stream.

#![cfg(test)] // Tells clippy that helpers are tests too.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use tempfile::TempDir;
use titr_common::event::{
    CommId, Completed, Completion, Event, Incoming, Mark, Outgoing, Quantifier, Rank, RequestId, SendMode, Tag,
    ThreadId, Wildcard,
};
use titr_common::trace::manifest::{Ended, RankEntry};
use titr_common::trace::{Ending, Manifest, RankWriter, Trace, TraceError, complete, gather};
use titr_common::units::{Bytes, Instructions};

/// A number of each rank of a world.
#[derive(Clone, Debug)]
enum Of {
    /// So much more than the rank's own, modulo the size of the world.
    Shifted(u32),
    /// The rank's own, with a bit that differs.
    Flipped(u32),
    /// The same for all ranks.
    All(u32),
    /// Any, by a hash of the rank.
    Any(u32),
}

impl Of {
    fn number(&self, rank: u32, world: u32) -> u32 {
        match self {
            Self::Shifted(by) => (rank + by) % world,
            Self::Flipped(bit) => (rank ^ bit) % world,
            Self::All(number) => number % world,
            Self::Any(seed) => (rank + 1).wrapping_mul(seed | 1) % 1009 % world,
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Send(Of, u64),
    Receive(Of),
    Compute(Of),
    Wait,
    /// Only some ranks do this.
    Region(Of),
    /// A name that looks like a place.
    Dollar,
}

fn of() -> impl Strategy<Value = Of> {
    let numbers = 0..9_u32;
    prop_oneof![
        numbers.clone().prop_map(Of::Shifted),
        numbers.clone().prop_map(Of::Flipped),
        numbers.clone().prop_map(Of::All),
        numbers.prop_map(Of::Any),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (of(), 0..100_u64).prop_map(|(of, bytes)| Step::Send(of, bytes)),
        4 => of().prop_map(Step::Receive),
        4 => of().prop_map(Step::Compute),
        2 => Just(Step::Wait),
        1 => of().prop_map(Step::Region),
        1 => Just(Step::Dollar),
    ]
}

fn event(step: &Step, rank: u32, world: u32) -> Option<Event> {
    let (comm, tag) = (CommId::WORLD, Tag(7));
    Some(match step {
        Step::Send(of, bytes) => {
            let message = Outgoing { comm, to: Rank(of.number(rank, world)), tag, bytes: Bytes(*bytes) };
            Event::Send(SendMode::Standard, message, Completion::Blocking)
        }
        Step::Receive(of) => {
            let from = Some(Rank(of.number(rank, world)));
            let message = Incoming { comm, from, tag: Some(tag), bytes: Bytes(8), wildcard: Wildcard::NONE };
            Event::Recv(message, Completion::Request(Some(RequestId(1))))
        }
        Step::Compute(of) => Event::Compute(Instructions(f64::from(of.number(rank, world)) * 100.0)),
        Step::Wait => Event::Wait(Quantifier::All, Completed::Outstanding(None)),
        Step::Region(of) if of.number(rank, world) % 2 == 1 => Event::Mark(Mark::RegionBegin("inner".into())),
        Step::Region(_) => return None,
        Step::Dollar => Event::Mark(Mark::RegionBegin("$1".into())),
    })
}

/// Writes the trace of a program, rank by rank.
fn write(directory: &Path, world: u32, steps: &[Step], rounds: u32) -> Manifest {
    fs::create_dir(directory).unwrap();
    let mut manifest = Manifest::of_unknown_origin(world);
    for entry in &mut manifest.per_rank {
        let mut writer = RankWriter::create(directory, Rank(entry.rank)).unwrap();
        for _ in 0..rounds {
            for event in steps.iter().filter_map(|step| event(step, entry.rank, world)) {
                writer.write(ThreadId::MAIN, &event).unwrap();
            }
        }
        *entry = writer
            .finish(RankEntry { pid: 100 + entry.rank, ..entry.clone() }.with(|entry| entry.ended = Ended::Finalize))
            .unwrap();
    }
    manifest
}

fn events(path: &Path) -> Vec<Vec<Event>> {
    let trace = Trace::open(path).unwrap();
    let read = |rank| {
        let mut stream = trace.stream(Rank(rank)).unwrap();
        std::iter::from_fn(|| stream.next_event().unwrap()).collect()
    };
    (0..trace.ranks()).map(read).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn each_rank_has_the_events_of_its_own_stream(
        world in 1..40_u32,
        steps in prop::collection::vec(step(), 0..12),
        rounds in 1..4_u32,
    ) {
        let folder = TempDir::new().unwrap();
        let [apart, shared, gathered] = ["apart", "shared", "gathered.tar"].map(|name| folder.path().join(name));
        let own = write(&apart, world, &steps, rounds);
        own.write(&apart).unwrap();
        complete(&shared, write(&shared, world, &steps, rounds)).unwrap();
        let manifest = Manifest::read(&shared).unwrap();
        for (entry, own) in manifest.per_rank.iter().zip(&own.per_rank) {
            prop_assert_eq!((entry.rank, entry.pid, entry.events), (own.rank, own.pid, own.events));
            let file = Trace::open(&shared).unwrap().file_of(Rank(entry.rank)).unwrap().unwrap();
            prop_assert_eq!(file.checksum().unwrap(), entry.crc32.unwrap());
        }
        let expected = events(&apart);
        prop_assert_eq!(&events(&shared), &expected);
        gather(&[&shared], &gathered).unwrap();
        prop_assert_eq!(&events(&gathered), &expected);
    }
}

/// A program in which each rank exchanges messages with its neighbours in a square grid.
fn stencil(side: u32) -> TempDir {
    let folder = TempDir::new().unwrap();
    let mut manifest = Manifest::of_unknown_origin(side * side);
    for entry in &mut manifest.per_rank {
        let (x, y) = (entry.rank % side, entry.rank / side);
        let mut writer = RankWriter::create(folder.path(), Rank(entry.rank)).unwrap();
        let neighbours = [(x > 0, -1), (x + 1 < side, 1), (y > 0, -(side as i32)), (y + 1 < side, side as i32)];
        for _ in 0..10 {
            for (_, by) in neighbours.into_iter().filter(|(is_there, _)| *is_there) {
                let to = Rank(entry.rank.checked_add_signed(by).unwrap());
                let message = Outgoing { comm: CommId::WORLD, to, tag: Tag(0), bytes: Bytes(640) };
                let send = Event::Send(SendMode::Standard, message, Completion::Blocking);
                writer.write(ThreadId::MAIN, &send).unwrap();
            }
        }
        *entry = writer.finish(entry.clone().with(|entry| entry.ended = Ended::Finalize)).unwrap();
    }
    complete(folder.path(), manifest).unwrap();
    folder
}

/// The size of all files of the trace.
fn size_of_stencil(side: u32) -> u64 {
    fs::read_dir(stencil(side).path()).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum()
}

#[test]
fn a_template_is_readable() {
    let folder = stencil(4);
    let mut text = String::new();
    let file = fs::File::open(folder.path().join("ranks-000005.tit.gz")).unwrap();
    MultiGzDecoder::new(file).read_to_string(&mut text).unwrap();
    insta::assert_snapshot!(text);
    let mut manifest: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.path().join("manifest.json")).unwrap()).unwrap();
    for shared in manifest["shared"].as_array_mut().unwrap() {
        // These depend on the version of the compressor.
        shared["entry"]["disk"] = 0.into();
        shared["entry"]["crc32"] = 0.into();
    }
    insta::assert_snapshot!(serde_json::to_string_pretty(&manifest).unwrap());
}

#[test]
fn the_size_of_a_trace_hardly_grows_with_its_ranks() {
    let [small, large] = [8, 32].map(size_of_stencil);
    assert!(2 * large <= 3 * small, "{small} bytes of 64 ranks, {large} bytes of 1024");
}

#[test]
fn a_template_that_breaks_off_leaves_the_streams_of_other_ranks() {
    let folder = stencil(4);
    let path = folder.path().join("ranks-000005.tit.gz");
    let whole = fs::read(&path).unwrap();
    let expected = events(folder.path());
    // Within the first line, and within the ranks and columns.
    for length in [10, whole.len() - 10] {
        fs::write(&path, &whole[..length]).unwrap();
        let trace = Trace::open(folder.path()).unwrap();
        let partial = trace.clone().partial(true);
        for (rank, expected) in (0..).zip(&expected) {
            let mut stream = partial.stream(Rank(rank)).unwrap();
            let read: Vec<Event> = std::iter::from_fn(|| stream.next_event().unwrap()).collect();
            if ![5, 6, 9, 10].contains(&rank) {
                assert_eq!((&read, stream.ending()), (expected, Some(Ending::Complete)), "{rank}");
                continue;
            }
            assert!(read.is_empty() && matches!(stream.ending(), Some(Ending::Torn(_))), "{rank}: {read:?}");
            let error = trace.stream(Rank(rank)).unwrap().next_event().expect_err("a torn stream").to_string();
            assert!(error.contains("ranks-000005.tit.gz: torn after line"), "{error}");
        }
    }
    fs::write(&path, "").unwrap();
    let trace = Trace::open(folder.path()).unwrap();
    assert!(trace.stream(Rank(0)).is_ok());
    assert!(matches!(trace.stream(Rank(10)), Err(TraceError::Empty { path: empty }) if empty == path));
}

#[test]
fn a_template_that_is_missing_is_named() {
    let folder = stencil(4);
    fs::remove_file(folder.path().join("ranks-000005.tit.gz")).unwrap();
    let what = "the stream of ranks 5–6, 9–10 is missing: copy it here, or give the directory that has it as well";
    assert_eq!(refusal(&folder), format!("DIR/ranks-000005.tit.gz: {what}"));
}

/// A trace of four ranks with one template.
fn template(ranks: &str, columns: &[&str], lines: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let mut manifest = Manifest::of_unknown_origin(4);
    manifest.titr = 2;
    manifest.write(folder.path()).unwrap();
    let columns: String = (1..).zip(columns).map(|(place, column)| format!("# ${place} {column}\n")).collect();
    let mut file =
        GzEncoder::new(fs::File::create(folder.path().join("ranks-000000.tit.gz")).unwrap(), Compression::fast());
    write!(file, "# titr 1\n# ranks {ranks}\n{columns}{lines}").unwrap();
    file.finish().unwrap();
    folder
}

/// The message about the first rank that cannot be read.
fn refusal(folder: &TempDir) -> String {
    let read = Trace::open(folder.path()).and_then(|trace| {
        for rank in 0..trace.ranks() {
            let mut stream = trace.stream(Rank(rank))?;
            while stream.next_event()?.is_some() {}
        }
        Ok(())
    });
    let error = read.expect_err("a mistake").to_string();
    error.replace(&folder.path().display().to_string(), "DIR")
}

#[test]
fn mistakes_in_a_template_are_named() {
    let ring = "$0 send $1 0 8\n# end 1\n";
    assert_eq!(
        events(template("0*4+1", &["rank 1*3 -3"], ring).path())[3],
        events(template("0*4+1", &["1*3+1 0"], ring).path())[3]
    );
    let shown = [
        ("a rank twice", template("0*4+1 3", &["1*5"], ring)),
        ("a rank in no stream", template("0*3+1", &["1*3"], ring)),
        ("a rank that the trace does not have", template("0*5+1", &["1*5"], ring)),
        ("no ranks", template("", &[], ring)),
        ("more ranks than there are", template("0*4294967295+1", &[], ring)),
        ("more ranks than may share streams, in two of them", {
            let folder = template("0*300000+1", &["1*300000"], ring);
            let another = template("300000*300000+1", &["1*300000"], ring);
            fs::copy(another.path().join("ranks-000000.tit.gz"), folder.path().join("ranks-300000.tit.gz")).unwrap();
            folder
        }),
        ("too long a list of ranks", template(&format!("0*4+1{}", " ".repeat(16 << 20)), &["1*4"], ring)),
        ("too few numbers", template("0*4+1", &["1*3"], ring)),
        ("too many numbers", template("0*4+1", &["1*3 2*2 x"], ring)),
        ("too long a column", template("0*4+1", &[&format!("x{}", " ".repeat(16 << 20))], ring)),
        ("a column that is none", template("0*4+1", &["1*3 x"], ring)),
        ("a place without a column", template("0*4+1", &[], ring)),
        ("a place without a number", template("0*4+1", &["1*4"], "$0 send $ 0 8\n# end 1\n")),
        ("a peer before the first rank", template("0*4+1", &["rank -1*4"], ring)),
        ("a peer after the last rank", template("0*4+1", &["rank 1*4"], ring)),
        ("another rank", template("0*4+1", &["1*4"], "$1 send 0 0 8\n# end 1\n")),
        ("fewer events than it says", template("0*4+1", &["1*4"], "$0 send $1 0 8\n# end 2\n")),
        ("no end", template("0*4+1", &["1*4"], "$0 send $1 0 8\n")),
    ]
    .map(|(name, folder)| format!("{name}\n    {}\n", refusal(&folder)));
    insta::assert_snapshot!(shown.concat());
}

#[test]
fn mistakes_in_common_entries_are_named() {
    let entry = r#""entry": {"rank": 0, "host": "", "pid": 0, "ended": "finalize", "events": 1, "text": 0, "disk": 0,
        "counter": {"kind": "", "unit": "", "resolution": 0}}"#;
    let shown = [
        ("a rank twice", r#""ranks": "0*4+1", "pid": "0*4"}, {"ranks": "3", "pid": "0""#),
        (
            "more ranks than are read",
            r#""ranks": "0*300000+1", "pid": "0*300000"}, {"ranks": "300000*300000+1", "pid": "0*300000""#,
        ),
        (
            "ranks of a short text that are not even listed",
            r#""ranks": "0*300000+1", "pid": "0*300000"}, {"ranks": "900000*300000-1", "pid": "0*300000""#,
        ),
        ("a rank without an entry", r#""ranks": "0*3+1", "pid": "0*3""#),
        ("too few numbers", r#""ranks": "0*4+1", "pid": "0*3""#),
        ("a number that is none", r#""ranks": "0*4+1", "pid": "x""#),
        ("a negative number", r#""ranks": "0*4+1", "pid": "rank -1*4""#),
        ("a newer version", r#""ranks": "0*4+1", "pid": "0*4""#),
    ]
    .map(|(name, shared)| {
        let folder = template("0*4+1", &["1*4"], "$0 send $1 0 8\n# end 1\n");
        let version = if name == "a newer version" { 3 } else { 2 };
        let shared = shared.replace("}, {", &format!(", {entry}}}, {{"));
        let manifest = format!(r#"{{"titr": {version}, "mode": "ti", "ranks": 4, "shared": [{{{shared}, {entry}}}]}}"#);
        fs::write(folder.path().join("manifest.json"), manifest).unwrap();
        format!("{name}\n    {}\n", refusal(&folder))
    });
    insta::assert_snapshot!(shown.concat());
}
