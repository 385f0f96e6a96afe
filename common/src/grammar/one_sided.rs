//! Windows, and accesses to them, as text.
//!
//! | line, after the rank | event |
//! | --- | --- |
//! | `win_create WIN BYTES`, also `win_allocate win_allocate_shared win_create_dynamic` | a window is created; preceded by `on C` |
//! | `win_free WIN` | |
//! | `win_fence WIN [ASSERTS]`, `win_lock WIN RANKS [ASSERTS]`, `win_lock_shared` … | a call that separates accesses |
//! | `put WIN TARGET THERE BACK [REQ]`, also `get accumulate get_accumulate fetch_and_op compare_and_swap` | bytes to the target and back |
//!
//! `ASSERTS` are any of `nocheck nostore noput noprecede nosucceed`. The *n*-th window that a rank creates on a
//! communicator is the *n*-th of every other member, independent of its number.

use super::ParseError;
use super::fields::Fields;
use super::line::Line;
use super::words::words;
use super::world_of;
use crate::event::{
    Access, AccessOp, Assert, Asserts, CommId, OneSided, Rank, Synchronisation, WinCall, WinId, WinSync,
};
use crate::units::Bytes;

words! {
    WinCall {
        Create = "win_create",
        Allocate = "win_allocate",
        AllocateShared = "win_allocate_shared",
        CreateDynamic = "win_create_dynamic",
    }
}

words! {
    WinSync {
        Fence = "win_fence",
        Post = "win_post",
        Start = "win_start",
        Complete = "win_complete",
        Wait = "win_wait",
        Test = "win_test",
        Lock = "win_lock",
        LockShared = "win_lock_shared",
        LockAll = "win_lock_all",
        Unlock = "win_unlock",
        UnlockAll = "win_unlock_all",
        Flush = "win_flush",
        FlushAll = "win_flush_all",
        FlushLocal = "win_flush_local",
        FlushLocalAll = "win_flush_local_all",
    }
}

words! {
    Assert {
        NoCheck = "nocheck",
        NoStore = "nostore",
        NoPut = "noput",
        NoPrecede = "noprecede",
        NoSucceed = "nosucceed",
    }
}

words! {
    AccessOp {
        Put = "put",
        Get = "get",
        Accumulate = "accumulate",
        GetAccumulate = "get_accumulate",
        FetchAndOp = "fetch_and_op",
        CompareAndSwap = "compare_and_swap",
    }
}

impl OneSided {
    /// The word of the grammar.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Create(call, ..) => call.word(),
            Self::Free(_) => "win_free",
            Self::Sync(sync) => sync.call.word(),
            Self::Access(access) => access.op.word(),
        }
    }
}

/// Appends the whole event.
pub(super) fn write<'l, 'o>(line: &'l mut Line<'o>, event: &OneSided) -> &'l mut Line<'o> {
    match event {
        OneSided::Create(call, comm, win, bytes) => {
            line.on(*comm).word(call.word()).number(u64::from(win.0)).bytes(*bytes)
        }
        OneSided::Free(win) => line.word(event.word()).number(u64::from(win.0)),
        OneSided::Sync(Synchronisation { call, win, ranks, asserts }) => {
            line.word(call.word()).number(u64::from(win.0));
            if !ranks.is_empty() {
                line.list(ranks.iter().map(|rank| rank.0));
            }
            asserts.iter().fold(line, |line, assert| line.word(assert.word()))
        }
        &OneSided::Access(Access { op, win, target, there, back, request }) => {
            line.word(op.word()).number(u64::from(win.0)).rank(target).bytes(there).bytes(back);
            request.into_iter().fold(line, Line::request)
        }
    }
}

/// The event that `word` names in a world of `world` ranks; `None` if it is none of these.
pub(super) fn read(word: &[u8], comm: CommId, world: u32, f: &mut Fields) -> Result<Option<OneSided>, ParseError> {
    if let Some(call) = WinCall::of_word(word) {
        return Ok(Some(OneSided::Create(call, comm, window(f)?, f.bytes("a number of bytes", Bytes(1))?)));
    }
    if word == b"win_free" {
        return Ok(Some(OneSided::Free(window(f)?)));
    }
    if let Some(call) = WinSync::of_word(word) {
        let win = window(f)?;
        let mut asserts = asserts(f);
        let mut ranks = Vec::new();
        if asserts == Asserts::default() && !f.at_end() {
            ranks = f.list("a list of ranks", Rank)?;
            if let Some(stranger) = ranks.iter().find(|rank| rank.0 >= world) {
                return Err(f.error(format!("rank {} is not in {}", stranger.0, world_of(world))));
            }
            asserts = self::asserts(f);
        }
        return Ok(Some(OneSided::Sync(Synchronisation { call, win, ranks, asserts })));
    }
    let Some(op) = AccessOp::of_word(word) else { return Ok(None) };
    let win = window(f)?;
    let target = f.rank_of("a target rank", world)?;
    let (there, back) = (f.bytes("a number of bytes", Bytes(1))?, f.bytes("a number of bytes", Bytes(1))?);
    let request = if f.at_end() { None } else { Some(f.request()?) };
    Ok(Some(OneSided::Access(Access { op, win, target, there, back, request })))
}

/// The words of promises that come next.
fn asserts(f: &mut Fields) -> Asserts {
    std::iter::from_fn(|| f.accept_known(Assert::of_word)).collect()
}

fn window(f: &mut Fields) -> Result<WinId, ParseError> {
    f.small("the number of a window").map(WinId)
}
