//! SimGrid's datatype numbers.

use super::ParseError;
use super::fields::Fields;
use crate::units::Bytes;

/// The size of an element of the datatype in the next field; `None` at the end of the line.
pub(super) fn element(f: &mut Fields) -> Result<Option<Bytes>, ParseError> {
    if f.at_end() {
        return Ok(None);
    }
    let column = f.column();
    let unknown = || ParseError { column, what: "SimGrid has no datatype of this number".into() };
    size(f.datatype()?).map(Some).ok_or_else(unknown)
}

/// The size of one element of datatype `id`, as SimGrid 3.32 numbers them (`smpi_datatype.cpp`); `None` for an unknown
/// number. Derived types are all −1 there, so their size is lost: SimGrid replays them as size zero.
pub(super) fn size(id: i64) -> Option<Bytes> {
    Some(Bytes(match id {
        -1 => 0,
        2 | 6 | 8 | 9 | 16 | 17 | 21 | 45 | 51 | 55 | 56 | 57 => 1,
        3 | 10 | 18 | 22 | 46 => 2,
        1 | 5 | 11 | 15 | 19 | 23 | 38 | 39 | 47 => 4,
        0 | 4 | 7 | 12 | 13 | 20 | 24 | 25 | 28 | 29 | 40 | 42 | 48 | 52 | 58 | 59 => 8,
        // Pairs for MAXLOC and MINLOC, as C lays them out.
        30 | 34 | 35 => 8,
        33 => 8,
        31 | 32 | 36 | 37 => 16,
        14 | 26 | 41 | 43 | 49 | 53 => 16,
        27 | 44 | 50 | 54 => 32,
        _ => return None,
    }))
}
