//! The open line of a writer: the number of events that it repeats, and their volumes.

use super::volumes::write_volumes;
use super::{AGAIN, EVENTS, LOOP};
use crate::event::Actor;
use crate::grammar::line::{push_actor, push_number};

/// Number of volumes on a line, to which those of an incomplete round may be added.
const VOLUMES: usize = 512;
/// A line of fewer events that all have volumes does without their number.
const FEW: usize = 8;

/// A line that repeats the events of some distance ago. It is written when it ends, as its volumes are spelled together.
#[derive(Debug, Default)]
pub(super) struct OpenLine {
    distance: usize,
    /// The number of events on the line; 0 if there is no line.
    events: usize,
    /// The number of events in the last round, if it is incomplete.
    in_round: usize,
    /// The maximum number of events: whole rounds.
    most: usize,
    /// The volumes of all events that take one, or of one round if the others are like it.
    volumes: Vec<u64>,
    rounds: Rounds,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Rounds {
    /// There is no whole round yet.
    #[default]
    First,
    /// All rounds had the volumes of the first; the last one has had this many so far.
    Alike(usize),
    Unlike,
}

impl OpenLine {
    /// Adds an event that is the one `distance` before it, after `volume` if it takes one.
    #[inline(always)]
    pub(super) fn add(&mut self, out: &mut Vec<u8>, actor: Actor, distance: usize, volume: Option<u64>) {
        if self.events == 0 {
            self.begin(distance);
        }
        if let Some(volume) = volume {
            match &mut self.rounds {
                Rounds::Alike(next) if self.volumes.get(*next) == Some(&volume) => *next += 1,
                Rounds::Alike(next) => {
                    let next = *next;
                    self.differ(out, actor, next);
                    self.volumes.push(volume);
                }
                Rounds::First | Rounds::Unlike => self.volumes.push(volume),
            }
        }
        self.events += 1;
        self.in_round += 1;
        if self.in_round == self.distance {
            self.end_round(out, actor);
        }
        if self.events == self.most || self.volumes.len() >= VOLUMES && !matches!(self.rounds, Rounds::Alike(_)) {
            self.end(out, actor);
        }
    }

    fn begin(&mut self, distance: usize) {
        self.distance = distance;
        // The rounds of a loop are whole where a line holds one.
        self.most = EVENTS - if distance <= EVENTS { EVENTS % distance } else { 0 };
    }

    #[inline]
    fn end_round(&mut self, out: &mut Vec<u8>, actor: Actor) {
        match self.rounds {
            // An event took a volume before, and takes none now.
            Rounds::Alike(next) if next < self.volumes.len() => self.differ(out, actor, next),
            _ => {}
        }
        self.in_round = 0;
        if self.rounds != Rounds::Unlike {
            self.rounds = Rounds::Alike(0);
        }
    }

    /// A round differs from the first, after this many equal volumes.
    #[cold]
    fn differ(&mut self, out: &mut Vec<u8>, actor: Actor, volumes: usize) {
        let begun = self.in_round;
        if self.events - begun == self.distance && self.volumes.len() + volumes < VOLUMES {
            self.volumes.extend_from_within(..volumes);
            self.rounds = Rounds::Unlike;
            return;
        }
        // The equal rounds are a line, and the events of this round so far are like the beginning of them.
        self.events -= begun;
        self.write(out, actor);
        (self.events, self.rounds) = (begun, Rounds::First);
        self.volumes.truncate(volumes);
    }

    /// Writes the line, if there is one.
    #[inline]
    pub(super) fn end(&mut self, out: &mut Vec<u8>, actor: Actor) {
        if self.events > 0 {
            self.end_begun(out, actor);
        }
    }

    /// Writes the line, which there is.
    #[inline(never)]
    fn end_begun(&mut self, out: &mut Vec<u8>, actor: Actor) {
        self.write(out, actor);
        (self.events, self.in_round, self.rounds) = (0, 0, Rounds::First);
        self.volumes.clear();
    }

    fn write(&self, out: &mut Vec<u8>, actor: Actor) {
        push_actor(out, actor);
        if self.events == self.volumes.len() && self.events < FEW {
            out.extend_from_slice(AGAIN);
            push_number(out, self.distance as u64);
        } else {
            out.extend_from_slice(LOOP);
            push_number(out, self.distance as u64);
            out.push(b' ');
            push_number(out, self.events as u64);
        }
        write_volumes(out, &self.volumes);
        out.push(b'\n');
    }
}
