//! Detours: interruptions of a rank that computes, seen as gaps in a row of clock readings (the "selfish" benchmark of P. Beckman et
//! al., "The influence of operating systems on the performance of collective operations at extreme scale", CLUSTER 2006).

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// The interruptions of a rank for some time.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Gaps {
    pub count: u64,
    pub lost: Duration,
}

/// A reading of the clock takes some ten nanoseconds; what takes this long is an interruption.
const INTERRUPTED: Duration = Duration::from_micros(2);

/// Reads the clock for so long.
pub(crate) fn watch(watched: Duration) -> Gaps {
    let begin = Instant::now();
    let (mut last, mut gaps) = (begin, Gaps::default());
    while last - begin < watched {
        let now = Instant::now();
        if now - last > INTERRUPTED {
            gaps = Gaps { count: gaps.count + 1, lost: gaps.lost + (now - last) };
        }
        last = now;
    }
    gaps
}
