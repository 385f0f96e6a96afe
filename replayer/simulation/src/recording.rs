//! The recorded run, as a result names it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use titr_common::format::date;
use titr_common::trace::Manifest;
use titr_common::trace::manifest::RankEntry;

use crate::warnings::unfinished;

/// The description of the run that was recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Recording {
    /// The command line of the program; empty if it is unknown.
    pub program: String,
    /// The MPI library; empty if it is unknown.
    pub mpi: String,
    /// The format of the trace and the tool that wrote it, if that was not titr's tracer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The day of the run, such as `2026-11-26`; absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// How the run ended, if a rank did not call `MPI_Finalize`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// The quantity in which computation was counted: `CPU time`, `instructions`, `time between calls`.
    pub counted: String,
}

impl Recording {
    /// The recorded run that a manifest describes.
    pub(crate) fn of(manifest: &Manifest) -> Self {
        let tool = manifest.foreign.as_ref().map(|foreign| match foreign.creator.as_str() {
            "" => foreign.format.clone(),
            creator => format!("{} by {creator}", foreign.format),
        });
        let mpi = manifest.mpi.lines().next().unwrap_or_default();
        let mut counted: Vec<&str> = manifest.per_rank.iter().map(counted).collect();
        counted.dedup();
        Self {
            program: manifest.programs(),
            mpi: mpi.split(',').next().unwrap_or_default().trim().to_owned(),
            tool,
            date: manifest.started.map(date),
            ended: unfinished(manifest),
            counted: match counted.as_slice() {
                [one] => (*one).to_owned(),
                [] => "nothing".to_owned(),
                [_, ..] => "instructions and time".to_owned(),
            },
        }
    }
}

/// The quantity in which a rank's computation was counted.
#[must_use]
pub fn counted(entry: &RankEntry) -> &'static str {
    match (entry.counter.kind.as_str(), entry.counter.rate) {
        ("clock", _) => "time between calls",
        (_, Some(_)) => "CPU time",
        (_, None) => "instructions",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use titr_common::trace::manifest::Counter;

    #[test]
    fn a_run_is_described_by_what_the_manifest_has() {
        let mut manifest = Manifest::of_unknown_origin(2);
        manifest.command = vec!["./lu".into(), "-n".into()];
        manifest.mpi = "Open MPI v4.1.4, package: Debian".into();
        manifest.started = Some(86_400);
        let recording = Recording::of(&manifest);
        assert_eq!((recording.program.as_str(), recording.mpi.as_str()), ("./lu -n", "Open MPI v4.1.4"));
        assert_eq!((recording.date.as_deref(), recording.counted.as_str()), (Some("1970-01-02"), "instructions"));
        manifest.per_rank[0].counter = Counter { rate: Some(1e9), ..Counter::exact("cpu") };
        assert_eq!(Recording::of(&manifest).counted, "instructions and time");
        let foreign = Recording::of(&Manifest::of_foreign(2, "OTF2", "Score-P 4.0"));
        assert_eq!(
            (foreign.tool.as_deref(), foreign.counted.as_str()),
            (Some("OTF2 by Score-P 4.0"), "time between calls")
        );
    }
}
