//! Programs whose traces are known for any number of ranks: what is extrapolated is what they do.

mod open;

use std::path::Path;

use proptest::prelude::*;
use titr_common::event::{
    Collective, CollectiveKind, CommCall, CommId, Completed, Completion, Event, Group, Incoming, Outgoing, Quantifier,
    Rank, RequestId, SendMode, Tag, ThreadId, Volumes, Wildcard,
};
use titr_common::trace::{EventSource, LocatedEvents, Location, RankSources, Trace, TraceError};
use titr_common::units::{Bytes, Instructions};

use crate::{Extrapolated, ExtrapolationError, Grid, extrapolate};

/// The events of a rank in a grid.
type Program = fn(Rank, &Grid) -> Vec<Event>;

struct Synthetic(Grid, Program);

struct Lines(std::vec::IntoIter<Event>, u64);

impl RankSources for Synthetic {
    fn source(&self, rank: Rank, _: bool) -> Result<Box<dyn EventSource + Send>, TraceError> {
        Ok(Box::new(Lines((self.1)(rank, &self.0).into_iter(), 0)))
    }
}

impl EventSource for Lines {
    fn read(&mut self, events: &mut LocatedEvents) -> Result<bool, TraceError> {
        self.1 += 1;
        let event = self.0.next();
        let more = event.is_some();
        let location = Location { thread: ThreadId::MAIN, line: Some(self.1) };
        event.into_iter().for_each(|event| events.push(event, location));
        Ok(more)
    }
}

fn grid(sides: &[u32]) -> Grid {
    Grid::new(sides).unwrap()
}

fn outgoing(to: Rank, tag: i32, bytes: u64) -> Outgoing {
    Outgoing { comm: CommId::WORLD, to, tag: Tag(tag), bytes: Bytes(bytes) }
}

fn send(to: Rank, tag: i32, bytes: u64) -> Event {
    Event::Send(SendMode::Standard, outgoing(to, tag, bytes), Completion::Blocking)
}

fn incoming(from: Rank, tag: i32, bytes: u64) -> Incoming {
    let (from, tag) = (Some(from), Some(Tag(tag)));
    Incoming { comm: CommId::WORLD, from, tag, bytes: Bytes(bytes), wildcard: Wildcard::NONE }
}

fn recv(from: Rank, tag: i32, bytes: u64) -> Event {
    Event::Recv(incoming(from, tag, bytes), Completion::Blocking)
}

fn compute(volume: u32) -> Event {
    Event::Compute(Instructions(f64::from(volume)))
}

fn allreduce(comm: CommId, bytes: u64) -> Event {
    let (kind, send) = (CollectiveKind::Allreduce, Volumes::Each(Bytes(bytes)));
    Event::Collective(Collective { kind, send, ..Collective::barrier(comm) }, Completion::Blocking)
}

fn whole(body: Vec<Event>) -> Vec<Event> {
    [vec![Event::Init], body, vec![Event::Finalize]].concat()
}

/// The rank that is `by` away along a dimension; in a torus if `wraps`.
fn neighbour(rank: Rank, grid: &Grid, dimension: usize, by: i64, wraps: bool) -> Option<Rank> {
    let mut place = grid.coordinates(rank);
    let side = i64::from(grid.side(dimension));
    let coordinate = i64::from(place[dimension]) + by;
    let coordinate = if wraps { coordinate.rem_euclid(side) } else { coordinate };
    place[dimension] = u32::try_from(coordinate).ok()?;
    grid.rank(place)
}

/// Exchanges of faces whose sizes depend on the sides, and a reduction.
fn stencil(rank: Rank, grid: &Grid, wraps: bool) -> Vec<Event> {
    let mut body = Vec::new();
    for _ in 0..3 {
        body.push(compute(2_612_736_000 / grid.places()));
        let mut requests = 0;
        for (dimension, by) in (0..grid.sides().len()).flat_map(|dimension| [(dimension, 1), (dimension, -1)]) {
            let bytes = u64::from(8 * 5_040 * 5_040 / (grid.places() / grid.side(dimension)));
            let tag = dimension as i32 * 2 + i32::from(by > 0);
            if let Some(from) = neighbour(rank, grid, dimension, -by, wraps) {
                let message = incoming(from, tag, bytes);
                body.push(Event::Recv(message, Completion::Request(Some(RequestId(requests)))));
                requests += 1;
            }
            if let Some(to) = neighbour(rank, grid, dimension, by, wraps) {
                body.push(send(to, tag, bytes));
            }
        }
        body.push(Event::Wait(Quantifier::All, Completed::These((0..requests).map(RequestId).collect())));
        body.push(allreduce(CommId::WORLD, 8));
    }
    whole(body)
}

