//! A strict reader of the subset of Perfetto's format that titr writes.

use std::collections::BTreeMap;

/// A timeline as the viewer would show it. Times are nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// States, in the order in which they end.
    pub slices: Vec<Slice>,
    /// Ends of messages.
    pub ends: Vec<End>,
    /// The values of each counter, by its name.
    pub counters: BTreeMap<String, Vec<(u64, f64)>>,
    /// The ranks that have a row.
    pub ranks: Vec<u64>,
}

/// A state of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Slice {
    pub rank: u64,
    pub begin: u64,
    pub end: u64,
    pub name: String,
    pub category: String,
}

/// One end of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct End {
    pub rank: u64,
    pub at: u64,
    pub name: String,
    pub category: String,
    pub bytes: u64,
    /// The number of the message.
    pub key: u64,
    /// Whether it is the end at the receiver.
    pub arrives: bool,
}

/// A field of a message.
#[derive(Clone, Copy, Debug)]
enum Value<'a> {
    Number(u64),
    Fixed(u64),
    Bytes(&'a [u8]),
}

impl Value<'_> {
    fn number(self) -> u64 {
        match self {
            Self::Number(number) | Self::Fixed(number) => number,
            Self::Bytes(bytes) => panic!("{bytes:?} is no number"),
        }
    }

    fn text(self) -> String {
        String::from_utf8(self.bytes().to_vec()).unwrap()
    }
}

impl<'a> Value<'a> {
    fn bytes(self) -> &'a [u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Number(number) | Self::Fixed(number) => panic!("{number} is no message"),
        }
    }
}

/// The fields of a message by their numbers.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Value<'_>)> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let value = match tag & 7 {
            0 => Value::Number(varint(&mut bytes)),
            1 => Value::Fixed(u64::from_le_bytes(take(&mut bytes, 8).try_into().unwrap())),
            2 => {
                let length = varint(&mut bytes) as usize;
                Value::Bytes(take(&mut bytes, length))
            }
            wire => panic!("wire type {wire}"),
        };
        fields.push((tag >> 3, value));
    }
    fields
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let (mut number, mut shift) = (0, 0);
    loop {
        let byte = take(bytes, 1)[0];
        number |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 {
            return number;
        }
    }
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> &'a [u8] {
    let (taken, rest) = bytes.split_at(count);
    *bytes = rest;
    taken
}

fn find<'a>(fields: &[(u64, Value<'a>)], number: u64) -> Option<Value<'a>> {
    fields.iter().find(|(field, _)| *field == number).map(|(_, value)| *value)
}

/// Texts by the numbers that stand for them.
type Texts = BTreeMap<u64, String>;

fn intern(texts: &mut Texts, entry: Value) {
    let entry = fields(entry.bytes());
    let (number, text) = (find(&entry, 1).unwrap().number(), find(&entry, 2).unwrap().text());
    assert_eq!(texts.insert(number, text), None, "a number stands for one text");
}

/// The picture that was read so far, and the texts that later packets refer to.
#[derive(Default)]
struct Reader {
    picture: Picture,
    categories: Texts,
    names: Texts,
    annotations: Texts,
    /// The rank of each thread's track.
    threads: BTreeMap<u64, u64>,
    /// The name of each counter's track.
    counters: BTreeMap<u64, String>,
    /// The slice that each track is in.
    open: BTreeMap<u64, Slice>,
}

impl Picture {
    /// Reads a file.
    ///
    /// # Panics
    /// If it is not as titr writes it.
    #[must_use]
    pub fn read(file: &[u8]) -> Self {
        let mut reader = Reader::default();
        for (place, (field, packet)) in fields(file).into_iter().enumerate() {
            assert_eq!(field, 1, "a trace is made of packets");
            reader.packet(&fields(packet.bytes()), place == 0);
        }
        assert!(reader.open.is_empty(), "{:?} do not end", reader.open);
        reader.picture
    }
}

impl Reader {
    fn packet(&mut self, packet: &[(u64, Value)], first: bool) {
        assert_eq!(find(packet, 10).unwrap().number(), 1, "all packets are of one sequence");
        for (field, value) in find(packet, 12).map_or(Vec::new(), |interned| fields(interned.bytes())) {
            let texts = match field {
                1 => &mut self.categories,
                2 => &mut self.names,
                3 => &mut self.annotations,
                field => panic!("interned data {field}"),
            };
            intern(texts, value);
        }
        if let Some(track) = find(packet, 60) {
            self.track(&fields(track.bytes()));
        }
        let flags = find(packet, 13).map(Value::number);
        assert_eq!(flags == Some(1), first, "the first packet begins anew");
        if let Some(event) = find(packet, 11) {
            assert_eq!(flags, Some(2), "an event refers to what is interned");
            self.event(find(packet, 8).unwrap().number(), &fields(event.bytes()));
        }
    }

    fn track(&mut self, track: &[(u64, Value)]) {
        let uuid = find(track, 1).unwrap().number();
        if let Some(thread) = find(track, 4) {
            let thread = fields(thread.bytes());
            let rank = find(&thread, 2).unwrap().number() - 1;
            assert_eq!(find(&thread, 5).unwrap().text(), format!("rank {rank}"));
            self.threads.insert(uuid, rank);
            self.picture.ranks.push(rank);
        } else if find(track, 8).is_some() {
            let name = find(track, 2).unwrap().text();
            self.picture.counters.entry(name.clone()).or_default();
            self.counters.insert(uuid, name);
        } else {
            assert!(find(track, 3).is_some(), "a track of a process, a thread or a counter");
        }
    }

    fn event(&mut self, at: u64, event: &[(u64, Value)]) {
        let track = find(event, 11).unwrap().number();
        let name = || self.names[&find(event, 10).unwrap().number()].clone();
        let category = || self.categories[&find(event, 3).unwrap().number()].clone();
        match find(event, 9).unwrap().number() {
            1 => {
                let slice =
                    Slice { rank: self.threads[&track], begin: at, end: at, name: name(), category: category() };
                assert_eq!(self.open.insert(track, slice), None, "one state at a time");
            }
            2 => {
                let slice = self.open.remove(&track).unwrap();
                self.picture.slices.push(Slice { end: at, ..slice });
            }
            3 => {
                let annotation = fields(find(event, 4).unwrap().bytes());
                assert_eq!(self.annotations[&find(&annotation, 1).unwrap().number()], "bytes");
                let bytes = find(&annotation, 3).unwrap().number();
                let (key, arrives) = match (find(event, 47), find(event, 48)) {
                    (Some(key), None) => (key.number(), false),
                    (None, Some(key)) => (key.number(), true),
                    ends => panic!("{ends:?} of flows"),
                };
                let rank = self.threads[&track];
                self.picture.ends.push(End { rank, at, name: name(), category: category(), bytes, key, arrives });
            }
            4 => {
                let number = find(event, 30).map(|count| count.number() as f64);
                let number = number.or_else(|| find(event, 44).map(|double| f64::from_bits(double.number())));
                let values = self.picture.counters.get_mut(&self.counters[&track]).unwrap();
                assert!(values.last().is_none_or(|(before, _)| *before <= at), "a counter goes on in time");
                values.push((at, number.unwrap()));
            }
            kind => panic!("event of type {kind}"),
        }
    }
}
