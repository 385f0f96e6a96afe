//! All algorithms by name.

use std::io::{self, Write};

use titr_common::collectives::{Algorithm, CallMode, Library};
use titr_common::event::CollectiveKind;

/// Writes a line for each algorithm: the collective, the algorithm's own name, other names that are accepted for any
/// library, and `library:name` for different spellings in a library's parameters, `library-i:name` for non-blocking
/// collectives.
///
/// # Errors
/// If `out` cannot be written.
pub fn write(out: &mut impl Write) -> io::Result<()> {
    for collective in CollectiveKind::ALL {
        for algorithm in Algorithm::all(collective) {
            write!(out, "{collective}\t{algorithm}")?;
            let names = algorithm.names();
            let own = Library::ALL.iter().flat_map(|&library| {
                let [blocking, nonblocking] = CallMode::ALL.map(|mode| library.name_of(mode, algorithm));
                let is_own = |name: &str| !names.contains(&name);
                let also = is_own(blocking).then(|| format!("{}:{blocking}", library.name()));
                let differs = is_own(nonblocking) && nonblocking != blocking;
                also.into_iter().chain(differs.then(|| format!("{}-i:{nonblocking}", library.name())))
            });
            for (place, name) in names.iter().skip(1).map(|&name| name.to_owned()).chain(own).enumerate() {
                write!(out, "{}{name}", if place == 0 { '\t' } else { ' ' })?;
            }
            writeln!(out)?;
        }
    }
    Ok(())
}
