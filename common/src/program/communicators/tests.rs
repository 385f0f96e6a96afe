use crate::event::{CollectiveKind, Tag};
use crate::units::Bytes;

use super::*;

fn group(id: u32, members: &[u32], remote: &[u32]) -> Group {
    let ranks = |list: &[u32]| list.iter().copied().map(Rank).collect();
    Group { id: CommId(id), members: ranks(members), remote: ranks(remote), tag: None }
}

/// A duplicate of the world, or a communicator between two groups.
fn create(all: &mut Communicators, rank: u32, group: &Group) -> Result<CommIndex, Fault> {
    let call = if group.remote.is_empty() { CommCall::Dup } else { CommCall::IntercommCreate };
    all.create(Rank(rank), call, CommId::WORLD, group)
}

#[test]
fn the_nth_of_the_same_members_is_the_same_whatever_it_is_called() {
    let mut all = Communicators::new(3);
    let first = create(&mut all, 0, &group(2, &[0, 1], &[])).unwrap();
    let second = create(&mut all, 0, &group(3, &[0, 1], &[])).unwrap();
    let reversed = create(&mut all, 0, &group(4, &[1, 0], &[])).unwrap();
    assert_ne!(first, second);
    assert_ne!(first, reversed);
    assert_eq!(create(&mut all, 1, &group(7, &[1, 0], &[])).unwrap(), reversed);
    assert_eq!(create(&mut all, 1, &group(8, &[0, 1], &[])).unwrap(), first);
    assert_eq!(create(&mut all, 1, &group(9, &[0, 1], &[])).unwrap(), second);
    assert_eq!(all.find(Rank(1), CommId(9)).unwrap(), second);
    assert!(matches!(all.find(Rank(2), CommId(9)), Err(Fault::NoSuchCommunicator(_))));
}

/// Two threads may create communicators of the same members in any order, from different parents or in calls that only
/// the members of the new communicator make.
#[test]
fn those_of_different_parents_and_origins_count_for_themselves() {
    let mut all = Communicators::new(2);
    let made = |all: &mut Communicators, rank, call, parent, id, tag: Option<i32>| {
        let group = Group { tag: tag.map(Tag), ..group(id, &[0, 1], &[]) };
        all.create(Rank(rank), call, CommId(parent), &group).unwrap()
    };
    let [left, right] = [2, 3].map(|id| made(&mut all, 0, CommCall::Dup, 0, id, None));
    assert_eq!([2, 3].map(|id| made(&mut all, 1, CommCall::Dup, 0, id, None)), [left, right]);

    let calls = [
        (CommCall::Dup, 2, None),
        (CommCall::Split, 3, None),
        (CommCall::CreateGroup, 2, Some(7)),
        (CommCall::CreateGroup, 2, Some(8)),
        (CommCall::CreateGroup, 3, Some(7)),
    ];
    let mine = calls.map(|(call, parent, tag)| made(&mut all, 0, call, parent, 4, tag));
    let mut theirs = calls;
    theirs.reverse();
    let mut theirs = theirs.map(|(call, parent, tag)| made(&mut all, 1, call, parent, 4, tag));
    theirs.reverse();
    assert_eq!(mine, theirs);
    assert!((1..mine.len()).all(|at| !mine[..at].contains(&mine[at])));
}

#[test]
fn the_two_groups_of_an_inter_communicator_see_one() {
    let mut all = Communicators::new(3);
    let left = create(&mut all, 2, &group(2, &[2], &[0, 1])).unwrap();
    let right = create(&mut all, 0, &group(5, &[0, 1], &[2])).unwrap();
    assert_eq!(left, right);
    assert!(all.get(left).members.is_inter());
    assert_eq!(all.get(left).members.describe(), "the communicator between ranks 0, 1 and 2");
}

#[test]
fn what_all_have_freed_is_gone_and_its_context_is_not_given_again() {
    let mut all = Communicators::new(2);
    let mut contexts = Vec::new();
    for _ in 0..3 {
        for rank in [Rank(0), Rank(1)] {
            let index = create(&mut all, rank.0, &group(2, &[0, 1], &[])).unwrap();
            contexts.push(all.get(index).context.0);
        }
        for rank in [Rank(0), Rank(1)] {
            all.free(rank, CommId(2)).unwrap();
        }
    }
    assert_eq!(contexts, [2, 2, 4, 4, 6, 6]);
    assert_eq!(all.all.len(), 1);
}

#[test]
fn self_is_each_ranks_own() {
    let mut all = Communicators::new(2);
    let mine = all.find(Rank(0), CommId::SELF).unwrap();
    assert_eq!(all.find(Rank(0), CommId::SELF).unwrap(), mine);
    assert_ne!(all.find(Rank(1), CommId::SELF).unwrap(), mine);
}

#[test]
fn collectives_that_do_not_belong_together_name_the_ranks() {
    let mut all = Communicators::new(3);
    let barrier = Collective::barrier(CommId::WORLD);
    let bcast = |root| {
        let (kind, root, send) = (CollectiveKind::Bcast, Some(Rank(root)), Volumes::Each(Bytes(1)));
        Collective { kind, root, send, ..Collective::barrier(CommId::WORLD) }
    };
    all.enter(CommIndex::WORLD, Rank(0), &barrier).unwrap();
    all.enter(CommIndex::WORLD, Rank(0), &bcast(1)).unwrap();
    all.enter(CommIndex::WORLD, Rank(2), &barrier).unwrap();
    let error = all.enter(CommIndex::WORLD, Rank(2), &bcast(2)).unwrap_err().to_string();
    assert_eq!(
        error,
        "bcast with root 2 is this rank's collective number 2 on the world, where rank 0 called bcast with root 1"
    );
}

#[test]
fn impossible_members_are_refused() {
    let mut all = Communicators::new(2);
    assert!(matches!(create(&mut all, 0, &group(2, &[0, 0], &[])), Err(Fault::NamedTwice(Rank(0)))));
    assert!(matches!(create(&mut all, 0, &group(2, &[1], &[])), Err(Fault::NotAMember { rank: Rank(0), .. })));
    assert!(matches!(create(&mut all, 0, &group(2, &[0, 2], &[])), Err(Fault::NoSuchRank { rank: Rank(2), world: 2 })));
}
