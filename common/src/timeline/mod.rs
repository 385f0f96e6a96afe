//! Timelines: the activity of each rank over time, and an arrow for each message.
//!
//! A timeline is a series of **events** in order of time, from a replay as simulated time advances or from an extended
//! trace. A rank is in one state from its first event to its last; a message departs and arrives. Viewers expect files
//! of any length in this order, so a [`TimelineWriter`] writes each event as it comes. Sources that learn of events
//! ahead of time keep them in an [`EventSorter`] until then. Numbers that are known only at the end, such as the load
//! of a link, come last, as a [`Series`].
//!
//! An [`Excerpt`] keeps a large run viewable: some of the ranks, and a part of the time.

mod event;
mod event_sorter;
mod excerpt;

pub use event::{Arrow, Series, State, TimelineEvent, TimelineWriter};
pub use event_sorter::EventSorter;
pub use excerpt::{Excerpt, Excerpted, JobRanks, Subject};
