//! A network on several threads, divided into slabs of routers, each with its own engine.
//!
//! All slabs simulate a cycle at the same time. The events that [cross their borders](super::border) are then carried
//! over, and the next cycle begins. The order within a step of a cycle does not matter, and random choices do not
//! depend on the order of their use, so the result is exactly the result of one engine for all routers, on any number
//! of threads.
//!
//! For each cycle, a slab is moved to its thread and back, so that nothing is shared.

use std::panic::resume_unwind;
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::super::delays::Delays;
use super::super::ids::MessageId;
use super::super::sources::{InjectionOrder, Sources};
use super::super::usage::{PacketCount, Usage};
use super::super::{Delivery, Message, PacketSpec};
use super::border::{Border, Crossing, Mail};
use super::{Engine, RoutedEngine};
use crate::topology::{LinkId, RouterGraph, RouterId, Routing};

/// A part of the routers. It has the arrays of the whole network, and uses its own part of them.
type Slab<R> = RoutedEngine<R, false>;

/// Minimum number of routers in a slab: handing over smaller slabs takes longer than simulating them.
pub(super) const ROUTERS: usize = 4096;

/// Cycles with fewer events than this are lived through on one thread. Tests have nearly all of them on several.
const EVENTS: usize = if cfg!(test) { 2 } else { 256 };

/// A network that is divided into slabs.
#[derive(Debug)]
pub(super) struct SlabEngine<R> {
    /// The slabs, in the order of their routers.
    slabs: Vec<Box<Slab<R>>>,
    /// The first router of each slab.
    firsts: Vec<RouterId>,
    /// The messages of all slabs; no host sends from here.
    messages: Sources,
    /// A thread for each slab but the first, unless the system could not create all of them.
    workers: Vec<Worker<R>>,
    /// Kept to be used again.
    mail: Mail,
}

/// A thread that lives through cycles of a slab.
#[derive(Debug)]
struct Worker<R> {
    jobs: Sender<Job<R>>,
    done: Receiver<Job<R>>,
    thread: Option<JoinHandle<()>>,
}

/// A slab, and the cycle that it is to live through.
#[derive(Debug)]
struct Job<R> {
    slab: Box<Slab<R>>,
    now: u64,
}

impl<R: Routing> SlabEngine<R> {
    /// An idle network with equal links, divided into a slab of at least one router for each thread.
    pub(crate) fn new(spec: &PacketSpec, routing: &R, threads: usize) -> Self {
        let routers = spec.graph.routers().count();
        let count = threads.clamp(1, routers.max(1));
        let Delays { tail, .. } = Delays::of(spec);
        let first = |slab: usize| (slab * routers / count) as u32;
        let slab = |number: usize| {
            let mut slab = Slab::new(spec, routing.clone(), None);
            slab.border = Some(Box::new(Border::around(first(number)..first(number + 1), tail)));
            Box::new(slab)
        };
        Self {
            slabs: (0..count).map(slab).collect(),
            firsts: (0..count).map(|number| RouterId(first(number))).collect(),
            messages: Sources::new(0, InjectionOrder::Fifo, None),
            workers: (1..count).map_while(|_| Worker::begin()).collect(),
            mail: Mail::default(),
        }
    }

    fn slab_of(&mut self, router: RouterId) -> &mut Slab<R> {
        let after = self.firsts.partition_point(|&first| first <= router);
        &mut self.slabs[after.saturating_sub(1)]
    }

    /// Lets all slabs live through a cycle.
    fn live_through(&mut self, now: u64) {
        let events: usize = self.slabs.iter().map(|slab| slab.due(now)).sum();
        if events < EVENTS {
            return self.slabs.iter_mut().for_each(|slab| slab.live_through(now));
        }
        let mut others = self.slabs.split_off(1).into_iter();
        for (worker, slab) in self.workers.iter().zip(others.by_ref()) {
            // If the thread has ended, its result is lost as well.
            let _ = worker.jobs.send(Job { slab, now });
        }
        self.slabs.iter_mut().for_each(|slab| slab.live_through(now));
        self.slabs.extend(self.workers.iter_mut().map(Worker::wait));
        self.slabs.extend(others.map(|mut slab| {
            slab.live_through(now);
            slab
        }));
    }

