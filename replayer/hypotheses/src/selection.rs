//! The part of a program that a change applies to.

use std::sync::Arc;

use titr_common::event::{CallStack, CodePlace, Rank, RankSet};
use titr_document::{Mistake, Place, Source, Spanned};

/// Ranks, a region, a call site and a communicator; each of them all, where the file names none.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    /// The ranks; for messages, the ranks of the senders.
    pub ranks: Option<Spanned<RankSet>>,
    /// The name of the region; of messages, the region that their senders are in.
    pub region: Option<Spanned<String>>,
    /// The call site, by a function (`sweep`), a line (`solver.c:42`) or both as reports show them; of messages, that
    /// which their senders are at.
    pub call_site: Option<Spanned<String>>,
    /// The communicator of messages.
    pub communicator: Option<Spanned<CommunicatorName>>,
    /// The file.
    pub source: Arc<Source>,
    /// The change in the file.
    pub place: Place,
}

/// A communicator as a file of hypotheses names it. Numbers of communicators are each rank's own and mean nothing across
/// ranks, so members name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CommunicatorName {
    /// `MPI_COMM_WORLD`.
    World,
    /// All communicators but the world whose members are these.
    Members(RankSet),
}

impl CommunicatorName {
    /// The communicator that `text` names; `None` if it names none.
    pub(crate) fn written(text: &str) -> Option<Self> {
        if text == "world" { Some(Self::World) } else { RankSet::written(text).map(Self::Members) }
    }
}

/// Whether `name` denotes a place in the code: its function, its line, or both.
fn is_called(place: &CodePlace, name: &str) -> bool {
    let written = place.to_string();
    let parts = written.strip_suffix(')').and_then(|whole| whole.rsplit_once(" ("));
    written == name || parts.is_some_and(|(function, line)| function == name || line == name)
}

impl Selection {
    /// Whether `rank` is selected.
    pub(crate) fn has_rank(&self, rank: Rank) -> bool {
        self.ranks.as_ref().is_none_or(|ranks| ranks.get_ref().contains(rank))
    }

    /// Whether only some places of the program are selected.
    pub(crate) fn is_of_places(&self) -> bool {
        self.region.is_some() || self.call_site.is_some()
    }

    /// Whether calls that are made from here are selected.
    pub(crate) fn has_call_site(&self, stack: &CallStack) -> bool {
        self.call_site.as_ref().is_none_or(|name| stack.iter().any(|place| is_called(place, name.get_ref())))
    }

    /// A mistake of the change as a whole.
    pub(crate) fn mistake(&self, message: impl Into<String>) -> Mistake {
        self.source.mistake(self.place.clone(), message)
    }

    /// Finds fault with ranks that the world of `ranks` ranks does not have.
    pub(crate) fn fits(&self, ranks: u32) -> Result<(), Mistake> {
        self.ranks.as_ref().map_or(Ok(()), |set| self.has_ranks(set, ranks))
    }

    /// Finds fault with a set of ranks that the world of `ranks` ranks does not have.
    pub(crate) fn has_ranks(&self, set: &Spanned<RankSet>, ranks: u32) -> Result<(), Mistake> {
        let last = set.get_ref().last();
        if last.0 < ranks {
            return Ok(());
        }
        let message =
            format!("there is no rank {} in this trace, whose ranks are 0 to {}", last.0, ranks.saturating_sub(1));
        Err(self.source.mistake(set.span(), message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_site_is_called_by_its_function_its_line_or_both() {
        let place = CodePlace::Named("heat::Sweep::operator() (heat.cc:42)".into());
        for name in ["heat::Sweep::operator()", "heat.cc:42", "heat::Sweep::operator() (heat.cc:42)"] {
            assert!(is_called(&place, name), "{name}");
        }
        assert!(!is_called(&place, "heat.cc:4") && !is_called(&place, "heat.cc") && !is_called(&place, "operator()"));
        assert!(is_called(&CodePlace::Named("lb+0x12b9".into()), "lb+0x12b9"));
    }
}
