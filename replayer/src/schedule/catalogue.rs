//! All algorithms by name.

use std::io::{self, Write};

use titr_common::collectives::{Algorithm, Library};
use titr_common::event::CollectiveKind;

/// Writes a line for each algorithm: the collective, the algorithm's own name, other names that are understood whatever
/// the library, and `library:name` where a library's parameters spell it otherwise.
///
/// # Errors
/// Where `out` cannot be written.
pub fn write(out: &mut impl Write) -> io::Result<()> {
    for collective in CollectiveKind::ALL {
        for algorithm in Algorithm::all(collective) {
            write!(out, "{collective}\t{algorithm}")?;
            let names = algorithm.names();
            let called = Library::ALL.iter().map(|&library| (library.name(), library.name_of(algorithm)));
            let own =
                called.filter(|(_, name)| !names.contains(name)).map(|(library, name)| format!("{library}:{name}"));
            for (place, name) in names.iter().skip(1).map(|&name| name.to_owned()).chain(own).enumerate() {
                write!(out, "{}{name}", if place == 0 { '\t' } else { ' ' })?;
            }
            writeln!(out)?;
        }
    }
    Ok(())
}