fn mesh(rank: Rank, grid: &Grid) -> Vec<Event> {
    stencil(rank, grid, false)
}

fn torus(rank: Rank, grid: &Grid) -> Vec<Event> {
    stencil(rank, grid, true)
}

fn wavefront(rank: Rank, grid: &Grid) -> Vec<Event> {
    let mut body = Vec::new();
    for _ in 0..10 {
        let near =
            |by| (0..grid.sides().len()).filter_map(move |dimension| neighbour(rank, grid, dimension, by, false));
        near(-1).for_each(|from| body.push(recv(from, 7, 800)));
        body.push(compute(1000));
        near(1).for_each(|to| body.push(send(to, 7, 800)));
    }
    whole(body)
}

/// Rows, columns and their collectives, and messages to the first rank of each row.
fn rows(rank: Rank, grid: &Grid) -> Vec<Event> {
    let place = grid.coordinates(rank);
    let in_line = |along: usize| {
        (0..grid.places()).map(Rank).filter(|&other| grid.coordinates(other)[1 - along] == place[1 - along]).collect()
    };
    let group = |id, along: usize| Group { id: CommId(id), members: in_line(along), remote: Vec::new(), tag: None };
    let create = |id, along| Event::CommCreate(CommCall::Split, CommId::WORLD, Some(group(id, along)));
    let bytes = 720_720 / u64::from(grid.side(0));
    let members = vec![Bytes(bytes); grid.side(0) as usize];
    let (send_volumes, recv_volumes) = (Volumes::PerMember(members.clone()), Volumes::PerMember(members));
    let alltoallv = Collective {
        kind: CollectiveKind::Alltoallv,
        send: send_volumes,
        recv: recv_volumes,
        ..Collective::barrier(CommId(2))
    };
    let mut body =
        vec![create(2, 0), create(3, 1), Event::Collective(alltoallv, Completion::Blocking), allreduce(CommId(3), 64)];
    let bcast = Collective {
        kind: CollectiveKind::Bcast,
        root: Some(Rank(0)),
        send: Volumes::Each(Bytes(100)),
        ..Collective::barrier(CommId::WORLD)
    };
    body.push(Event::Collective(bcast, Completion::Blocking));
    let root = grid.rank([0, place[1], 0]).unwrap();
    body.push(send(root, 1, 8));
    whole(body)
}

/// Sums over rows by exchanges in stages, with tags by stage, and an exchange with the transposed rank: the skeleton of CG.
fn stages(rank: Rank, grid: &Grid) -> Vec<Event> {
    let number = grid.side(0).ilog2();
    let partner = |bit: u32| {
        let mut place = grid.coordinates(rank);
        place[0] ^= 1 << bit;
        grid.rank(place).unwrap()
    };
    let mut body = Vec::new();
    for _ in 0..5 {
        for stage in 0..number {
            let bytes = u64::from(14_336 / grid.side(0));
            let tag = stage as i32 + 1;
            body.extend([send(partner(number - 1 - stage), tag, bytes), recv(partner(number - 1 - stage), tag, bytes)]);
        }
        for stage in 0..number {
            let (bytes, tag) = (64 << stage, (number - stage) as i32);
            body.push(compute(100));
            body.extend([send(partner(stage), tag, bytes), recv(partner(stage), tag, bytes)]);
        }
        let [x, y, z] = grid.coordinates(rank);
        let transposed = grid.rank([y, x, z]).unwrap();
        body.extend([send(transposed, 1, 256), recv(transposed, 1, 256)]);
    }
    whole(body)
}

fn extrapolated(
    program: Program,
    recorded: &[Grid],
    target: &Grid,
    named: bool,
    place: &Path,
) -> Result<(Extrapolated, Trace), ExtrapolationError> {
    let names: Vec<String> = recorded.iter().map(|grid| format!("run-{grid}")).collect();
    let traces: Vec<(&Path, Trace)> = names
        .iter()
        .zip(recorded)
        .map(|(name, grid)| (Path::new(name.as_str()), Trace::new(grid.places(), Synthetic(grid.clone(), program))))
        .collect();
    let done = extrapolate(&traces, target.places(), Some(target).filter(|_| named), Vec::new(), place)?;
    Ok((done, Trace::open(place).unwrap()))
}

