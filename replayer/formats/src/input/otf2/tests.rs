//! Archives that are written here byte by byte: in both byte orders, in chunks of any size, and with mistakes.

mod threads;

use std::path::{Path, PathBuf};
use std::{env, fs, process};

use titr_common::event::{
    Annotation, CommId, Completed, Completion, Event, Incoming, Mark, Outgoing, Quantifier, Rank, RequestId, SendMode,
    Span, Tag, Wildcard,
};
use titr_common::trace::{Trace, TraceFormat};
use titr_common::units::{Bytes, Instructions, Nanoseconds};

use super::Otf2;
use super::fields::ByteOrder;

/// A file, written record by record.
struct Writer {
    order: ByteOrder,
    chunk: usize,
    bytes: Vec<u8>,
}

/// A field of a record.
#[derive(Clone, Copy)]
enum Field<'a> {
    /// A byte.
    U8(u8),
    /// A compressed number.
    C(u64),
    /// A number of eight bytes.
    Full(u64),
    Text(&'a str),
}

use Field::{C, Full, Text, U8};

impl Writer {
    fn new(order: ByteOrder, chunk: usize) -> Self {
        let mut this = Self { order, chunk, bytes: Vec::new() };
        this.header();
        this
    }

    fn mark(&self) -> u8 {
        if self.order == ByteOrder::Little { 0x42 } else { 0x23 }
    }

    fn header(&mut self) {
        self.bytes.extend([3, self.mark()]);
        self.bytes.extend([0; 16]);
    }

    fn number(&self, number: u64, length: usize) -> Vec<u8> {
        match self.order {
            ByteOrder::Little => number.to_le_bytes()[..length].to_vec(),
            ByteOrder::Big => number.to_be_bytes()[8 - length..].to_vec(),
        }
    }

    fn field(&self, field: Field<'_>) -> Vec<u8> {
        match field {
            U8(byte) => vec![byte],
            Full(number) => self.number(number, 8),
            Text(text) => text.bytes().chain([0]).collect(),
            C(u64::MAX) => vec![0xff],
            C(number) => {
                let length = (64 - number.leading_zeros() as usize).div_ceil(8);
                [vec![length as u8], self.number(number, length)].concat()
            }
        }
    }

    /// Appends a record, in a new chunk if it does not fit into this one.
    fn append(&mut self, record: &[u8]) {
        let room = self.chunk - self.bytes.len() % self.chunk;
        if record.len() + 1 > room {
            self.bytes.resize(self.bytes.len() + room, 0);
            self.header();
        }
        self.bytes.extend(record);
    }

