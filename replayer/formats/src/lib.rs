//! Trace formats of other tools, files of timelines for viewers, and traces combined from several runs. This crate simulates nothing.

pub mod combine;
pub mod input;
pub mod output;
pub mod timeline;
