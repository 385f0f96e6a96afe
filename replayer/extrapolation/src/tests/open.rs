//! What the recordings leave open on the target is refused, and not guessed.

use titr_common::trace::manifest::{Ended, Manifest, RankEntry, RankRecording};

use super::*;

fn sendrecv(to: Rank, from: Rank, bytes: u64) -> Event {
    Event::Sendrecv(Some(outgoing(to, 0, bytes)), Some(incoming(from, 0, bytes)))
}

/// An exchange with the next rank along a dimension.
fn shift(rank: Rank, grid: &Grid, dimension: usize, by: i64, bytes: u64) -> Event {
    let near = |by| neighbour(rank, grid, dimension, by, true).unwrap();
    sendrecv(near(by), near(-by), bytes)
}

/// Checks that the refusal says this.
fn refused(program: Program, recorded: &[Grid], target: &Grid, named: bool, why: &str) {
    let said = refusal(program, recorded, target, named);
    assert!(said.contains(why), "{said}");
}

const SEVERAL: &str = "several rules explain the recordings equally well";

#[test]
fn a_side_that_no_recording_varies_is_kept() {
    let why = "all recordings have 2 ranks along a side";
    refused(torus, &[grid(&[2, 2]), grid(&[4, 2])], &grid(&[4, 4]), false, why);
    refused(torus, &[grid(&[4, 2]), grid(&[8, 2])], &grid(&[8, 4]), true, why);
    check(torus, &[grid(&[4, 2]), grid(&[8, 2])], &grid(&[16, 2]), true);
}

/// Tags that count the ranks in a way of their own, with peers that are right in any grid.
fn tagged_by_ranks(_: Rank, grid: &Grid) -> Vec<Event> {
    whole(vec![send(Rank(0), grid.places().pow(2) as i32, 8)])
}

#[test]
fn recordings_of_many_grids_are_refused_in_time() {
    let recorded = [120, 240, 360].map(|ranks| grid(&[ranks]));
    // No single recording is a grid of these dimensions.
    refused(scattered, &recorded, &grid(&[8, 6, 10]), true, "no rule explains");
    refused(tagged_by_ranks, &recorded, &grid(&[8, 6, 10]), true, "more grids than the 1000 that were tried");
}

#[test]
fn a_grid_that_says_too_little_is_named() {
    let why = "run-8: a grid of 4x2 has fewer than three ranks along a side";
    refused(torus, &[grid(&[4]), grid(&[8])], &grid(&[4, 4]), true, why);
    refused(torus, &[grid(&[5]), grid(&[7])], &grid(&[4, 4]), true, "the recordings form no grids of 2 dimensions");
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("file");
    std::fs::write(&place, "").unwrap();
    let error = extrapolated(torus, &[grid(&[4]), grid(&[8])], &grid(&[16]), false, &place).err().unwrap();
    assert!(error.to_string().contains("a file: name a new or an empty directory"), "{error}");
}

/// An exchange with the rank after the next.
fn second(rank: Rank, grid: &Grid) -> Vec<Event> {
    whole(vec![shift(rank, grid, 0, 2, 8)])
}

fn broadcast(root: u32) -> Vec<Event> {
    let (kind, root, send) = (CollectiveKind::Bcast, Some(Rank(root)), Volumes::Each(Bytes(100)));
    let bcast = Collective { kind, root, send, ..Collective::barrier(CommId::WORLD) };
    whole(vec![Event::Collective(bcast, Completion::Blocking)])
}

fn from_the_middle(_: Rank, grid: &Grid) -> Vec<Event> {
    broadcast(grid.places() / 2)
}

#[test]
fn peers_that_could_be_others_are_not_guessed() {
    // Two ranks on and two ranks back are the same rank among four.
    refused(second, &[grid(&[2]), grid(&[4])], &grid(&[8]), false, SEVERAL);
    check(second, &[grid(&[2]), grid(&[5])], &grid(&[8]), false);
    check(from_the_middle, &[grid(&[4]), grid(&[8])], &grid(&[16]), false);
    // Rank 2 is in the middle of both.
    refused(from_the_middle, &[grid(&[4]), grid(&[5])], &grid(&[16]), false, SEVERAL);
}

