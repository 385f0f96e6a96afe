//! The choice between two readings of a trace, where its format, or the tool that wrote it, leaves one open.

use super::otf2::volumes::Convention;

/// The readings that a user has chosen. Where there is none, the reader decides from the trace.
#[derive(Clone, Copy, Debug, Default)]
pub struct Readings {
    /// The bytes in the records of collectives of OTF2.
    pub(crate) otf2_bytes: Option<Convention>,
    /// Whether receives from -1 without a status are from `MPI_PROC_NULL` in DUMPI.
    pub(crate) minus_one_is_nobody: Option<bool>,
}

/// One reading.
pub struct TraceReading {
    /// The name of the reading.
    pub name: &'static str,
    /// The meaning of the reading, in a few words.
    pub about: &'static str,
    choose: fn(&mut Readings),
}

/// All readings.
pub static READINGS: &[TraceReading] = &[
    TraceReading {
        name: "otf2-bytes=score-p",
        about: "OTF2: a collective has the bytes that a rank exchanges with all members, as Score-P writes them",
        choose: |readings| readings.otf2_bytes = Some(Convention::ScoreP),
    },
    TraceReading {
        name: "otf2-bytes=eztrace",
        about: "OTF2: a collective has the bytes of its arguments, as EZTrace writes them",
        choose: |readings| readings.otf2_bytes = Some(Convention::EzTrace),
    },
    TraceReading {
        name: "dumpi-minus-one=any-source",
        about: "DUMPI: a receive from -1 whose status was ignored is from MPI_ANY_SOURCE",
        choose: |readings| readings.minus_one_is_nobody = Some(false),
    },
    TraceReading {
        name: "dumpi-minus-one=proc-null",
        about: "DUMPI: a receive from -1 whose status was ignored is from MPI_PROC_NULL",
        choose: |readings| readings.minus_one_is_nobody = Some(true),
    },
];

impl Readings {
    /// The readings of these names, of which the last one counts where two contradict each other; names of no reading are
    /// ignored.
    #[must_use]
    pub fn of<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let mut readings = Self::default();
        for name in names {
            if let Some(reading) = READINGS.iter().find(|reading| reading.name == name) {
                (reading.choose)(&mut readings);
            }
        }
        readings
    }
}