    /// Carries over the events that left a slab in this cycle.
    fn carry_over(&mut self, number: usize, now: u64, delivered: &mut Vec<Delivery>) {
        let words = self.slabs[number].routing.state_words();
        let Some(border) = &mut self.slabs[number].border else { return };
        let mut mail = std::mem::replace(&mut border.mail, std::mem::take(&mut self.mail));
        for (place, &crossing) in mail.headers.iter().enumerate() {
            let router = self.slabs[number].queues.get(crossing.queue).router;
            self.slab_of(router).receive(now, crossing, &mail.states[place * words..][..words]);
        }
        for &(output, channel) in &mail.credits {
            let router = self.slabs[number].outputs.get(output).router;
            let border = self.slab_of(router).border.as_mut();
            border.into_iter().for_each(|border| border.credits.push(now, (output, channel)));
        }
        for packet in &mail.consumed {
            self.messages.leaves(packet.message, packet.left);
            delivered.extend(self.messages.arrives(packet.message, packet.hops).map(|progress| progress.delivery(now)));
        }
        mail.clear();
        self.mail = mail;
    }
}

impl<R: Routing> Engine for SlabEngine<R> {
    fn offer(&mut self, now: u64, message: Message) {
        let MessageId(number) = self.messages.insert(message, now);
        let router = self.slabs[0].hosts[message.from.index()].places.router;
        self.slab_of(router).offer(now, Message { tag: number.into(), ..message });
    }

    fn next_cycle(&self) -> Option<u64> {
        self.slabs.iter().filter_map(|slab| slab.next_cycle()).min()
    }

    fn advance(&mut self, now: u64, delivered: &mut Vec<Delivery>) {
        self.live_through(now);
        for number in 0..self.slabs.len() {
            self.carry_over(number, now, delivered);
        }
    }

    fn consumed(&self) -> (u64, u64) {
        let all = self.slabs.iter().map(|slab| slab.consumed());
        all.fold((0, 0), |(packets, latency), (more, their)| (packets + more, latency + their))
    }

    fn usage(&self) -> Usage {
        let mut all = self.slabs[0].usage();
        self.slabs[1..].iter().for_each(|slab| all.add(&slab.usage));
        all
    }

    fn take_usage(&mut self) -> Usage {
        let mut all = self.slabs[0].take_usage();
        self.slabs[1..].iter_mut().for_each(|slab| all.add(&slab.take_usage()));
        all
    }

    fn carried(&self, graph: &RouterGraph) -> Vec<(LinkId, PacketCount)> {
        self.slabs.iter().flat_map(|slab| slab.carried(graph)).collect()
    }
}

impl<R: Routing> Slab<R> {
    /// Lives through a cycle. Packets that are consumed go to the border's mail, so that nothing is delivered here.
    fn live_through(&mut self, now: u64) {
        self.advance(now, &mut Vec::new());
    }

    /// Estimated amount of work in a cycle.
    fn due(&self, now: u64) -> usize {
        self.headers.due(now) + self.tails.due(now)
    }

    /// Takes in a packet whose header another slab sent at `now`, with the state that it carries for the routing.
    fn receive(&mut self, now: u64, crossing: Crossing, state: &[i32]) {
        let Crossing { queue, packet, output } = crossing;
        let packet = self.packets.insert(packet);
        self.packets.state_mut(packet).copy_from_slice(state);
        self.send_to(queue, packet, output, now);
    }
}

impl<R: Routing> Worker<R> {
    /// A thread; none if the system has no more.
    fn begin() -> Option<Self> {
        let (jobs, inbox) = bounded::<Job<R>>(1);
        let (finished, done) = bounded(1);
        let work = move || {
            for mut job in inbox {
                job.slab.live_through(job.now);
                if finished.send(job).is_err() {
                    return;
                }
            }
        };
        let thread = Some(thread::Builder::new().name("slab".into()).spawn(work).ok()?);
        Some(Self { jobs, done, thread })
    }

    /// The slab that it was given, after the cycle.
    fn wait(&mut self) -> Box<Slab<R>> {
        match self.done.recv() {
            Ok(job) => job.slab,
            Err(gone) => match self.thread.take().map(JoinHandle::join) {
                Some(Err(panic)) => resume_unwind(panic),
                Some(Ok(())) | None => resume_unwind(Box::new(gone)),
            },
        }
    }
}
