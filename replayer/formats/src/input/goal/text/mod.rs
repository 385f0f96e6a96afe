//! GOAL as text: `num_ranks N`, then `rank R {` … `}` for each rank, a statement on each line.

mod labels;
mod lines;
mod source;
mod statement;
mod survey;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use titr_common::event::Rank;
use titr_common::input::{self, BYTE_ORDER_MARK};
use titr_common::trace::{Candidate, EventSource, RankSources, Trace, TraceError, TraceFormat};

use super::{manifest, untranslated};
use lines::skip_comments;
use source::TextSource;
use survey::GoalSurvey;

/// The first word of a file.
const FIRST_WORD: &[u8] = b"num_ranks";

/// Text for LogGOPSim's `txt2bin`.
pub(in crate::input) struct GoalText;

impl TraceFormat for GoalText {
    fn name(&self) -> &'static str {
        "GOAL"
    }

    fn recognises(&self, candidate: &Candidate) -> bool {
        if candidate.file().is_none() {
            return false;
        }
        if candidate.head.starts_with(&[0x1f]) {
            let line = candidate.first_line();
            return line.is_ok_and(|line| line.is_some_and(|line| line.trim_ascii_start().starts_with(FIRST_WORD)));
        }
        let head = &candidate.head;
        skip_comments(head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head)).starts_with(FIRST_WORD)
    }

    fn open(&self, paths: &[&Path]) -> Result<Trace, TraceError> {
        let path = paths.first().copied().unwrap_or_else(|| Path::new(""));
        let file = Arc::new(input::open_unpacked(path).map_err(TraceError::io(path))?);
        let survey = GoalSurvey::of(path, &file)?;
        let ranks = survey.ranks.len() as u32;
        let sources = TextSources { path: path.to_owned(), file, survey };
        Ok(Trace::new(ranks, sources).with_manifest(manifest(ranks)))
    }
}

struct TextSources {
    path: PathBuf,
    file: Arc<File>,
    survey: GoalSurvey,
}

impl RankSources for TextSources {
    fn source(&self, rank: Rank, _: bool) -> Result<Box<dyn EventSource + Send>, TraceError> {
        let part = self.survey.ranks.get(rank.0 as usize).copied().unwrap_or_default();
        Ok(Box::new(TextSource::new(&self.path, &self.file, part)))
    }

    fn untranslated(&self) -> Vec<String> {
        untranslated(self.survey.interfaces)
    }
}
