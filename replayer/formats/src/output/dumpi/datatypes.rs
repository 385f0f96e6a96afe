//! The datatypes of a rank: a trace of titr has bytes and the sizes of elements, and a record has a datatype and a count.

use std::collections::BTreeMap;
use std::io::{self, Error};

use titr_common::event::Volumes;
use titr_common::units::Bytes;

use super::file::{DumpiBytes, DumpiFile, DumpiSpan};
use crate::input::dumpi::datatypes::PREDEFINED;
use crate::input::dumpi::functions::DumpiFunction;

/// `MPI_BYTE`.
pub(super) const BYTE: u16 = 5;
/// The predefined datatypes that stand for elements of their sizes.
const OF_SIZE: [(u64, u16); 5] = [(1, BYTE), (2, 7), (4, 9), (8, 14), (16, 15)];
/// The largest count.
const MOST: u64 = i32::MAX as u64;

/// The datatypes that a rank has made.
#[derive(Default)]
pub(super) struct DumpiTypes {
    /// The number of a datatype by its size.
    made: BTreeMap<u64, u16>,
    /// The sizes of the datatypes that the rank has made, in the order of their numbers.
    sizes: Vec<i32>,
}

impl DumpiTypes {
    /// The sizes of all datatypes by number.
    pub(super) fn sizes(&self) -> Vec<i32> {
        PREDEFINED.into_iter().chain(self.sizes.iter().copied()).collect()
    }

    /// The count and the datatype of a message.
    pub(super) fn of_bytes(&mut self, bytes: Bytes, file: &mut DumpiFile, span: DumpiSpan) -> io::Result<(i32, u16)> {
        let unit = if bytes.0 > MOST { bytes.0 } else { 1 };
        Ok(((bytes.0 / unit) as i32, self.of_size(unit, file, span)?))
    }

    /// A datatype of this size. The first time, the rank makes it.
    pub(super) fn of_size(&mut self, size: u64, file: &mut DumpiFile, span: DumpiSpan) -> io::Result<u16> {
        if let Some(&(_, datatype)) = OF_SIZE.iter().find(|(known, _)| *known == size) {
            return Ok(datatype);
        }
        if let Some(&datatype) = self.made.get(&size) {
            return Ok(datatype);
        }
        let number = PREDEFINED.len() + self.sizes.len();
        let datatype = u16::try_from(number).map_err(|_| Error::other("more datatypes than DUMPI has numbers for"))?;
        let span = DumpiSpan { end: span.begin, ..span };
        match i32::try_from(size) {
            Ok(count) => {
                let arguments = DumpiBytes::default().int(count).handle(BYTE).handle(datatype);
                file.record(DumpiFunction::TYPE_CONTIGUOUS, span, &arguments)?;
            }
            Err(_) => {
                let blocks: Vec<i32> = (0..size.div_ceil(MOST)).map(|at| (size - at * MOST).min(MOST) as i32).collect();
                let places = vec![0; blocks.len()];
                let arguments = DumpiBytes::default().int(blocks.len() as i32).integers(&blocks).integers(&places);
                file.record(DumpiFunction::TYPE_INDEXED, span, &arguments.handle(BYTE).handle(datatype))?;
            }
        }
        file.record(DumpiFunction::TYPE_COMMIT, span, &DumpiBytes::default().handle(datatype))?;
        self.sizes.push(i32::try_from(size).unwrap_or(i32::MAX));
        self.made.insert(size, datatype);
        Ok(datatype)
    }
}

/// The largest size of which all these volumes are multiples that are counts, the size of an element if possible; `None` if
/// there is none.
pub(super) fn unit(volumes: [&Volumes; 2], element: Bytes) -> Option<u64> {
    let all = || {
        volumes.into_iter().flat_map(|volumes| match volumes {
            Volumes::None => &[][..],
            Volumes::Each(bytes) => std::slice::from_ref(bytes),
            Volumes::PerMember(list) => list,
        })
    };
    let divides = |unit: u64| unit > 0 && all().all(|bytes| bytes.0 % unit == 0 && bytes.0 / unit <= MOST);
    let common = all().fold(0, |common, bytes| greatest_common_divisor(common, bytes.0));
    [element.0, 1, common].into_iter().find(|&unit| divides(unit))
}

fn greatest_common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { greatest_common_divisor(other, one % other) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_of_elements_where_volumes_are_multiples_of_them() {
        let list = |volumes: &[u64]| Volumes::PerMember(volumes.iter().map(|&bytes| Bytes(bytes)).collect());
        assert_eq!(unit([&list(&[8, 0, 24]), &Volumes::Each(Bytes(16))], Bytes(8)), Some(8));
        assert_eq!(unit([&list(&[8, 12]), &Volumes::None], Bytes(8)), Some(1));
        assert_eq!(unit([&list(&[3 << 31, 5 << 31]), &Volumes::None], Bytes(1)), Some(1 << 31));
        assert_eq!(unit([&list(&[3 << 31, 5]), &Volumes::None], Bytes(1)), None);
    }
}