/// Checks that the extrapolated trace has exactly the events that the program has on that grid.
fn check(program: Program, recorded: &[Grid], target: &Grid, named: bool) {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("trace");
    let (done, trace) =
        extrapolated(program, recorded, target, named, &place).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(done.grid, *target);
    assert!(done.work_error < 1e-12 && done.volume_error == 0.0, "{done:?}");
    for rank in (0..target.places()).map(Rank) {
        let mut stream = trace.stream(rank).unwrap();
        let found: Vec<Event> = std::iter::from_fn(|| stream.next_event().unwrap()).collect();
        assert_eq!(found, program(rank, target), "{rank:?} of {target}");
    }
}

fn refusal(program: Program, recorded: &[Grid], target: &Grid, named: bool) -> String {
    let directory = tempfile::tempdir().unwrap();
    let result = extrapolated(program, recorded, target, named, &directory.path().join("trace"));
    let error = result.map(|(done, _)| panic!("{done:?}")).unwrap_err().to_string();
    assert!(std::fs::read_dir(directory.path()).unwrap().next().is_none(), "{error}");
    error
}

/// A grid whose sides divide the volumes of the programs.
fn any_grid(dimensions: usize) -> impl Strategy<Value = Grid> {
    prop::collection::vec(3_u32..=6, dimensions).prop_map(|sides| grid(&sides))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn programs_on_grids_are_what_they_are_on_larger_grids(
        (one, other, target) in (1_usize..=3).prop_flat_map(|d| (any_grid(d), any_grid(d), any_grid(d))),
        wraps in any::<bool>(),
    ) {
        prop_assume!(one.places() != other.places());
        // Otherwise nothing tells which side a size depends on.
        let differ = (0..one.sides().len()).all(|d| one.side(d) != other.side(d)) && one.sides().len() < 2
            || one.sides().len() > 1 && distinct_growth(&one, &other);
        prop_assume!(differ);
        check(if wraps { torus } else { mesh }, &[one.clone(), other.clone()], &target, true);
        check(wavefront, &[one, other], &target, true);
    }
}

/// Whether all sides change, each by another factor, so that no two products of them do by the same.
fn distinct_growth(one: &Grid, other: &Grid) -> bool {
    let growth = |d: usize| (f64::from(other.side(d)) / f64::from(one.side(d))).ln();
    let all: Vec<f64> = (0..one.sides().len()).map(growth).collect();
    (0..125).all(|code: i32| {
        let powers = [code % 5 - 2, code / 5 % 5 - 2, code / 25 - 2];
        let is_zero = powers.iter().take(all.len()).all(|power| *power == 0);
        let product: f64 = all.iter().zip(powers).map(|(growth, power)| growth * f64::from(power)).sum();
        is_zero || product.abs() > 1e-9
    })
}

#[test]
fn squares_grow_to_squares() {
    for program in [mesh, torus, wavefront, rows, stages] {
        check(program, &[grid(&[4, 4]), grid(&[8, 8])], &grid(&[16, 16]), false);
    }
    for program in [mesh, torus, wavefront, stages] {
        check(program, &[grid(&[2, 2]), grid(&[4, 4])], &grid(&[8, 8]), false);
    }
}

#[test]
fn cubes_grow_to_cubes() {
    for program in [mesh, torus, wavefront] {
        check(program, &[grid(&[2, 2, 2]), grid(&[4, 4, 4])], &grid(&[6, 6, 6]), false);
    }
}

#[test]
fn three_recordings_tell_grids_of_other_shapes_apart() {
    check(mesh, &[grid(&[3, 4]), grid(&[4, 5]), grid(&[6, 4])], &grid(&[7, 8]), true);
}

/// A ring in which each rank passes on what it gets, as often as there are other ranks, in each of three steps.
fn ring(rank: Rank, grid: &Grid) -> Vec<Event> {
    let near = |by| neighbour(rank, grid, 0, by, true).unwrap();
    let mut body = vec![allreduce(CommId::WORLD, 8)];
    for _ in 0..3 {
        for _ in 1..grid.places() {
            let message = (Some(outgoing(near(1), 0, 100)), Some(incoming(near(-1), 0, 100)));
            body.extend([compute(50), Event::Sendrecv(message.0, message.1)]);
        }
        body.push(allreduce(CommId::WORLD, 8));
    }
    whole(body)
}

/// Planes that a pipeline passes on, as many as a rank has.
fn planes(rank: Rank, grid: &Grid) -> Vec<Event> {
    let mut body = Vec::new();
    for _ in 0..240 / grid.side(0) {
        body.extend(neighbour(rank, grid, 0, -1, false).map(|from| recv(from, 0, 64)));
        body.extend([compute(10), Event::Collective(Collective::barrier(CommId::SELF), Completion::Blocking)]);
        body.extend(neighbour(rank, grid, 0, 1, false).map(|to| send(to, 0, 64)));
    }
    whole(body)
}

