//! The communicators of a trace of Paraver: their numbers and members.
//!
//! Communicators with the same members in the same order have one number, as in traces of Extrae. An inter-communicator has
//! none.

use std::io::{self, Write};
use std::rc::Rc;

use rustc_hash::FxHashMap;
use titr_common::event::Rank;
use titr_common::program::{Context, Members};

/// The number of a communicator that the trace does not define.
const UNDEFINED: u64 = 0;

/// The communicators of all ranks.
pub(super) struct PrvCommunicators {
    /// The number by the members.
    numbers: FxHashMap<Rc<[Rank]>, u64>,
    /// The members of each number, from 1.
    all: Vec<Rc<[Rank]>>,
    /// The numbers of contexts that were asked for.
    known: FxHashMap<Context, u64>,
}

impl PrvCommunicators {
    /// Those that there are from the beginning: the world, and each rank alone.
    pub(super) fn new(ranks: u32) -> Self {
        let mut this = Self { numbers: FxHashMap::default(), all: Vec::new(), known: FxHashMap::default() };
        this.define((0..ranks).map(Rank).collect());
        for rank in 0..ranks {
            this.define([Rank(rank)].into());
        }
        this
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn number(&mut self, context: Context, members: &Members) -> u64 {
        if members.is_inter() {
            return UNDEFINED;
        }
        if let Some(&known) = self.known.get(&context) {
            return known;
        }
        let number = self.define((0..members.len() as u32).map(|member| members.rank(member)).collect());
        self.known.insert(context, number);
        number
    }

    fn define(&mut self, members: Rc<[Rank]>) -> u64 {
        let next = self.all.len() as u64 + 1;
        let all = &mut self.all;
        *self.numbers.entry(members).or_insert_with_key(|members| {
            all.push(Rc::clone(members));
            next
        })
    }

    /// Writes a line for each.
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        for (number, members) in (1..).zip(&self.all) {
            write!(out, "c:1:{number}:{}", members.len())?;
            members.iter().try_for_each(|rank| write!(out, ":{}", rank.0 + 1))?;
            writeln!(out)?;
        }
        Ok(())
    }
}
