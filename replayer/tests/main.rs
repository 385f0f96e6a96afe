//! The guarantees of the commands, a module for each subject, in one program so that the library is linked once.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod advise;
mod bad_input;
mod changing_platforms;
mod check;
mod combine;
mod convert;
mod efficiency;
mod extended;
mod extrapolate;
mod foreign_traces;
mod gather;
mod generate;
mod graphs;
mod interval;
mod job_mix;
mod jobs;
mod limits;
mod network_traces;
mod outputs;
mod packet_results;
mod page;
mod page_data;
mod page_security;
mod place;
mod platform;
mod recorded;
mod reports;
mod schedule;
mod schema;
mod spread;
mod steady;
mod studies;
mod suggestions;
mod support;
mod sweep;
mod tables;
mod terminal;
mod timeline;
mod timeline_formats;
mod tolerance;
mod what_if;
mod worlds;
