//! The time that calls take their ranks, beside the time of whole messages.
//!
//! Calls are measured by themselves. A call that hands a message to the kernel returns later than the message leaves, so
//! that a send and a receive may together take more than a whole message: a part of the send *overlaps* with the way. The
//! measured times show only a bound of this part. It is taken as small as the way of a message allows, which has at least a fifth of
//! the message's time, since a way of no time has no factors.

use titr_common::units::Bytes;

use crate::robust::Line;

/// The part of a small message's time that is the software's at most.
const MOST_SOFTWARE: f64 = 0.8;

/// The times of calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overheads {
    /// The time of `MPI_Send` of an eager message, in which the sender is busy.
    pub send: Line,
    /// The time of `MPI_Isend`.
    pub isend: Line,
    /// The time of `MPI_Recv` of an eager message that has arrived.
    pub receive: Line,
    /// The part of `send` and `isend` that overlaps with the way of the message.
    pub overlap: f64,
    /// A call was measured to take this many times what it has here, at most: times within a host leave room for no more.
    pub cut: f64,
}

impl Overheads {
    /// The overheads of calls that were measured to take `send`, `isend` and `receive`, where eager messages between two hosts take
    /// `between` and those within a host take `within`: seconds for each size.
    pub(crate) fn of([send, isend, receive]: [Line; 3], between: &[(Bytes, f64)], within: &[(Bytes, f64)]) -> Self {
        let at = |line: Line, bytes: Bytes| line.at(bytes.0 as f64);
        let part = |room: f64, of: f64| room.max(0.0) / of.max(f64::MIN_POSITIVE);
        let in_receive = low(between.iter().map(|&(size, time)| part(MOST_SOFTWARE * time, at(receive, size))));
        let receive = scaled(receive, in_receive);
        // Within a host, messages have overheads of their own, and the platform has one for all.
        let in_both =
            low(within.iter().map(|&(size, time)| part(MOST_SOFTWARE * time, at(send, size) + at(receive, size))));
        let [send, isend, receive] = [send, isend, receive].map(|line| scaled(line, in_both));
        let before =
            low(between.iter().map(|&(size, time)| part(MOST_SOFTWARE * time - at(receive, size), at(send, size))));
        Self { send, isend, receive, overlap: 1.0 - before, cut: 1.0 / (in_receive * in_both) }
    }

    /// The part of a message's time that is the software's, in seconds.
    pub(crate) fn in_message(&self, bytes: Bytes) -> f64 {
        let bytes = bytes.0 as f64;
        (1.0 - self.overlap) * self.send.at(bytes) + self.receive.at(bytes)
    }
}

fn scaled(line: Line, factor: f64) -> Line {
    Line { seconds: line.seconds * factor, per_byte: line.per_byte * factor }
}

/// The 10th percentile of the parts, to ignore outliers; at most 1.
fn low(parts: impl Iterator<Item = f64>) -> f64 {
    let mut parts: Vec<f64> = parts.collect();
    parts.sort_by(f64::total_cmp);
    parts.get(parts.len() / 10).map_or(1.0, |part| part.min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(seconds: f64) -> Line {
        Line { seconds, per_byte: 0.0 }
    }

    fn take(seconds: f64) -> [(Bytes, f64); 3] {
        [0, 8, 64].map(|bytes| (Bytes(bytes), seconds))
    }

    #[test]
    fn calls_that_leave_time_for_the_way_are_as_they_were_measured() {
        let found = Overheads::of([line(3.0), line(2.0), line(5.0)], &take(10.0), &[]);
        assert_eq!((found.send, found.isend, found.receive), (line(3.0), line(2.0), line(5.0)));
        assert_eq!((found.overlap, found.cut, found.in_message(Bytes(8))), (0.0, 1.0, 8.0));
    }

    #[test]
    fn a_send_overlaps_with_the_way_before_anything_is_cut() {
        let found = Overheads::of([line(6.0), line(5.0), line(5.0)], &take(10.0), &[]);
        assert_eq!((found.send, found.receive, found.overlap, found.cut), (line(6.0), line(5.0), 0.5, 1.0));
        // A receive that takes longer than a message does.
        let found = Overheads::of([line(6.0), line(5.0), line(16.0)], &take(10.0), &[]);
        assert_eq!((found.send, found.receive, found.overlap, found.cut), (line(6.0), line(8.0), 1.0, 2.0));
    }

    #[test]
    fn messages_within_a_host_cut_all_overheads() {
        let found = Overheads::of([line(3.0), line(2.0), line(5.0)], &take(10.0), &take(5.0));
        assert_eq!((found.send, found.isend, found.receive), (line(1.5), line(1.0), line(2.5)));
        assert_eq!((found.overlap, found.cut), (0.0, 2.0));
    }
}
