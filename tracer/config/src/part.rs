//! The part of a program to trace.

use std::fmt::{self, Display, Formatter};
use std::ops::{Range, RangeInclusive};
use std::str::FromStr;

/// The values that are accepted, for error messages.
pub(super) const PARTS: &str =
    "all, region=NAME, region=NAME,FIRST-LAST, regions=FROM,TO, pcontrol, seconds=FROM-TO or calls=FIRST-LAST";

/// A part of a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Part {
    /// All of the program.
    #[default]
    All,
    /// A region that the program marks, whenever or at some of the times that it is open, counted from 1.
    Region {
        /// The name of the region.
        name: String,
        /// The times.
        times: RangeInclusive<u64>,
    },
    /// From the first beginning of one region to the next end of another.
    Between {
        /// The region at whose beginning the part begins.
        from: String,
        /// The region at whose end the part ends.
        to: String,
    },
    /// From each `MPI_Pcontrol(1)` to the next `MPI_Pcontrol(0)`.
    Control,
    /// A stretch of time, in seconds since `MPI_Init`.
    Seconds(Range<f64>),
    /// Calls of each rank, counted from 1.
    Calls(RangeInclusive<u64>),
}

impl FromStr for Part {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (kind, value) = text.split_once('=').unwrap_or((text, ""));
        let named = |name: &str| if name.is_empty() { Err(()) } else { Ok(name.to_owned()) };
        match kind {
            "all" if value.is_empty() && !text.contains('=') => Ok(Self::All),
            "pcontrol" if value.is_empty() && !text.contains('=') => Ok(Self::Control),
            "region" => match value.rsplit_once(',').map(|(name, times)| (name, numbers(times))) {
                Some((name, Some(times))) => Ok(Self::Region { name: named(name)?, times }),
                Some((_, None)) => Err(()),
                None => Ok(Self::Region { name: named(value)?, times: 1..=u64::MAX }),
            },
            "regions" => {
                let (from, to) = value.split_once(',').ok_or(())?;
                Ok(Self::Between { from: named(from)?, to: named(to)? })
            }
            "seconds" => {
                let (from, to) = value.split_once('-').ok_or(())?;
                let seconds =
                    |text: &str| text.parse().ok().filter(|number: &f64| *number >= 0.0 && number.is_finite());
                let range = seconds(from).ok_or(())?..seconds(to).ok_or(())?;
                if range.is_empty() { Err(()) } else { Ok(Self::Seconds(range)) }
            }
            "calls" => numbers(value).map(Self::Calls).ok_or(()),
            _ => Err(()),
        }
    }
}

/// A range such as `10-20`, or one number; numbers count from 1.
fn numbers(text: &str) -> Option<RangeInclusive<u64>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let range = first.parse().ok()?..=last.parse().ok()?;
    (*range.start() > 0 && !range.is_empty()).then_some(range)
}

impl Display for Part {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Region { name, times } if *times == (1..=u64::MAX) => write!(f, "region={name}"),
            Self::Region { name, times } => write!(f, "region={name},{}-{}", times.start(), times.end()),
            Self::Between { from, to } => write!(f, "regions={from},{to}"),
            Self::Control => f.write_str("pcontrol"),
            Self::Seconds(range) => write!(f, "seconds={}-{}", range.start, range.end),
            Self::Calls(range) => write!(f, "calls={}-{}", range.start(), range.end()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_reads_back_as_itself() {
        let parts = [
            "all",
            "region=step",
            "region=step,10-20",
            "regions=set_up,solve",
            "pcontrol",
            "seconds=1.5-60",
            "calls=1000-2000",
        ];
        for text in parts {
            assert_eq!(text.parse().map(|part: Part| part.to_string()), Ok(text.to_owned()));
        }
        assert_eq!("region=3,7".parse(), Ok(Part::Region { name: "3".into(), times: 7..=7 }));
    }

    #[test]
    fn what_is_no_part_is_refused() {
        let wrong = [
            "",
            "step",
            "all=1",
            "region=",
            "region=,1-2",
            "region=step,0-3",
            "region=step,3-2",
            "region=step,x",
            "regions=a",
            "regions=a,",
            "pcontrol=1",
            "seconds=5",
            "seconds=5-5",
            "seconds=-1-5",
            "seconds=0-inf",
            "calls=0-5",
            "calls=",
        ];
        for text in wrong {
            assert_eq!(text.parse::<Part>(), Err(()), "{text}");
        }
    }
}
