//! Chakra execution traces, encoded by the tests.

use std::fs;

use proptest::prelude::*;
use tempfile::{TempDir, tempdir};
use titr_common::event::{CollectiveKind, Event, Rank};

use crate::graphs::{Counts, counts, fault, nodes};
use crate::samples::{collection, open};

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

fn bytes(field: u64, value: &[u8]) -> Vec<u8> {
    [varint(field << 3 | 2), varint(value.len() as u64), value.to_vec()].concat()
}

/// A node: its id, its kind, the nodes that it depends on, its duration and its attributes.
fn node(id: u64, kind: u64, after: &[u64], duration: u64, attributes: &[(&str, u64)]) -> Vec<u8> {
    let after: Vec<u8> = after.iter().flat_map(|&other| varint(other)).collect();
    let attribute = |(name, value): &(&str, u64)| bytes(10, &[bytes(1, name.as_bytes()), number(9, *value)].concat());
    let attributes: Vec<u8> = attributes.iter().flat_map(attribute).collect();
    [number(1, id), bytes(2, b"a name"), number(3, kind), bytes(5, &after), number(7, duration), attributes].concat()
}

fn grouped(mut node: Vec<u8>, group: &str) -> Vec<u8> {
    node.extend(bytes(10, &[bytes(1, b"pg_name"), bytes(29, group.as_bytes())].concat()));
    node
}

fn file(nodes: &[Vec<u8>]) -> Vec<u8> {
    let messages = std::iter::once(bytes(1, b"0.0.4")).chain(nodes.iter().cloned());
    messages.flat_map(|message| [varint(message.len() as u64), message].concat()).collect()
}

fn write(files: &[Vec<u8>]) -> TempDir {
    let folder = tempdir().unwrap();
    for (rank, content) in files.iter().enumerate() {
        fs::write(folder.path().join(format!("job.{rank}.et")), content).unwrap();
    }
    folder
}

/// Two ranks exchange a message each and reduce.
fn exchange() -> Vec<Vec<u8>> {
    let rank = |peer| {
        file(&[
            node(7, 4, &[], 20, &[("is_cpu_op", 0)]),
            node(8, 5, &[7], 0, &[("comm_size", 4096), ("comm_dst", peer), ("comm_tag", 3), ("comm_type", 5)]),
            node(10, 7, &[9, 8], 0, &[("comm_type", 0), ("comm_size", 1024)]),
            node(9, 6, &[7, 5000], 0, &[("comm_size", 4096), ("comm_src", peer), ("comm_tag", 3)]),
            node(11, 7, &[10], 0, &[]),
        ])
    };
    vec![rank(1), rank(0)]
}

#[test]
fn nodes_become_tasks() {
    let folder = write(&exchange());
    let trace = open(folder.path()).unwrap();
    let expected = Counts {
        ranks: 2,
        sends: 2,
        receives: 2,
        times: 4,
        collectives: 2,
        ended: 10,
        begun: 0,
        bytes: 8192,
        nanoseconds: 40_000,
    };
    assert_eq!(counts(&trace).unwrap(), expected);
    assert_eq!(trace.untranslated(), ["2 dependences are on nodes that are in no file, and left out"]);
}

#[test]
fn a_process_group_has_the_ranks_that_name_it() {
    let collective = |kind| grouped(node(1, 7, &[], 0, &[("comm_type", kind), ("comm_size", 1200)]), "tp");
    let folder = write(&[file(&[]), file(&[collective(6)]), file(&[]), file(&[collective(6)])]);
    let trace = open(folder.path()).unwrap();
    let mut stream = trace.stream(Rank(3)).unwrap();
    let (mut members, mut volume) = (Vec::new(), None);
    while let Some(event) = stream.next_event().unwrap() {
        match event {
            Event::CommCreate(_, _, Some(group)) => members = group.members,
            Event::Collective(call, _) => volume = Some((call.kind, call.comm, call.send.each().0)),
            _ => {}
        }
    }
    assert_eq!(members, [Rank(1), Rank(3)]);
    // A share of the 1,200 bytes for each of the two members.
    assert!(matches!(volume, Some((CollectiveKind::Alltoall, comm, 600)) if comm.0 >= 2), "{volume:?}");
    assert_eq!(nodes(&trace, 0).unwrap().len(), 1);
}

