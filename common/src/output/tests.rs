use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::TempDir;

use super::*;
use crate::input;
use crate::trace::Trace;
use crate::units::Bytes;

fn names(folder: &TempDir) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_is_the_old_one_until_it_is_finished() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("out");
    fs::write(&path, "old").unwrap();
    let mut file = OutputFile::create(&path).unwrap();
    file.write_all(b"new").unwrap();
    file.flush().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"old");
    drop(file);
    assert_eq!((fs::read(&path).unwrap(), names(&folder)), (b"old".to_vec(), vec!["out".to_owned()]));
    OutputFile::write(&path, b"new").unwrap();
    assert_eq!((fs::read(&path).unwrap(), names(&folder)), (b"new".to_vec(), vec!["out".to_owned()]));
}

#[test]
fn permissions_are_those_of_a_plain_file() {
    let folder = TempDir::new().unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    let (plain, new) = (folder.path().join("plain"), folder.path().join("new"));
    fs::write(&plain, "").unwrap();
    OutputFile::write(&new, b"").unwrap();
    assert_eq!(mode(&new), mode(&plain));
    fs::set_permissions(&new, fs::Permissions::from_mode(0o640)).unwrap();
    OutputFile::write(&new, b"again").unwrap();
    assert_eq!(mode(&new), 0o640);
}

#[test]
fn a_link_stays_and_its_file_is_replaced() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    symlink("file", at("link")).unwrap();
    symlink("link", at("second")).unwrap();
    for content in ["one", "two"] {
        OutputFile::write(&at("second"), content.as_bytes()).unwrap();
        assert_eq!(fs::read_to_string(at("file")).unwrap(), content);
        assert!(fs::symlink_metadata(at("second")).unwrap().is_symlink());
    }
    symlink("round", at("round")).unwrap();
    assert!(OutputFile::create(&at("round")).is_err());
}

#[test]
fn devices_are_written_as_they_are() {
    OutputFile::write(Path::new("/dev/null"), b"gone").unwrap();
    let error = OutputFile::write(Path::new("/dev/full"), b"gone").unwrap_err();
    assert_eq!(error.to_string(), "cannot write /dev/full: No space left on device (os error 28)");
}

#[test]
fn errors_name_the_file_once() {
    let folder = TempDir::new().unwrap();
    for path in [folder.path().join("missing/out"), folder.path().to_owned()] {
        let error = OutputFile::create(&path).unwrap_err().to_string();
        assert!(error.starts_with(&format!("cannot write {}: ", path.display())), "{error}");
        assert_eq!(error.matches("cannot write").count(), 1);
    }
}

#[test]
fn a_directory_is_as_it_was_unless_it_is_finished() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a/b");
    let fill = |directory: &OutputDirectory| {
        fs::create_dir(directory.path().join("inner")).unwrap();
        fs::write(directory.path().join("inner/file"), "").unwrap();
    };
    let directory = OutputDirectory::create(&path).unwrap();
    // Who comes second takes nothing away.
    assert_eq!(OutputDirectory::create(&path).unwrap_err().kind(), std::io::ErrorKind::ResourceBusy);
    fill(&directory);
    drop(directory);
    assert!(names(&folder).is_empty());
    fs::create_dir_all(&path).unwrap();
    let directory = OutputDirectory::create(&path).unwrap();
    fill(&directory);
    drop(directory);
    assert!(path.exists() && fs::read_dir(&path).unwrap().next().is_none());
    let directory = OutputDirectory::create(&path).unwrap();
    fill(&directory);
    directory.finish();
    assert!(path.join("inner/file").exists());
    let refused = OutputDirectory::create(&path).unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::DirectoryNotEmpty);
}

/// A message of `claim`, if it refuses these outputs.
fn refusal<const N: usize>(outputs: [&Path; N]) -> Option<String> {
    claim(outputs.map(Path::to_owned)).err().map(|error| error.to_string())
}

