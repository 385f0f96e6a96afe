//! Formats of other tools: timelines for viewers. Nothing here simulates.

pub mod timeline;
