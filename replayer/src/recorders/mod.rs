//! Observers of a replay whose records become files and pictures.

mod link_history;
mod network_trace;
mod timeline;

pub(crate) use link_history::LinkHistory;
pub(crate) use network_trace::NetworkTraceRecorder;
pub(crate) use timeline::Timeline;
