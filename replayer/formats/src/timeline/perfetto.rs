//! Perfetto's own format, for <https://ui.perfetto.dev>: messages of Protocol Buffers, a quarter of the size of the
//! Chrome JSON that it also reads (`protos/perfetto/trace/` of its source has the numbers of the fields).
//!
//! Ranks are threads of one process, and states are slices. A message is a flow between two instants with its
//! description. The payload in transit is a counter, and so is the load of each busy link. Times are whole nanoseconds,
//! the viewer's unit, so that one slice ends where the next begins. A text is written once and then referred to by a
//! number.

use std::io::{self, Write};

use rustc_hash::FxHashMap;
use titr_common::event::{Activity, Rank};
use titr_common::output::OutputFile;
use titr_common::time::Time;
use titr_common::timeline::{Arrow, Series, State, Subject, TimelineEvent, TimelineWriter};

use super::TimelineFormat;
use super::protobuf::Fields;

pub(super) const PERFETTO: TimelineFormat = TimelineFormat {
    name: "perfetto",
    viewers: "https://ui.perfetto.dev, with counters of the bytes in flight and of the load of links",
    begin: |path, subject| Ok(Box::new(Perfetto::new(OutputFile::create(path)?, subject)?)),
};

// Numbers of the fields that are used.
mod trace {
    pub(super) const PACKET: u32 = 1;
}
mod packet {
    pub(super) const TIMESTAMP: u32 = 8;
    pub(super) const SEQUENCE: u32 = 10;
    pub(super) const EVENT: u32 = 11;
    pub(super) const INTERNED: u32 = 12;
    pub(super) const SEQUENCE_FLAGS: u32 = 13;
    pub(super) const TRACK: u32 = 60;
}
mod track {
    pub(super) const UUID: u32 = 1;
    pub(super) const NAME: u32 = 2;
    pub(super) const PROCESS: u32 = 3;
    pub(super) const THREAD: u32 = 4;
    pub(super) const PARENT: u32 = 5;
    pub(super) const COUNTER: u32 = 8;
}
mod process {
    pub(super) const PID: u32 = 1;
    pub(super) const NAME: u32 = 6;
}
mod thread {
    pub(super) const PID: u32 = 1;
    pub(super) const TID: u32 = 2;
    pub(super) const NAME: u32 = 5;
}
mod counter {
    pub(super) const UNIT: u32 = 3;
}
mod event {
    pub(super) const CATEGORY: u32 = 3;
    pub(super) const ANNOTATION: u32 = 4;
    pub(super) const TYPE: u32 = 9;
    pub(super) const NAME: u32 = 10;
    pub(super) const TRACK: u32 = 11;
    pub(super) const COUNT: u32 = 30;
    pub(super) const DOUBLE_COUNT: u32 = 44;
    pub(super) const FLOW: u32 = 47;
    pub(super) const LAST_OF_FLOW: u32 = 48;
}
mod interned {
    pub(super) const CATEGORY: u32 = 1;
    pub(super) const NAME: u32 = 2;
    pub(super) const ANNOTATION: u32 = 3;
    /// In each of them: the number of the text, and the text.
    pub(super) const NUMBER: u32 = 1;
    pub(super) const TEXT: u32 = 2;
}
mod annotation {
    pub(super) const NAME: u32 = 1;
    pub(super) const NUMBER: u32 = 3;
}

/// The flags of the first packet of a sequence: nothing is interned yet.
const CLEARED: u64 = 1;
/// The flags of all other packets: they refer to interned data.
const REFERS: u64 = 2;
/// Sizes in bytes are shown with their prefixes.
const UNIT_BYTES: u64 = 3;

/// The tracks of the process and of the payload in transit; then those of ranks, then those of series.
const PROCESS_TRACK: u64 = 1;
const IN_FLIGHT_TRACK: u64 = 2;
const FIRST_RANK_TRACK: u64 = 3;

