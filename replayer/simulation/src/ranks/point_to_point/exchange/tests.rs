use titr_common::collectives::Library;
use titr_common::event::Tag;
use titr_common::program::Context;

use titr_common::units::Speed;
use titr_network::topology::HostId;

use super::*;
use crate::ranks::ids::ThreadIndex;
use titr_platform::{EagerTransfer, Overhead, OverheadStep, Progress};

const SENDER: Waiter = Waiter::Thread(ThreadIndex(0));
const RECEIVER: Waiter = Waiter::Thread(ThreadIndex(1));

fn exchange(eager_transfer: EagerTransfer) -> Exchange {
    let library = Mpi::from(Library::Mpich);
    let step = OverheadStep { above: Bytes(0), seconds: Seconds(0.0), seconds_per_byte: Seconds(1.0) };
    let recv_overhead = Overhead::new(vec![step]);
    let progress = Progress::Thread;
    let mpi = Mpi { eager_threshold: Bytes(100), eager_transfer, progress, recv_overhead, ..library };
    let core = Core::new(HostId(0), Speed { per_second: 1e9 });
    Exchange::new(&[core.clone(), core], &mpi, Causality::Timed)
}

fn envelope() -> Envelope {
    Envelope { context: Context(0), source: Rank(0), tag: Tag(0) }
}

fn send(exchange: &mut Exchange, mode: SendMode, bytes: u64) -> Option<OperationId> {
    exchange.send(Outbound::new(Rank(1), envelope(), Bytes(bytes), mode), Time::ZERO, &mut ())
}

fn receive(exchange: &mut Exchange) -> OperationId {
    {
        let caller = Caller::Thread(Rank(1).into());
        exchange.receive(Rank(1), (envelope().into(), None), caller, Time::ZERO, &mut ()).unwrap()
    }
}

#[test]
fn an_eager_message_travels_at_once() {
    let mut exchange = exchange(EagerTransfer::AtOnce);
    assert_eq!(send(&mut exchange, SendMode::Standard, 99), None);
    assert_eq!(exchange.outbox, [MessageId(0)]);
    exchange.deliver(MessageId(0), Time::ZERO, &mut ());
    let operation = receive(&mut exchange);
    assert_eq!(exchange.operations.claim(operation, RECEIVER), Claim::Done(Seconds(99.0)));
    assert_eq!(exchange.unmatched().count(), 0);
}

#[test]
fn or_on_match() {
    let mut exchange = exchange(EagerTransfer::OnMatch);
    assert_eq!(send(&mut exchange, SendMode::Standard, 99), None);
    assert_eq!(exchange.outbox, []);
    let operation = receive(&mut exchange);
    assert_eq!(exchange.outbox, [MessageId(0)]);
    assert_eq!(exchange.operations.claim(operation, RECEIVER), Claim::Awaited);
    exchange.deliver(MessageId(0), Time::ZERO, &mut ());
    assert_eq!(exchange.operations.completions.len(), 1);
}

#[test]
fn a_rendezvous_completes_at_both_ends_on_arrival() {
    let mut exchange = exchange(EagerTransfer::AtOnce);
    let sent = send(&mut exchange, SendMode::Standard, 100).unwrap();
    assert_eq!(exchange.operations.claim(sent, SENDER), Claim::Awaited);
    let received = receive(&mut exchange);
    assert_eq!(exchange.outbox, [MessageId(0)]);
    exchange.deliver(MessageId(0), Time::ZERO, &mut ());
    assert_eq!(exchange.operations.claim(received, RECEIVER), Claim::Done(Seconds(0.0)));
    assert!(matches!(exchange.operations.completions[..], [CompletedWait { waiter: SENDER, cost: Seconds(0.0), .. }]));
}

#[test]
fn a_large_buffered_message_waits_for_its_match_without_its_sender() {
    let mut exchange = exchange(EagerTransfer::AtOnce);
    assert_eq!(send(&mut exchange, SendMode::Buffered, 1000), None);
    assert_eq!(exchange.outbox, []);
    receive(&mut exchange);
    assert_eq!(exchange.outbox, [MessageId(0)]);
}

#[test]
fn a_probe_sees_an_eager_message_when_it_has_arrived_and_a_large_one_when_it_is_announced() {
    let mut exchange = exchange(EagerTransfer::AtOnce);
    assert!(!exchange.probe(RECEIVER, Rank(1), envelope().into()));
    send(&mut exchange, SendMode::Standard, 99);
    assert_eq!(exchange.operations.completions.len(), 0);
    exchange.deliver(MessageId(0), Time::ZERO, &mut ());
    assert_eq!(exchange.operations.completions.len(), 1);
    receive(&mut exchange);
    assert!(!exchange.probe(RECEIVER, Rank(1), envelope().into()));
    send(&mut exchange, SendMode::Standard, 100);
    assert_eq!(exchange.operations.completions.len(), 2);
}

#[test]
fn what_is_cancelled_before_it_is_matched_completes_and_is_gone() {
    let mut exchange = exchange(EagerTransfer::AtOnce);
    let received = receive(&mut exchange);
    exchange.cancel(received, Time::ZERO, &mut ());
    assert_eq!(exchange.operations.claim(received, RECEIVER), Claim::Done(Seconds(0.0)));
    let sent = send(&mut exchange, SendMode::Synchronous, 1).unwrap();
    exchange.cancel(sent, Time::ZERO, &mut ());
    assert_eq!(exchange.operations.claim(sent, SENDER), Claim::Done(Seconds(0.0)));
    assert_eq!(exchange.unmatched().count(), 0);
    let received = receive(&mut exchange);
    send(&mut exchange, SendMode::Standard, 1);
    exchange.cancel(received, Time::ZERO, &mut ());
    assert_eq!(exchange.operations.claim(received, RECEIVER), Claim::Awaited, "it was matched before");
}
