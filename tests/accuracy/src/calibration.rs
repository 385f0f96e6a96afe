//! What one-way messages, exchanges and a ring shift of large messages say about the links of the lab.

use std::error::Error;
use std::path::Path;

use crate::measured::Measured;

/// Empty messages there and back in a measured interval (`latency` in `patterns.c`).
const ROUND_TRIPS: f64 = 100.0;

/// Messages each way in a measured interval of the other patterns.
const MESSAGES: f64 = 4.0;

/// Cables between two hosts of a star.
const CABLES: f64 = 2.0;

/// The parameters of a star.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// Bytes per second of each cable.
    pub bandwidth: f64,
    /// Of each cable, in seconds.
    pub latency: f64,
    /// Whether an exchange of large messages takes clearly less than twice the time of a message.
    pub duplex: bool,
    /// The part of its bandwidth that a link loses to what comes back.
    pub crosstraffic: f64,
}

impl Calibration {
    /// The calibration by what `patterns` printed, with large messages of so many bytes.
    pub fn read(file: &Path, bytes: u32) -> Result<Self, Box<dyn Error>> {
        let measured = Measured::read(file)?;
        let median = |pattern: &str| {
            let found = measured.iter().find(|measured| measured.pattern == pattern);
            found.map(Measured::median).ok_or_else(|| format!("{}: there is no {pattern}", file.display()))
        };
        let (one_way, both_ways) = (median("one-way")? / MESSAGES, median("both-ways")? / MESSAGES);
        Ok(Self {
            bandwidth: f64::from(bytes) / one_way,
            latency: median("latency")? / (2.0 * ROUND_TRIPS) / CABLES,
            duplex: both_ways / one_way < 1.5,
            crosstraffic: (median("around")? / MESSAGES / one_way - 1.0).max(0.0),
        })
    }

    /// The platform of the star, without its number of hosts.
    pub fn platform(&self) -> String {
        let Self { bandwidth, latency, duplex, crosstraffic } = self;
        format!(
            "schema = 1\nhosts.speed = \"1 Ginstr/s\"\ntopology.star = {{}}\n\
             [network]\nbandwidth = \"{bandwidth} B/s\"\nlatency = \"{latency} s\"\nflow.crosstraffic = {crosstraffic}\n\
             [mpi]\ncollectives = \"openmpi\"\nrendezvous_duplex = {duplex}\n"
        )
    }
}
