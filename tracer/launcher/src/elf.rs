//! ELF files: the machine that a file is for, and whether the dynamic loader starts it.

use std::fs::File;
use std::path::Path;

use object::elf::{FileHeader32, FileHeader64, PT_INTERP};
use object::read::elf::{FileHeader, ProgramHeader as _};
use object::{Endianness, FileKind, ReadCache, ReadRef};

/// The machine that an ELF file is for: class, byte order and architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    is_64: bool,
    is_little_endian: bool,
    pub(super) architecture: object::elf::Machine,
}

/// How a program is linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
    /// The dynamic loader starts the program.
    Dynamic,
    /// The dynamic loader has no part in the program.
    Static,
}

impl Machine {
    /// The machine of a file; `None` if the file is no ELF file, or cannot be read.
    pub fn of(path: &Path) -> Option<Self> {
        Some(inspect(&ReadCache::new(File::open(path).ok()?))?.0)
    }
}

/// The machine and the linkage of an ELF file; `None` if the content is none.
pub fn inspect<'data>(content: impl ReadRef<'data>) -> Option<(Machine, Linkage)> {
    match FileKind::parse(content).ok()? {
        FileKind::Elf32 => headers::<FileHeader32<Endianness>, _>(content),
        FileKind::Elf64 => headers::<FileHeader64<Endianness>, _>(content),
        _ => None,
    }
}

/// An executable names the dynamic loader as its interpreter, unless it does without; a library need not.
fn headers<'data, Header: FileHeader<Endian = Endianness>, R: ReadRef<'data>>(
    content: R,
) -> Option<(Machine, Linkage)> {
    let header = Header::parse(content).ok()?;
    let endian = header.endian().ok()?;
    let segments = header.program_headers(endian, content).ok()?;
    let linked = match segments.iter().any(|segment| segment.p_type(endian) == PT_INTERP) {
        true => Linkage::Dynamic,
        false => Linkage::Static,
    };
    let machine = Machine {
        is_64: header.is_class_64(),
        is_little_endian: header.is_little_endian(),
        architecture: header.e_machine(endian),
    };
    Some((machine, linked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_file_is_no_reason_to_panic() {
        let whole = std::fs::read("/bin/true").unwrap();
        for length in [0, 1, 4, 16, 63, 64, 100, 500] {
            inspect(&whole[..length.min(whole.len())]);
        }
    }
}
