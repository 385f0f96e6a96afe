//! Parts of a trace that are on other hosts: `HOST:PATH`, as `scp` has it, brought here by `ssh` and `tar`.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use titr_common::output::HiddenDirectory;
use titr_common::trace::TraceError;

/// Parts that are all here. What was fetched is gone when this is dropped.
pub(super) struct Fetched {
    pub(super) paths: Vec<PathBuf>,
    _folder: Option<HiddenDirectory>,
}

impl Fetched {
    /// Fetches those of `parts` that are elsewhere, with `shell` (such as `ssh -p 2222`), to the place where `output` will be.
    ///
    /// # Errors
    /// If a host cannot be reached or a part does not exist. The shell has already printed the reason.
    pub(super) fn fetch(parts: &[PathBuf], output: &Path, shell: &str) -> Result<Self, TraceError> {
        let mut paths = parts.to_vec();
        let mut fetched = None;
        for path in &mut paths {
            let Some((host, remote)) = elsewhere(path) else { continue };
            let folder = match fetched.take() {
                Some(folder) => folder,
                None => HiddenDirectory::beside(output).map_err(TraceError::io(output))?,
            };
            let local = folder.path(&path.to_string_lossy().replace('/', "_")).with_added_extension("tar");
            fetch(shell, &host, &remote, &local).map_err(|what| TraceError::Directory { path: path.clone(), what })?;
            *path = local;
            fetched = Some(folder);
        }
        Ok(Self { paths, _folder: fetched })
    }
}

/// Host and path of a part; `None` if it is here.
fn elsewhere(part: &Path) -> Option<(String, String)> {
    let (host, path) = part.to_str()?.split_once(':')?;
    let is_host = !host.is_empty() && !host.starts_with('-') && !host.contains('/');
    (is_host && !path.is_empty() && !part.exists()).then(|| (host.to_owned(), path.to_owned()))
}

/// Writes a directory, packed, or an archive as it is.
fn fetch(shell: &str, host: &str, remote: &str, local: &Path) -> Result<(), String> {
    let quoted = shlex::try_quote(remote).map_err(|error| error.to_string())?;
    let is_archive = Path::new(remote).extension() == Some(OsStr::new("tar"));
    let script = if is_archive { format!("cat -- {quoted}") } else { format!("tar -cf - -C {quoted} .") };
    let mut words = shlex::split(shell).ok_or("--rsh has a quote that is not closed")?.into_iter();
    let program = words.next().ok_or("--rsh is empty")?;
    let file = File::create_new(local).map_err(|error| format!("{}: {error}", local.display()))?;
    let status = Command::new(&program)
        .args(words)
        .args([host, &script])
        .stdin(Stdio::null())
        .stdout(file)
        .status()
        .map_err(|error| format!("cannot run {program}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("'{shell} {host} {script}' failed ({status})")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_host_is_elsewhere() {
        let split = |part: &str| elsewhere(Path::new(part));
        let is = |host: &str, path: &str| Some((host.to_owned(), path.to_owned()));
        assert_eq!(split("node1:traces"), is("node1", "traces"));
        assert_eq!(split("me@node1:/tmp/a:b"), is("me@node1", "/tmp/a:b"));
        for here in ["traces", "./a:b", "/tmp/a:b", ":x", "node1:", "-oProxyCommand=x:y"] {
            assert_eq!(split(here), None, "{here}");
        }
    }
}
