//! A machine that runs the schedules of all members: messages are matched in order per pair of members, and a send ends
//! only when its receive has been posted, so that schedules which rely on buffering are detected.
//!
//! A byte is a word over an alphabet with one letter for each byte that any member gives. Reducing concatenates words:
//! this is the free monoid, so results here hold for every associative operation.

use std::collections::{HashMap, VecDeque};

use titr_common::collectives::{Buffer, Member, Slice, Step};

/// The components of one byte: the members that gave them, and their places there.
pub type Word = Vec<(Member, u64)>;

struct Pending {
    is_send: bool,
    peer: Member,
    data: Slice,
    /// The data of a send; it must not change in transit.
    words: Vec<Word>,
    is_done: bool,
}

struct Process {
    steps: VecDeque<Step>,
    send: Vec<Word>,
    recv: Vec<Option<Word>>,
    scratch: Vec<Option<Word>>,
    /// In the order in which they were started; finished ones stay until they are waited for.
    pending: Vec<usize>,
    /// How many operations the current step waits for: `None` before it starts them.
    awaited: Option<Vec<usize>>,
}

impl Process {
    fn read(&self, slice: Slice) -> Vec<Word> {
        let range = slice.offset.0 as usize..(slice.offset.0 + slice.len.0) as usize;
        if range.is_empty() {
            return Vec::new();
        }
        let defined = |word: &Option<Word>| word.clone().expect("undefined bytes are read");
        match slice.buffer {
            Buffer::Send => self.send[range].to_vec(),
            Buffer::Recv => self.recv[range].iter().map(defined).collect(),
            Buffer::Scratch => self.scratch[range].iter().map(defined).collect(),
        }
    }

    fn write(&mut self, slice: Slice, words: Vec<Word>) {
        assert_eq!(words.len() as u64, slice.len.0, "{slice:?} gets another length");
        let range = slice.offset.0 as usize..(slice.offset.0 + slice.len.0) as usize;
        let target = match slice.buffer {
            Buffer::Send => panic!("what the caller gives is overwritten"),
            Buffer::Recv => &mut self.recv[range],
            Buffer::Scratch => {
                if self.scratch.len() < range.end {
                    self.scratch.resize(range.end, None);
                }
                &mut self.scratch[range]
            }
        };
        for (byte, word) in target.iter_mut().zip(words) {
            *byte = Some(word);
        }
    }
}

/// The input of a member: the bytes it gives, the bytes received so far, and its steps.
pub struct Program {
    pub send: Vec<Word>,
    pub recv: Vec<Option<Word>>,
    pub steps: Vec<Step>,
}

/// The members that wait forever, and their steps.
pub type Deadlock = Vec<(Member, Step)>;

/// Runs all members to their end; returns the result of each.
pub fn run(programs: Vec<Program>) -> Result<Vec<Vec<Option<Word>>>, Deadlock> {
    let mut machine = Machine {
        processes: programs
            .into_iter()
            .map(|program| Process {
                steps: program.steps.into(),
                send: program.send,
                recv: program.recv,
                scratch: Vec::new(),
                pending: Vec::new(),
                awaited: None,
            })
            .collect(),
        operations: Vec::new(),
        queues: HashMap::new(),
    };
    let members = machine.processes.len();
    while (0..members).filter(|&me| machine.advance(me)).count() > 0 {}

    let stuck: Deadlock =
        (0..members).filter_map(|me| Some((me as Member, *machine.processes[me].steps.front()?))).collect();
    if !stuck.is_empty() {
        return Err(stuck);
    }
    assert!(machine.queues.values().all(|queue| queue.is_empty()), "messages are left over");
    let is_waited_for = machine.processes.iter().all(|process| process.pending.is_empty());
    assert!(is_waited_for, "a member ends with something pending");
    Ok(machine.processes.into_iter().map(|process| process.recv).collect())
}

