//! The guarantees of a sink, in a healthy process and in the most difficult situations. For these, a test runs itself
//! again as a child process that can be killed, forked and starved.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::ptr;
use std::thread;

use titr_common::event::{CommId, Completion, Outgoing, RequestId, SendMode, Tag};
use titr_common::trace::manifest::Mode;
use titr_common::trace::{Trace, TraceError};
use titr_common::units::Bytes;

use super::*;

const SMALL: usize = 4 << 10;

/// A counter of CPU time, as good as it gets.
fn counter() -> Counter {
    Counter { rate: Some(1e9), ..Counter::exact("cpu") }
}

fn options(buffer: usize) -> SinkOptions {
    SinkOptions { buffer, level: 3, flush: None, announces: false }
}

fn manifest(ranks: u32) -> Manifest {
    Manifest {
        titr: titr_common::trace::manifest::VERSION,
        mode: Mode::Ti,
        ranks,
        command: vec!["test".into()],
        mpi: "none".into(),
        config: BTreeMap::new(),
        untraced_ranks: Vec::new(),
        foreign: None,
        started: None,
        combined: None,
        names: Vec::new(),
        per_rank: Vec::new(),
    }
}

fn open(directory: &Path, rank: u32, ranks: u32, buffer: usize) -> Sink {
    let run = (rank == 0).then(|| manifest(ranks));
    Sink::open(options(buffer), directory, run, begin("a run".into(), Rank(rank), counter()), ranks).unwrap()
}

/// Distinct events, so that none can be lost, doubled or moved unnoticed.
fn event(number: u64) -> Event {
    if number.is_multiple_of(2) {
        Event::Compute(Instructions(number as f64))
    } else {
        let to = Outgoing { comm: CommId::WORLD, to: Rank(0), tag: Tag(7), bytes: Bytes(number) };
        Event::Send(SendMode::Standard, to, Completion::Blocking)
    }
}

fn record(sink: &mut Sink, events: std::ops::Range<u64>) {
    events.for_each(|number| sink.record(ThreadId::MAIN, &event(number)));
}

/// The events in the stream, and the error that ended it before its end record.
fn read(directory: &Path, rank: u32) -> (Vec<Event>, Option<TraceError>) {
    let mut stream = Trace::open(directory).unwrap().stream(Rank(rank)).unwrap();
    let mut events = Vec::new();
    loop {
        match stream.next_event() {
            Ok(Some(event)) => events.push(event),
            Ok(None) => return (events, None),
            Err(error) => return (events, Some(error)),
        }
    }
}

fn expected(events: u64) -> Vec<Event> {
    (0..events).map(event).collect()
}

#[test]
fn what_is_recorded_is_what_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let mut sink = open(directory.path(), 0, 1, SMALL);
    record(&mut sink, 0..10_000);
    sink.finish(Ended::Finalize, |entry| {
        entry.untraced.insert("MPI_Put".into(), 3);
    });
    let (events, torn) = read(directory.path(), 0);
    assert!(torn.is_none(), "{torn:?}");
    assert_eq!(events, expected(10_000));
    let manifest = Manifest::read(directory.path()).unwrap();
    let entry = &manifest.per_rank[0];
    let disk = std::fs::metadata(titr_common::trace::directory::stream(directory.path(), Rank(0))).unwrap().len();
    assert_eq!((entry.events, entry.lost_events, entry.ended), (10_000, 0, Ended::Finalize));
    assert_eq!((entry.disk, entry.untraced["MPI_Put"]), (Bytes(disk), 3));
    assert!(entry.text > entry.disk);
}

#[test]
fn a_trace_without_events_is_a_trace() {
    let directory = tempfile::tempdir().unwrap();
    open(directory.path(), 0, 1, SMALL).finish(Ended::Exit, |_| {});
    assert!(matches!(read(directory.path(), 0), (events, None) if events.is_empty()));
}

