//! What MPI does with the events of the ranks, with no opinion about wires.
//!
//! # Vocabulary
//! A **thread** of a rank runs its program: it takes its next event, carries it out, and goes on until one has to wait.
//! Nothing here is a thread of titr's; one that waits is a few words of memory. An **agent** is whoever can wait: a thread,
//! or a rank's part in a **collective**, which goes on in the background. An agent has a clock of its own that computing moves
//! ahead; what others can see happens when simulated time has caught up with it. A **message** travels once the network
//! is given it, an **operation** is a send or receive that somebody will ask after, a **request** is how the program
//! names one.
//!
//! # What is simulated
//! * Point-to-point messages by MPI's matching rules ([`matching`]) and protocols ([`exchange`]). A wildcard receive
//!   gets the message that the trace says it got; only where it does not say so does it get the oldest that fits.
//! * Tests and probes that found nothing cost nothing; one that found something waits until there is something to find.
//! * Collectives as the messages of their schedules ([`collective`]), those of neighbourhoods as a message each way
//!   ([`neighborhood`]).
//! * Calls that make communicators synchronise as their implementations do: those that compare colours (`split`, `cart_sub`)
//!   as an allgather of eight bytes a member over the parent, all others as an allreduce of four bytes, over
//!   the parent or, where not all of the parent takes part (`create_group`, `intercomm_create`), over what is made.
//!   `comm_idup`, whose completion the trace does not say, costs nothing.
//! * Software overheads of sends and receives; `init` and `finalize` cost nothing.
//!
//! One-sided communication, files, partitioned messages and what crosses the borders of the world are not: they cost
//! nothing, nobody waits in them, and a warning says how many there were ([`warnings`]).

mod agenda;
mod call;
mod causality;
mod collective;
mod envelope;
mod error;
mod exchange;
mod matching;
mod neighborhood;
mod operation;
mod program;
mod queues;
mod recorded;
mod stuck;
mod thread;
mod warnings;

pub use causality::Causality;
pub use error::ReplayError;
pub use stuck::{Deadlock, Stuck};
pub use titr_common::program::{Fault, Place};

use slab::Slab;
use titr_common::event::Rank;
use titr_common::program::Communicators;
use titr_common::units::{Seconds, Speed};

use crate::observe::{Departure, Observer};
use crate::workload::Workload;
use titr_common::time::Time;
use titr_common::trace::EventSource;
use titr_network::topology::HostId;
use titr_network::{Network, Transfer, TransferId};
use titr_platform::Mpi;

use agenda::Agenda;
use collective::{Run, RunId};
use exchange::{Exchange, MessageId};
use operation::{Claim, OperationId};
use program::{Programs, ThreadIndex};
use thread::Thread;
use warnings::Warnings;

/// The requests of one rank.
type RequestTable = titr_common::program::RequestTable<OperationId>;

/// Where a rank runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seat {
    /// On which host.
    pub host: HostId,
    /// How fast that computes.
    pub speed: Speed,
}

/// Whoever can wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Agent {
    Thread(ThreadIndex),
    Run(RunId),
}

/// An agent's own time.
#[derive(Clone, Copy, Debug, Default)]
struct Timeline {
    clock: Time,
    /// How many completions it waits for.
    awaited: u32,
}

impl Timeline {
    /// One of them happened at `now`; taking note of it costs `overhead`.
    fn settle(&mut self, now: Time, overhead: Seconds) {
        self.clock = self.clock.max(now) + overhead;
        self.awaited -= 1;
    }
}

/// All ranks of a simulated program.
pub struct Ranks<'a, S, O> {
    now: Time,
    mpi: &'a Mpi,
    causality: Causality,
    places: Vec<Seat>,
    programs: Programs<S>,
    observer: O,
    /// The main thread of each rank, and the others.
    threads: Vec<Thread>,
    /// Of each rank.
    requests: Vec<RequestTable>,
    runs: Slab<Run>,
    exchange: Exchange,
    communicators: Communicators,
    agenda: Agenda,
    warnings: Warnings,
    finished: usize,
    /// Which collectives are the messages that the trace has of them.
    recorded: Recorded,
}

/// Which collectives are the messages that an extended trace has of them; each says more than the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Recorded {
    /// None: all are decomposed.
    #[default]
    None,
    /// Blocking ones.
    Blocking,
    /// Non-blocking ones, too.
    All,
}

