//! The units of quantities in SimGrid's XML: `1.25E8Bps`, `50us`, `1Gf`. A number alone has a unit too.

use titr_common::units::{BINARY, DECIMAL, Dimension, NO_PREFIX, Prefixes};

/// Powers of 1000 beyond those in titr's own files.
const LARGER: Prefixes = &[("E", 1e18), ("Z", 1e21), ("Y", 1e24)];
const LARGER_BINARY: Prefixes = &[("Ei", 1_152_921_504_606_846_976.0)];
const IN_WORDS: Prefixes = &[
    ("kilo", 1e3),
    ("mega", 1e6),
    ("giga", 1e9),
    ("tera", 1e12),
    ("peta", 1e15),
    ("exa", 1e18),
    ("zeta", 1e21),
    ("yotta", 1e24),
];

/// Bytes per second.
pub(crate) const BANDWIDTH: Dimension = Dimension {
    name: "bandwidth",
    example: "125MBps or 1Gbps",
    units: &[("Bps", 1.0), ("bps", 0.125)],
    prefixes: &[NO_PREFIX, DECIMAL, LARGER, BINARY, LARGER_BINARY],
    may_be_zero: true,
    unit_of_numbers: Some("Bps"),
};

/// Seconds.
pub(crate) const TIME: Dimension = Dimension {
    name: "time",
    example: "50us",
    units: &[
        ("ms", 1e-3),
        ("us", 1e-6),
        ("ns", 1e-9),
        ("ps", 1e-12),
        ("s", 1.0),
        ("m", 60.0),
        ("h", 3600.0),
        ("d", 86400.0),
        ("w", 604_800.0),
    ],
    prefixes: &[NO_PREFIX],
    may_be_zero: true,
    unit_of_numbers: Some("s"),
};

/// Floating-point operations per second, or the unit of the trace's counts per second.
pub(crate) const SPEED: Dimension = Dimension {
    name: "speed",
    example: "1Gf",
    units: &[("flops", 1.0), ("f", 1.0)],
    prefixes: &[NO_PREFIX, DECIMAL, LARGER, IN_WORDS],
    may_be_zero: true,
    unit_of_numbers: Some("f"),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_simgrid_reads_them() {
        for (units, text, expected) in [
            (&BANDWIDTH, "1.25E8Bps", 1.25e8),
            (&BANDWIDTH, "125MBps", 1.25e8),
            (&BANDWIDTH, "1Gbps", 1.25e8),
            (&BANDWIDTH, "1KiBps", 1024.0),
            (&BANDWIDTH, "1000", 1000.0),
            (&TIME, "15E-6s", 15e-6),
            (&TIME, "50us", 50.0 * 1e-6),
            (&TIME, "2m", 120.0),
            (&TIME, "0", 0.0),
            (&SPEED, "1E9f", 1e9),
            (&SPEED, "98.095Mf", 98.095e6),
            (&SPEED, "2gigaflops", 2e9),
        ] {
            assert_eq!(units.parse(text), Ok(expected), "{text}");
        }
        let wrong = |units: Dimension, text| units.parse(text).unwrap_err().to_string();
        assert_eq!(wrong(BANDWIDTH, "1GB/s"), "`GB/s` is not a unit of bandwidth: write, say, 125MBps or 1Gbps");
        assert_eq!(wrong(TIME, "soon"), "not a time: write a number and a unit, such as 50us");
    }
}
