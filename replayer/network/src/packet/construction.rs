//! The engine for a network, by the kind of its routers.

use super::engine::{Engine, input_queued};
use super::output_queued::output_queued;
use super::spec::PacketSpec;
use super::switch::Switch;

/// An idle network on at most this many threads, the caller's among them. It takes one if it is small, if its links are not
/// alike, or if its switches have output queues.
#[must_use]
pub fn engine(spec: &PacketSpec, threads: usize) -> Box<dyn Engine> {
    match spec.parameters.switch {
        Switch::InputQueued => input_queued(spec, threads),
        Switch::OutputQueued(_) => output_queued(spec),
    }
}
