//! The traces of `ci/bench`, twice: in `DIRECTORY/titr` as titr's tracer writes them, in `DIRECTORY/simgrid` in
//! SimGrid's format, each with an index.
//!
//! ```text
//! bench_traces wavefront RANKS ITERATIONS DIRECTORY     NPB LU in outline; RANKS is a square
//! bench_traces alltoall RANKS ROUNDS DIRECTORY          all-to-all exchanges of small, middle and large blocks
//! bench_traces collectives RANKS ROUNDS DIRECTORY       the collectives that take each rank a logarithm of steps
//! bench_traces pending COUNT DIRECTORY                  COUNT messages wait for receives that come in the worst order
//! ```
//!
//! After the directory, `alone` leaves out SimGrid's form, and `even` gives equal lengths to all computations between
//! the same two messages.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use titr_common::event::{
    Collective, CollectiveKind, CommId, Completed, Completion, Event, Extent, Incoming, Outgoing, Quantifier, Rank,
    RequestKey, SendMode, Tag, ThreadId, Volumes, Wildcard,
};
use titr_common::grammar::write_event;
use titr_common::trace::RankWriter;
use titr_common::trace::manifest::{Counter, RankEntry};
use titr_common::units::{Bytes, Instructions, Seconds};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (mut args, mut form, mut noise) = (&args[..], Form::Both, Noise::Tenth);
    while let [before @ .., word] = args {
        match *word {
            "alone" => form = Form::Titr,
            "even" => noise = Noise::None,
            _ => break,
        }
        args = before;
    }
    let to = |directory| (Path::new(directory), form, noise);
    let number = |text: &str| text.parse::<u32>().ok().filter(|&number| number > 0);
    let written = match *args {
        ["pending", count, directory] => number(count).map(|count| pending(count, to(directory))),
        [pattern, ranks, times, directory] => match (pattern, number(ranks).zip(number(times))) {
            ("wavefront", Some((ranks, times))) => Some(wavefront(ranks, times, to(directory))),
            ("alltoall", Some((ranks, times))) => Some(alltoall(ranks, times, to(directory))),
            ("collectives", Some((ranks, times))) => Some(collectives(ranks, times, to(directory))),
            _ => None,
        },
        _ => None,
    };
    match written {
        Some(Ok(())) => ExitCode::SUCCESS,
        Some(Err(error)) => {
            eprintln!("bench_traces: {error}");
            ExitCode::FAILURE
        }
        None => {
            eprintln!(
                "usage: bench_traces wavefront|alltoall|collectives RANKS TIMES DIR [alone] [even] | pending COUNT DIR [alone]"
            );
            ExitCode::from(2)
        }
    }
}

/// One rank's stream.
struct Script {
    rank: Rank,
    titr: RankWriter,
    simgrid: Option<BufWriter<File>>,
    spelled: Vec<u8>,
    /// The variation of computation, and the state of its random generator.
    noise: Noise,
    chance: u64,
}

impl Script {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        if let Some(simgrid) = &mut self.simgrid {
            self.spelled.clear();
            write_event(&mut self.spelled, self.rank, event);
            simgrid.write_all(&self.spelled)?;
        }
        self.titr.write(ThreadId::MAIN, event)
    }

    fn finish(mut self) -> io::Result<()> {
        self.event(&Event::Finalize)?;
        self.simgrid.as_mut().map_or(Ok(()), Write::flush)?;
        self.titr.finish(RankEntry::new(self.rank, Counter::exact("generated"))).map(drop)
    }

    /// About so many instructions.
    fn compute(&mut self, instructions: u64) -> io::Result<()> {
        if self.noise == Noise::None {
            return self.event(&Event::Compute(Instructions(instructions as f64)));
        }
        // Knuth's MMIX generator.
        self.chance = self.chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let fifth = instructions / 5;
        let work = instructions - fifth / 2 + (self.chance >> 32) * fifth / (1 << 32);
        self.event(&Event::Compute(Instructions(work as f64)))
    }

    fn send(&mut self, to: Option<Rank>, tag: i32, bytes: u64) -> io::Result<()> {
        let Some(to) = to else { return Ok(()) };
        let message = Outgoing { comm: CommId::WORLD, to, tag: Tag(tag), bytes: Bytes(bytes) };
        self.event(&Event::Send(SendMode::Standard, message, Completion::Blocking))
    }

    fn recv(&mut self, from: Option<Rank>, tag: i32, bytes: u64) -> io::Result<()> {
        from.map_or(Ok(()), |from| self.event(&Event::Recv(incoming(from, tag, bytes), Completion::Blocking)))
    }

    /// A collective of all ranks, with rank 0 as its root if it has one.
    fn collective(&mut self, kind: CollectiveKind, send: Bytes, recv: Bytes) -> io::Result<()> {
        let signature = kind.signature();
        let volumes = |extent, bytes| if extent == Extent::Each { Volumes::Each(bytes) } else { Volumes::None };
        let (send, recv) = (volumes(signature.send, send), volumes(signature.recv, recv));
        let root = signature.is_rooted.then_some(Rank(0));
        let collective = Collective { kind, root, send, recv, ..Collective::barrier(CommId::WORLD) };
        self.event(&Event::Collective(collective, Completion::Blocking))
    }
}

fn incoming(from: Rank, tag: i32, bytes: u64) -> Incoming {
    let (from, tag) = (Some(from), Some(Tag(tag)));
    Incoming { comm: CommId::WORLD, from, tag, bytes: Bytes(bytes), wildcard: Wildcard::default() }
}

