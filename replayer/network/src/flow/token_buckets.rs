//! Token buckets: links that pass some bytes at once after a pause.
//!
//! A limiter of the kernel, of a switch or of a cloud holds a link to its rate *R* by a bucket of *B* bytes, which fills at the
//! rate *R*. A message of *s* bytes that finds *t* bytes in the bucket takes those away, and only the other *s − t* bytes
//! need time: alone on the link it takes *(s − t) / R*. On a route, it has the least of what the buckets of the links hold,
//! and empties all of them.
//!
//! A bucket is the instant at which it will be full again (the virtual scheduling algorithm of ITU-T I.371, annex A): *s*
//! bytes delay this instant by *s / R*, and at a time *d* before it, the bucket lacks *d R* bytes.

use titr_common::time::Time;
use titr_common::units::{Bytes, Seconds};

use super::max_min::FlowId;
use crate::topology::{Link, LinkId, Paths, Sharing};

/// The buckets of all links that are shared.
#[derive(Debug)]
pub(super) struct TokenBuckets {
    /// The bytes that each bucket has room for.
    burst: f64,
    /// By the number of its link.
    full_at: Vec<Time>,
    /// By the number of a flow: its links, each with the part of a message that it takes, and its rate in bytes per second.
    routes: Vec<Box<[Hop]>>,
}

/// A link of a route.
#[derive(Clone, Copy, Debug)]
struct Hop {
    link: LinkId,
    part: f64,
    rate: f64,
}

impl TokenBuckets {
    /// Full buckets of this size. `None`: no link has one.
    pub(crate) fn new(burst: Bytes, links: usize) -> Option<Self> {
        let burst = burst.0 as f64;
        (burst > 0.0).then(|| Self { burst, full_at: vec![Time::ZERO; links], routes: Vec::new() })
    }

    /// The messages of a flow take these paths from now on.
    pub(crate) fn define(&mut self, flow: FlowId, paths: &Paths, links: &[Link]) {
        let number = flow.0 as usize;
        if self.routes.len() <= number {
            self.routes.resize_with(number + 1, Box::default);
        }
        let shared = paths.parts().filter(|(link, _)| links[link.index()].sharing == Sharing::Shared);
        self.routes[number] =
            shared.map(|(link, part)| Hop { link, part, rate: links[link.index()].bandwidth }).collect();
    }

    /// The bytes of a message of `need` bytes that take no time if all buckets are full.
    pub(crate) fn at_most(&self, flow: FlowId, need: f64) -> f64 {
        self.routes[flow.0 as usize].iter().map(|hop| self.burst / hop.part).reduce(f64::min).unwrap_or(0.0).min(need)
    }

    /// Takes a message of `need` bytes, which is sent now, out of the buckets of its route. Returns the bytes that take no time.
    pub(crate) fn pass(&mut self, flow: FlowId, need: f64, now: Time) -> f64 {
        let mut at_once = f64::INFINITY;
        let hops = &self.routes[flow.0 as usize];
        for &Hop { link, part, rate } in hops {
            let full_at = &mut self.full_at[link.index()];
            let lacks = if *full_at > now { (*full_at - now).0 * rate } else { 0.0 };
            at_once = at_once.min((self.burst - lacks).max(0.0) / part);
            *full_at = (*full_at).max(now) + Seconds(need * part / rate);
        }
        if hops.is_empty() { 0.0 } else { at_once.min(need) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::tests::{assert_close, run};
    use super::super::{Flow, FlowParameters, Preset};
    use super::*;
    use crate::topology::{Cable, Duplex, Star};

    /// Four hosts at 10 MB/s and 1 ms to their switch; links pass 20 kB at once.
    fn limited() -> Flow {
        let cable = Cable { bandwidth: 1e7, latency: Seconds(1e-3), duplex: Duplex::Full };
        let parameters = FlowParameters { burst: Bytes(20_000), ..Preset::Plain.into() };
        Flow::new(Arc::new(Star::new(4, cable, None)), parameters)
    }

    /// The first 20 kB take no time; of 120 kB, 100 kB at 10 MB/s are left.
    #[test]
    fn a_full_bucket_passes_its_bytes_at_once() {
        let times = run(&mut limited(), &[(0.0, 0, 1, 20_000), (0.0, 2, 3, 120_000)]);
        assert_close(times[0], 2e-3);
        assert_close(times[1], 12e-3);
    }

    /// A bucket that was emptied at 0 s holds 10 kB after 1 ms, and 20 kB after 2 ms and later.
    #[test]
    fn a_bucket_fills_at_the_rate_of_its_link() {
        for (at, then) in [(1e-3, 1e-3), (2e-3, 0.0), (1.0, 0.0)] {
            let times = run(&mut limited(), &[(0.0, 0, 1, 20_000), (at, 0, 1, 20_000)]);
            assert_close(times[1], at + 2e-3 + then);
        }
    }

    /// Ten messages of 30 kB, one after another and each sent at once, take as long as one of 300 kB: 280 kB are left.
    #[test]
    fn many_messages_have_one_bucket() {
        let messages: Vec<_> = (0..10).map(|_| (0.0, 0, 1, 30_000)).collect();
        let times = run(&mut limited(), &messages);
        assert_close(times[9], 2e-3 + 28e-3);
    }

    /// Two hosts send to a third: the bucket at its end is the one that lacks.
    #[test]
    fn the_emptiest_bucket_of_a_route_decides() {
        let times = run(&mut limited(), &[(0.0, 0, 2, 20_000), (0.0, 1, 2, 20_000)]);
        assert_close(times[0], 2e-3);
        assert_close(times[1], 4e-3);
    }

    /// Messages within a host and their links have no bucket, and an empty message needs none.
    #[test]
    fn what_needs_no_bucket_takes_none() {
        let times = run(&mut limited(), &[(0.0, 0, 1, 0), (0.0, 0, 1, 20_000)]);
        assert_close(times[1], 2e-3);
    }
}
