//! Measured times of a machine: plain data in JSON.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;
use titr_common::input::{self, WRITTEN_BY_PROGRAM};
use titr_common::units::{Bytes, Seconds};

use crate::benchmarks::FullHosts;
use crate::robust::{median, spread, standard_error_of_median};

/// The version of the file.
pub const VERSION: u32 = 1;

/// The most consecutive repetitions of a pattern for one sample. Each of them is replayed.
const MOST_REPETITIONS: u32 = 10_000;

/// The measurements of a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurements {
    /// The version of this format.
    pub titr_measurements: u32,
    /// The MPI library's description of itself.
    pub mpi: String,
    /// The name of each host, in the order of its first rank.
    pub hosts: Vec<String>,
    /// The host of each rank, by its place among `hosts`.
    pub places: Vec<u32>,
    /// Patterns of messages and the times that they took.
    pub series: Vec<Series>,
    /// Sends whose receive was posted late.
    pub late_receives: Vec<LateReceive>,
    /// Interruptions of ranks that computed.
    #[serde(default)]
    pub detours: Vec<Detours>,
    /// Results of all ranks of full hosts.
    #[serde(default)]
    pub full_hosts: FullHosts,
}

/// The interruptions of a rank that computed for some time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Detours {
    /// The rank.
    pub rank: u32,
    /// The time for which it was watched.
    pub watched: Seconds,
    /// The number of interruptions.
    pub count: u64,
    /// The sum of their lengths.
    pub lost: Seconds,
}

/// A pattern of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// Two ranks send a message back and forth; a time is half of a round trip.
    PingPong,
    /// Two ranks send each other a message at once; measured until both messages have arrived.
    Exchange,
    /// Two ranks send each other a message, the second [later](Series::late) than the first; measured until both messages have arrived.
    LateExchange,
    /// After a pause, the first rank sends many messages of one size to the second; a time is from the arrival of the first
    /// message until as many more bytes are there.
    Train,
    /// Four ranks on two hosts: the first plays ping-pong with the second, which is on the other host, and the third,
    /// which is there too, with the fourth at once, so that messages go both ways between two hosts and one way between
    /// two ranks.
    Opposite,
    /// Ranks are in two halves, and each rank of the first plays ping-pong with one of the second, all at once.
    Bisection,
    /// Every rank but the first sends the first a message, which answers all with an empty one.
    Incast,
    /// The first rank sends every other rank a message at once, each of which answers with an empty one.
    Scatter,
    /// Each rank sends to the next and receives from the one before, all at once.
    Shift,
    /// The first rank sends to the second, which waits; the time of `MPI_Send` alone.
    Send,
    /// The first rank sends to the second, which waits; the time of `MPI_Isend` alone.
    Isend,
    /// The second rank receives a message that arrived long ago; the time of `MPI_Recv` alone.
    Receive,
}

/// The times of one pattern.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// The pattern.
    pub pattern: Pattern,
    /// The ranks that take part, in the pattern's order.
    pub ranks: Vec<u32>,
    /// The time by which the second rank begins later, in a [late exchange](Pattern::LateExchange).
    #[serde(default, skip_serializing_if = "is_none")]
    pub late: Seconds,
    /// Sizes, rising.
    pub points: Vec<Point>,
}

/// The times that messages of one size took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The size of each message.
    pub bytes: Bytes,
    /// The number of consecutive repetitions whose mean is a sample.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub repetitions: u32,
    /// Samples.
    pub seconds: Vec<f64>,
}

fn is_none(time: &Seconds) -> bool {
    time.0 == 0.0
}

fn once() -> u32 {
    1
}

fn is_once(repetitions: &u32) -> bool {
    *repetitions == 1
}

/// A send whose receive was posted late.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LateReceive {
    /// The size of the message.
    pub bytes: Bytes,
    /// The delay from the send to the posting of the receive.
    pub delay: Seconds,
    /// The time that `MPI_Send` took.
    pub send: Seconds,
}

/// A reason why there are no measurements.
#[derive(Debug, Error)]
#[allow(missing_docs)] // The messages say what the variants and their fields are.
pub enum MeasurementsError {
    #[error("cannot read the measurements {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{}:{}:{}: no measurements: {source}: take a file that titr-calibrate --measurements has written", path.display(), source.line(), source.column())]
    Malformed { path: PathBuf, source: serde_json::Error },
    #[error("{}: no measurements: {what}", path.display())]
    Inconsistent { path: PathBuf, what: String },
}

impl Measurements {
    /// Reads a file.
    ///
    /// # Errors
    /// If there is none, or it holds no measurements.
    pub fn load(path: &Path) -> Result<Self, MeasurementsError> {
        let text = input::read_text(path, WRITTEN_BY_PROGRAM)
            .map_err(|source| MeasurementsError::Unreadable { path: path.into(), source })?;
        let read: Self =
            serde_json::from_str(&text).map_err(|source| MeasurementsError::Malformed { path: path.into(), source })?;
        read.check().map_err(|what| MeasurementsError::Inconsistent { path: path.into(), what })?;
        Ok(read)
    }

