//! Runs the commands.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use titr_common::event::Rank;
use titr_common::trace::manifest::{Counter, Ended, Mode, RankEntry, VERSION};
use titr_common::trace::{Manifest, StreamWriter};
use titr_common::units::Bytes;

/// The folder of the examples, and of this test's data.
pub fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A folder that is gone after the test.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file in it.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Writes a trace directory as titr's tracer does, from the text of each rank.
    pub fn trace(&self, ranks: &[&str]) {
        let path = self.path().join("traces");
        std::fs::create_dir(&path).unwrap();
        let manifest = Manifest {
            titr: VERSION,
            mode: Mode::Ti,
            ranks: ranks.len() as u32,
            command: vec!["./a.out".into(), "100".into()],
            mpi: "Some MPI 1.0".into(),
            config: BTreeMap::new(),
            untraced_ranks: Vec::new(),
            foreign: None,
            started: None,
            combined: None,
            names: Vec::new(),
            per_rank: Vec::new(),
        };
        manifest.write(&path).unwrap();
        for (rank, text) in (0..).zip(ranks) {
            let mut stream = StreamWriter::create(&path, Rank(rank), 3).unwrap();
            stream.write_member(text.as_bytes()).unwrap();
            let events = text.lines().count() as u64;
            let written = stream.finish(events).unwrap();
            let counter = Counter { rate: Some(1e9), resolution: 25.0, ..Counter::exact("cpu") };
            let mut entry = RankEntry { pid: 100 + rank, ..RankEntry::new(Rank(rank), counter) };
            (entry.run, entry.host, entry.cpu) = ("a run".into(), "node-1".into(), "a processor".into());
            (entry.ended, entry.events, entry.text) = (Ended::Finalize, events, Bytes(text.len() as u64));
            (entry.disk, entry.crc32) = (written.size, Some(written.crc32));
            entry.untraced = BTreeMap::from([("MPI_Put".to_owned(), 2)]);
            entry.local = BTreeMap::from([("MPI_Comm_rank".to_owned(), 1)]);
            entry.end(&path, ranks.len() as u32).unwrap();
        }
    }

    /// What a command run in it prints, and its exit status.
    pub fn run(&self, command: &str, arguments: &[&str]) -> String {
        let output = Command::new(command).args(arguments).current_dir(self.path()).output().unwrap();
        let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        if output.status.success() {
            super::schema::check(command, arguments, &out);
        }
        let shown = format!("{out}{err}[{}]", output.status.code().map_or("killed".into(), |code| code.to_string()));
        shown.replace(env!("CARGO_MANIFEST_DIR"), "…")
    }
}

pub const TITR: &str = env!("CARGO_BIN_EXE_titr");
pub const TITR_REPLAY: &str = env!("CARGO_BIN_EXE_titr-replay");

/// A picture in `folder` as `pj_dump` reads it, which is in the package pajeng.
pub fn pj_dump(folder: &Folder, picture: &str) -> String {
    let mut command = Command::new("pj_dump");
    command.args(["--user-defined", "--float-precision=9", picture]).current_dir(folder.path());
    let dump = command.output().unwrap();
    let [out, err] = [dump.stdout, dump.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(dump.status.success() && err.is_empty(), "{err}");
    out
}
