//! One rank's program: its events one after another, each at its time.

use titr_common::event::{Event, Rank, SendMode};
use titr_common::passage::Moment;
use titr_common::units::Seconds;

use super::call::Failure;
use super::error::{Place, ReplayError};
use super::exchange::Exchange;
use super::request::{RequestTable, Template};
use super::{Agent, Ranks, Timeline};
use crate::observe::{Activity, Observer};
use crate::platform::Mpi;
use crate::time::Time;
use crate::workload::Program;

/// Where a rank is in its program.
#[derive(Default)]
pub(super) struct Process {
    pub(super) timeline: Timeline,
    pub(super) requests: RequestTable,
    /// How many events it has begun.
    pub(super) events: u64,
    /// When the one it is at began.
    began: Time,
    /// Whether what it costs before others can see it is on the clock.
    paid: bool,
    /// How many of the requests that it starts are started.
    pub(super) started: usize,
    /// What it waits in.
    pub(super) waiting: Option<Activity>,
    pub(super) finished: bool,
}

impl<P: Program, O: Observer> Ranks<'_, P, O> {
    /// Carries out events of `rank` until one has to wait, or for a time that has not come.
    pub(super) fn run_rank(&mut self, rank: Rank) -> Result<(), ReplayError> {
        let at = rank.0 as usize;
        if let Some(activity) = self.processes[at].waiting.take() {
            self.account(rank, activity);
        }
        loop {
            let Some(moment) = self.workload.front(rank)? else {
                while let Some(sent) = self.exchange.left_behind(rank) {
                    self.claim(Agent::Rank(rank), Some(sent));
                }
                if self.processes[at].timeline.awaited > 0 {
                    self.processes[at].began = self.processes[at].timeline.clock;
                    self.processes[at].waiting = Some(Activity::Send);
                    return Ok(());
                }
                self.processes[at].finished = true;
                self.finished += 1;
                self.observer.finished(rank, self.processes[at].timeline.clock);
                return Ok(());
            };
            let process = &mut self.processes[at];
            if !process.paid {
                process.events += 1;
                process.began = process.timeline.clock;
                self.observer.entered(rank, moment, process.began);
                let span = match moment {
                    Moment::Compute(work) => self.places[at].speed.time_for(work),
                    Moment::Event(&Event::Sleep(span)) if self.causality.is_timed() => span,
                    _ => overhead(moment, process.started, self.mpi, &self.exchange, &process.requests),
                };
                process.timeline.clock = process.timeline.clock + span;
                if let Moment::Compute(_) | Moment::Event(Event::Sleep(_)) = moment {
                    self.workload.pass(rank);
                    self.account(rank, Activity::Compute);
                    continue;
                }
                process.paid = true;
            }
            if process.timeline.clock > self.now {
                if process.timeline.clock == Time::NEVER {
                    return Err(ReplayError::EndOfTime);
                }
                self.agenda.set_alarm(process.timeline.clock, Agent::Rank(rank));
                return Ok(());
            }
            let carried_out = match moment {
                Moment::Send(message) => self.blocking_send(rank, SendMode::Standard, message),
                Moment::Recv(message) => self.blocking_receive(rank, message),
                Moment::Compute(_) | Moment::Event(_) => self.carry_out(rank),
            };
            let activity = match carried_out {
                Ok(Some(activity)) => activity,
                Ok(None) => continue,
                Err(Failure::Fault(fault)) => {
                    let (place, fault) = (Box::new(self.place(rank)), Box::new(fault));
                    return Err(ReplayError::Event { place, fault });
                }
                Err(Failure::Replay(error)) => return Err(error),
            };
            self.workload.pass(rank);
            let process = &mut self.processes[at];
            process.paid = false;
            if process.timeline.awaited > 0 {
                process.waiting = Some(activity);
                return Ok(());
            }
            self.account(rank, activity);
        }
    }

    /// The event that `rank` is at took until now.
    fn account(&mut self, rank: Rank, activity: Activity) {
        let process = &self.processes[rank.0 as usize];
        self.observer.spent(rank, activity, process.began, process.timeline.clock);
    }

    /// Where `rank` is in its trace.
    pub(super) fn place(&self, rank: Rank) -> Place {
        Place { rank, event: self.processes[rank.0 as usize].events, line: self.workload.line(rank) }
    }

    /// Puts what the next event of `rank` costs on its clock.
    pub(super) fn pay(&mut self, rank: Rank) -> Result<(), ReplayError> {
        if let Some(moment) = self.workload.front(rank)? {
            let process = &mut self.processes[rank.0 as usize];
            let cost = overhead(moment, process.started, self.mpi, &self.exchange, &process.requests);
            process.timeline.clock = process.timeline.clock + cost;
        }
        Ok(())
    }
}

/// What an event costs before others can see it: the software's part of a send. Of the requests that it starts, so many
/// are `started`.
#[inline]
fn overhead(moment: Moment, started: usize, mpi: &Mpi, exchange: &Exchange, requests: &RequestTable) -> Seconds {
    let blocking = |mode, bytes| {
        if mode == SendMode::Synchronous || exchange.is_eager(mode, bytes) {
            mpi.send_overhead.of(bytes)
        } else {
            Seconds(0.0)
        }
    };
    match moment {
        Moment::Send(message) => blocking(SendMode::Standard, message.bytes),
        Moment::Event(Event::Send(mode, message)) => blocking(*mode, message.bytes),
        Moment::Event(Event::Isend(_, message, _) | Event::Sendrecv(Some(message), _)) => {
            mpi.isend_overhead.of(message.bytes)
        }
        Moment::Event(Event::Start(starting)) => match starting.get(started).and_then(|&id| requests.template(id)) {
            Some(Template::Send(_, message)) => mpi.isend_overhead.of(message.bytes),
            _ => Seconds(0.0),
        },
        _ => Seconds(0.0),
    }
}
