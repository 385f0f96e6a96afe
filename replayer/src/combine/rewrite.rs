//! Copies a rank's stream with other volumes of computation.

use std::path::Path;

use titr_common::event::{Event, ThreadId};
use titr_common::output::named;
use titr_common::trace::{RankStream, RankWriter};
use titr_common::units::Instructions;

use super::CombineError;
use super::lock_step::{ChosenVolume, is_call};

/// Copies the stream of the first run, step by step.
pub(super) struct Rewriter<'d> {
    pub(super) stream: RankStream,
    pub(super) writer: RankWriter,
    pub(super) directory: &'d Path,
}

/// The distribution of a chosen volume over the computations of the first run in a step, in proportion to them.
struct Distribution {
    volume: ChosenVolume,
    /// The volume of the first run so far.
    read: f64,
    /// The volume that was written so far.
    written: f64,
}

impl Distribution {
    /// The volume to write for a computation that is `volume` in the first run. Whole numbers remain whole.
    fn next(&mut self, volume: f64) -> f64 {
        let ChosenVolume { first, chosen, .. } = self.volume;
        if first == chosen {
            return volume;
        }
        self.read += volume;
        let until = if self.read >= first { chosen } else { (chosen * (self.read / first)).round().min(chosen) };
        let part = (until - self.written).max(0.0);
        self.written += part;
        part
    }
}

impl Rewriter<'_> {
    /// Copies the next step, which has this many calls, and in which the threads compute `volumes`.
    pub(crate) fn copy(&mut self, mut calls: usize, volumes: &[ChosenVolume]) -> Result<(), CombineError> {
        let mut all: Vec<Distribution> =
            volumes.iter().map(|&volume| Distribution { volume, read: 0.0, written: 0.0 }).collect();
        while let Some(event) = self.stream.next_event()? {
            let thread = self.stream.location().thread;
            if let Event::Compute(Instructions(volume)) = event {
                let its = all.iter_mut().find(|distribution| distribution.volume.thread == thread);
                let part = its.map_or(volume, |distribution| distribution.next(volume));
                if part > 0.0 || volume == 0.0 {
                    self.write(thread, &Event::Compute(Instructions(part)))?;
                }
            } else if is_call(&event) && calls == 1 {
                self.add_missing(volumes)?;
                return self.write(thread, &event);
            } else {
                calls -= usize::from(is_call(&event));
                self.write(thread, &event)?;
            }
        }
        self.add_missing(volumes)
    }

    /// Writes the computations of threads that do not compute in the first run.
    fn add_missing(&mut self, volumes: &[ChosenVolume]) -> Result<(), CombineError> {
        for volume in volumes.iter().filter(|volume| volume.first == 0.0 && volume.chosen > 0.0) {
            self.write(volume.thread, &Event::Compute(Instructions(volume.chosen)))?;
        }
        Ok(())
    }

    fn write(&mut self, thread: ThreadId, event: &Event) -> Result<(), CombineError> {
        Ok(self.writer.write(thread, event).map_err(|error| named(self.directory, error))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volume_is_distributed_in_proportion_and_whole() {
        let volume = ChosenVolume { thread: ThreadId::MAIN, first: 30.0, chosen: 10.0 };
        let mut distribution = Distribution { volume, read: 0.0, written: 0.0 };
        assert_eq!([10.0, 10.0, 10.0].map(|part| distribution.next(part)), [3.0, 4.0, 3.0]);
    }
}