#[test]
fn whoever_ends_last_completes_the_manifest() {
    let directory = tempfile::tempdir().unwrap();
    let mut sinks: Vec<Sink> = (0..4).map(|rank| open(directory.path(), rank, 4, SMALL)).collect();
    let running = Manifest::read(directory.path()).unwrap();
    assert!(running.per_rank.iter().all(|entry| entry.ended == Ended::Running));
    // Two at once, then one after the other.
    let together: Vec<_> =
        sinks.drain(2..).map(|sink| thread::spawn(|| sink.finish(Ended::Finalize, |_| {}))).collect();
    together.into_iter().for_each(|ending| assert!(ending.join().unwrap().is_some()));
    sinks.into_iter().rev().for_each(|sink| assert!(sink.finish(Ended::Finalize, |_| {}).is_some()));
    let names = std::fs::read_dir(directory.path()).unwrap().map(|file| file.unwrap().file_name());
    assert_eq!(names.count(), 5, "four streams and the manifest");
    let ended = Manifest::read(directory.path()).unwrap();
    assert!(ended.per_rank.iter().all(|entry| entry.ended == Ended::Finalize));
}

#[test]
fn a_flush_puts_on_disk_what_is_recorded_so_far() {
    let directory = tempfile::tempdir().unwrap();
    let mut sink = open(directory.path(), 0, 1, SMALL);
    record(&mut sink, 0..10);
    sink.flush();
    let mut seen = 0;
    for _ in 0..1000 {
        seen = read(directory.path(), 0).0.len();
        if seen == 10 {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(seen, 10);
    sink.finish(Ended::Finalize, |_| {});
}

#[test]
fn a_loop_without_end_is_on_disk_up_to_its_last_rounds() {
    let directory = tempfile::tempdir().unwrap();
    let mut sink = open(directory.path(), 0, 1, 64 << 10);
    let rounds = 3 * MOST_EVENTS + 100;
    (0..rounds).for_each(|round| sink.record(ThreadId::MAIN, &event(1 + round % 7 * 2)));
    assert!(sink.text.len() < 1000, "{} bytes", sink.text.len());
    assert_eq!(sink.events, 100);
    sink.finish(Ended::Finalize, |_| {});
    let entry = &Manifest::read(directory.path()).unwrap().per_rank[0];
    assert_eq!(entry.events, rounds);
    assert!(entry.disk < Bytes(2000), "{:?}", entry.disk);
}

#[test]
fn a_program_faster_than_the_disk_waits_and_loses_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let mut sink = open(directory.path(), 0, 1, 64 << 10);
    record(&mut sink, 0..500_000);
    let stalls = sink.stalls;
    assert!(stalls > 0, "10 MB of text within milliseconds outrun any gzip");
    assert!(sink.text.capacity() <= 64 << 10);
    sink.finish(Ended::Finalize, |_| {});
    assert_eq!(read(directory.path(), 0).0, expected(500_000));
    assert!(Manifest::read(directory.path()).unwrap().per_rank[0].stalls >= stalls);
}

#[test]
fn an_event_longer_than_a_buffer_is_written_and_its_memory_given_back() {
    let directory = tempfile::tempdir().unwrap();
    let mut sink = open(directory.path(), 0, 1, SMALL);
    let long = Event::Start((0..20_000).map(|i| RequestId(i * i % 65_537)).collect());
    for _ in 0..3 * BUFFERS {
        sink.record(ThreadId::MAIN, &long);
        // This one has just come back from the flush thread, or was never used.
        assert!(sink.text.capacity() <= SMALL);
    }
    sink.finish(Ended::Finalize, |_| {});
    let (events, torn) = read(directory.path(), 0);
    assert!(torn.is_none(), "{torn:?}");
    assert!(events == vec![long; 3 * BUFFERS]);
}

#[test]
fn a_stream_that_is_there_is_not_overwritten() {
    let directory = tempfile::tempdir().unwrap();
    let path = titr_common::trace::directory::stream(directory.path(), Rank(0));
    std::fs::write(&path, "precious").unwrap();
    let refused = Sink::open(options(SMALL), directory.path(), None, begin("a run".into(), Rank(0), counter()), 1);
    assert_eq!(refused.err().map(|error| error.kind()), Some(io::ErrorKind::AlreadyExists));
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
}

/// Runs `test` again in a separate process, which finds the output directory in its environment.
fn in_a_child(test: &str, directory: &Path) -> Output {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", &format!("sink::tests::{test}"), "--nocapture"]);
    child.env("SINK_TEST_DIRECTORY", directory).output().unwrap()
}

fn child_directory() -> Option<PathBuf> {
    std::env::var_os("SINK_TEST_DIRECTORY").map(PathBuf::from)
}

#[test]
fn a_full_disk_costs_the_trace_its_tail_and_the_program_nothing() {
    if let Some(directory) = child_directory() {
        let mut sink = open(&directory, 0, 1, SMALL);
        let limit = libc::rlimit { rlim_cur: 16 << 10, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: the limit is a live local.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &limit) }, 0);
        record(&mut sink, 0..100_000);
        sink.finish(Ended::Finalize, |_| {});
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let child = in_a_child("a_full_disk_costs_the_trace_its_tail_and_the_program_nothing", directory.path());
    assert!(child.status.success(), "{:?}", child.status);
    let said = String::from_utf8(child.stderr).unwrap();
    let ours: Vec<&str> = said.lines().filter(|line| line.starts_with("titrace: ")).collect();
    assert_eq!(ours.len(), 1, "{said}");
    assert!(ours[0].contains("rank-000000.tit.gz: File too large"), "{said}");
    let (events, torn) = read(directory.path(), 0);
    let entry = &Manifest::read(directory.path()).unwrap().per_rank[0];
    assert!(matches!(torn, Some(TraceError::Torn { .. })), "{torn:?}");
    assert_eq!(events, expected(entry.events));
    assert!(entry.events > 0);
    assert_eq!(entry.events + entry.lost_events, 100_000);
    assert!(entry.error.as_ref().is_some_and(|error| error.contains("File too large")));
    assert!(entry.disk.0 <= 16 << 10);
}