    /// The file's text: a line for each size.
    ///
    /// # Errors
    /// If a time is not a number.
    pub fn to_json(&self) -> serde_json::Result<String> {
        let mut text = String::from("{\n");
        text += &format!("\"titr_measurements\": {},\n", self.titr_measurements);
        text += &format!("\"mpi\": {},\n", serde_json::to_string(&self.mpi)?);
        text += &format!("\"hosts\": {},\n", serde_json::to_string(&self.hosts)?);
        text += &format!("\"places\": {},\n\"series\": [", serde_json::to_string(&self.places)?);
        for (at, series) in self.series.iter().enumerate() {
            text += if at == 0 { "\n" } else { ",\n" };
            let (pattern, ranks) = (serde_json::to_string(&series.pattern)?, serde_json::to_string(&series.ranks)?);
            text += &format!("  {{\"pattern\": {pattern}, \"ranks\": {ranks}, ");
            if !is_none(&series.late) {
                text += &format!("\"late\": {}, ", serde_json::to_string(&series.late)?);
            }
            text += &format!("\"points\": [\n    {}]}}", lines(&series.points, 4)?);
        }
        text += &format!("],\n\"late_receives\": [\n  {}", lines(&self.late_receives, 2)?);
        text += &format!("],\n\"detours\": [\n  {}", lines(&self.detours, 2)?);
        text += "],\n\"full_hosts\": ";
        // A row in a line.
        text += &serde_json::to_string(&self.full_hosts)?.replace("{\"benchmark\"", "\n  {\"benchmark\"");
        text += "\n}\n";
        Ok(text)
    }

    /// The first contradiction, if there is one.
    fn check(&self) -> Result<(), String> {
        if self.titr_measurements != VERSION {
            return Err(format!("version {}, where this titr reads {VERSION}", self.titr_measurements));
        }
        if let Some(place) = self.places.iter().find(|&&place| place as usize >= self.hosts.len()) {
            return Err(format!("a rank is on host {place} of {}", self.hosts.len()));
        }
        if let Some(detours) = self.detours.iter().find(|detours| !(detours.watched.0 > 0.0 && detours.lost.0 >= 0.0)) {
            return Err(format!("the interruptions of rank {} took no time, or an impossible one", detours.rank));
        }
        self.full_hosts.check(self.places.len())?;
        for Series { pattern, ranks, late, points } in &self.series {
            if !late.0.is_finite() || late.0 < 0.0 {
                return Err(format!("no rank begins {} s later", late.0));
            }
            if ranks.len() < 2 || ranks.iter().any(|&rank| rank as usize >= self.places.len()) {
                return Err(format!("{pattern:?} is between at least two of the {} ranks", self.places.len()));
            }
            for Point { bytes, repetitions, seconds } in points {
                if !(1..=MOST_REPETITIONS).contains(repetitions) {
                    return Err(format!(
                        "{pattern:?} of {} bytes was repeated {repetitions} times, where 1 to {MOST_REPETITIONS} are possible",
                        bytes.0
                    ));
                }
                if seconds.is_empty() || seconds.iter().any(|time| !time.is_finite() || *time < 0.0) {
                    return Err(format!("{pattern:?} of {} bytes has no times, or impossible ones", bytes.0));
                }
            }
            if points.windows(2).any(|pair| pair[0].bytes >= pair[1].bytes) {
                return Err(format!("the sizes of {pattern:?} do not rise"));
            }
        }
        Ok(())
    }

    /// The most ranks that a host has.
    pub(crate) fn ranks_of_a_host(&self) -> u32 {
        let of = |host: u32| self.places.iter().filter(|&&place| place == host).count() as u32;
        (0..self.hosts.len() as u32).map(of).max().unwrap_or(1)
    }

    /// The host of a rank, which every rank of a series has.
    pub(crate) fn host_of(&self, rank: u32) -> u32 {
        self.places[rank as usize]
    }

    /// The hosts of the first two ranks of a series.
    pub(crate) fn ends_of(&self, series: &Series) -> [u32; 2] {
        [self.host_of(series.ranks[0]), self.host_of(series.ranks[1])]
    }

    /// Whether all ranks of a series are on one host.
    pub(crate) fn is_local(&self, series: &Series) -> bool {
        let first = self.host_of(series.ranks[0]);
        series.ranks.iter().all(|&rank| self.host_of(rank) == first)
    }

    pub(crate) fn trains(&self) -> impl Iterator<Item = &Series> {
        self.series.iter().filter(|series| series.pattern == Pattern::Train)
    }

