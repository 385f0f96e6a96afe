//! Turns traces of a part of a program into traces that can be replayed.
//!
//! Ranks do not pass the ends of a part at the same time. A message that one rank sent before its part began may be
//! received in the part of another, a collective may be in the parts of some members only, and a request whose start is
//! not in the trace may be completed in it. The trace records the number of missing calls of each kind
//! ([`Mark::Unrecorded`](crate::event::Mark::Unrecorded)), so that the calls of all ranks can be numbered, and calls
//! with all their counterparts can be identified:
//!
//! ```text
//!   rank 0   send 1 │ send 2    send 3    send 4 │              in the parts of both: 2 and 3
//!   rank 1          │ receive 1 receive 2 receive 3 │ receive 4
//! ```
//!
//! The others are left out. The result is a program in which every rank executes a part of its events, in the same
//! order: in any replay, no rank waits for something that never happens. Communicators that were created before the
//! part exist from the beginning, without a call. Windows and files are created and opened in the trace, by all
//! members, independent of the beginning of the part.

mod calls;
mod correspondence;
mod files;
mod source;
mod survey;
mod windows;

use std::sync::{Arc, Mutex, PoisonError};

use thiserror::Error;

use super::error::TraceError;
use super::event_source::EventSource;
use super::opened::{RankSources, Trace};
use super::transformation::ChangedEvents;
use crate::event::{Rank, Unrecorded, UnrecordedCall};
use calls::{Calls, Operation};
use correspondence::{Correspondence, CorrespondenceSide, Counterparts};
use source::KeepMatched;
use survey::Survey;

/// The variable that selects a part, and its default value.
const VARIABLE: &str = "TITRACE_PART";
const ALL: &str = "all";

impl Trace {
    /// The part of the program that was to be traced, if it was not all of it.
    pub fn recorded_part(&self) -> Option<&str> {
        let part = self.manifest()?.config.get(VARIABLE)?;
        (part != ALL).then_some(part)
    }

    /// This trace without calls at the ends of a recorded part whose counterparts in other ranks are not in it.
    pub(super) fn with_part_matched(self) -> Self {
        let Some(part) = self.recorded_part().map(str::to_owned) else { return self };
        let ranks = self.ranks();
        self.with_sources(|sources| Arc::new(PartSources { ranks, part, sources, surveyed: Mutex::new(None) }))
    }
}

/// A part that is empty.
#[derive(Debug, Error)]
#[error("no rank came to the part of the program that was to be traced ({VARIABLE}={0}): the trace has no calls of it")]
struct PartNeverStarted(String);

/// The sources of a trace of a part of a program.
struct PartSources {
    ranks: u32,
    part: String,
    sources: Arc<dyn RankSources>,
    /// The survey, once the trace was read.
    surveyed: Mutex<Option<Arc<Survey>>>,
}

impl PartSources {
    fn survey(&self, partial: bool) -> Result<Arc<Survey>, TraceError> {
        let mut surveyed = self.surveyed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(survey) = &*surveyed {
            return Ok(Arc::clone(survey));
        }
        let survey = Arc::new(Survey::of(self.ranks, &self.sources, partial)?);
        if !survey.has_begun {
            return Err(TraceError::Change(Box::new(PartNeverStarted(self.part.clone()))));
        }
        *surveyed = Some(Arc::clone(&survey));
        Ok(survey)
    }
}

impl RankSources for PartSources {
    fn source(&self, rank: Rank, partial: bool) -> Result<Box<dyn EventSource + Send>, TraceError> {
        let survey = self.survey(partial)?;
        let change = KeepMatched::new(rank, self.ranks, survey);
        Ok(Box::new(ChangedEvents::new(self.sources.source(rank, partial)?, change)))
    }

    fn untranslated(&self) -> Vec<String> {
        let surveyed = self.surveyed.lock().unwrap_or_else(PoisonError::into_inner);
        let left = surveyed.as_ref().and_then(|survey| survey.left_out());
        let left = left.map_or(String::new(), |left| {
            format!("; left out, because their counterparts are not in this part: {left}")
        });
        let mut sentences = self.sources.untranslated();
        sentences.push(format!("only a part of the program is in the trace ({}){left}", self.part));
        sentences
    }

    fn as_recorded(&self) -> Option<Arc<dyn RankSources>> {
        Some(Arc::clone(&self.sources))
    }
}

impl Calls {
    /// Numbers calls that are not in the trace.
    fn skip(&mut self, Unrecorded { call, number }: Unrecorded, judge: &mut impl Counterparts) {
        let series = |operation| match operation {
            Operation::Meets(meeting, side, _) => Some((meeting, side)),
            Operation::ReceivesAny(_) | Operation::Alone => None,
        };
        let series = match call {
            UnrecordedCall::Fence(win) => self.windows.fences(win),
            UnrecordedCall::AccessEpoch(win, target) => {
                self.windows.exposures(win, self.rank, target, CorrespondenceSide::SENDER)
            }
            UnrecordedCall::ExposureEpoch(win, origin) => {
                self.windows.exposures(win, origin, self.rank, CorrespondenceSide::RECEIVER)
            }
            UnrecordedCall::File(file) => self.files.series(file),
            UnrecordedCall::Moved(file) => return self.files.moves(file, number),
            UnrecordedCall::Sent(comm, to, tag) => {
                series(self.message(comm, self.rank, to, tag, CorrespondenceSide::SENDER))
            }
            UnrecordedCall::Received(comm, from, tag) => {
                series(self.message(comm, from, self.rank, tag, CorrespondenceSide::RECEIVER))
            }
            UnrecordedCall::Collective(comm) => series(self.on(comm, Correspondence::Collective)),
            UnrecordedCall::Start(id) => self.requests.get(&id).and_then(|request| series(request.operation)),
        };
        if let Some((meeting, side)) = series {
            judge.skips(meeting, side, number);
        }
    }
}
