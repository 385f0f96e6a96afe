//! ELF files: the machine of a file, its dynamic loader, and the libraries that it names.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use object::elf::{DT_NEEDED, FileHeader32, FileHeader64};
use object::read::elf::{FileHeader, ProgramHeader as _};
use object::{Endianness, FileKind, ReadCache, ReadRef};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Elf {
    pub machine: Machine,
    /// The dynamic loader that starts the program; `None` for a program without, and for a library.
    pub loader: Option<PathBuf>,
    /// The libraries that the file itself names (`DT_NEEDED`).
    pub needed: Vec<String>,
}

/// The machine that an ELF file is for: class, byte order and architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Machine {
    is_64: bool,
    is_little_endian: bool,
    pub(super) architecture: object::elf::Machine,
}

impl Elf {
    /// Reads the beginning of a file; `None` if it is no ELF file, or cannot be read.
    pub(crate) fn open(path: &Path) -> Option<Self> {
        Self::read(&ReadCache::new(File::open(path).ok()?))
    }

    /// The ELF file with this content; `None` if the content is none.
    pub(crate) fn read<'data>(content: impl ReadRef<'data>) -> Option<Self> {
        match FileKind::parse(content).ok()? {
            FileKind::Elf32 => Self::of::<FileHeader32<Endianness>, _>(content),
            FileKind::Elf64 => Self::of::<FileHeader64<Endianness>, _>(content),
            _ => None,
        }
    }

    /// Whether the file names a library of MPI: libmpi.so, libmpich.so, libmpifort.so, libmpi_cray.so.
    pub(crate) fn is_linked_with_mpi(&self) -> bool {
        self.needed.iter().any(|name| name.starts_with("libmpi"))
    }

    fn of<'data, Header: FileHeader<Endian = Endianness>, R: ReadRef<'data>>(content: R) -> Option<Self> {
        let header = Header::parse(content).ok()?;
        let endian = header.endian().ok()?;
        let segments = header.program_headers(endian, content).ok()?;
        let loader = segments.iter().find_map(|segment| segment.interpreter(endian, content).ok()?);
        // A file without sections starts as any other; the libraries that it names are not known then.
        let needed = header.sections(endian, content).and_then(|all| all.dynamic_table(endian, content));
        let needed = needed.unwrap_or_default();
        let names = needed.iter().filter(|entry| entry.tag == DT_NEEDED).filter_map(|entry| needed.string(entry).ok());
        let machine = Machine {
            is_64: header.is_class_64(),
            is_little_endian: header.is_little_endian(),
            architecture: header.e_machine(endian),
        };
        Some(Self {
            machine,
            loader: loader.map(|path| PathBuf::from(OsStr::from_bytes(path))),
            needed: names.map(|name| String::from_utf8_lossy(name).into_owned()).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_file_is_no_reason_to_panic() {
        let whole = std::fs::read("/bin/true").unwrap();
        for length in [0, 1, 4, 16, 63, 64, 100, 500] {
            Elf::read(&whole[..length.min(whole.len())]);
        }
    }

    #[test]
    fn a_program_names_its_loader_and_its_libraries() {
        let own = Elf::open(&std::env::current_exe().unwrap()).unwrap();
        assert!(own.loader.unwrap().is_absolute());
        assert!(own.needed.iter().any(|name| name.starts_with("libc.")), "{:?}", own.needed);
    }
}
