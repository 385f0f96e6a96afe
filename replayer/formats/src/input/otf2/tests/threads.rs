//! Threads of a rank, and receives that complete late.

use super::*;

/// Adds definitions to an archive: of texts, of regions of MPI with them as names, and of locations of rank 1's process.
fn define(files: &mut Files, regions: &[(u64, &str)], locations: &[(u64, u64)]) {
    files.definitions.truncate(files.definitions.len() - 2);
    let bytes = std::mem::take(&mut files.definitions);
    let mut definitions = Writer { order: ByteOrder::Little, chunk: 4096, bytes };
    for &(id, name) in regions {
        definitions.record(10, &[C(id), Text(name)]);
        let source = [C(id), C(id), C(0), U8(0), C(u64::MAX), C(0), C(0)];
        definitions.record(15, &[&source[..], &[C(id), U8(1), U8(4), C(0)]].concat());
    }
    for &(id, events) in locations {
        definitions.record(14, &[C(id), C(0), U8(1), C(events), C(1)]);
    }
    files.definitions = definitions.finish();
}

/// The records of calls of regions without other records, at these times.
fn plain(writer: &mut Writer, calls: &[(u64, u64)]) {
    for &(region, time) in calls {
        writer.event(time, 12, &[C(region)]);
        writer.event(time + 10, 13, &[C(region)]);
    }
}

#[test]
fn a_local_call_is_computation_and_what_is_not_read_is_named() {
    let mut files = Files::new(ByteOrder::Little, 4096);
    define(&mut files, &[(50, "MPI_Pack"), (51, "MPI_Comm_idup")], &[]);
    let mut main = Writer::new(ByteOrder::Little, 4096);
    plain(&mut main, &[(1, 1000), (50, 1100), (51, 1200)]);
    main.event(1250, 66, &[C(0), C(0)]);
    plain(&mut main, &[(5, 1300)]);
    files.events[1] = main.finish();
    let folder = files.write("local");
    let trace = Otf2 { bytes: None }.open(&[&folder]).unwrap();
    let mut stream = trace.stream(Rank(1)).unwrap();
    let mut computed = Vec::new();
    while let Some(event) = stream.next_event().unwrap() {
        if let Event::Compute(volume) = event {
            computed.push(volume.0);
        }
    }
    // The ticks between the calls that are not local are 190 and 90.
    assert!(matches!(computed[..], [first, second] if (first / second - 190.0 / 90.0).abs() < 0.01), "{computed:?}");
    let notes = trace.untranslated().join("\n");
    assert!(notes.contains("and they are left out: 1 of MPI_Comm_idup."), "{notes}");
    assert!(notes.contains("1 record of type 66, which titr does not read"), "{notes}");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn further_threads_that_call_mpi_are_threads_of_their_rank() {
    let mut files = Files::new(ByteOrder::Little, 4096);
    define(&mut files, &[], &[(2000, 8), (3000, 2), (4000, 7)]);
    let [mut main, mut thread, mut other] = [(); 3].map(|()| Writer::new(ByteOrder::Little, 4096));
    plain(&mut main, &[(1, 1000), (5, 1300)]);
    thread.event(1050, 12, &[C(2)]);
    thread.event(1051, 17, &[C(9)]);
    thread.event(1060, 13, &[C(2)]);
    thread.event(1200, 12, &[C(3)]);
    thread.event(1201, 19, &[C(0), C(0), C(7), C(70_000), C(9)]);
    thread.event(1210, 13, &[C(3)]);
    plain(&mut other, &[(77, 1100)]);
    files.events[1] = main.finish();
    let folder = files.write("threads");
    for (location, events) in [(2000, thread), (3000, other)] {
        fs::write(folder.join(format!("trace/{location}.def")), &files.local).unwrap();
        fs::write(folder.join(format!("trace/{location}.evt")), events.finish()).unwrap();
    }
    let trace = Otf2 { bytes: None }.open(&[&folder]).unwrap();
    let mut stream = trace.stream(Rank(1)).unwrap();
    let mut found = Vec::new();
    while let Some(event) = stream.next_event().unwrap() {
        if event.is_executed() && !matches!(event, Event::Compute(_)) {
            found.push((stream.location().thread.0, event.word().to_owned()));
        }
    }
    let expected = [(0, "init"), (1, "irecv"), (1, "wait"), (0, "finalize")];
    assert_eq!(found, expected.map(|(thread, word)| (thread, word.to_owned())));
    let left_out = "2 locations have no calls of MPI (threads, devices, metrics): 9 events are left out.";
    assert_eq!(trace.untranslated(), [left_out]);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_receive_is_known_however_late_it_completes() {
    const TESTS: u64 = 150_000;
    let mut files = Files::new(ByteOrder::Little, 4096);
    define(&mut files, &[(20, "MPI_Test")], &[]);
    let mut events = Writer::new(ByteOrder::Little, 4096);
    plain(&mut events, &[(1, 1000)]);
    // Of two receives, one never completes.
    for (time, request) in [(1050, 40), (1070, 41)] {
        events.event(time, 12, &[C(2)]);
        events.event(time + 1, 17, &[C(request)]);
        events.event(time + 10, 13, &[C(2)]);
    }
    plain(&mut events, &(0..TESTS).map(|number| (20, 2000 + 20 * number)).collect::<Vec<_>>());
    let end = 2000 + 20 * TESTS;
    events.event(end, 12, &[C(3)]);
    events.event(end + 1, 19, &[C(0), C(0), C(7), C(70_000), C(40)]);
    events.event(end + 10, 13, &[C(3)]);
    plain(&mut events, &[(5, end + 20)]);
    files.events[1] = events.finish();
    let found = read(&files.write("far")).unwrap()[1].clone();
    let (from, tag) = (Some(Rank(0)), Some(Tag(7)));
    let received = Incoming { comm: CommId::WORLD, from, tag, bytes: Bytes(70_000), wildcard: Wildcard::NONE };
    assert_eq!(found[..2], [Event::Init, Event::Recv(received, Completion::Request(Some(RequestId(0))))]);
    let wait = Event::Wait(Quantifier::Single, Completed::These(vec![RequestId(0)]));
    assert_eq!(found[found.len() - 2..], [wait, Event::Finalize]);
    assert_eq!(found.len() as u64, TESTS + 4);
}
