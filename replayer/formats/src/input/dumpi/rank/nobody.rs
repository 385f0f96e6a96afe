//! The number that a library has for `MPI_PROC_NULL`.
//!
//! Records have -1 for `MPI_ANY_SOURCE`, and for `MPI_PROC_NULL` what the library has: -2 in Open MPI, -1 in MPICH. A
//! receive from -1 whose program ignored the status can therefore be either. As nobody sends to any source, a send to
//! -1 anywhere in the trace shows that -1 is `MPI_PROC_NULL`; receives from -1 without a status are then taken for
//! receives from nobody.

use std::sync::{Arc, OnceLock};

use titr_common::trace::TraceError;

use crate::input::dumpi::file::DumpiRankFile;
use crate::input::dumpi::functions::DumpiFunction;
use crate::input::dumpi::records::DumpiRecord;

/// The files of a trace, and what their sends say about -1.
pub(in crate::input::dumpi) struct ProcNullConvention {
    files: Arc<[DumpiRankFile]>,
    is_minus_one: OnceLock<bool>,
}

impl ProcNullConvention {
    /// What the files say, unless the user has chosen.
    pub(in crate::input::dumpi) fn new(files: &Arc<[DumpiRankFile]>, chosen: Option<bool>) -> Self {
        Self { files: Arc::clone(files), is_minus_one: chosen.map_or_else(OnceLock::new, OnceLock::from) }
    }

    /// Whether -1 is `MPI_PROC_NULL`. The first call reads all files.
    pub(super) fn is_minus_one(&self) -> bool {
        // The reader of a rank reports an error in its file.
        *self.is_minus_one.get_or_init(|| self.files.iter().any(|file| sends_to_minus_one(file).unwrap_or(false)))
    }
}

fn sends_to_minus_one(file: &DumpiRankFile) -> Result<bool, TraceError> {
    let mut records = file.records()?;
    while let Some(record) = records.next()? {
        if destination(&record) == Some(-1) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The rank that a call sends to.
fn destination(record: &DumpiRecord<'_>) -> Option<i32> {
    let sends = matches!(record.function, DumpiFunction(0 | 3..=5 | 8..=11 | 26..=29 | 33 | 34));
    let mut bytes = record.arguments;
    if sends { bytes.i32().and(bytes.u16()).and(bytes.i32()) } else { None }
}
