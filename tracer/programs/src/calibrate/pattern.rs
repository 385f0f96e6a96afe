//! The patterns, as the ranks execute them.

use std::thread::sleep;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use titr_calibration::measurements::Pattern;

use crate::{Comm, MpiError, Peer, Request, SendMode, TagChoice};

/// The tag of all messages.
pub(crate) const TAG: u32 = 7;

/// A pattern and how often it is measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Measured {
    pub pattern: Pattern,
    pub ranks: Vec<u32>,
    pub bytes: u64,
    /// The number of repetitions of the pattern for one sample.
    pub repetitions: u32,
    pub samples: u32,
    /// The time before each sample in which nothing is sent, so that limiters which let bursts pass are as after a pause.
    pub idle: Duration,
    /// The time for patterns with a pause: after which a message has certainly arrived, or by which a rank begins
    /// later.
    pub pause: Duration,
}

/// A sample of a pattern: the mean time of its repetitions. `None` at ranks whose time does not count.
pub(crate) fn sample(world: Comm<'_>, measured: &Measured) -> Result<Option<Duration>, MpiError> {
    let Measured { pattern, ref ranks, bytes, repetitions, idle, pause, .. } = *measured;
    world.barrier()?;
    sleep(idle);
    let Some(at) = ranks.iter().position(|&rank| rank == world.rank) else { return Ok(None) };
    let role = Role { world, ranks, at };
    // With empty messages the ranks wait for each other, and connect if they have not yet.
    match pattern {
        Pattern::PingPong => role.ping_pong(ranks[0], ranks[1], bytes, repetitions),
        Pattern::Opposite => {
            let first = at - at % 2;
            role.ping_pong(ranks[first], ranks[first + 1], bytes, repetitions)
        }
        Pattern::Bisection => {
            let half = ranks.len() / 2;
            role.ping_pong(ranks[at % half], ranks[half + at % half], bytes, repetitions)
        }
        Pattern::Exchange | Pattern::Shift => {
            // After a first round, one rank is ahead of another, as in a program.
            role.shift(0)?;
            role.shift(bytes)?;
            Ok(Some(repeated(repetitions, || role.shift(bytes))? / repetitions))
        }
        Pattern::LateExchange => {
            role.shift(0)?;
            let passed = repeated(repetitions, || role.late_exchange(bytes, pause))?;
            Ok((at == 0).then_some(passed / repetitions))
        }
        // The receiver of a train has a time for each message.
        Pattern::Train => Ok(None),
        Pattern::Incast => {
            role.incast(0)?;
            let passed = repeated(repetitions, || role.incast(bytes))?;
            Ok((at == 0).then_some(passed / repetitions))
        }
        Pattern::Scatter => {
            role.scatter(0)?;
            let passed = repeated(repetitions, || role.scatter(bytes))?;
            Ok((at == 0).then_some(passed / repetitions))
        }
        Pattern::Send | Pattern::Isend | Pattern::Receive => role.call(pattern, bytes, repetitions, pause),
    }
}

/// The time of a send whose receive is posted so much later; `None` at all ranks but the sender.
pub(crate) fn late_receive(
    world: Comm<'_>,
    [sender, receiver]: [u32; 2],
    bytes: u64,
    delay: Duration,
) -> Result<Option<Duration>, MpiError> {
    world.barrier()?;
    if world.rank == sender {
        receive(world, receiver, 0)?;
        let (passed, ()) = timed(|| send(world, receiver, bytes))?;
        return Ok(Some(passed));
    }
    if world.rank == receiver {
        send(world, sender, 0)?;
        // Outside of MPI, so that nothing is answered.
        sleep(delay);
        receive(world, sender, bytes)?;
    }
    Ok(None)
}

fn timed<T>(of: impl FnOnce() -> Result<T, MpiError>) -> Result<(Duration, T), MpiError> {
    let begin = Instant::now();
    let result = of()?;
    Ok((begin.elapsed(), result))
}

/// The time of all repetitions of a pattern.
fn repeated(repetitions: u32, of: impl Fn() -> Result<(), MpiError>) -> Result<Duration, MpiError> {
    timed(|| (0..repetitions).try_for_each(|_| of())).map(|(passed, ())| passed)
}

/// Computes for this time: the processor stays awake and the caches warm, as between two calls of a program, and not as in a rank that sleeps.
fn compute(time: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < time {
        std::hint::spin_loop();
    }
}

fn send(world: Comm<'_>, to: u32, bytes: u64) -> Result<(), MpiError> {
    world.send(SendMode::Standard, Peer::Rank(to), TAG, bytes)
}

fn receive(world: Comm<'_>, from: u32, bytes: u64) -> Result<(), MpiError> {
    world.recv(Peer::Rank(from), TagChoice::Tag(TAG), bytes).map(drop)
}

/// This rank in a pattern.
struct Role<'m, 'r> {
    world: Comm<'m>,
    ranks: &'r [u32],
    /// The rank's place among `ranks`.
    at: usize,
}

