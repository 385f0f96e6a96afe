use super::*;

const SHARED: usize = 0x1000;

fn message(tag: i32) -> RequestKind {
    RequestKind::Message { from: Some(Rank(0)), to: Rank(1), tag: Some(Tag(tag)), open: None }
}

fn add(requests: &mut RequestTable, handle: usize, place: usize) -> u32 {
    requests.add(Request::from_raw(handle), place, message(0), false).0
}

fn take(requests: &mut RequestTable, handle: usize, place: usize) -> Option<u32> {
    requests.take_out(Request::from_raw(handle), place).map(|id| id.0)
}

#[test]
fn a_handle_is_used_again_after_its_request() {
    let mut requests = RequestTable::default();
    for _ in 0..3 {
        assert_eq!(add(&mut requests, 7, 0), 0);
        assert_eq!(add(&mut requests, 8, 0), 1);
        assert_eq!(requests.outstanding(), 2);
        for handle in [7, 8] {
            let id = take(&mut requests, handle, 99).unwrap();
            requests.complete(RequestId(id));
        }
        assert_eq!(requests.outstanding(), 0);
        assert_eq!(take(&mut requests, 7, 0), None);
    }
}

#[test]
fn requests_with_one_handle_are_told_apart_by_place_and_else_by_age() {
    let mut requests = RequestTable::default();
    for place in 0..20 {
        add(&mut requests, SHARED, place);
    }
    assert_eq!(take(&mut requests, SHARED, 3), Some(3));
    assert_eq!(take(&mut requests, SHARED, 777), Some(0));
    assert_eq!(take(&mut requests, SHARED, 19), Some(1), "too far to look");
    // RequestKind a failed test took out is again where it was.
    requests.put_in(RequestId(1));
    requests.put_in(RequestId(0));
    let rest: Vec<u32> = std::iter::from_fn(|| take(&mut requests, SHARED, 777)).collect();
    assert_eq!(rest, [0, 1, 2].into_iter().chain(4..20).collect::<Vec<_>>());
}

#[test]
fn a_thread_completes_its_own_requests_before_those_of_others() {
    let mut requests = RequestTable::default();
    for place in 0..20 {
        requests.switch_to(ThreadId(u32::from(place >= 15)));
        add(&mut requests, SHARED, place);
    }
    assert_eq!(take(&mut requests, SHARED, 777), Some(15));
    assert_eq!(take(&mut requests, SHARED, 3), Some(3), "handed over where it was");
    requests.switch_to(ThreadId::MAIN);
    assert_eq!(take(&mut requests, SHARED, 777), Some(0));
    requests.switch_to(ThreadId(2));
    assert_eq!(take(&mut requests, SHARED, 777), Some(1), "a thread without requests of its own");
}

#[test]
fn a_persistent_request_stays_until_it_is_removed() {
    let mut requests = RequestTable::default();
    let id = requests.add(Request::from_raw(5), 0, message(1), true);
    assert_eq!(requests.outstanding(), 0);
    for _ in 0..2 {
        requests.start(id);
        assert_eq!(requests.outstanding(), 1);
        assert_eq!(take(&mut requests, 5, 0), Some(id.0));
        requests.complete(id);
        assert_eq!(requests.outstanding(), 0);
    }
    assert_eq!(requests.find(Request::from_raw(5), 0), Some(id));
    requests.take_out(Request::from_raw(5), 0);
    requests.remove(id);
    assert_eq!(requests.find(Request::from_raw(5), 0), None);
    assert_eq!(add(&mut requests, 6, 0), id.0);
}

#[test]
fn a_million_at_once_leave_nothing_behind() {
    let mut requests = RequestTable::default();
    const MANY: usize = 1_000_000;
    for round in 0..2 {
        for i in 0..MANY {
            let handle = if i % 2 == 0 { SHARED } else { i };
            assert_eq!(add(&mut requests, handle, 8 * i), i as u32, "round {round}");
        }
        assert_eq!(requests.outstanding() as usize, MANY);
        for i in 0..MANY {
            let handle = if i % 2 == 0 { SHARED } else { i };
            let id = take(&mut requests, handle, 8 * i).unwrap();
            requests.complete(RequestId(id));
        }
        assert!(requests.chains.0.values().all(|chain| chain.is_empty()));
        assert!(requests.chains.0.capacity() <= 4 * MANY);
        assert_eq!((requests.outstanding(), requests.entries.len()), (0, MANY));
    }
}