    /// The first series of a pattern within one host, or between hosts.
    pub(crate) fn first(&self, pattern: Pattern, local: bool) -> Option<&Series> {
        self.series.iter().find(|series| series.pattern == pattern && self.is_local(series) == local)
    }
}

/// The JSON of each item on a line of its own, indented by this.
fn lines<T: Serialize>(items: &[T], indent: usize) -> serde_json::Result<String> {
    let lines = items.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
    Ok(lines.join(&format!(",\n{:indent$}", "")))
}

impl Series {
    /// The median time of each size.
    #[must_use]
    pub fn medians(&self) -> Vec<(Bytes, f64)> {
        self.points.iter().filter_map(|point| Some((point.bytes, median(&point.seconds)?))).collect()
    }

    /// The median time of each size, in seconds, over the size in bytes.
    pub(crate) fn curve(&self) -> Vec<(f64, f64)> {
        self.medians().into_iter().map(|(bytes, time)| (bytes.0 as f64, time)).collect()
    }
}

impl Point {
    /// The typical deviation of samples from their median, as a fraction of it.
    pub(crate) fn spread(&self) -> f64 {
        spread(&self.seconds)
    }

    /// The standard error of the median, as a part of it.
    pub(crate) fn uncertainty(&self) -> f64 {
        standard_error_of_median(self.spread(), self.seconds.len())
    }
}

impl Pattern {
    /// The rounds before the first that is timed, so that ranks are as far apart as in a program.
    #[must_use]
    pub fn rounds_before(self) -> u32 {
        match self {
            Self::Exchange | Self::Shift => 1,
            Self::PingPong | Self::LateExchange | Self::Train | Self::Opposite | Self::Bisection => 0,
            Self::Incast | Self::Scatter | Self::Send | Self::Isend | Self::Receive => 0,
        }
    }

    /// The pattern in words.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::PingPong => "ping-pong",
            Self::Exchange => "exchange",
            Self::LateExchange => "late exchange",
            Self::Train => "train",
            Self::Opposite => "two opposite ping-pongs",
            Self::Bisection => "bisection",
            Self::Incast => "incast",
            Self::Scatter => "scatter",
            Self::Shift => "shift",
            Self::Send => "send",
            Self::Isend => "isend",
            Self::Receive => "receive",
        }
    }
}

/// The largest message whose time is nearly all latency.
pub(crate) const SMALL: Bytes = Bytes(512);

impl Measurements {
    /// The measurements with, in the first ping-pong between hosts, the samples of small messages of all others whose ranks'
    /// hosts `are_alike` in their distance to those of the first.
    pub(crate) fn with_pairs_alike(&self, are_alike: impl Fn([u32; 2], [u32; 2]) -> bool) -> Self {
        let mut all = self.clone();
        let between_hosts = |at: &usize| {
            let series = &self.series[*at];
            series.pattern == Pattern::PingPong && !self.is_local(series)
        };
        let mut places = (0..self.series.len()).filter(between_hosts);
        let Some(first) = places.next() else { return all };
        let hosts = |at: usize| self.ends_of(&self.series[at]);
        for other in places.filter(|&other| are_alike(hosts(first), hosts(other))) {
            let small = |point: &&Point| point.bytes <= SMALL;
            for point in self.series[other].points.iter().filter(small) {
                let same = all.series[first].points.iter_mut().find(|own| own.bytes == point.bytes);
                if let Some(own) = same {
                    own.seconds.extend(&point.seconds);
                }
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use titr_common::units::Seconds;

    use super::*;
    use crate::measurements::Series;

    #[test]
    fn small_messages_of_pairs_as_far_apart_are_one_sample() {
        let point = |bytes, time| Point { bytes: Bytes(bytes), repetitions: 1, seconds: vec![time] };
        let ping_pong = |ranks: [u32; 2], time| Series {
            pattern: Pattern::PingPong,
            ranks: ranks.to_vec(),
            late: Seconds(0.0),
            points: vec![point(64, time), point(4096, time)],
        };
        let series = [([0, 1], 1.0), ([0, 2], 2.0), ([2, 3], 3.0), ([1, 3], 4.0)];
        let measurements = Measurements {
            hosts: ["a", "b", "c"].map(str::to_owned).to_vec(),
            places: vec![0, 0, 1, 2],
            series: series.into_iter().map(|(ranks, time)| ping_pong(ranks, time)).collect(),
            titr_measurements: 1,
            mpi: String::new(),
            late_receives: Vec::new(),
            detours: Vec::new(),
            full_hosts: FullHosts::default(),
        };
        let pooled = measurements.with_pairs_alike(|one, other| one[0] + one[1] == other[0] + other[1] - 2);
        let times: Vec<Vec<f64>> = pooled.series[1].points.iter().map(|point| point.seconds.clone()).collect();
        assert_eq!(times, [vec![2.0, 3.0], vec![2.0]]);
    }
}
