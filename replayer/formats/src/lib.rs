//! Trace formats of other tools, and files of timelines for viewers. This crate simulates nothing.

pub mod input;
pub mod output;
pub mod timeline;
