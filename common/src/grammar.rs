//! The text of a trace.