struct Machine {
    processes: Vec<Process>,
    operations: Vec<(Member, Pending)>,
    /// Unmatched operations per (sender, receiver): all sends or all receives.
    queues: HashMap<(Member, Member), VecDeque<usize>>,
}

impl Machine {
    /// Runs a member until it must wait; tells whether it did anything.
    fn advance(&mut self, me: usize) -> bool {
        let mut moved = false;
        while let Some(&step) = self.processes[me].steps.front() {
            if self.processes[me].awaited.is_none() {
                moved = true;
                let awaited = self.start(me, step);
                self.processes[me].awaited = Some(awaited);
            }
            let awaited = self.processes[me].awaited.clone().unwrap_or_default();
            if !awaited.iter().all(|&operation| self.operations[operation].1.is_done) {
                break;
            }
            moved = true;
            let process = &mut self.processes[me];
            process.pending.retain(|operation| !awaited.contains(operation));
            process.awaited = None;
            process.steps.pop_front();
        }
        moved
    }

    fn start(&mut self, me: usize, step: Step) -> Vec<usize> {
        match step {
            Step::Send { to, data } => vec![self.post(me, true, to, data)],
            Step::Recv { from, data } => vec![self.post(me, false, from, data)],
            Step::Sendrecv { to, send, from, recv } => {
                vec![self.post(me, false, from, recv), self.post(me, true, to, send)]
            }
            Step::Isend { to, data } => {
                let operation = self.post(me, true, to, data);
                self.processes[me].pending.push(operation);
                Vec::new()
            }
            Step::Irecv { from, data } => {
                let operation = self.post(me, false, from, data);
                self.processes[me].pending.push(operation);
                Vec::new()
            }
            Step::Wait { nth } => vec![self.processes[me].pending[nth as usize]],
            Step::WaitAll => self.processes[me].pending.clone(),
            Step::Copy { from, to } => {
                let words = self.processes[me].read(from);
                self.processes[me].write(to, words);
                Vec::new()
            }
            Step::ReduceLeft { from, into } => self.reduce(me, from, into, into),
            Step::ReduceRight { from, into } => self.reduce(me, into, from, into),
        }
    }

    fn reduce(&mut self, me: usize, left: Slice, right: Slice, into: Slice) -> Vec<usize> {
        let process = &mut self.processes[me];
        let (left, right) = (process.read(left), process.read(right));
        assert_eq!(left.len(), right.len(), "operands of one length");
        let words = left.into_iter().zip(right).map(|(left, right)| [left, right].concat()).collect();
        process.write(into, words);
        Vec::new()
    }

    fn post(&mut self, me: usize, is_send: bool, peer: Member, data: Slice) -> usize {
        let operation = self.operations.len();
        let words = if is_send { self.processes[me].read(data) } else { Vec::new() };
        self.operations.push((me as Member, Pending { is_send, peer, data, words, is_done: false }));
        let pair = if is_send { (me as Member, peer) } else { (peer, me as Member) };
        let queue = self.queues.entry(pair).or_default();
        match queue.front() {
            Some(&other) if self.operations[other].1.is_send != is_send => {
                queue.pop_front();
                let (send, recv) = if is_send { (operation, other) } else { (other, operation) };
                self.deliver(pair, send, recv);
            }
            _ => queue.push_back(operation),
        }
        operation
    }

    fn deliver(&mut self, (from, to): (Member, Member), send: usize, recv: usize) {
        let (sent, landing) = (self.operations[send].1.data, self.operations[recv].1.data);
        assert_eq!(sent.len, landing.len, "a message from {from} to {to}");
        assert_eq!(self.operations[recv].1.peer, from);
        let words = std::mem::take(&mut self.operations[send].1.words);
        assert_eq!(words, self.processes[from as usize].read(sent), "data changes while it is sent");
        self.processes[to as usize].write(landing, words);
        self.operations[send].1.is_done = true;
        self.operations[recv].1.is_done = true;
    }
}
