//! A part of a timeline: some of the ranks, and a window of the time.
//!
//! States and messages that begin before the window are shown from its beginning, and those that end after it up to its
//! end. A message is shown if both of its ranks are.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

use super::event::{Arrow, Series, State, TimelineEvent, TimelineWriter};
use crate::event::{Rank, RankSet};
use crate::time::Time;
use crate::units::Bytes;

/// The ranks and the time that are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The ranks; `None`: all.
    pub ranks: Option<RankSet>,
    /// The beginning of the window.
    pub from: Time,
    /// The end of the window; [`Time::NEVER`]: the end of everything.
    pub to: Time,
}

impl Default for Excerpt {
    /// All of it.
    fn default() -> Self {
        Self { ranks: None, from: Time::ZERO, to: Time::NEVER }
    }
}

impl Excerpt {
    /// Whether everything is shown.
    pub fn is_everything(&self) -> bool {
        *self == Self::default()
    }

    /// Whether `rank` is shown.
    pub(crate) fn has(&self, rank: Rank) -> bool {
        self.ranks.as_ref().is_none_or(|ranks| ranks.contains(rank))
    }
}

/// The subject of a timeline.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Size of the world.
    pub ranks: u32,
    /// The kind of time that goes by, such as `simulated time`.
    pub time: &'static str,
    /// The part that is shown.
    pub excerpt: Excerpt,
    /// The jobs of the ranks; empty if all ranks are of one program.
    pub jobs: Vec<JobRanks>,
}

/// The ranks of one of several jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobRanks {
    /// The name of the job, in letters that files of timelines may have.
    name: String,
    ranks: Range<u32>,
}

impl JobRanks {
    /// The ranks of the job with this name.
    #[must_use]
    pub fn new(name: &str, ranks: Range<u32>) -> Self {
        let is_plain = |letter: char| !letter.is_control() && letter != '"';
        Self { name: name.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect(), ranks }
    }
}

impl Subject {
    /// The ranks that are shown.
    pub fn shown(&self) -> impl Iterator<Item = Rank> {
        (0..self.ranks).map(Rank).filter(|rank| self.excerpt.has(*rank))
    }

    /// The name of the job of a rank, if there are several jobs.
    pub fn job(&self, rank: Rank) -> Option<&str> {
        self.jobs.iter().find(|job| job.ranks.contains(&rank.0)).map(|job| job.name.as_str())
    }

    /// The name of a rank, with that of its job if there are several: `rank 5 (cg)`.
    pub fn rank_name(&self, rank: Rank) -> String {
        match self.job(rank) {
            Some(job) => format!("rank {} ({job})", rank.0),
            None => format!("rank {}", rank.0),
        }
    }
}

/// Passes on an excerpt of a timeline.
pub struct Excerpted<W> {
    excerpt: Excerpt,
    writer: W,
    phase: WindowPhase,
    /// The state that each rank is in, where it is shown.
    states: Vec<Option<State>>,
    /// Messages in transit that are shown.
    under_way: BTreeMap<u64, Arrow>,
    in_flight: Bytes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WindowPhase {
    Before,
    Within,
    After,
}

impl Excerpted<Box<dyn TimelineWriter>> {
    /// The excerpt of `subject`, which `writer` writes.
    #[must_use]
    pub fn new(writer: Box<dyn TimelineWriter>, subject: &Subject) -> Self {
        Self {
            excerpt: subject.excerpt.clone(),
            writer,
            phase: WindowPhase::Before,
            states: vec![None; subject.ranks as usize],
            under_way: BTreeMap::new(),
            in_flight: Bytes(0),
        }
    }

    /// Advances to `now`: reports the current state at the beginning of the window, and closes everything at its end.
    fn move_on(&mut self, now: Time) -> io::Result<()> {
        let Excerpt { from, to, .. } = self.excerpt;
        if self.phase == WindowPhase::Before && now >= from {
            self.phase = WindowPhase::Within;
            for (rank, state) in (0..).map(Rank).zip(&self.states) {
                if let Some(state) = *state {
                    self.writer.event(from, TimelineEvent::Enter(rank, state))?;
                }
            }
            for arrow in self.under_way.values() {
                self.writer.event(from, TimelineEvent::Depart(*arrow))?;
            }
            if self.in_flight > Bytes(0) {
                self.writer.event(from, TimelineEvent::InFlight(self.in_flight))?;
            }
        }
        if self.phase == WindowPhase::Within && now > to {
            self.phase = WindowPhase::After;
            for arrow in self.under_way.values() {
                self.writer.event(to, TimelineEvent::Arrive(*arrow))?;
            }
            for (rank, _) in (0..).map(Rank).zip(&self.states).filter(|(_, state)| state.is_some()) {
                self.writer.event(to, TimelineEvent::Leave(rank))?;
            }
        }
        Ok(())
    }

    /// Updates the current state; returns whether the event is shown.
    fn keep(&mut self, event: TimelineEvent) -> bool {
        match event {
            TimelineEvent::Enter(rank, state) => self.excerpt.has(rank) && self.set(rank, Some(state)),
            TimelineEvent::Leave(rank) => self.excerpt.has(rank) && self.set(rank, None),
            TimelineEvent::Depart(arrow) => {
                let shown = self.excerpt.has(arrow.from) && self.excerpt.has(arrow.to);
                if shown {
                    self.under_way.insert(arrow.key, arrow);
                }
                shown
            }
            TimelineEvent::Arrive(arrow) => self.under_way.remove(&arrow.key).is_some(),
            TimelineEvent::InFlight(bytes) => {
                self.in_flight = bytes;
                true
            }
        }
    }

    fn set(&mut self, rank: Rank, state: Option<State>) -> bool {
        self.states.get_mut(rank.0 as usize).map(|entry| *entry = state).is_some()
    }
}

impl TimelineWriter for Excerpted<Box<dyn TimelineWriter>> {
    fn event(&mut self, at: Time, event: TimelineEvent) -> io::Result<()> {
        self.move_on(at)?;
        let shown = self.keep(event);
        if shown && self.phase == WindowPhase::Within { self.writer.event(at, event) } else { Ok(()) }
    }

    fn series(&mut self, series: &Series) -> io::Result<()> {
        let Excerpt { from, to, .. } = self.excerpt;
        let before = series.samples.iter().rfind(|(at, _)| *at <= from).map(|&(_, number)| (from, number));
        let within = series.samples.iter().filter(|(at, _)| *at > from && *at <= to).copied();
        self.writer.series(&Series { name: series.name.clone(), samples: before.into_iter().chain(within).collect() })
    }

    fn finish(&mut self, end: Time) -> io::Result<()> {
        self.move_on(end)?;
        self.writer.finish(end.min(self.excerpt.to))
    }
}