/// As many shifts along one dimension as the other has ranks.
fn by_side(rank: Rank, grid: &Grid) -> Vec<Event> {
    let along = |_| shift(rank, grid, 1, 1, 64);
    whole([vec![shift(rank, grid, 0, 1, 8)], (1..grid.side(1)).map(along).collect()].concat())
}

/// Computation that is divided by one side.
fn computed_by_side(rank: Rank, grid: &Grid) -> Vec<Event> {
    whole(vec![compute(6400 / grid.side(0)), shift(rank, grid, 0, 1, 8), shift(rank, grid, 1, 1, 8)])
}

/// Computation that is divided by the number of ranks.
fn computed_by_ranks(rank: Rank, grid: &Grid) -> Vec<Event> {
    whole(vec![compute(6400 / grid.places()), shift(rank, grid, 0, 1, 8), shift(rank, grid, 1, 1, 8)])
}

#[test]
fn squares_do_not_tell_what_depends_on_which_side() {
    let squares = [grid(&[4, 4]), grid(&[8, 8])];
    for program in [by_side, computed_by_side] {
        refused(program, &squares, &grid(&[16, 8]), true, SEVERAL);
    }
    for program in [by_side, computed_by_side, computed_by_ranks] {
        check(program, &squares, &grid(&[16, 16]), false);
    }
    check(computed_by_ranks, &squares, &grid(&[16, 8]), true);
    check(by_side, &[grid(&[4, 4]), grid(&[8, 6])], &grid(&[16, 8]), true);
}

/// Messages with data on more than four ranks only.
fn on_many(rank: Rank, grid: &Grid) -> Vec<Event> {
    whole(vec![shift(rank, grid, 0, 1, if grid.places() > 4 { 1000 } else { 0 })])
}

fn on_few(rank: Rank, grid: &Grid) -> Vec<Event> {
    whole(vec![shift(rank, grid, 0, 1, if grid.places() > 4 { 0 } else { 1000 })])
}

fn computed_on_many(rank: Rank, grid: &Grid) -> Vec<Event> {
    whole(vec![compute(if grid.places() > 4 { 1000 } else { 0 }), shift(rank, grid, 0, 1, 8)])
}

#[test]
fn sizes_that_only_one_recording_has_are_an_error() {
    for program in [on_many, on_few] {
        refused(program, &[grid(&[4]), grid(&[8])], &grid(&[16]), false, "wrong by 100 %");
    }
    refused(doubling_on_many, &[grid(&[4]), grid(&[16])], &grid(&[64]), true, "wrong by 100 %");
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("trace");
    let (done, _) = extrapolated(computed_on_many, &[grid(&[4]), grid(&[8])], &grid(&[16]), false, &place).unwrap();
    assert_eq!(done.work_error, 1.0);
}

/// A butterfly whose messages double from stage to stage, on more than four ranks only.
fn doubling_on_many(rank: Rank, grid: &Grid) -> Vec<Event> {
    let exchange = |stage: u32| {
        let partner = Rank(rank.0 ^ (1 << stage));
        sendrecv(partner, partner, if grid.places() > 4 { 64 << stage } else { 64 })
    };
    whole((0..grid.places().ilog2()).map(exchange).collect())
}

/// A line in which each rank passes on `bytes` of its number.
fn passed_on(rank: Rank, grid: &Grid, bytes: fn(u64) -> u64) -> Vec<Event> {
    let (from, to) = (neighbour(rank, grid, 0, -1, false), neighbour(rank, grid, 0, 1, false));
    let received = from.map(|from| recv(from, 0, bytes(u64::from(from.0))));
    let sent = to.map(|to| send(to, 0, bytes(u64::from(rank.0))));
    whole(received.into_iter().chain(sent).collect())
}

