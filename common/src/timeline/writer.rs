//! The interface of what writes or keeps a timeline.

use std::io;

use crate::time::Time;

use crate::timeline::event::{Series, TimelineEvent};

/// Writes a timeline, event by event.
pub trait TimelineWriter {
    /// Writes an event at `at`; later calls have no earlier time.
    ///
    /// # Errors
    /// If the file cannot be written.
    fn event(&mut self, at: Time, event: TimelineEvent) -> io::Result<()>;

    /// Writes a number that changed over time, after all events. A format whose readers require everything in order of
    /// time omits it.
    ///
    /// # Errors
    /// If the file cannot be written.
    fn series(&mut self, series: &Series) -> io::Result<()>;

    /// Writes that there is nothing after `end`.
    ///
    /// # Errors
    /// If the file cannot be written.
    fn finish(&mut self, end: Time) -> io::Result<()>;
}