    fn record(&mut self, kind: u8, fields: &[Field<'_>]) {
        let body: Vec<u8> = fields.iter().flat_map(|&field| self.field(field)).collect();
        self.append(&[vec![kind, body.len() as u8], body].concat());
    }

    /// An event with its time. Some have no length, because their only number has one.
    fn event(&mut self, time: u64, kind: u8, fields: &[Field<'_>]) {
        let time = [vec![5], self.number(time, 8)].concat();
        self.append(&time);
        match (kind, fields) {
            (12 | 13 | 16 | 17, &[C(number)]) => {
                let number = self.field(if number == 0 { C(0) } else { C(number) });
                let number = if number == [0] { vec![1, 0] } else { number };
                self.append(&[vec![kind], number].concat());
            }
            _ => self.record(kind, fields),
        }
    }

    fn finish(mut self) -> Vec<u8> {
        self.append(&[2, 0]);
        self.bytes
    }
}

/// An archive of two ranks, one of which sends a message.
struct Files {
    anchor: Vec<u8>,
    definitions: Vec<u8>,
    local: Vec<u8>,
    events: [Vec<u8>; 2],
}

const REGIONS: [&str; 5] = ["MPI_Init", "MPI_Irecv", "MPI_Wait", "MPI_Ssend", "MPI_Finalize"];

impl Files {
    fn new(order: ByteOrder, chunk: usize) -> Self {
        let mut anchor = Writer::new(order, usize::MAX);
        anchor.bytes.truncate(2);
        for field in [Text("OTF2"), U8(3), U8(2), U8(3), U8(0), U8(0), Full(chunk as u64), Full(chunk as u64)] {
            let field = anchor.field(field);
            anchor.bytes.extend(field);
        }
        for field in [U8(1), U8(1), Full(2), Full(9), Text(""), Text("Score-P 9"), Text("")] {
            let field = anchor.field(field);
            anchor.bytes.extend(field);
        }
        anchor.bytes.extend([0; 4]);

        let mut definitions = Writer::new(order, chunk);
        definitions.record(5, &[C(1_000_000_000), C(1000), C(5000), C(u64::MAX)]);
        definitions.record(10, &[C(0), Text("")]);
        for (id, name) in (1..).zip(REGIONS) {
            definitions.record(10, &[C(id), Text(name)]);
            let source = [C(id), C(id), C(0), U8(0), C(u64::MAX), C(0), C(0)];
            definitions.record(15, &[&source[..], &[C(id), U8(1), U8(4), C(0)]].concat());
        }
        for rank in 0..2 {
            definitions.record(14, &[C(rank * 1000), C(0), U8(1), C(0), C(rank)]);
        }
        definitions.record(18, &[C(0), C(0), U8(0), C(2), C(0), C(1000), U8(4), U8(4), C(0)]);
        definitions.record(18, &[C(1), C(0), U8(0), C(2), C(0), C(1), U8(5), U8(4), C(0)]);
        definitions.record(22, &[C(300), C(0), C(1), C(u64::MAX), C(0)]);
        // A record of a later version, and a field that a later version adds.
        definitions.record(200, &[Full(1)]);
        definitions.record(10, &[C(100), Text(""), C(1)]);

        let mut local = Writer::new(order, chunk);
        local.record(5, &[U8(6), C(1), U8(0), C(300)]);

        let event = |writer: &mut Writer, time, kind, fields: &[Field<'_>]| writer.event(time, kind, fields);
        let calls = |writer: &mut Writer, region, time, kind, fields: &[Field<'_>]| {
            event(writer, time, 12, &[C(region)]);
            if kind > 0 {
                event(writer, time + 1, kind, fields);
            }
            event(writer, time + 10, 13, &[C(region)]);
        };
        let mut sender = Writer::new(order, chunk);
        calls(&mut sender, 1, 1000, 0, &[]);
        calls(&mut sender, 4, 1100, 14, &[C(1), C(0), C(7), C(70_000)]);
        calls(&mut sender, 5, 1300, 0, &[]);
        let mut receiver = Writer::new(order, chunk);
        calls(&mut receiver, 1, 1000, 0, &[]);
        calls(&mut receiver, 2, 1050, 17, &[C(1 << 40)]);
        calls(&mut receiver, 3, 1200, 19, &[C(0), C(0), C(7), C(70_000), C(1 << 40)]);
        calls(&mut receiver, 5, 1300, 0, &[]);
        Self {
            anchor: anchor.bytes,
            definitions: definitions.finish(),
            local: local.finish(),
            events: [sender.finish(), receiver.finish()],
        }
    }

    fn write(&self, name: &str) -> PathBuf {
        let folder = env::temp_dir().join(format!("titr-otf2-{}-{name}", process::id()));
        fs::create_dir_all(folder.join("trace")).unwrap();
        fs::write(folder.join("trace.otf2"), &self.anchor).unwrap();
        fs::write(folder.join("trace.def"), &self.definitions).unwrap();
        for (location, events) in [0, 1000].into_iter().zip(&self.events) {
            fs::write(folder.join(format!("trace/{location}.def")), &self.local).unwrap();
            fs::write(folder.join(format!("trace/{location}.evt")), events).unwrap();
        }
        folder
    }
}

/// The definitions of OTF2 1.1, in which groups and regions have types but no paradigms.
fn old_definitions() -> Vec<u8> {
    let mut definitions = Writer::new(ByteOrder::Big, 4096);
    definitions.record(5, &[C(1_000_000_000), C(1000), C(5000)]);
    for (id, name) in (1..).zip(REGIONS) {
        definitions.record(10, &[C(id), Text(name)]);
        definitions.record(15, &[C(id), C(id), C(0), U8(21), C(u64::MAX), C(0), C(0)]);
    }
    for rank in 0..2 {
        definitions.record(14, &[C(rank * 1000), C(0), U8(1), C(0), C(rank)]);
    }
    definitions.record(18, &[C(0), C(0), U8(6), C(2), C(0), C(1000)]);
    definitions.record(18, &[C(1), C(0), U8(4), C(2), C(0), C(1)]);
    definitions.record(22, &[C(300), C(0), C(1), C(u64::MAX)]);
    definitions.finish()
}

/// The events of a rank that are executed, without computation.
fn calls(trace: &Trace, rank: u32) -> Result<Vec<Event>, String> {
    let mut stream = trace.stream(Rank(rank)).map_err(|error| error.to_string())?;
    let events: Result<Vec<_>, _> = std::iter::from_fn(|| stream.next_event().transpose()).collect();
    let mut events = events.map_err(|error| error.to_string())?;
    events.retain(|event| event.is_executed() && !matches!(event, Event::Compute(_)));
    Ok(events)
}

/// The calls of both ranks, or the error, without the folder.
fn read(folder: &Path) -> Result<[Vec<Event>; 2], String> {
    let read = || {
        let trace = Otf2 { bytes: None }.open(&[folder]).map_err(|error| error.to_string())?;
        Ok([calls(&trace, 0)?, calls(&trace, 1)?])
    };
    let result = read();
    fs::remove_dir_all(folder).unwrap();
    result.map_err(|error: String| error.replace(&format!("{}/", folder.display()), ""))
}

#[test]
fn byte_orders_and_chunks_make_no_difference() {
    let message = Outgoing { comm: CommId::WORLD, to: Rank(1), tag: Tag(7), bytes: Bytes(70_000) };
    let (from, tag) = (Some(Rank(0)), Some(Tag(7)));
    let received = Incoming { comm: CommId::WORLD, from, tag, bytes: Bytes(70_000), wildcard: Wildcard::NONE };
    let expected = [
        vec![Event::Init, Event::Send(SendMode::Synchronous, message, Completion::Blocking), Event::Finalize],
        vec![
            Event::Init,
            Event::Recv(received, Completion::Request(Some(RequestId(0)))),
            Event::Wait(Quantifier::Single, Completed::These(vec![RequestId(0)])),
            Event::Finalize,
        ],
    ];
    for (order, chunk) in
        [ByteOrder::Little, ByteOrder::Big].into_iter().flat_map(|order| [64, 71, 4096].map(|chunk| (order, chunk)))
    {
        let folder = Files::new(order, chunk).write(&format!("{order:?}-{chunk}"));
        assert_eq!(read(&folder).as_ref(), Ok(&expected), "{order:?} {chunk}");
    }
}

#[test]
fn a_rank_begins_when_it_leaves_init() {
    let folder = Files::new(ByteOrder::Little, 4096).write("times");
    let trace = Otf2 { bytes: None }.open(&[&folder]).unwrap();
    let mut stream = trace.stream(Rank(0)).unwrap();
    let first = [(); 4].map(|()| stream.next_event().unwrap().unwrap());
    let call =
        |begin, end| Event::Annotation(Annotation::Call(Span { begin: Nanoseconds(begin), end: Nanoseconds(end) }));
    assert_eq!(first, [call(0, 10), Event::Init, Event::Compute(Instructions(90.0)), call(100, 110)]);
    fs::remove_dir_all(folder).unwrap();
}

/// Each call has the part of the program around it as its call site, once; `MPI_Init` has none.
#[test]
fn calls_have_the_source_places_of_the_regions_around_them() {
    let mut files = Files::new(ByteOrder::Little, 4096);
    files.definitions.truncate(files.definitions.len() - 2);
    let mut definitions = Writer { order: ByteOrder::Little, chunk: 4096, bytes: files.definitions };
    for (id, text) in [(6, "solve"), (7, "/src/lu.c"), (8, "main")] {
        definitions.record(10, &[C(id), Text(text)]);
    }
    for (id, lines) in [(6, [40, 97]), (8, [100, 120])] {
        let source = [C(id), C(id), C(0), U8(0), C(7), C(lines[0]), C(lines[1])];
        definitions.record(15, &[&source[..], &[C(id), U8(1), U8(2), C(0)]].concat());
    }
    files.definitions = definitions.finish();
    let mut events = Writer::new(ByteOrder::Little, 4096);
    let region = |writer: &mut Writer, time, kind, region| writer.event(time, kind, &[C(region)]);
    for (time, kind, number) in [(990, 12, 8), (1000, 12, 1), (1010, 13, 1), (1050, 12, 6), (1100, 12, 4)] {
        region(&mut events, time, kind, number);
    }
    events.event(1101, 14, &[C(1), C(0), C(7), C(70_000)]);
    for (time, kind, number) in [(1110, 13, 4), (1200, 13, 6), (1300, 12, 5), (1310, 13, 5)] {
        region(&mut events, time, kind, number);
    }
    files.events[0] = events.finish();
    let folder = files.write("sites");
    let trace = Otf2 { bytes: None }.open(&[&folder]).unwrap();
    let mut stream = trace.stream(Rank(0)).unwrap();
    let events: Vec<_> = std::iter::from_fn(|| stream.next_event().transpose()).map(Result::unwrap).collect();
    fs::remove_dir_all(folder).unwrap();
    let shown: Vec<String> = events
        .iter()
        .filter_map(|event| match event {
            Event::Mark(Mark::CallStack(site, stack)) => {
                Some(format!("{}: {}", site.0, stack.iter().map(ToString::to_string).collect::<Vec<_>>().join(" < ")))
            }
            Event::Mark(Mark::CallSite(site)) => Some(format!("at {}", site.0)),
            Event::Init | Event::Send(..) | Event::Finalize => Some("call".to_owned()),
            _ => None,
        })
        .collect();
    let expected = [
        "call",
        "0: solve (lu.c:40-97) < main (lu.c:100-120)",
        "at 0",
        "call",
        "1: main (lu.c:100-120)",
        "at 1",
        "call",
    ];
    assert_eq!(shown, expected);
}

#[test]
fn old_definitions_mean_the_same() {
    let mut files = Files::new(ByteOrder::Big, 4096);
    let expected = read(&files.write("new")).unwrap();
    files.definitions = old_definitions();
    assert_eq!(read(&files.write("old")), Ok(expected));
}

#[test]
fn mistakes_are_named() {
    let refused = |name: &str, change: fn(&mut Files)| {
        let mut files = Files::new(ByteOrder::Little, 4096);
        change(&mut files);
        read(&files.write(name)).unwrap_err()
    };
    let cut = |files: &mut Files| files.events[1].truncate(60);
    assert_eq!(
        refused("cut", cut),
        "trace/1000.evt: byte 60: the file ends in the middle: it was cut, or the program was killed before it wrote the rest"
    );
    let damaged = |files: &mut Files| files.anchor.truncate(20);
    assert_eq!(refused("anchor", damaged), "trace.otf2: the anchor of this OTF2 archive is cut or damaged");
    let zlib = |files: &mut Files| files.anchor[29] = 2;
    assert!(refused("zlib", zlib).contains("compressed with zlib"));
    let other = |files: &mut Files| files.local = Writer::new(ByteOrder::Little, 4096).finish();
    assert_eq!(refused("comm", other), "trace/0.evt: event 4: no definition of communicator 0");
    let without_mpi = |files: &mut Files| {
        let mut definitions = Writer::new(ByteOrder::Little, 4096);
        definitions.record(5, &[C(1), C(1), C(1)]);
        files.definitions = definitions.finish();
    };
    assert!(refused("mpi", without_mpi).starts_with("trace.def: the archive has no MPI in it"));
    let lie = |files: &mut Files| {
        // A group that claims to have four billion members.
        let mut definitions = Writer::new(ByteOrder::Little, 4096);
        definitions.record(18, &[C(0), C(0), U8(0), C(u64::from(u32::MAX) - 1), C(0)]);
        files.definitions = definitions.finish();
    };
    assert!(refused("lie", lie).starts_with("trace.def: definition 1: the record of type 18 is shorter"));
}

#[test]
fn a_cut_file_is_read_as_far_as_it_goes() {
    let mut files = Files::new(ByteOrder::Little, 4096);
    // In the middle of the first call.
    files.events[0].truncate(75);
    let folder = files.write("partial");
    fs::remove_file(folder.join("trace/1000.evt")).unwrap();
    let trace = Otf2 { bytes: None }.open(&[&folder]).unwrap().partial(true);
    assert_eq!(calls(&trace, 1).unwrap(), [Event::Init]);
    let calls = calls(&trace, 0).unwrap();
    assert!(matches!(calls[..], [Event::Init, Event::Send(..)]), "{calls:?}");
    fs::remove_dir_all(folder).unwrap();
}
