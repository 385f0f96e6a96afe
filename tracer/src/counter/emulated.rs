//! Instructions of the calling thread, counted by the emulator that executes the program.
//!
//! The emulator's plug-in, `libtitremulation.so`, counts into a memory file. A reading is one access to memory.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::fd::AsRawFd as _;
use std::path::PathBuf;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use titr_config::emulation::{Counts, FILE, MAGIC, VERSION};

/// The counts of this process, once they are mapped.
static COUNTS: OnceLock<Result<&'static Counts, String>> = OnceLock::new();

pub(super) struct Emulated {
    count: &'static AtomicU64,
    started: u64,
}

/// Whether a thread of this process is the emulator's own: it executes nothing of the program.
pub(super) fn is_emulators(thread: i32) -> bool {
    let Some(Ok(counts)) = COUNTS.get() else { return false };
    counts.threads.iter().all(|slot| slot.thread.load(Relaxed) != thread)
}

impl Emulated {
    pub(super) fn of_this_thread() -> Result<Self, String> {
        let counts = COUNTS.get_or_init(map).clone()?;
        // SAFETY: has no arguments.
        let own = unsafe { libc::gettid() };
        let slot = counts.threads.iter().find(|slot| slot.thread.load(Relaxed) == own);
        let Some(slot) = slot else {
            return Err(format!(
                "the emulator counts {} threads at a time, and this one is not among them",
                counts.threads.len()
            ));
        };
        let count = &slot.instructions;
        Ok(Self { count, started: count.load(Relaxed) })
    }

    #[inline]
    pub(super) fn start(&mut self) {
        self.started = self.count.load(Relaxed);
    }

    /// The count since [`start`](Self::start).
    #[inline]
    pub(super) fn stop(&mut self) -> u64 {
        self.count.load(Relaxed).wrapping_sub(self.started)
    }
}

/// Finds the plug-in's memory file and maps it.
fn map() -> Result<&'static Counts, String> {
    let Some(path) = find() else {
        return Err(
            "no emulator counts the instructions of this program: start it with `titrace --counter emulated PROGRAM`"
                .into(),
        );
    };
    let unreadable =
        |error: std::io::Error| format!("the counts of the emulator's plug-in, {}: {error}", path.display());
    let mut file = File::open(&path).map_err(unreadable)?;
    let mut header = [0; 16];
    file.read_exact(&mut header).map_err(unreadable)?;
    check(header)?;
    let size = size_of::<Counts>();
    if file.metadata().map_err(unreadable)?.len() < size as u64 {
        return Err(format!("the counts of the emulator's plug-in, {}, are shorter than {size} bytes", path.display()));
    }
    // SAFETY: a new mapping, as long as the file, which the plug-in never shortens.
    let page = unsafe { libc::mmap(ptr::null_mut(), size, libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd(), 0) };
    if page == libc::MAP_FAILED {
        return Err(unreadable(std::io::Error::last_os_error()));
    }
    // SAFETY: the file has this layout by its header. The mapping stays, and all that changes in it is atomic.
    Ok(unsafe { &*page.cast::<Counts>() })
}

/// Checks that the file is of this version.
fn check(header: [u8; 16]) -> Result<(), String> {
    let (magic, version) = header.split_at(MAGIC.len());
    let version = version.try_into().map_or(0, u64::from_ne_bytes);
    if magic != MAGIC {
        return Err(
            "the emulator's plug-in is not titr's: use the libtitremulation.so that was built with libtitrace.so"
                .into(),
        );
    }
    if version != VERSION {
        return Err(format!(
            "libtitremulation.so has version {version}, and libtitrace.so needs version {VERSION}: use those of one build"
        ));
    }
    Ok(())
}

/// The descriptor of the file, as a path.
fn find() -> Option<PathBuf> {
    let target = format!("/memfd:{} (deleted)", FILE.to_string_lossy());
    let descriptors = fs::read_dir("/proc/self/fd").ok()?.flatten().map(|entry| entry.path());
    descriptors.into_iter().find(|path| fs::read_link(path).is_ok_and(|link| link.as_os_str() == target.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(magic: [u8; 8], version: u64) -> [u8; 16] {
        let mut header = [0; 16];
        header[..8].copy_from_slice(&magic);
        header[8..].copy_from_slice(&version.to_ne_bytes());
        header
    }

    #[test]
    fn a_plug_in_of_another_version_is_refused_with_both_versions() {
        assert_eq!(check(header(MAGIC, VERSION)), Ok(()));
        let error = check(header(MAGIC, 7)).unwrap_err();
        assert!(error.contains("has version 7") && error.contains("needs version 1"), "{error}");
        assert!(check(header(*b"anything", VERSION)).unwrap_err().contains("not titr's"));
    }

    #[test]
    fn without_an_emulator_the_error_says_how_to_start_the_program() {
        let Err(error) = Emulated::of_this_thread() else { panic!("counted") };
        assert!(error.contains("titrace --counter emulated"), "{error}");
    }
}