#[test]
fn faults_are_named() {
    let refused = |files: &[Vec<u8>]| fault(write(files).path());
    let circle = file(&[node(1, 4, &[2], 5, &[]), node(2, 4, &[1], 5, &[])]);
    let twice = file(&[node(1, 4, &[], 5, &[]), node(1, 4, &[], 5, &[])]);
    let stranger = file(&[node(1, 5, &[], 0, &[("comm_dst", 9)])]);
    let unknown = file(&[node(1, 7, &[], 0, &[("comm_type", 99)])]);
    let kind = file(&[node(1, 23, &[], 0, &[])]);
    let mut torn = file(&[node(1, 4, &[], 5, &[])]);
    torn.pop();
    let lies = [file(&[]), varint(1 << 40), vec![0; 10]].concat();
    for (content, message) in [
        (circle, "depend on each other in a circle"),
        (twice, "another node has the id 1, too"),
        (stranger, "rank 9 is not one of the 1 ranks"),
        (unknown, "the collective 99 is not known"),
        (kind, "the kind 23 is not known"),
        (torn, "bytes follow"),
        (lies, "a message of 1099511627776 bytes; 10 bytes follow"),
    ] {
        let error = refused(&[content]);
        assert!(error.contains(message), "{error}");
    }
    let folder = write(&exchange());
    fs::rename(folder.path().join("job.1.et"), folder.path().join("job.3.et")).unwrap();
    assert!(fault(folder.path()).ends_with("no file of rank 1, where there are files of later ranks"));
    fs::write(folder.path().join("._job.1.et"), "no node").unwrap();
    assert!(fault(&folder.path().join("job.0.et")).contains("name the directory"));
}

#[test]
#[ignore = "reads the collection that TITR_FOREIGN names"]
fn the_collection_has_the_nodes_that_are_known() {
    let Some(directory) = collection() else { return };
    let chakra = directory.join("programs-by-seven-tools/chakra");
    let one = Counts { ranks: 4, collectives: 4, ..Counts::default() };
    for name in ["all_gather_4npus_1MB", "all_to_all_4npus_1MB"] {
        assert_eq!(counts(&open(&chakra.join(name)).unwrap()).unwrap(), one, "{name}");
    }
    let ring = counts(&open(&chakra.join("custom_ring_allreduce_8npus_1MB")).unwrap()).unwrap();
    assert_eq!([ring.ranks.into(), ring.sends, ring.receives, ring.times], [8, 112, 112, 56]);
    assert_eq!([ring.bytes, ring.ended], [112 * 131_072, 8 * 34]);
}

proptest! {
    /// A changed file is read, or refused in words.
    #[test]
    fn changed_files_are_read_or_refused(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut files = exchange();
        let content = &mut files[0];
        for (place, byte) in changes {
            let at = place.index(content.len());
            content[at] = byte;
        }
        let length = cut.map_or(content.len(), |cut| cut.index(content.len()));
        content.truncate(length);
        let folder = write(&files);
        if let Ok(trace) = open(folder.path()) {
            for rank in 0..trace.ranks() {
                let read = nodes(&trace, rank);
                prop_assert!(read.is_ok() || !read.unwrap_err().to_string().is_empty());
            }
        }
    }
}

/// An attribute with a value in this field of its message, of one wire type.
fn attribute(name: &str, field: u64, value: &[u8], wire: u64) -> Vec<u8> {
    bytes(10, &[bytes(1, name.as_bytes()), varint(field << 3 | wire), value.to_vec()].concat())
}

/// The collectives of ranks whose only node has these attributes, beside an all-reduce.
fn collectives(ranks: &[Vec<Vec<u8>>]) -> Result<Vec<Vec<Event>>, String> {
    let files: Vec<_> = ranks
        .iter()
        .map(|attributes| file(&[[node(1, 7, &[], 0, &[("comm_type", 0)]), attributes.concat()].concat()]))
        .collect();
    let folder = write(&files);
    let trace = open(folder.path()).map_err(|error| error.to_string())?;
    let of_rank = |rank| {
        let mut stream = trace.stream(Rank(rank)).map_err(|error| error.to_string())?;
        let events: Result<Vec<_>, _> = std::iter::from_fn(|| stream.next_event().transpose()).collect();
        let is_wanted = |event: &Event| matches!(event, Event::Collective(..) | Event::CommCreate(..));
        Ok(events.map_err(|error| error.to_string())?.into_iter().filter(is_wanted).collect())
    };
    (0..trace.ranks()).map(of_rank).collect()
}

