//! Trains: many messages in a row after a pause. Their arrivals show the bytes that a link passes at once, and its rate after
//! that.

use std::thread::sleep;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use titr_mpi::{Comm, MpiError, Peer, Request, SendMode, TagChoice};

use crate::pattern::TAG;

/// Messages of one size from the first rank to the second.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Train {
    pub ranks: [u32; 2],
    /// The size of each message, which is eager.
    pub bytes: u64,
    pub messages: u32,
    /// The time before the first message in which nothing is sent.
    pub pause: Duration,
}

/// Sends a train. Returns the seconds from the first arrival to each other; nothing at all ranks but the receiver.
pub(crate) fn send(world: Comm<'_>, train: &Train) -> Result<Vec<f64>, MpiError> {
    let Train { ranks: [sender, receiver], bytes, messages, pause } = *train;
    world.barrier()?;
    if world.rank() == sender {
        // The two connect before the pause.
        world.send(SendMode::Standard, Peer::Rank(receiver), TAG, 0)?;
        sleep(pause);
        let requests = (0..messages).map(|_| world.isend(SendMode::Standard, Peer::Rank(receiver), TAG, bytes));
        Request::wait_all(requests.collect::<Result<_, _>>()?)?;
    }
    if world.rank() != receiver {
        return Ok(Vec::new());
    }
    let receive = |bytes| world.recv(Peer::Rank(sender), TagChoice::Tag(TAG), bytes);
    receive(0)?;
    receive(bytes)?;
    let first = Instant::now();
    (1..messages).map(|_| receive(bytes).map(|_| first.elapsed().as_secs_f64())).collect()
}
