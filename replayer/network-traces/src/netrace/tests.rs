use std::io::{Cursor, Write};

use super::*;

/// A packet of a file: its cycle, id, type, nodes, and the packets that depend on it.
type Packet<'a> = (u64, u32, u8, [u8; 2], &'a [u32]);

/// A file of four nodes with a note and a region.
fn file(packets: &[Packet], said: u64) -> Vec<u8> {
    let mut bytes = MAGIC.to_le_bytes().to_vec();
    bytes.extend(1.0_f32.to_le_bytes());
    bytes.extend([b'x'; 30]);
    bytes.extend([4, 0]);
    bytes.extend(100_u64.to_le_bytes());
    bytes.extend(said.to_le_bytes());
    bytes.extend(5_u32.to_le_bytes());
    bytes.extend(1_u32.to_le_bytes());
    bytes.extend([0; 8]);
    assert_eq!(bytes.len(), HEADER);
    bytes.extend(b"note\0");
    bytes.extend([0; 24]);
    for &(cycle, id, number, nodes, waiting) in packets {
        bytes.extend(cycle.to_le_bytes());
        bytes.extend(id.to_le_bytes());
        bytes.extend(0x40_u32.to_le_bytes());
        bytes.push(number);
        bytes.extend(nodes);
        bytes.extend([0, waiting.len() as u8]);
        waiting.iter().for_each(|id| bytes.extend(id.to_le_bytes()));
    }
    bytes
}

fn read(bytes: Vec<u8>) -> Result<Vec<TracedMessage>, String> {
    let cycles = Cycles { length: Time(500), latency: 6 };
    let mut trace = Netrace::of("n".as_ref(), Cursor::new(bytes), cycles).map_err(|error| error.to_string())?;
    let mut messages = Vec::new();
    while let Some(message) = trace.next_message().map_err(|error| error.to_string())? {
        messages.push(message);
    }
    Ok(messages)
}

/// A read request, its response, and an invalidation that waits for both.
const PACKETS: [Packet; 3] = [(10, 7, 1, [0, 2], &[9, 12]), (30, 9, 2, [2, 0], &[12]), (35, 12, 27, [0, 3], &[])];

#[test]
fn packets_are_messages_that_wait_for_those_they_depend_on() {
    let messages = read(file(&PACKETS, 3)).unwrap();
    let after = |label, delay| Trigger { label: Label(label), delay: Time(delay) };
    assert_eq!(messages[1].after, [after(0, (20 - 6) * 500)]);
    // The delay of the response is less than the latency that is taken off.
    assert_eq!(messages[2].after, [after(0, (25 - 6) * 500), after(1, 0)]);
    assert_eq!(messages.iter().map(|message| message.triggers).collect::<Vec<_>>(), [2, 1, 0]);
    let shown: Vec<_> = messages.iter().map(|message| (message.kind.name(), message.bytes.0)).collect();
    assert_eq!(shown, [("ReadReq", 8), ("ReadResp", 72), ("InvalidateReq", 8)]);
    let TracedMessage { from, to, generated, arrived, address, .. } = messages[0];
    assert_eq!((from, to, generated, arrived, address), (Node(0), Node(2), Time(5000), None, Some(0x40)));
}

#[test]
fn files_may_be_compressed() {
    let plain = file(&PACKETS, 3);
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bzip2.write_all(&plain).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&plain).unwrap();
    let [bzip2, gzip] = [bzip2.finish().unwrap(), gzip.finish().unwrap()];
    assert_eq!(read(bzip2.clone()), read(plain.clone()));
    assert_eq!(read(gzip), read(plain));
    assert!(read(bzip2[..bzip2.len() - 9].to_vec()).unwrap_err().contains("torn"));
}

#[test]
fn bad_input_is_named_with_its_place() {
    let header = |at: usize, number: u32| {
        let mut bytes = file(&PACKETS, 3);
        bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
        bytes
    };
    let cut = |bytes: usize| file(&PACKETS, 3)[..bytes].to_vec();
    for (bytes, message) in [
        (Vec::new(), "n: at byte 0: the file is empty"),
        (b"not at all".to_vec(), "n: at byte 10: the file ends in the middle"),
        (header(0, 1), "n: at byte 72: this is no netrace file: it does not begin with 0x484a5455"),
        (header(4, 2.0_f32.to_bits()), "n: at byte 72: version 2 of the format"),
        (header(38, 0), "n: at byte 72: the header says that there are no nodes"),
        (header(56, 8192), "n: at byte 72: the header says that there are notes of 8192 bytes"),
        (header(56, 8000), "n: at byte 176: the file ends in the middle: it is torn, or its header is wrong"),
        (header(60, 101), "n: at byte 72: the header says that there are 101 regions"),
        (header(48, 4), "n: at byte 176: 3 packets, and the header says 4: the file is torn"),
        (cut(110), "n: at byte 110: the file ends in the middle"),
        (cut(HEADER), "n: at byte 72: the file ends before the notes and regions that the header says"),
        (file(&[(1, 1, 7, [0, 1], &[])], 1), "n: at byte 122: packet 1 has the type 7, which does not exist"),
        (file(&[(1, 1, 1, [0, 4], &[])], 1), "n: at byte 122: packet 1 is of node 4, and the header says 4 nodes"),
        (file(&[(1, 1, 1, [0, 1], &[1])], 1), "n: at byte 126: packet 1 waits for itself"),
        (file(&[(1, 1, 1, [0, 1], &[2, 2])], 1), "n: at byte 130: packet 2 waits for packet 1 twice"),
        (file(&[(1, 1, 1, [0, 1], &[2])], 1), "n: at byte 126: packet 2 should wait for an earlier one"),
        (
            file(&[(2, 1, 1, [0, 1], &[]), (1, 2, 1, [0, 1], &[])], 2),
            "n: at byte 143: packet 2 is of cycle 1, after one",
        ),
    ] {
        let found = read(bytes).unwrap_err();
        assert!(found.starts_with(message), "{found}, not {message}");
    }
}
