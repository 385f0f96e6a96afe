//! Traces of other tools, and timelines for viewers. Nothing here simulates.

pub mod input;
pub mod output;
pub mod timeline;