fn growing(rank: Rank, grid: &Grid) -> Vec<Event> {
    passed_on(rank, grid, |number| 100 * number)
}

fn rather_equal(rank: Rank, grid: &Grid) -> Vec<Event> {
    passed_on(rank, grid, |number| 1000 - 10 * number)
}

#[test]
fn a_receive_has_room_for_its_message() {
    refused(growing, &[grid(&[4]), grid(&[8])], &grid(&[16]), false, "the bytes of a rank are wrong by");
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("trace");
    let (done, trace) = extrapolated(rather_equal, &[grid(&[4]), grid(&[8])], &grid(&[16]), false, &place).unwrap();
    assert!(done.volume_error > 0.0 && done.volume_error < 0.2, "{done:?}");
    let volumes = |rank: u32, is_send: bool| {
        let mut stream = trace.stream(Rank(rank)).unwrap();
        std::iter::from_fn(move || stream.next_event().unwrap()).find_map(|event| match event {
            Event::Send(_, message, _) if is_send => Some(message.bytes),
            Event::Recv(message, _) if !is_send => Some(message.bytes),
            _ => None,
        })
    };
    for rank in 0..15 {
        assert!(volumes(rank, true).unwrap() <= volumes(rank + 1, false).unwrap(), "rank {rank}");
    }
}

/// Fewer reductions on more ranks.
fn shrinking(_: Rank, grid: &Grid) -> Vec<Event> {
    let barrier = Event::Collective(Collective::barrier(CommId::WORLD), Completion::Blocking);
    let reductions = vec![allreduce(CommId::WORLD, 8); 20_usize.saturating_sub(grid.places() as usize)];
    whole([vec![barrier.clone()], reductions, vec![barrier]].concat())
}

#[test]
fn a_loop_has_no_negative_number_of_iterations() {
    check(shrinking, &[grid(&[4]), grid(&[8])], &grid(&[16]), false);
    refused(shrinking, &[grid(&[4]), grid(&[8])], &grid(&[32]), false, "the number is negative in a grid of 32");
}

/// The description of the trace that is extrapolated from rings of 4 and 8 ranks, after a change in those of rank 2.
fn about_rank_two(change: fn(&mut RankRecording)) -> Result<Manifest, String> {
    let directory = tempfile::tempdir().unwrap();
    let trace = |ranks: u32| {
        let mut manifest = Manifest::of_unknown_origin(ranks);
        change(&mut manifest.per_rank[2]);
        Trace::new(ranks, Synthetic(grid(&[ranks]), ring)).with_manifest(manifest)
    };
    let traces = [(Path::new("few"), trace(4)), (Path::new("many"), trace(8))];
    let place = directory.path().join("trace");
    let done = extrapolate(&traces, 16, None, Vec::new(), &place);
    done.map(|_| Trace::open(&place).unwrap().manifest().unwrap().clone()).map_err(|error| error.to_string())
}

fn unfinished(rank: Rank, grid: &Grid) -> Vec<Event> {
    let mut events = ring(rank, grid);
    events.truncate(events.len() - usize::from(rank.0 == 1));
    events
}

#[test]
fn a_recording_has_all_calls_of_its_ranks() {
    refused(unfinished, &[grid(&[4]), grid(&[8])], &grid(&[16]), false, "run-4: rank 1 ended without MPI_Finalize");
    let said = about_rank_two(|rank| rank.ended = Ended::Abort).unwrap_err();
    assert!(said.contains("few: rank 2 ended in MPI_Abort"), "{said}");
    let said = about_rank_two(|rank| rank.lost_events = 7).unwrap_err();
    assert!(said.contains("few: 7 events of rank 2 could not be written"), "{said}");
}

#[test]
fn the_new_trace_names_the_calls_that_were_not_traced() {
    let manifest = about_rank_two(|rank| _ = rank.untraced.insert("MPI_Foo".to_owned(), 12)).unwrap();
    let untraced = |rank: &RankEntry| rank.untraced.get("MPI_Foo") == Some(&12);
    assert!(manifest.per_rank.iter().any(untraced));
}