/// The kinds of slices and instants, by their interned number.
const CATEGORIES: [(u64, &str); 8] = [
    (1, "compute"),
    (2, "send"),
    (3, "recv"),
    (4, "wait"),
    (5, "file"),
    (6, "collective"),
    (MESSAGE, "message"),
    (MESSAGE_OF_COLLECTIVE, "message of a collective"),
];
const MESSAGE: u64 = 7;
const MESSAGE_OF_COLLECTIVE: u64 = 8;
/// The interned number of the only annotation, `bytes`.
const BYTES: u64 = 1;

fn category(activity: Activity) -> u64 {
    match activity {
        Activity::Compute => 1,
        Activity::Send => 2,
        Activity::Recv => 3,
        Activity::Wait => 4,
        Activity::File => 5,
        Activity::Collective => 6,
    }
}

/// The type of an event.
#[derive(Clone, Copy)]
enum Kind {
    Begin = 1,
    End = 2,
    Instant = 3,
    Counter = 4,
}

/// A name that is interned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum EventName {
    State(&'static str),
    To(Rank),
    From(Rank),
}

/// A file of Perfetto's.
struct Perfetto {
    out: OutputFile,
    /// The ranks that are in a state.
    busy: Vec<bool>,
    names: FxHashMap<EventName, u64>,
    tracks: u64,
}

impl Perfetto {
    fn new(out: OutputFile, subject: &Subject) -> io::Result<Self> {
        let (ranks, names) = (subject.ranks, FxHashMap::default());
        let tracks = FIRST_RANK_TRACK + u64::from(ranks);
        let mut this = Self { out, busy: vec![false; ranks as usize], names, tracks };
        let text =
            |number: u64, text: &str| Fields::default().varint(interned::NUMBER, number).text(interned::TEXT, text);
        let all = CATEGORIES
            .iter()
            .fold(Fields::default(), |all, (number, name)| all.message(interned::CATEGORY, &text(*number, name)));
        let all = all.message(interned::ANNOTATION, &text(BYTES, "bytes"));
        let process = Fields::default().varint(process::PID, 1).text(process::NAME, subject.time);
        let track = Fields::default().varint(track::UUID, PROCESS_TRACK).message(track::PROCESS, &process);
        let first = Fields::default().message(packet::INTERNED, &all).message(packet::TRACK, &track);
        this.packet(first.varint(packet::SEQUENCE_FLAGS, CLEARED))?;
        let unit = Fields::default().varint(counter::UNIT, UNIT_BYTES);
        this.counter_track(IN_FLIGHT_TRACK, "bytes in flight", &unit)?;
        for rank in subject.shown() {
            let thread = Fields::default()
                .varint(thread::PID, 1)
                // The viewer takes thread 0 for an idle processor.
                .varint(thread::TID, u64::from(rank.0) + 1)
                .text(thread::NAME, &subject.rank_name(rank));
            let track = Fields::default().varint(track::UUID, track_of(rank)).message(track::THREAD, &thread);
            this.packet(Fields::default().message(packet::TRACK, &track.varint(track::PARENT, PROCESS_TRACK)))?;
        }
        Ok(this)
    }

    fn counter_track(&mut self, uuid: u64, name: &str, counter: &Fields) -> io::Result<()> {
        let track = Fields::default().varint(track::UUID, uuid).text(track::NAME, name);
        let track = track.varint(track::PARENT, PROCESS_TRACK).message(track::COUNTER, counter);
        self.packet(Fields::default().message(packet::TRACK, &track))
    }

    fn packet(&mut self, packet: Fields) -> io::Result<()> {
        let packet = packet.varint(packet::SEQUENCE, 1);
        self.out.write_all(Fields::default().message(trace::PACKET, &packet).encoded())
    }

    fn event(&mut self, at: Time, event: &Fields, interned: Option<Fields>) -> io::Result<()> {
        let packet = Fields::default().varint(packet::TIMESTAMP, at.0 / 1000).message(packet::EVENT, event);
        let packet = packet.varint(packet::SEQUENCE_FLAGS, REFERS);
        self.packet(match interned {
            Some(interned) => packet.message(packet::INTERNED, &interned),
            None => packet,
        })
    }

