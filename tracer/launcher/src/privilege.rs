//! Programs that start with more rights than their caller. The dynamic loader preloads nothing into those (`AT_SECURE`,
//! ld.so(8)).
//!
//! Linux decides this in `cap_bprm_creds_from_file` (`security/commoncap.c`): the effective user or group changes; or
//! the user is not root, and the file's capabilities take effect at once or permit any.

use std::fmt;
use std::fs::{self, Metadata};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::fs::{StatVfsMountFlags, getxattr, statvfs};
use rustix::process::getuid;

/// The source of a program's rights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Privilege {
    /// It runs as another user or group.
    SetUid,
    /// Its file has capabilities.
    Capabilities,
}

impl fmt::Display for Privilege {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SetUid => "runs as another user or group than you (set-uid or set-gid)",
            Self::Capabilities => "has file capabilities (`getcap` lists them)",
        })
    }
}

impl Privilege {
    /// The privilege that the program at `path` has over this process, if it has any.
    pub(crate) fn of(path: &Path, about: &Metadata) -> Option<Self> {
        // A file system that is mounted so gives no rights (mount(8)).
        if statvfs(path).is_ok_and(|system| system.f_flag.contains(StatVfsMountFlags::NOSUID)) {
            return None;
        }
        // The owner of this process's own entry is whom it runs as.
        let (user, group) = fs::metadata("/proc/self").map_or((0, 0), |own| (own.uid(), own.gid()));
        let mode = about.permissions().mode();
        if mode & 0o4000 != 0 && about.uid() != user || mode & 0o2000 != 0 && about.gid() != group {
            return Some(Self::SetUid);
        }
        let mut attribute = [0; 64];
        let length = getxattr(path, c"security.capability", &mut attribute).unwrap_or(0);
        (!getuid().is_root() && gives_rights(attribute.get(..length)?)).then_some(Self::Capabilities)
    }
}

/// Whether the capabilities of a file (`struct vfs_cap_data` of `linux/capability.h`) give rights: a word with the flag
/// that they take effect at once, and pairs of words with the permitted and the inheritable capabilities.
fn gives_rights(attribute: &[u8]) -> bool {
    /// `VFS_CAP_FLAGS_EFFECTIVE`.
    const EFFECTIVE: u32 = 1;
    let (words, _) = attribute.as_chunks::<4>();
    let mut words = words.iter().map(|&word| u32::from_le_bytes(word));
    let takes_effect = words.next().is_some_and(|first| first & EFFECTIVE != 0);
    takes_effect || words.take(4).step_by(2).any(|permitted| permitted != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn capabilities_give_rights_if_they_take_effect_or_permit_any() {
        const REVISION_2: u32 = 0x0200_0000;
        assert!(!gives_rights(&[]));
        assert!(!gives_rights(&attribute(&[REVISION_2, 0, 0, 0, 0])));
        // cap_net_raw, bit 13: `setcap cap_net_raw+p`, `+i` and `+ei`; and cap_bpf, bit 39.
        assert!(gives_rights(&attribute(&[REVISION_2, 1 << 13, 0, 0, 0])));
        assert!(!gives_rights(&attribute(&[REVISION_2, 0, 1 << 13, 0, 0])));
        assert!(gives_rights(&attribute(&[REVISION_2 | 1, 0, 1 << 13, 0, 0])));
        assert!(gives_rights(&attribute(&[REVISION_2, 0, 0, 1 << 7, 0])));
        // The third revision has a user behind them.
        assert!(!gives_rights(&attribute(&[0x0300_0000, 0, 0, 0, 0, 1000])));
    }
}