#[test]
fn a_killed_program_leaves_what_was_flushed() {
    if let Some(directory) = child_directory() {
        let mut sink = open(&directory, 0, 1, SMALL);
        record(&mut sink, 0..100_000);
        // SAFETY: no memory is involved.
        unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
    }
    let directory = tempfile::tempdir().unwrap();
    let child = in_a_child("a_killed_program_leaves_what_was_flushed", directory.path());
    assert_eq!(child.status.signal(), Some(libc::SIGKILL));
    let (events, torn) = read(directory.path(), 0);
    assert!(torn.is_some());
    // All but the buffers in use; an event takes at least 12 bytes.
    assert!(events.len() >= 100_000 - BUFFERS * SMALL / 12, "{} events", events.len());
    assert_eq!(events, expected(events.len() as u64));
    assert_eq!(Manifest::read(directory.path()).unwrap().per_rank[0].ended, Ended::Running);
}

/// The sink that the two functions below share, as an `atexit` handler has no argument.
static AT_EXIT: std::sync::Mutex<Option<Sink>> = std::sync::Mutex::new(None);

extern "C" fn finish_at_exit() {
    let mut sink = AT_EXIT.lock().unwrap().take().unwrap();
    record(&mut sink, 100..50_000);
    sink.finish(Ended::Exit, |_| {});
}

/// The behaviour of a C program that calls `exit` instead of `MPI_Finalize`, on a thread that Rust did not start.
extern "C" fn exit_early(_: *mut c_void) -> *mut c_void {
    let mut sink = open(&child_directory().unwrap(), 0, 1, SMALL);
    record(&mut sink, 0..100);
    *AT_EXIT.lock().unwrap() = Some(sink);
    // SAFETY: the handler is a function of this program; nothing else runs at exit that could be in its way.
    unsafe {
        libc::atexit(finish_at_exit);
        libc::exit(42)
    }
}

