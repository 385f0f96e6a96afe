use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use tempfile::TempDir;

use super::*;

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

#[test]
fn an_output_is_no_input_by_any_name() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("trace"), "").unwrap();
    fs::hard_link(at("trace"), at("hard")).unwrap();
    symlink("trace", at("soft")).unwrap();
    symlink(folder.path(), at("folder")).unwrap();
    for name in ["trace", "hard", "soft", "folder/trace", "folder/./folder/soft"] {
        let mut claims = Claims::default();
        claims.read(&at("trace")).unwrap();
        assert_eq!(claims.write(&at(name)), Err(Clash::IsInput { output: at(name) }));
        assert_eq!(claims.write(&at("other")), Ok(()));
    }
}

#[test]
fn a_trace_gets_no_further_parts() {
    let folder = TempDir::new().unwrap();
    let trace = folder.path().join("trace");
    fs::create_dir(&trace).unwrap();
    let mut claims = Claims::default();
    claims.read(&trace).unwrap();
    for part in ["manifest.json", "rank-000007.tit.gz", "rank-000007.json", ".ended", ".job"] {
        assert!(matches!(claims.write(&trace.join(part)), Err(Clash::InTrace { .. })), "{part}");
    }
    fs::create_dir(trace.join("004")).unwrap();
    assert!(claims.write(&trace.join("004/rank-004000.tit.gz")).is_err());
    assert_eq!(claims.write(&trace.join("report.html")), Ok(()));
}

#[test]
fn nothing_is_written_twice_but_devices() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mut claims = Claims::default();
    assert_eq!(claims.write(&at("out")), Ok(()));
    symlink(folder.path(), at("folder")).unwrap();
    symlink("out", at("link")).unwrap();
    for name in ["out", "folder/out", "link"] {
        assert_eq!(claims.write(&at(name)), Err(Clash::Twice { first: at("out"), second: at(name) }), "{name}");
    }
    assert_eq!(claims.write(Path::new("/dev/null")), Ok(()));
    assert_eq!(claims.write(Path::new("/dev/null")), Ok(()));
}