/// The forms that a trace is written in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Both,
    Titr,
}

/// The variation of the computation between the same two messages.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Noise {
    /// Equally long.
    None,
    /// A tenth longer or shorter, as on a real machine.
    Tenth,
}

/// The directory of a trace, its forms, and how unlike its computations are.
type Output<'a> = (&'a Path, Form, Noise);

/// Writes the streams of all ranks, and an `index` that lists them.
fn write(
    (directory, form, noise): Output,
    ranks: u32,
    program: impl Fn(&mut Script) -> io::Result<()>,
) -> io::Result<()> {
    let [titr, simgrid] = ["titr", "simgrid"].map(|form| directory.join(form));
    let mut indexes = (String::new(), String::new());
    fs::create_dir_all(&titr)?;
    if form == Form::Both {
        fs::create_dir(&simgrid)?;
    }
    for rank in (0..ranks).map(Rank) {
        let text = format!("rank-{}.txt", rank.0);
        let mut script = Script {
            rank,
            titr: RankWriter::create(&titr, rank)?,
            simgrid: match form {
                Form::Both => Some(BufWriter::new(File::create(simgrid.join(&text))?)),
                Form::Titr => None,
            },
            spelled: Vec::new(),
            noise,
            chance: u64::from(rank.0),
        };
        indexes.0 += &format!("{}\n", script.titr.path().display());
        indexes.1 += &format!("{}\n", simgrid.join(text).display());
        script.event(&Event::Init)?;
        program(&mut script)?;
        script.finish()?;
    }
    fs::write(titr.join("index"), indexes.0)?;
    if form == Form::Both { fs::write(simgrid.join("index"), indexes.1) } else { Ok(()) }
}

/// Planes of the domain, as in class B of NPB LU, and bytes that a rank of 64 passes on for each.
const PLANES: u64 = 102;
const PENCIL: u64 = 520;
/// Bytes of a face.
const FACE: u64 = 53_040;

/// NPB LU in outline: ranks in a square solve a triangular system plane by plane, from one corner to the other and
/// back; then they exchange faces, and now and then a norm.
fn wavefront(ranks: u32, iterations: u32, to: Output) -> io::Result<()> {
    let width = ranks.isqrt();
    write(to, ranks, |script| {
        let (x, y) = (script.rank.0 % width, script.rank.0 / width);
        let at = |x: u32, y: u32| (x < width && y < width).then_some(Rank(y * width + x));
        let west = x.checked_sub(1).and_then(|x| at(x, y));
        let north = y.checked_sub(1).and_then(|y| at(x, y));
        let (east, south) = (at(x + 1, y), at(x, y + 1));
        script.collective(CollectiveKind::Bcast, Bytes(40), Bytes(0))?;
        for iteration in 0..iterations {
            for (from, to) in [([north, west], [south, east]), ([south, east], [north, west])] {
                for _ in 0..PLANES {
                    script.recv(from[0], 1, PENCIL)?;
                    script.recv(from[1], 3, PENCIL)?;
                    script.compute(20_000)?;
                    script.send(to[0], 1, PENCIL)?;
                    script.send(to[1], 3, PENCIL)?;
                }
            }
            for (tag, from, to) in [(1, south, north), (2, north, south), (3, east, west), (4, west, east)] {
                if let Some(from) = from {
                    script.event(&Event::Recv(incoming(from, tag, FACE), Completion::Request(None)))?;
                }
                script.send(to, tag, FACE)?;
                if let Some(from) = from {
                    let key = RequestKey { from: Some(from), to: script.rank, tag: Some(Tag(tag)) };
                    script.event(&Event::Wait(Quantifier::Single, Completed::One(key, None)))?;
                }
            }
            script.compute(1_000_000)?;
            if iteration % 20 == 0 {
                script.collective(CollectiveKind::Allreduce, Bytes(40), Bytes(0))?;
            }
        }
        script.collective(CollectiveKind::Barrier, Bytes(0), Bytes(0))
    })
}

fn alltoall(ranks: u32, rounds: u32, to: Output) -> io::Result<()> {
    write(to, ranks, |script| {
        for _ in 0..rounds {
            for bytes in [100, 1000, 100_000].map(Bytes) {
                script.compute(1_000_000)?;
                script.collective(CollectiveKind::Alltoall, bytes, bytes)?;
            }
        }
        Ok(())
    })
}

fn collectives(ranks: u32, rounds: u32, to: Output) -> io::Result<()> {
    write(to, ranks, |script| {
        for _ in 0..rounds {
            script.compute(1_000_000)?;
            script.collective(CollectiveKind::Allreduce, Bytes(8), Bytes(0))?;
            script.collective(CollectiveKind::Bcast, Bytes(1000), Bytes(0))?;
            script.collective(CollectiveKind::Reduce, Bytes(1000), Bytes(0))?;
            script.collective(CollectiveKind::Barrier, Bytes(0), Bytes(0))?;
        }
        Ok(())
    })
}

fn pending(count: u32, to: Output) -> io::Result<()> {
    let tags = 0..count.cast_signed();
    write(to, 2, |script| {
        if script.rank == Rank(0) {
            return tags.clone().try_for_each(|tag| script.send(Some(Rank(1)), tag, 1));
        }
        script.event(&Event::Sleep(Seconds(1000.0)))?;
        tags.clone().rev().try_for_each(|tag| script.recv(Some(Rank(0)), tag, 1))
    })
}
