//! The steps of all members, a line each: `RANK STEP …`, in the order in which a rank takes them.
//!
//! A slice is written `BYTES BUFFER+OFFSET`: a number of packed bytes of the caller's input (`send`), of its output
//! (`recv`), or of `scratch` space.

use std::fmt;
use std::io::{self, Write};

use titr_common::collectives::{Buffer, Slice, Step};

use super::Example;

/// Writes the steps, below a line with the algorithm.
///
/// # Errors
/// If `out` cannot be written.
pub fn write(example: &Example, out: &mut impl Write) -> io::Result<()> {
    let choice = example.choice();
    let library = example.selection().library;
    let mode = example.mode();
    let name = library.name_of(mode, choice.algorithm);
    write!(out, "# {}: {}{} by {name}", library.name(), mode.prefix(), choice.algorithm.collective())?;
    match example.replaced() {
        Some(asked) => writeln!(out, ", as {} is impossible here", library.name_of(mode, asked.algorithm))?,
        None => writeln!(out)?,
    }
    for me in example.members() {
        for step in example.steps(me) {
            writeln!(out, "{me} {}", Line(step))?;
        }
    }
    Ok(())
}

struct Line(Step);

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Step::Send { to, data } => write!(f, "send {to} {}", Written(data)),
            Step::Recv { from, data } => write!(f, "recv {from} {}", Written(data)),
            Step::Isend { to, data } => write!(f, "isend {to} {}", Written(data)),
            Step::Irecv { from, data } => write!(f, "irecv {from} {}", Written(data)),
            Step::Sendrecv { to, send, from, recv } => {
                write!(f, "sendrecv {to} {} {from} {}", Written(send), Written(recv))
            }
            Step::Wait { nth } => write!(f, "wait {nth}"),
            Step::WaitAll => write!(f, "waitall"),
            Step::Copy { from, to } => write!(f, "copy {} {}", Written(from), Place(to)),
            Step::ReduceLeft { from, into } => write!(f, "reduce_left {} {}", Written(from), Place(into)),
            Step::ReduceRight { from, into } => write!(f, "reduce_right {} {}", Written(from), Place(into)),
        }
    }
}

struct Written(Slice);

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0.len.0, Place(self.0))
    }
}

struct Place(Slice);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let buffer = match self.0.buffer {
            Buffer::Send => "send",
            Buffer::Recv => "recv",
            Buffer::Scratch => "scratch",
        };
        write!(f, "{buffer}+{}", self.0.offset.0)
    }
}
