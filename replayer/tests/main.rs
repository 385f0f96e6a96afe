//! The guarantees of the commands and their libraries, a module for each subject, in one program so that the library is
//! linked once.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod advise;
mod bad_input;
mod causality;
mod changing_platforms;
mod check;
mod convert;
mod critical_path;
mod examples;
mod extended;
mod files;
mod gather;
mod generate;
mod inter;
mod jobs;
mod limits;
mod network_traces;
mod observers;
mod one_sided;
mod one_sided_networks;
mod oracle;
mod outputs;
mod own_profile;
mod packet_links;
mod packet_results;
mod packet_traces;
mod page;
mod page_data;
mod partitioned;
mod progress;
mod properties;
mod recorded;
mod reports;
mod schedule;
mod schema;
mod semantics;
mod servers;
mod steady;
mod studies;
mod support;
mod terminal;
mod threads;
mod timeline;
mod timeline_formats;
mod wait_states;
mod what_if;
mod worlds;