    /// The number of a name; a new name is also written to the file.
    fn name(&mut self, name: EventName, text: impl FnOnce() -> String) -> (u64, Option<Fields>) {
        let next = self.names.len() as u64 + 1;
        let number = *self.names.entry(name).or_insert(next);
        let interned = (number == next).then(|| {
            let entry = Fields::default().varint(interned::NUMBER, number).text(interned::TEXT, &text());
            Fields::default().message(interned::NAME, &entry)
        });
        (number, interned)
    }

    fn enter(&mut self, rank: Rank, state: State, at: Time) -> io::Result<()> {
        self.leave(rank, at)?;
        self.busy[rank.0 as usize] = true;
        let (name, interned) = self.name(EventName::State(state.word), || state.name());
        let event = of(Kind::Begin, track_of(rank)).varint(event::CATEGORY, category(state.activity));
        self.event(at, &event.varint(event::NAME, name), interned)
    }

    fn leave(&mut self, rank: Rank, at: Time) -> io::Result<()> {
        if std::mem::take(&mut self.busy[rank.0 as usize]) {
            self.event(at, &of(Kind::End, track_of(rank)), None)?;
        }
        Ok(())
    }

    /// Writes one end of a message, at `rank`.
    fn end_of(&mut self, arrow: Arrow, rank: Rank, at: Time, name: EventName, flow: u32) -> io::Result<()> {
        let (name, interned) = self.name(name, || match name {
            EventName::State(word) => word.to_owned(),
            EventName::To(Rank(to)) => format!("to {to}"),
            EventName::From(Rank(from)) => format!("from {from}"),
        });
        let bytes = Fields::default().varint(annotation::NAME, BYTES).varint(annotation::NUMBER, arrow.bytes.0);
        let kind = if arrow.in_collective { MESSAGE_OF_COLLECTIVE } else { MESSAGE };
        let event = of(Kind::Instant, track_of(rank)).varint(event::CATEGORY, kind).varint(event::NAME, name);
        self.event(at, &event.message(event::ANNOTATION, &bytes).fixed64(flow, arrow.key), interned)
    }
}

fn track_of(rank: Rank) -> u64 {
    FIRST_RANK_TRACK + u64::from(rank.0)
}

fn of(kind: Kind, track: u64) -> Fields {
    Fields::default().varint(event::TYPE, kind as u64).varint(event::TRACK, track)
}

impl TimelineWriter for Perfetto {
    fn event(&mut self, at: Time, event: TimelineEvent) -> io::Result<()> {
        match event {
            TimelineEvent::Enter(rank, state) => self.enter(rank, state, at),
            TimelineEvent::Leave(rank) => self.leave(rank, at),
            TimelineEvent::Depart(arrow) => self.end_of(arrow, arrow.from, at, EventName::To(arrow.to), event::FLOW),
            TimelineEvent::Arrive(arrow) => {
                self.end_of(arrow, arrow.to, at, EventName::From(arrow.from), event::LAST_OF_FLOW)
            }
            TimelineEvent::InFlight(bytes) => {
                self.event(at, &of(Kind::Counter, IN_FLIGHT_TRACK).varint(event::COUNT, bytes.0), None)
            }
        }
    }

    /// The viewer sorts by time.
    fn series(&mut self, series: &Series) -> io::Result<()> {
        let uuid = self.tracks;
        self.tracks += 1;
        self.counter_track(uuid, &series.name, &Fields::default())?;
        for &(at, number) in &series.samples {
            self.event(at, &of(Kind::Counter, uuid).double(event::DOUBLE_COUNT, number), None)?;
        }
        Ok(())
    }

    fn finish(&mut self, end: Time) -> io::Result<()> {
        for rank in (0..self.busy.len() as u32).map(Rank) {
            self.leave(rank, end)?;
        }
        self.out.finish()
    }
}