#[test]
fn numbers_of_iterations_follow_the_sides() {
    check(ring, &[grid(&[4]), grid(&[7])], &grid(&[13]), false);
    check(ring, &[grid(&[12]), grid(&[6]), grid(&[3])], &grid(&[24]), false);
    check(planes, &[grid(&[3]), grid(&[6])], &grid(&[12]), false);
    check(planes, &[grid(&[4]), grid(&[8])], &grid(&[5]), false);
}

/// Messages from the leaves of a binary tree to its root.
fn tree(rank: Rank, grid: &Grid) -> Vec<Event> {
    let Rank(me) = rank;
    let children = [2 * me + 1, 2 * me + 2].into_iter().filter(|child| *child < grid.places());
    let mut body: Vec<Event> = children.map(|child| recv(Rank(child), 0, 8)).collect();
    body.extend((me > 0).then(|| send(Rank((me.max(1) - 1) / 2), 0, 8)));
    whole(body)
}

/// Messages to a rank at a distance that depends on the number of ranks in a way of its own.
fn scattered(Rank(rank): Rank, grid: &Grid) -> Vec<Event> {
    whole(vec![send(Rank((rank * 5 + 3) % grid.places()), 0, 8)])
}

/// Tags that name the sender.
fn tagged(rank: Rank, grid: &Grid) -> Vec<Event> {
    whole(vec![send(neighbour(rank, grid, 0, 1, true).unwrap(), rank.0 as i32, 8)])
}

fn communicator(members: Vec<Rank>) -> Vec<Event> {
    let group = Group { id: CommId(2), members, remote: Vec::new(), tag: None };
    whole(vec![Event::CommCreate(CommCall::Split, CommId::WORLD, Some(group)), allreduce(CommId(2), 8)])
}

/// Communicators of two neighbours: the rows of a grid that is two ranks wide.
fn pairs(Rank(rank): Rank, _: &Grid) -> Vec<Event> {
    communicator([rank & !1, rank | 1].map(Rank).to_vec())
}

/// A communicator of all ranks, the last first.
fn reversed(_: Rank, grid: &Grid) -> Vec<Event> {
    communicator((0..grid.places()).rev().map(Rank).collect())
}

/// More barriers on more ranks, by no function of a side.
fn barriers(_: Rank, grid: &Grid) -> Vec<Event> {
    let barrier = Event::Collective(Collective::barrier(CommId::WORLD), Completion::Blocking);
    whole(vec![barrier; grid.places().ilog2() as usize * 3 / 2 + 2])
}

/// The root is the first rank, also for ranks that are alone at their kind of place in the recordings.
fn rooted(rank: Rank, grid: &Grid) -> Vec<Event> {
    let (kind, root, send) = (CollectiveKind::Bcast, Some(Rank(0)), Volumes::Each(Bytes(100)));
    let bcast = Collective { kind, root, send, ..Collective::barrier(CommId::WORLD) };
    let mut events = wavefront(rank, grid);
    events.insert(1, Event::Collective(bcast, Completion::Blocking));
    events
}

#[test]
fn a_root_is_at_a_place_and_a_peer_at_a_distance() {
    check(rooted, &[grid(&[2, 2]), grid(&[3, 2])], &grid(&[6, 2]), false);
}

#[test]
fn a_grid_may_be_two_ranks_wide_if_all_make_the_same_calls() {
    check(pairs, &[grid(&[2, 2]), grid(&[2, 8])], &grid(&[2, 32]), false);
}

#[test]
fn a_refusal_says_where_and_why() {
    let mut said = String::new();
    let mut refuse = |program: Program, recorded: &[Grid], target: &Grid, named: bool| {
        said += &refusal(program, recorded, target, named);
        said.push('\n');
    };
    let (four, sixteen, many) = (grid(&[4]), grid(&[16]), grid(&[64]));
    for program in [tree, scattered, tagged, reversed, barriers] {
        refuse(program, &[four.clone(), sixteen.clone()], &many, false);
    }
    refuse(mesh, &[grid(&[4, 4]), grid(&[8, 8])], &grid(&[17]), false);
    refuse(mesh, &[grid(&[2, 2]), grid(&[2, 3])], &grid(&[6, 7]), true);
    refuse(mesh, &[grid(&[4, 4]), grid(&[8, 8])], &grid(&[16, 8]), true);
    refuse(stages, &[grid(&[4, 4]), grid(&[8, 8])], &grid(&[12, 12]), true);
    refuse(mesh, &[grid(&[4, 4])], &many, false);
    refuse(mesh, &[grid(&[4, 4]), sixteen], &many, false);
    insta::assert_snapshot!(said);
}