#[test]
fn a_size_is_the_same_in_a_field_of_any_type() {
    let length = |value: &[u8]| [varint(value.len() as u64), value.to_vec()].concat();
    let of = |field, value: Vec<u8>, wire| {
        let rank = vec![attribute("comm_size", field, &value, wire)];
        collectives(&[rank.clone(), rank])
    };
    let expected = of(9, varint(3000), 0).unwrap();
    for field in [7, 11, 13] {
        assert_eq!(of(field, varint(3000), 0).as_ref(), Ok(&expected), "{field}");
    }
    for field in [15, 17] {
        assert_eq!(of(field, varint(6000), 0).as_ref(), Ok(&expected), "{field}");
    }
    for field in [19, 23] {
        assert_eq!(of(field, 3000_u32.to_le_bytes().to_vec(), 5).as_ref(), Ok(&expected), "{field}");
    }
    for field in [21, 25] {
        assert_eq!(of(field, 3000_u64.to_le_bytes().to_vec(), 1).as_ref(), Ok(&expected), "{field}");
    }
    assert_eq!(of(3, 3000_f64.to_le_bytes().to_vec(), 1).as_ref(), Ok(&expected));
    assert_eq!(of(5, 3000_f32.to_le_bytes().to_vec(), 5).as_ref(), Ok(&expected));
    assert_eq!(of(29, length(b"3000"), 2).as_ref(), Ok(&expected));
    for (field, value, wire) in [
        (3, 0.5_f64.to_le_bytes().to_vec(), 1),
        (29, length(b"large"), 2),
        (17, varint(1), 0),
        (10, length(&varint(3000)), 2),
    ] {
        let error = of(field, value, wire).unwrap_err();
        assert!(error.contains("comm_size") && error.contains("whole number"), "{field}: {error}");
    }
}

#[test]
fn groups_have_names_or_numbers_and_what_is_not_known_is_listed() {
    let length = |value: &[u8]| [varint(value.len() as u64), value.to_vec()].concat();
    let size = || attribute("comm_size", 13, &varint(8), 0);
    let by = |name: &str, groups: [(u64, Vec<u8>, u64); 4]| {
        let rank = |(field, value, wire): (u64, Vec<u8>, u64)| vec![size(), attribute(name, field, &value, wire)];
        collectives(&groups.map(rank)).unwrap()
    };
    let text = |group: &str| (29, length(group.as_bytes()), 2);
    let expected = by("pg_name", ["0", "0", "1", "1"].map(text));
    assert!(expected.iter().all(|events| matches!(events[..], [Event::CommCreate(..), Event::Collective(..)])));
    assert_eq!(by("comm_group", ["0", "0", "1", "1"].map(text)), expected);
    assert_eq!(by("comm_group", [0, 0, 1, 1].map(|group| (7, varint(group), 0))), expected);
    assert_eq!(by("comm_group", [0, 0, 2, 2].map(|group| (17, varint(group), 0))), expected);

    let folder = |attributes: Vec<u8>| {
        let node = [node(1, 7, &[], 0, &[("comm_type", 0)]), size(), attributes].concat();
        write(&[file(std::slice::from_ref(&node)), file(&[node])])
    };
    let listed = |attributes| open(folder(attributes).path()).unwrap().untranslated().join("\n");
    assert_eq!(listed(attribute("involved_dim", 28, &length(&bytes(1, &[1, 1])), 2)), "");
    assert!(listed(attribute("involved_dim", 28, &length(&bytes(1, &[1, 0])), 2)).contains("involved_dim"));
    assert!(listed(attribute("comm_priority", 7, &varint(3), 0)).contains("2 nodes have the attribute comm_priority"));
    assert_eq!(listed(attribute("tensor_loc", 7, &varint(3), 0)), "");
    assert!(listed(number(11, 5)).contains("2 nodes have the attribute field 11"));

    let listed = |node| open(write(&[file(&[node])]).path()).unwrap().untranslated().join("\n");
    assert!(listed(node(1, 2, &[], 0, &[])).contains("1 computation or access of memory has no duration"));
    assert!(listed(node(1, 7, &[], 0, &[("comm_size", 8)])).contains("1 collective has a comm_size and no comm_type"));
}
