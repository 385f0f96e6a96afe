//! Distributes computation evenly among ranks.
//!
//! Globally, the total of each rank becomes the mean of the totals: all its computations are multiplied by one factor.
//! Instance by instance, the computation of a rank's *k*-th pass through the region becomes the mean over the *k*-th
//! passes of all ranks. The survey keeps one sum for each rank, or one for each instance of each rank.

use std::sync::Arc;

use serde::Serialize;
use titr_common::event::{Rank, ThreadId};
use titr_common::trace::{Located, LocatedEvents, Trace, TraceError, Transformation};
use titr_document::Mistake;

use super::volume::{Factor, Volume};
use crate::keys::Keys;
use crate::kind::{Effect, Kind};
use crate::position::Position;
use crate::rewriting::{Rewrite, rewritten, survey};
use crate::selection::Selection;

/// All ranks compute the same.
pub(crate) const BALANCE_COMPUTE: Kind = Kind { name: "balance-compute", read: balance };

/// The amounts of computation that become equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// The total of each rank.
    Totals,
    /// Each instance of the region.
    Instances,
}

fn balance(keys: &mut Keys) -> Result<Effect, Mistake> {
    let selection = keys.selection()?;
    let scope = keys.choice("over", &[("totals", Scope::Totals), ("instances", Scope::Instances)])?;
    let scope = scope.unwrap_or(Scope::Totals);
    if scope == Scope::Instances && !selection.is_of_places() {
        return Err(keys.mistake("over = \"instances\" needs a region or a call site, whose instances are made even"));
    }
    Ok(Effect::program(Balance { selection: selection.into(), scope }))
}

/// The change of a trace.
struct Balance {
    selection: Arc<Selection>,
    scope: Scope,
}

impl Transformation for Balance {
    fn apply(&self, trace: Trace) -> Result<Trace, TraceError> {
        let Self { selection, scope } = self;
        let own = self.volumes(&trace)?;
        let wanted = self.means(&own)?;
        let (scope, shares) = (*scope, Arc::new(Shares { own, wanted }));
        Ok(rewritten(trace, selection, move |_| Balancing { scope, shares: Arc::clone(&shares) }))
    }
}

impl Balance {
    /// The selected computation of each rank, in total or in each instance.
    fn volumes(&self, trace: &Trace) -> Result<Vec<Vec<Volume>>, TraceError> {
        let mut own: Vec<Vec<Volume>> = vec![Vec::new(); trace.ranks() as usize];
        survey(trace, &self.selection, |position, Located { event, location }| {
            if !position.is_inside(location.thread) {
                return Ok(());
            }
            let at = self.scope.index(position, location.thread);
            let own = &mut own[position.rank.0 as usize];
            if own.len() <= at {
                own.resize(at + 1, Volume::default());
            }
            if let Some(volume) = Volume::of(event) {
                own[at] += volume;
            }
            Ok(())
        })?;
        Ok(own)
    }

    /// The mean over the ranks, in total or of each instance. Totals are balanced among the ranks that come here.
    fn means(&self, own: &[Vec<Volume>]) -> Result<Vec<Volume>, TraceError> {
        let is_there = |own: &[Volume]| self.scope == Scope::Instances || !own.is_empty();
        let selected =
            || (0..).map(Rank).zip(own).filter(|(rank, own)| self.selection.has_rank(*rank) && is_there(own));
        let ranks = selected().count();
        let mut wanted = vec![Volume::default(); selected().map(|(_, own)| own.len()).max().unwrap_or(0)];
        for own in selected().map(|(_, own)| own) {
            wanted.iter_mut().zip(own).for_each(|(sum, volume)| *sum += *volume);
        }
        wanted.iter_mut().for_each(|sum| *sum = *sum / ranks as f64);
        if !wanted.iter().any(|mean| mean.is_some()) {
            let message = "no computation is selected here, or the changes before this one leave none of it";
            return Err(self.selection.mistake(message).into());
        }
        let mut odd = selected().filter(|(_, own)| own.len() != wanted.len());
        if let (Scope::Instances, Some((rank, own))) = (self.scope, odd.next()) {
            let message = format!(
                "rank {} comes here {} times and another rank {} times, so instances do not correspond; over = \"totals\" balances all the same",
                rank.0,
                own.len(),
                wanted.len()
            );
            return Err(self.selection.mistake(message).into());
        }
        let mut idle = selected().filter(|(_, own)| !own.iter().any(|volume| volume.is_some()));
        if let (Scope::Totals, Some((rank, _))) = (self.scope, idle.next()) {
            let message = format!(
                "rank {} computes nothing here, so there is nothing that could become more; over = \"instances\" gives each instance of a region its share",
                rank.0
            );
            return Err(self.selection.mistake(message).into());
        }
        Ok(wanted)
    }
}

impl Scope {
    /// The number of the sum that computation at a position belongs to.
    fn index(self, position: &Position, thread: ThreadId) -> usize {
        match self {
            Self::Totals => 0,
            Self::Instances => position.instance(thread).unwrap_or(0),
        }
    }
}

/// The original and the changed computation of each rank, in total or in each instance.
struct Shares {
    own: Vec<Vec<Volume>>,
    /// The computation that each rank is to have.
    wanted: Vec<Volume>,
}

/// The change that gives a rank its share.
struct Share {
    /// The factor of all its computations.
    factor: Factor,
    /// The computation that is added at the end of an instance which has none.
    added: Volume,
}

impl Shares {
    fn of(&self, Rank(rank): Rank, at: usize) -> Option<Share> {
        let (own, wanted) = (self.own.get(rank as usize)?.get(at)?, *self.wanted.get(at)?);
        Some(Share { factor: own.factor_to(wanted), added: own.missing(wanted) })
    }
}

/// The change of one rank's events.
struct Balancing {
    scope: Scope,
    shares: Arc<Shares>,
}

impl Rewrite for Balancing {
    fn rewrite(&mut self, position: &Position, Located { event, location }: Located<'_>, out: &mut LocatedEvents) {
        let volume = Volume::of(event);
        let ends = self.scope == Scope::Instances && position.ends_instance(event, location.thread);
        let share = (volume.is_some() || ends) && position.is_inside(location.thread);
        let share = share.then(|| self.shares.of(position.rank, self.scope.index(position, location.thread))).flatten();
        match (volume, share) {
            (Some(volume), Some(share)) => out.push(volume.times(share.factor), location),
            (None, Some(share)) => {
                share.added.events().for_each(|event| out.push(event, location));
                out.push(event.to_event(), location);
            }
            (_, None) => out.push(event.to_event(), location),
        }
    }
}
