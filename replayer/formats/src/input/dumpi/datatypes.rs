//! The sizes of a rank's datatypes.
//!
//! A file ends with a table of sizes. A number may be used again after `MPI_Type_free`, so the size of a derived type
//! comes from the call that made it, where that says enough.

use rustc_hash::FxHashMap;

use super::bytes::Cursor;
use super::functions::DumpiFunction;
use super::records::DumpiRecord;

/// Sizes of the predefined datatypes, for files without a table: those of a 64-bit machine.
pub(super) const PREDEFINED: [i32; 28] =
    [0, 0, 1, 1, 1, 1, 4, 2, 2, 4, 4, 8, 8, 4, 8, 16, 8, 8, 8, 1, 0, 0, 8, 12, 12, 6, 8, 20];

/// The datatype that stands for none.
const DATATYPE_NULL: u16 = 1;

/// The datatypes of a rank.
pub(super) struct Datatypes {
    table: Vec<i32>,
    derived: FxHashMap<u16, u64>,
}

impl Datatypes {
    /// The datatypes of a file with this table.
    pub(super) fn new(table: &[i32]) -> Self {
        let table = if table.is_empty() { &PREDEFINED } else { table };
        Self { table: table.to_vec(), derived: FxHashMap::default() }
    }

    /// The size of a datatype in bytes.
    pub(super) fn size(&self, datatype: u16) -> Result<u64, String> {
        if let Some(&size) = self.derived.get(&datatype) {
            return Ok(size);
        }
        let size = self.table.get(usize::from(datatype)).and_then(|&size| u64::try_from(size).ok());
        size.ok_or_else(|| {
            format!("datatype {datatype}, whose size neither a call nor the table at the end of the file has")
        })
    }

    /// The bytes of a number of elements.
    pub(super) fn volume(&self, count: i32, datatype: u16) -> Result<u64, String> {
        match u64::try_from(count) {
            // An argument without meaning, such as that of a buffer that is in place, may have any datatype.
            Ok(0) | Err(_) => Ok(0),
            Ok(count) => Ok(count.saturating_mul(self.size(datatype)?)),
        }
    }

    /// Whether this is no datatype, as for a buffer that is in place.
    pub(super) fn is_none(datatype: u16) -> bool {
        datatype <= DATATYPE_NULL
    }

    /// Takes note of a datatype that the call of a record makes.
    pub(super) fn apply(&mut self, record: &DumpiRecord<'_>) {
        match (self.made(record.function, record.arguments), record.arguments.rest()) {
            (Some((datatype, size)), _) => _ = self.derived.insert(datatype, size),
            // The last argument of a function that makes a datatype. An earlier one of this number is gone.
            (None, [.., high, low]) => _ = self.derived.remove(&u16::from_be_bytes([*high, *low])),
            (None, _) => {}
        }
    }

    fn made(&self, function: DumpiFunction, mut bytes: Cursor<'_>) -> Option<(u16, u64)> {
        let bytes = &mut bytes;
        let number = |count: i32| u64::try_from(count).ok();
        let of = |datatype: Option<u16>| self.size(datatype?).ok();
        let (elements, old) = match function {
            DumpiFunction::TYPE_CONTIGUOUS => (number(bytes.i32()?)?, of(bytes.u16())?),
            DumpiFunction::TYPE_VECTOR | DumpiFunction::TYPE_HVECTOR | DumpiFunction::TYPE_CREATE_HVECTOR => {
                let (count, length, _stride) = (number(bytes.i32()?)?, number(bytes.i32()?)?, bytes.i32()?);
                (count.checked_mul(length)?, of(bytes.u16())?)
            }
            DumpiFunction::TYPE_INDEXED | DumpiFunction::TYPE_HINDEXED | DumpiFunction::TYPE_CREATE_HINDEXED => {
                let (_count, lengths, _places) = (bytes.i32()?, bytes.integers()?, bytes.integers()?);
                (lengths.map(|length| number(length).unwrap_or(0)).sum(), of(bytes.u16())?)
            }
            DumpiFunction::TYPE_CREATE_INDEXED_BLOCK => {
                let (count, length, _places) = (number(bytes.i32()?)?, number(bytes.i32()?)?, bytes.integers()?);
                (count.checked_mul(length)?, of(bytes.u16())?)
            }
            DumpiFunction::TYPE_STRUCT | DumpiFunction::TYPE_CREATE_STRUCT => {
                let (_count, lengths, _places, olds) =
                    (bytes.i32()?, bytes.integers()?, bytes.integers()?, bytes.handles()?);
                let block = |(length, old)| number(length)?.checked_mul(of(Some(old))?);
                (lengths.zip(olds).map(block).try_fold(0_u64, |all, block| all.checked_add(block?))?, 1)
            }
            DumpiFunction::TYPE_CREATE_SUBARRAY => {
                let (_dimensions, _sizes, parts, _starts) =
                    (bytes.i32()?, bytes.integers()?, bytes.integers()?, bytes.integers()?);
                let elements = parts.map(number).try_fold(1_u64, |all, part| all.checked_mul(part?));
                let _order = bytes.u8()?;
                (elements?, of(bytes.u16())?)
            }
            DumpiFunction::TYPE_DUP => (1, of(bytes.u16())?),
            DumpiFunction::TYPE_CREATE_RESIZED => {
                let size = of(bytes.u16())?;
                let (_lower, _extent) = (bytes.i32()?, bytes.i32()?);
                (1, size)
            }
            _ => return None,
        };
        Some((bytes.u16()?, elements.checked_mul(old)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_derived_datatype_has_the_size_of_its_parts() {
        let mut types = Datatypes::new(&[]);
        let vector = [0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 9, 0, 14, 0, 28];
        assert_eq!(types.made(DumpiFunction::TYPE_VECTOR, Cursor::new(&vector)), Some((28, 48)));
        types.derived.insert(28, 48);
        let structure = [
            [0, 0, 0, 2],
            [0, 0, 0, 2],
            [0, 0, 0, 1],
            [0, 0, 0, 3],
            [0, 0, 0, 2],
            [0; 4],
            [0; 4],
            [0, 0, 0, 2],
            [0, 9, 0, 28],
        ];
        let bytes = [&structure.concat()[..], &[0, 29]].concat();
        assert_eq!(types.made(DumpiFunction::TYPE_CREATE_STRUCT, Cursor::new(&bytes)), Some((29, 4 + 3 * 48)));
        assert_eq!((types.volume(2, 28), types.volume(-5, 99)), (Ok(96), Ok(0)));
        assert!(types.size(77).is_err());
    }
}