impl Role<'_, '_> {
    /// Messages back and forth between two ranks. The first rank's time counts, of half a round.
    fn ping_pong(&self, first: u32, second: u32, bytes: u64, repetitions: u32) -> Result<Option<Duration>, MpiError> {
        let is_first = self.world.rank == first;
        let round = |bytes| {
            if is_first {
                send(self.world, second, bytes)?;
                receive(self.world, second, bytes)
            } else {
                receive(self.world, first, bytes)?;
                send(self.world, first, bytes)
            }
        };
        round(0)?;
        let passed = repeated(repetitions, || round(bytes))?;
        Ok(is_first.then_some(passed / (2 * repetitions)))
    }

    /// Sends to the next and receives from the one before; of two ranks, an exchange.
    fn shift(&self, bytes: u64) -> Result<(), MpiError> {
        let count = self.ranks.len();
        let (next, before) = (self.ranks[(self.at + 1) % count], self.ranks[(self.at + count - 1) % count]);
        let arriving = self.world.irecv(Peer::Rank(before), TagChoice::Tag(TAG), bytes)?;
        let leaving = self.world.isend(SendMode::Standard, Peer::Rank(next), TAG, bytes)?;
        Request::wait_all(vec![arriving, leaving])
    }

    /// An exchange for which the second rank is late: it waits for another message. The request of the first rank therefore
    /// arrives before the receive is posted, as when a program exchanges again and again.
    fn late_exchange(&self, bytes: u64, late: Duration) -> Result<(), MpiError> {
        if self.at == 1 {
            let begin = Instant::now();
            while begin.elapsed() < late {
                self.world.iprobe(Peer::Rank(self.ranks[0]), TagChoice::Tag(TAG + 1))?;
            }
        }
        self.shift(bytes)
    }

    /// All but the first send to the first, which answers.
    fn incast(&self, bytes: u64) -> Result<(), MpiError> {
        let (root, others) = (self.ranks[0], &self.ranks[1..]);
        if self.at > 0 {
            send(self.world, root, bytes)?;
            return receive(self.world, root, 0);
        }
        let post = |&from: &u32| self.world.irecv(Peer::Rank(from), TagChoice::Tag(TAG), bytes);
        Request::wait_all(others.iter().map(post).collect::<Result<_, _>>()?)?;
        others.iter().try_for_each(|&to| send(self.world, to, 0))
    }

    /// The first sends to all others, which answer.
    fn scatter(&self, bytes: u64) -> Result<(), MpiError> {
        let (root, others) = (self.ranks[0], &self.ranks[1..]);
        if self.at > 0 {
            receive(self.world, root, bytes)?;
            return send(self.world, root, 0);
        }
        let post = |&to: &u32| self.world.isend(SendMode::Standard, Peer::Rank(to), TAG, bytes);
        Request::wait_all(others.iter().map(post).collect::<Result<_, _>>()?)?;
        others.iter().try_for_each(|&from| receive(self.world, from, 0))
    }

    /// The time of one call of the first rank, which sends, or of the second, which receives.
    fn call(
        &self,
        pattern: Pattern,
        bytes: u64,
        repetitions: u32,
        pause: Duration,
    ) -> Result<Option<Duration>, MpiError> {
        let (first, second) = (self.ranks[0], self.ranks[1]);
        let mut passed = Duration::ZERO;
        for _ in 0..repetitions {
            if self.at == 0 {
                receive(self.world, second, 0)?;
                let (time, request) = timed(|| match pattern {
                    Pattern::Isend => self.world.isend(SendMode::Standard, Peer::Rank(second), TAG, bytes).map(Some),
                    _ => send(self.world, second, bytes).map(|()| None),
                })?;
                passed += time;
                request.map_or(Ok(()), |request| request.wait().map(drop))?;
            } else {
                send(self.world, first, 0)?;
                if pattern == Pattern::Receive {
                    compute(pause);
                }
                passed += timed(|| receive(self.world, first, bytes))?.0;
            }
        }
        let counts = (self.at == 0) != (pattern == Pattern::Receive);
        Ok(counts.then_some(passed / repetitions))
    }
}

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
pub(crate) fn send_train(world: Comm<'_>, train: &Train) -> Result<Vec<f64>, MpiError> {
    let Train { ranks: [sender, receiver], bytes, messages, pause } = *train;
    world.barrier()?;
    if world.rank == sender {
        // The two connect before the pause.
        world.send(SendMode::Standard, Peer::Rank(receiver), TAG, 0)?;
        sleep(pause);
        let requests = (0..messages).map(|_| world.isend(SendMode::Standard, Peer::Rank(receiver), TAG, bytes));
        Request::wait_all(requests.collect::<Result<_, _>>()?)?;
    }
    if world.rank != receiver {
        return Ok(Vec::new());
    }
    let receive = |bytes| world.recv(Peer::Rank(sender), TagChoice::Tag(TAG), bytes);
    receive(0)?;
    receive(bytes)?;
    let first = Instant::now();
    (1..messages).map(|_| receive(bytes).map(|_| first.elapsed().as_secs_f64())).collect()
}
