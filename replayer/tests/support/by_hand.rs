//! A machine for results that are worked out by hand.

/// A machine whose times can be worked out by hand: an instruction takes a nanosecond, a message 2 µs and a nanosecond a byte.
pub const PLATFORM: &str = r#"
schema = 1
[hosts]
count = 4
speed = "1 Ginstr/s"
[topology.star]
[network]
model = "ideal"
bandwidth = "1 GB/s"
latency = "1 us"
[mpi]
collectives = "openmpi"
"#;
