//! The speed of the readers, which is printed: `cargo test --release --test foreign speed -- --ignored --nocapture`.

use std::fs;
use std::path::Path;
use std::time::Duration;

use titr_common::event::Rank;
use titr_common::trace::EventSource;
use titr_common::trace::LocatedEvents;

use crate::samples::open;

/// The number of times that a rank sends itself a message.
const ROUNDS: u32 = 500_000;

/// The time for which this thread has had a processor.
fn cpu_time() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split_ascii_whitespace().next().unwrap().parse().unwrap())
}

/// Reads a rank, and prints how many of its `records` it read in a second.
fn read(what: &str, path: &Path, records: u64) {
    let start = cpu_time();
    let trace = open(path).unwrap();
    let opened = cpu_time() - start;
    let start = cpu_time();
    let (mut stream, mut events, mut number) = (trace.stream(Rank(0)).unwrap(), LocatedEvents::default(), 0);
    while stream.read(&mut events).unwrap() {
        number += events.len();
        events.clear();
    }
    let seconds = (cpu_time() - start).as_secs_f64();
    let millions = records as f64 / seconds / 1e6;
    println!(
        "{what}: opened in {opened:?}; {records} records, {number} events in {seconds:.3} s: {millions:.2} million a second"
    );
}

fn dumpi(rounds: u32) -> Vec<u8> {
    let mut file = 0xffaa_dd44_554d_5049_u64.to_be_bytes().to_vec();
    file.extend([0; 8]);
    let mut time = 0;
    let mut record = |function: u16, arguments: &[&[u8]]| {
        let (begin, end) = (time, time + 400);
        time += 1000;
        let mut bytes = function.to_be_bytes().to_vec();
        bytes.extend([0x4b, 0, 0]);
        for time in [begin, end] {
            bytes.extend(u16::try_from(time / 1_000_000_000).unwrap().to_be_bytes());
            bytes.extend(u32::try_from(time % 1_000_000_000).unwrap().to_be_bytes());
        }
        arguments.iter().for_each(|argument| bytes.extend(*argument));
        file.extend(bytes);
    };
    record(124, &[&[0; 4]]);
    let int = u32::to_be_bytes;
    for round in 0..rounds {
        let (send, recv) = (int(2 + 2 * (round % 100)), int(3 + 2 * (round % 100)));
        let message: [&[u8]; 5] = [&int(64), &[0, 14], &int(0), &int(7), &[0, 2]];
        record(12, &[&message.concat(), &recv]);
        record(8, &[&message.concat(), &send]);
        record(82, &[&[0, 2], &int(0)]);
        record(18, &[&int(2), &int(2), &send, &recv, &int(0)]);
    }
    record(125, &[]);
    file.extend(293_u16.to_be_bytes());
    let header = file.len() as u64;
    file.extend([13, 0, 0]);
    file.extend([0; 8 + 2 + 2 + 4]);
    let sizes = file.len() as u64;
    file.extend(int(15));
    file.extend((0..15).flat_map(|number| int(if number == 14 { 8 } else { 4 })));
    for offset in [0xffaa_dd44_554d_5049, sizes, 0, 0, header, 8, 0, 0] {
        file.extend(offset.to_be_bytes());
    }
    file
}

#[test]
#[ignore = "prints how fast traces are read"]
fn of_the_readers() {
    let folder = tempfile::tempdir().unwrap();
    let (records, at) = (u64::from(ROUNDS) * 4 + 2, |name: &str| folder.path().join(name));
    for name in ["dumpi", "liballprof"] {
        fs::create_dir(at(name)).unwrap();
    }
    fs::write(at("dumpi/x-0000.bin"), dumpi(ROUNDS)).unwrap();
    read("DUMPI", &at("dumpi"), records);
    let mut text = "MPI_Init:-:1:2:10\nMPI_Comm_rank:11:94406125969600,0,1:1:12\n".to_owned();
    let mut prv = "#Paraver (1/1/2026 at 1:00):9_ns:1(1):1:1(1:1),0\n2:1:1:1:1:1:50000003:31\n2:1:1:1:1:2:50000003:0\n"
        .to_owned();
    for round in 0..u64::from(ROUNDS) {
        let time = 20 + 10 * round;
        let message = "140733832709788:64:10,8,8:0:7:94406125969600,0,1";
        for (at, name, rest) in [
            (0, "Irecv", format!("{message}:140733832709000")),
            (2, "Isend", format!("{message}:140733832709008")),
            (4, "Comm_rank", "94406125969600,0,1:1".to_owned()),
            (6, "Waitall", "2:140733832709000:0".to_owned()),
        ] {
            text += &format!("MPI_{name}:{}:{rest}:{}\n", time + at, time + at + 1);
        }
        for (at, value) in [(0, 4), (2, 3), (6, 6)] {
            let (begin, end) = (time + at, time + at + 1);
            prv += &format!("2:1:1:1:1:{begin}:50000001:{value}\n2:1:1:1:1:{end}:50000001:0\n");
        }
        prv += &format!("3:1:1:1:1:{}:{}:1:1:1:1:{}:{}:512:7\n", time + 2, time + 3, time + 1, time + 7);
    }
    text += "MPI_Finalize:99999999:-\n";
    fs::write(at("liballprof/x-rank-0.txt"), text).unwrap();
    read("liballprof", &at("liballprof"), records + 1);
    fs::write(at("x.prv"), prv).unwrap();
    read("Paraver", &at("x.prv"), u64::from(ROUNDS) * 7 + 3);
}