impl<'a, S: EventSource, O: Observer> Ranks<'a, S, O> {
    /// The ranks of `workload`, each on its seat, about to start.
    ///
    /// # Errors
    /// Where there are fewer seats than ranks.
    pub fn new(
        workload: Workload<S>,
        seats: Vec<Seat>,
        mpi: &'a Mpi,
        causality: Causality,
        observer: O,
    ) -> Result<Self, ReplayError> {
        let ranks = workload.ranks();
        if seats.len() < ranks {
            return Err(ReplayError::Places { ranks, places: seats.len() });
        }
        let mut agenda = Agenda::default();
        (0..ranks as u32).for_each(|rank| agenda.ready(Agent::Thread(ThreadIndex(rank))));
        Ok(Self {
            now: Time::ZERO,
            mpi,
            causality,
            places: seats,
            programs: Programs::new(workload),
            observer,
            threads: (0..ranks as u32).map(|rank| Thread::new(Rank(rank))).collect(),
            requests: (0..ranks).map(|_| RequestTable::default()).collect(),
            runs: Slab::new(),
            exchange: Exchange::new(ranks, mpi, causality),
            communicators: Communicators::new(ranks),
            agenda,
            warnings: Warnings::default(),
            finished: 0,
            recorded: Recorded::None,
        })
    }

    /// Which collectives are to be the messages that an extended trace has of them.
    #[must_use]
    pub fn as_recorded(mut self, recorded: Recorded) -> Self {
        if recorded == Recorded::All {
            self.programs.want_messages_of_nonblocking();
        }
        Self { recorded, ..self }
    }

    /// Lets everybody who can go on do so, and gives the network what they send.
    ///
    /// # Errors
    /// Where the trace cannot be read or makes no sense.
    pub fn run(&mut self, network: &mut (impl Network + ?Sized)) -> Result<(), ReplayError> {
        while let Some(agent) = self.agenda.next() {
            match agent {
                Agent::Thread(thread) => {
                    self.run_thread(thread)?;
                    if self.programs.has_signals() {
                        self.resume();
                    }
                }
                Agent::Run(run) => self.advance_collective(run),
            }
            self.announce();
        }
        for (id, message) in self.exchange.leaving() {
            let (from, to, bytes) = (message.envelope.source, message.to, message.bytes);
            let in_collective = message.envelope.context.is_collective();
            self.observer.injected(self.now, Departure { id: TransferId(id.0), from, to, bytes, in_collective });
            let host = |rank: Rank| self.places[rank.0 as usize].host;
            network.inject(self.now, Transfer { id: TransferId(id.0), from: host(from), to: host(to), bytes });
        }
        self.exchange.outbox.clear();
        Ok(())
    }

    /// When somebody next goes on without the network's doing; `None`: never.
    #[must_use]
    pub fn next_event(&self) -> Option<Time> {
        self.agenda.next_alarm()
    }

    /// Moves on to `now`, when the network delivered `transfers`.
    pub fn advance(&mut self, now: Time, delivered: &mut Vec<TransferId>) {
        self.now = now;
        self.observer.reached(now);
        for transfer in delivered.drain(..) {
            self.observer.delivered(now, transfer);
            self.exchange.deliver(MessageId(transfer.0));
        }
        self.announce();
        self.agenda.ring(now);
    }

    /// Tells those who waited what is complete.
    #[inline]
    fn announce(&mut self) {
        for completion in self.exchange.operations.completions.drain(..) {
            let timeline = match completion.agent {
                Agent::Thread(thread) => &mut self.threads[thread.0 as usize].timeline,
                Agent::Run(run) => &mut self.runs[run.0 as usize].timeline,
            };
            timeline.settle(self.now, completion.eager.map_or(Seconds(0.0), |bytes| self.mpi.recv_overhead.of(bytes)));
            if timeline.awaited == 0 {
                self.agenda.ready(completion.agent);
            }
        }
    }

    /// `agent` waits until `operation` is complete.
    fn claim(&mut self, agent: Agent, operation: Option<OperationId>) {
        let Some(operation) = operation else { return };
        let timeline = match agent {
            Agent::Thread(thread) => &mut self.threads[thread.0 as usize].timeline,
            Agent::Run(run) => &mut self.runs[run.0 as usize].timeline,
        };
        timeline.awaited += 1;
        if let Claim::Done(eager) = self.exchange.operations.claim(operation, agent) {
            timeline.settle(self.now, eager.map_or(Seconds(0.0), |bytes| self.mpi.recv_overhead.of(bytes)));
        }
    }

    /// Whether all ranks have come to the end of their programs.
    #[must_use]
    pub fn all_finished(&self) -> bool {
        self.finished == self.threads.len()
    }

    /// When the last rank came to where it is.
    #[must_use]
    pub fn finish(&self) -> Time {
        self.threads.iter().map(|thread| thread.timeline.clock).max().unwrap_or_default()
    }

    /// How many events were replayed.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.threads.iter().map(|thread| thread.events).sum()
    }

    /// What the observers have seen.
    pub fn into_observer(self) -> O {
        self.observer
    }
}