#[test]
fn an_output_is_no_input_by_any_name_and_whenever_it_was_opened() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("trace"), "kept").unwrap();
    fs::hard_link(at("trace"), at("hard")).unwrap();
    symlink("trace", at("soft")).unwrap();
    symlink(folder.path(), at("folder")).unwrap();
    let names = ["trace", "hard", "soft", "folder/trace", "folder/./folder/soft"];
    let _command = Command::begin();
    let mut begun = names.map(|name| OutputFile::create(&at(name)).unwrap());
    assert_eq!(input::read(&at("trace"), Bytes(4)).unwrap(), b"kept");
    for (name, begun) in names.into_iter().zip(&mut begun) {
        let expected = Clash::IsInput { output: at(name) }.to_string();
        assert_eq!(refusal([&at(name)]), Some(expected.clone()));
        assert_eq!(OutputFile::create(&at(name)).unwrap_err().to_string(), expected);
        assert_eq!(begun.finish().unwrap_err().to_string(), expected);
        assert_eq!(refusal([&at("other")]), None);
    }
    assert_eq!(fs::read_to_string(at("trace")).unwrap(), "kept");
}

#[test]
fn an_input_may_be_written_after_the_command_that_read_it() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "1").unwrap();
    // Other tests of this process have commands of their own, for a moment.
    let is_written = || {
        let is_written_now = |_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            OutputFile::write(&path, b"2").is_ok()
        };
        (0..500).any(is_written_now)
    };
    // Without a command, the program that uses the library knows what it does.
    input::read(&path, Bytes(9)).unwrap();
    assert!(is_written());
    let command = Command::begin();
    input::read(&path, Bytes(9)).unwrap();
    assert!(OutputFile::write(&path, b"3").is_err());
    drop(command);
    assert!(is_written());
}

#[test]
fn a_trace_gets_no_further_parts() {
    let folder = TempDir::new().unwrap();
    let trace = folder.path().join("trace");
    fs::create_dir_all(trace.join("004")).unwrap();
    symlink(&trace, folder.path().join("link")).unwrap();
    let _command = Command::begin();
    // It has no manifest, but was searched for one.
    assert!(Trace::open(&trace).is_err());
    for part in ["manifest.json", "rank-000007.tit.gz", "rank-000007.json", ".ended", ".job", "004/rank-004000.tit.gz"]
    {
        for place in [trace.join(part), folder.path().join("link").join(part)] {
            let said = OutputFile::create(&place).unwrap_err().to_string();
            assert!(said.contains("would become a file of the trace"), "{part}: {said}");
            assert_eq!(refusal([&place]), Some(said));
        }
    }
    assert!(
        OutputDirectory::create(&trace.join("005")).is_err() && HiddenDirectory::beside(&trace.join("005")).is_err()
    );
    assert_eq!(refusal([&trace.join("report.html")]), None);
    OutputFile::write(&trace.join("report.html"), b"").unwrap();
}

#[test]
fn nothing_is_written_twice_but_devices() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    symlink(folder.path(), at("folder")).unwrap();
    symlink("out", at("link")).unwrap();
    for name in ["out", "folder/out", "link"] {
        let expected = Clash::Twice { first: at("out"), second: at(name) }.to_string();
        assert_eq!(refusal([&at("out"), &at(name)]), Some(expected), "{name}");
    }
    assert_eq!(refusal([Path::new("/dev/null"), Path::new("/dev/null"), &at("out")]), None);
}

#[test]
fn a_name_that_is_taken_stays_with_its_owner() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    let file = |path: &Path| fs::write(path, "new").unwrap();
    let directory = |path: &Path| {
        fs::create_dir(path).unwrap();
        fs::write(path.join("file"), "new").unwrap();
    };
    for made_by in [&file as &dyn Fn(&Path), &directory] {
        let hidden = [(); 2].map(|()| HiddenDirectory::beside(&at("name")).unwrap());
        let places = hidden.each_ref().map(|hidden| hidden.path("whole"));
        places.iter().for_each(|place| made_by(place));
        give_name(&places[0], &at("name")).unwrap();
        let taken = give_name(&places[1], &at("name")).unwrap_err();
        assert_eq!(taken.kind(), std::io::ErrorKind::AlreadyExists);
        drop(hidden);
        assert_eq!(names(&folder), ["name"]);
        fs::remove_file(at("name")).or_else(|_| fs::remove_dir_all(at("name"))).unwrap();
    }
}

#[test]
fn a_place_that_another_process_takes_for_abandoned_is_made_again() {
    let folder = TempDir::new().unwrap();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                remove_leftovers(folder.path());
            }
        });
        let hidden: io::Result<Vec<_>> =
            (0..500).map(|_| HiddenDirectory::beside(&folder.path().join("out"))).collect();
        is_done.store(true, Ordering::Relaxed);
        assert!(hidden.unwrap().iter().all(|hidden| hidden.path("").is_dir()));
    });
}