#[test]
fn a_sink_can_be_used_and_finished_at_exit() {
    if child_directory().is_some() {
        // SAFETY: the thread is joined here, and its function takes no argument.
        unsafe {
            let mut thread = std::mem::zeroed();
            libc::pthread_create(&mut thread, ptr::null(), exit_early, ptr::null_mut());
            libc::pthread_join(thread, ptr::null_mut());
        }
    }
    let directory = tempfile::tempdir().unwrap();
    let child = in_a_child("a_sink_can_be_used_and_finished_at_exit", directory.path());
    assert_eq!(child.status.code(), Some(42), "{}", String::from_utf8_lossy(&child.stderr));
    let (events, torn) = read(directory.path(), 0);
    assert!(torn.is_none(), "{torn:?}");
    assert_eq!(events, expected(50_000));
    assert_eq!(Manifest::read(directory.path()).unwrap().per_rank[0].ended, Ended::Exit);
}

#[test]
fn a_forked_child_neither_writes_nor_hangs() {
    if let Some(directory) = child_directory() {
        let mut sink = open(&directory, 0, 1, SMALL);
        record(&mut sink, 0..1000);
        // SAFETY: the child calls nothing that another thread's lock could hold up but the sink, which is the test.
        let child = unsafe { libc::fork() };
        if child == 0 {
            record(&mut sink, 0..100_000);
            sink.finish(Ended::Exit, |_| {});
            // SAFETY: ends the child without running what the parent registered.
            unsafe { libc::_exit(7) };
        }
        let mut status = 0;
        // SAFETY: `status` is a live local.
        unsafe { libc::waitpid(child, &mut status, 0) };
        assert_eq!(libc::WEXITSTATUS(status), 7);
        record(&mut sink, 1000..2000);
        sink.finish(Ended::Finalize, |_| {});
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let child = in_a_child("a_forked_child_neither_writes_nor_hangs", directory.path());
    assert!(child.status.success(), "{child:?}");
    let (events, torn) = read(directory.path(), 0);
    assert!(torn.is_none(), "{torn:?}");
    assert_eq!(events, expected(2000));
}

/// The signals that each thread called `titrace` has blocked.
fn blocked_in_flush_threads() -> Vec<u64> {
    let status = |task: PathBuf| {
        let status = std::fs::read_to_string(task.join("status")).ok()?;
        let field = |name| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        if field("Name:")? != "titrace" {
            return None;
        }
        u64::from_str_radix(field("SigBlk:")?, 16).ok()
    };
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    tasks.filter_map(|task| status(task.unwrap().path())).collect()
}

#[test]
fn the_flush_thread_takes_no_signals() {
    let directory = tempfile::tempdir().unwrap();
    let mut sink = open(directory.path(), 0, 1, SMALL);
    // A thread names itself, which may be later than that it was started.
    sink.record(ThreadId::MAIN, &event(0));
    sink.flush();
    while !sink.full.is_empty() {
        thread::sleep(NAP);
    }
    let blocked = blocked_in_flush_threads();
    assert!(!blocked.is_empty());
    // SIGKILL and SIGSTOP cannot be blocked, 32 and 33 are glibc's own.
    let cannot = [libc::SIGKILL, libc::SIGSTOP, 32, 33].iter().fold(0, |set, signal| set | 1_u64 << (signal - 1));
    assert!(blocked.iter().all(|mask| mask | cannot == u64::MAX), "{blocked:x?}");
    sink.finish(Ended::Finalize, |_| {});
}

#[test]
fn an_entry_starts_running_where_this_process_is() {
    let entry = begin(String::new(), Rank(3), counter());
    assert_eq!((entry.rank, entry.pid, entry.ended), (3, std::process::id(), Ended::Running));
    assert!(!entry.host.is_empty());
}
