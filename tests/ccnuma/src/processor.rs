//! A processor: instructions in order. Those after a read miss continue for a while, as in an out-of-order processor.
//!
//! Instruction i is executed when i − [`WINDOW`] is complete. Writes complete in the background.

use std::collections::VecDeque;

use titr_common::time::Time;

use crate::causes::Causes;
use crate::message::Line;
use crate::programs::{Op, Script};

/// Instructions after a read that has missed which can be executed before it is complete.
const WINDOW: u64 = 64;

/// Picoseconds of an instruction.
const INSTRUCTION: u64 = 1_000;

/// The processor of a node.
#[derive(Debug)]
pub(crate) struct Processor {
    script: Script,
    /// The operation that comes next, and how much of it was executed, if it is computation.
    next: usize,
    executed: u64,
    instructions: u64,
    time: u64,
    causes: Causes,
    /// Work that is not yet part of the causes.
    work: u64,
    /// Reads that missed, in order, from the first that is not behind the window.
    reads: VecDeque<MissedRead>,
}

#[derive(Debug)]
struct MissedRead {
    instruction: u64,
    line: Line,
    complete: Option<(Time, Causes)>,
}

/// The next step of a processor.
pub(crate) enum Step {
    /// An access to memory.
    Access(Op),
    /// A read has to complete first.
    Stalled,
    /// The script is over.
    Over,
}

impl Processor {
    /// A processor at the start of the program, which has nothing to do yet.
    pub(crate) fn new() -> Self {
        Self {
            script: Script::default(),
            next: 0,
            executed: 0,
            instructions: 0,
            time: 0,
            causes: Causes::start(),
            work: 0,
            reads: VecDeque::new(),
        }
    }

    /// The instructions that it has executed.
    pub(crate) fn instructions(&self) -> u64 {
        self.instructions
    }

    /// The time that it has reached.
    pub(crate) fn time(&self) -> Time {
        Time(self.time)
    }

    /// Gives it instructions to execute after those that it has executed.
    pub(crate) fn load(&mut self, script: Script) {
        (self.script, self.next, self.executed) = (script, 0, 0);
    }

    /// Continues at `at` at the earliest, because of `causes`.
    pub(crate) fn wait_until(&mut self, at: Time, causes: &Causes) {
        self.time = self.time.max(at.0);
        self.causes.work(std::mem::take(&mut self.work));
        self.causes.join(causes);
    }

    /// The causes of the instruction that comes next.
    pub(crate) fn causes(&mut self) -> Causes {
        self.causes.work(std::mem::take(&mut self.work));
        self.causes.clone()
    }

    /// Computes up to the next access, which is not made yet, or up to an instruction that has to wait.
    pub(crate) fn step(&mut self) -> Step {
        loop {
            let mut room = u64::MAX;
            while let Some(read) = self.reads.front() {
                room = (read.instruction + WINDOW).saturating_sub(self.instructions);
                if room > 0 {
                    break;
                }
                match self.reads.pop_front_if(|read| read.complete.is_some()) {
                    Some(MissedRead { complete: Some((at, causes)), .. }) => self.wait_until(at, &causes),
                    Some(_) | None => return Step::Stalled,
                }
                room = u64::MAX;
            }
            match self.script.ops.get(self.next) {
                None => return self.end(),
                Some(&Op::Compute(total)) => {
                    let count = (u64::from(total) - self.executed).min(room);
                    self.executed += count;
                    self.execute(count);
                    if self.executed == u64::from(total) {
                        self.next += 1;
                        self.executed = 0;
                    }
                }
                Some(&access) => return Step::Access(access),
            }
        }
    }

    /// Waits for all reads.
    fn end(&mut self) -> Step {
        while let Some(read) = self.reads.pop_front_if(|read| read.complete.is_some()) {
            if let Some((at, causes)) = read.complete {
                self.wait_until(at, &causes);
            }
        }
        if self.reads.is_empty() { Step::Over } else { Step::Stalled }
    }

    fn execute(&mut self, count: u64) {
        self.instructions += count;
        self.time += count * INSTRUCTION;
        self.work += count * INSTRUCTION;
    }

    /// The access that came next was made.
    pub(crate) fn accessed(&mut self) {
        self.next += 1;
        self.execute(1);
    }

    /// The access that came next is a read that has missed.
    pub(crate) fn missed(&mut self, line: Line) {
        self.reads.push_back(MissedRead { instruction: self.instructions, line, complete: None });
        self.accessed();
    }

    /// A line has come, for which reads have waited.
    pub(crate) fn complete(&mut self, line: Line, at: Time, causes: &Causes) {
        for read in self.reads.iter_mut().filter(|read| read.line == line && read.complete.is_none()) {
            read.complete = Some((at, causes.clone()));
        }
    }
}
