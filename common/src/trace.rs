//! The trace directory.
