//! The callbacks of observers for receives, completions and collectives, on the machine of [`titr_test_machine`].

use titr_common::time::Time;
use titr_common::units::Bytes;
use titr_network::TransferId;
use titr_platform::{Implementation, Mpi, OneSided, PassiveProgress};
use titr_simulation::observe::{CollectiveCall, CollectiveId, Observer, OperationId, Receive, WindowWait};
use titr_test_machine::{micros, mpi, observe, threads};
use titr_workload::Workload;

/// Writes down what it is told, with microseconds.
#[derive(Default)]
struct Log(Vec<String>);

impl Log {
    fn note(&mut self, now: Time, what: &str) {
        self.0.push(format!("{} {what}", micros(now.seconds())));
    }
}

impl Observer for Log {
    fn posted(&mut self, now: Time, Receive { id, rank, communicator, source, tag, .. }: Receive) {
        let (source, tag) = (source.map(|source| source.0), tag.map(|tag| tag.0));
        self.note(now, &format!("rank {} posts {id:?} on {communicator:?} from {source:?} tag {tag:?}", rank.0));
    }

    fn matched(&mut self, now: Time, receive: OperationId, message: TransferId) {
        self.note(now, &format!("{receive:?} gets {message:?}"));
    }

    fn completed(&mut self, now: Time, operation: OperationId) {
        self.note(now, &format!("{operation:?} is complete"));
    }

    fn window_awaited(&mut self, now: Time, WindowWait { id, rank, condition, .. }: WindowWait) {
        self.note(now, &format!("rank {} awaits {id:?}: {condition:?}", rank.0));
    }

    fn collective_entered(&mut self, now: Time, CollectiveCall { id, rank, name, number, .. }: CollectiveCall) {
        self.note(now, &format!("rank {} enters {id:?}: {name} {number}", rank.0));
    }

    fn collective_left(&mut self, now: Time, id: CollectiveId) {
        self.note(now, &format!("{id:?} is left"));
    }
}

fn log(ranks: u32, trace: &str) -> Vec<String> {
    observe(Workload::new(threads(ranks, trace)), &mpi(), Log::default()).unwrap().observer.0
}

#[test]
fn a_late_sender_shows_between_the_receive_and_its_match() {
    let eager = "0 init\n0 compute 5000\n0 send 1 7 1000\n0 finalize\n1 init\n1 recv 0 7 1000\n1 finalize";
    assert_eq!(
        log(2, eager),
        [
            "0 rank 1 posts OperationId(0) on CommunicatorId(0) from Some(0) tag Some(7)",
            "5 OperationId(0) gets TransferId(0)",
            "8 OperationId(0) is complete",
        ]
    );
}

#[test]
fn a_late_receiver_shows_between_the_receive_and_the_end_of_the_send() {
    let large = "0 init\n0 send 1 7 20000\n0 finalize\n1 init\n1 compute 4000\n1 recv * * 20000\n1 finalize";
    assert_eq!(
        log(2, large),
        [
            "4 rank 1 posts OperationId(1) on CommunicatorId(0) from None tag None",
            "4 OperationId(1) gets TransferId(0)",
            "26 OperationId(1) is complete",
            "26 OperationId(0) is complete",
        ]
    );
}

/// Each sends an empty message to the other. That of rank 1 has arrived when rank 0 comes.
#[test]
fn each_rank_enters_and_leaves_a_collective() {
    let log = log(2, "0 init\n0 compute 3000\n0 barrier\n0 finalize\n1 init\n1 barrier\n1 finalize");
    let of_collectives: Vec<&str> =
        log.iter().map(String::as_str).filter(|line| line.contains("Collective") && !line.contains("posts")).collect();
    assert_eq!(
        of_collectives,
        [
            "0 rank 1 enters CollectiveId(0): barrier 0",
            "3 rank 0 enters CollectiveId(1): barrier 0",
            "3 CollectiveId(1) is left",
            "5 CollectiveId(0) is left",
        ]
    );
}

/// Where each lock is asked for at once, and a message takes 2 µs: rank 1 has its own lock while rank 0 asks for it.
#[test]
fn a_wait_for_a_lock_and_for_a_post_shows_until_it_ends() {
    let create = "0 init\n0 win_create 0 8\n1 init\n1 win_create 0 8\n";
    let trace = "1 win_lock 0 1\n1 compute 10000\n1 win_unlock 0 1\n1 compute 20000\n1 win_post 0 0\n1 win_wait 0\n1 finalize\n\
                 0 win_lock 0 1\n0 win_unlock 0 1\n0 win_start 0 1\n0 win_complete 0\n0 finalize";
    let one_sided = OneSided {
        passive_progress: PassiveProgress::Hardware,
        control: Bytes(0),
        header: Bytes(0),
        ..OneSided::from(Implementation::Mpich)
    };
    let mpi = Mpi { one_sided, ..mpi() };
    let log = observe(Workload::new(threads(2, &format!("{create}{trace}"))), &mpi, Log::default()).unwrap().observer.0;
    let waits: Vec<&str> = log.iter().map(String::as_str).filter(|line| line.contains("awaits")).collect();
    // The windows are made after 4.028 µs. Rank 1 gives its lock back 10 µs later, and posts 20 µs after that. The number of an
    // operation may be any.
    let unnumbered = |wait: &&str| {
        let (who, what) = wait.split_once(" OperationId(").unwrap();
        format!("{who} {}", what.split_once("): ").unwrap().1)
    };
    assert_eq!(
        waits.iter().map(unnumbered).collect::<Vec<_>>(),
        [
            "4.028 rank 0 awaits Lock { target: Rank(1), exclusive: true }",
            "16.028 rank 0 awaits Release(Rank(1))",
            "20.028 rank 0 awaits Post(Rank(1))",
            "34.028 rank 1 awaits Complete(Rank(0))",
        ]
    );
    for wait in waits {
        let operation = wait.split([' ', ':']).find(|word| word.starts_with("OperationId")).unwrap();
        let ends = format!("{operation} is complete");
        let after = log.iter().skip_while(|line| *line != wait);
        assert!(after.filter(|line| line.ends_with(&ends)).count() > 0, "{wait} does not end: {log:#?}");
    }
}
