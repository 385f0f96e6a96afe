//! Quantities as SimGrid writes them: `1.25E8Bps`, `50us`, `1Gf`. A number alone has a unit too.

use titr_common::quantity::{Kind, NO_PREFIX};

/// A kind of quantity, and the unit of numbers alone.
pub struct Units {
    kind: Kind,
    default: &'static str,
}

const DECIMAL: &[(&str, f64)] =
    &[("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12), ("P", 1e15), ("E", 1e18), ("Z", 1e21), ("Y", 1e24)];
const DECIMAL_IN_WORDS: &[(&str, f64)] = &[
    ("kilo", 1e3),
    ("mega", 1e6),
    ("giga", 1e9),
    ("tera", 1e12),
    ("peta", 1e15),
    ("exa", 1e18),
    ("zeta", 1e21),
    ("yotta", 1e24),
];
const BINARY: &[(&str, f64)] = &[
    ("Ki", 1024.0),
    ("Mi", 1_048_576.0),
    ("Gi", 1_073_741_824.0),
    ("Ti", 1_099_511_627_776.0),
    ("Pi", 1_125_899_906_842_624.0),
    ("Ei", 1_152_921_504_606_846_976.0),
];

/// Bytes per second.
pub const BANDWIDTH: Units = Units {
    kind: Kind {
        name: "bandwidth",
        example: "125MBps or 1Gbps",
        units: &[("Bps", 1.0), ("bps", 0.125)],
        prefixes: &[NO_PREFIX, DECIMAL, BINARY],
        may_be_zero: true,
    },
    default: "Bps",
};

/// Seconds.
pub const TIME: Units = Units {
    kind: Kind {
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
    },
    default: "s",
};

/// Floating-point operations per second, or whatever the trace counts.
pub const SPEED: Units = Units {
    kind: Kind {
        name: "speed",
        example: "1Gf",
        units: &[("flops", 1.0), ("f", 1.0)],
        prefixes: &[NO_PREFIX, DECIMAL, DECIMAL_IN_WORDS],
        may_be_zero: true,
    },
    default: "f",
};

impl Units {
    /// What `text` is worth, or what is wrong with it.
    pub fn parse(&self, text: &str) -> Result<f64, String> {
        let text = text.trim();
        match text.parse::<f64>() {
            Ok(_) => self.kind.parse(&format!("{text}{}", self.default)),
            Err(_) => self.kind.parse(text),
        }
    }
}

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
        assert_eq!(
            BANDWIDTH.parse("1GB/s"),
            Err("`GB/s` is not a unit of bandwidth: write, say, 125MBps or 1Gbps".to_owned())
        );
        assert_eq!(TIME.parse("soon"), Err("not a time: write a number and a unit, such as 50us".to_owned()));
    }
}
