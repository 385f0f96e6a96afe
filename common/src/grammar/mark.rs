//! Marks of a position in a program, as text.
//!
//! | line, after the rank | event |
//! | --- | --- |
//! | `region_begin NAME`, `region_end NAME` | a region named by the program |
//! | `pcontrol LEVEL` | `MPI_Pcontrol` |
//! | `at SITE` | the call site of the next call, and of the computation before it |
//! | `part_begin`, `part_end` | the beginning and end of the traced part of the program |
//! | `unrecorded CALL…` | calls that are not in the trace: `sent COMM RANK TAG NUMBER`, `received COMM RANK TAG NUMBER`, `collective COMM NUMBER`, `start REQUEST NUMBER`, `fence WINDOW NUMBER`, `access WINDOW TARGET NUMBER`, `exposure WINDOW ORIGIN NUMBER`, `file FILE NUMBER`, `moved FILE DISTANCE` |
//! | `call_site SITE PLACE…` | the stack of that call site, innermost first: `MODULE+OFFSET`, the offset in hexadecimal, or a name |
//!
//! In the name of a place, a blank is written as a no-break space (U+00A0), so that the name is one word.

use super::ParseError;
use super::fields::Fields;
use super::line::Line;
use crate::event::{CallSiteId, CodePlace, FileId, Mark, Unrecorded, UnrecordedCall, WinId};

/// The blank in the name of a place.
const NO_BREAK_SPACE: char = '\u{a0}';

impl Mark {
    /// The word of the grammar.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::RegionBegin(_) => "region_begin",
            Self::RegionEnd(_) => "region_end",
            Self::Control(_) => "pcontrol",
            Self::CallSite(_) => "at",
            Self::CallStack(..) => "call_site",
            Self::PartBegin => "part_begin",
            Self::PartEnd => "part_end",
            Self::Unrecorded(_) => "unrecorded",
        }
    }
}

/// Appends the whole event.
pub(super) fn write<'l, 'o>(line: &'l mut Line<'o>, event: &Mark) -> &'l mut Line<'o> {
    let line = line.word(event.word());
    match event {
        Mark::RegionBegin(name) | Mark::RegionEnd(name) => line.word(name),
        Mark::Control(level) => line.signed(*level),
        Mark::PartBegin | Mark::PartEnd => line,
        Mark::Unrecorded(calls) => {
            calls.iter().for_each(|calls| write_unrecorded(line, calls));
            line
        }
        Mark::CallSite(site) => line.number(u64::from(site.0)),
        Mark::CallStack(site, stack) => {
            line.number(u64::from(site.0));
            for place in stack {
                match place {
                    CodePlace::Address { module, offset } => line.word(&format!("{module}+{offset:x}")),
                    CodePlace::Named(name) => line.word(&name.replace(char::is_whitespace, "\u{a0}")),
                };
            }
            line
        }
    }
}

fn write_unrecorded(line: &mut Line<'_>, Unrecorded { call, number }: &Unrecorded) {
    let line = match *call {
        UnrecordedCall::Sent(comm, to, tag) => line.word("sent").number(u64::from(comm.0)).rank(to).tag(tag),
        UnrecordedCall::Received(comm, from, tag) => {
            line.word("received").number(u64::from(comm.0)).rank(from).tag(tag)
        }
        UnrecordedCall::Collective(comm) => line.word("collective").number(u64::from(comm.0)),
        UnrecordedCall::Start(request) => line.word("start").request(request),
        UnrecordedCall::Fence(win) => line.word("fence").number(u64::from(win.0)),
        UnrecordedCall::AccessEpoch(win, rank) => line.word("access").number(u64::from(win.0)).rank(rank),
        UnrecordedCall::ExposureEpoch(win, rank) => line.word("exposure").number(u64::from(win.0)).rank(rank),
        UnrecordedCall::File(file) => line.word("file").number(u64::from(file.0)),
        UnrecordedCall::Moved(file) => line.word("moved").number(u64::from(file.0)),
    };
    line.number(*number);
}

fn read_unrecorded(f: &mut Fields) -> Result<Unrecorded, ParseError> {
    let call = match f.word("a kind of call")? {
        b"sent" => UnrecordedCall::Sent(f.comm()?, f.rank("a destination")?, f.tag()?),
        b"received" => UnrecordedCall::Received(f.comm()?, f.rank("a source")?, f.tag()?),
        b"collective" => UnrecordedCall::Collective(f.comm()?),
        b"start" => UnrecordedCall::Start(f.request()?),
        b"fence" => UnrecordedCall::Fence(f.small("a window").map(WinId)?),
        b"access" => UnrecordedCall::AccessEpoch(f.small("a window").map(WinId)?, f.rank("a target")?),
        b"exposure" => UnrecordedCall::ExposureEpoch(f.small("a window").map(WinId)?, f.rank("an origin")?),
        b"file" => UnrecordedCall::File(f.small("a file").map(FileId)?),
        b"moved" => UnrecordedCall::Moved(f.small("a file").map(FileId)?),
        _ => {
            return Err(f.error(
                "expected sent, received, collective, start, fence, access, exposure, file or moved, each a kind of call",
            ));
        }
    };
    Ok(Unrecorded { call, number: f.number("how many calls")? })
}

/// The event that `word` names; `None` if it is none of these.
pub(super) fn read(word: &[u8], f: &mut Fields) -> Result<Option<Mark>, ParseError> {
    Ok(Some(match word {
        b"region_begin" => Mark::RegionBegin(f.text("the name of a region")?.into()),
        b"region_end" => Mark::RegionEnd(f.text("the name of a region")?.into()),
        b"pcontrol" => Mark::Control(f.signed("a level")?),
        b"part_begin" => Mark::PartBegin,
        b"part_end" => Mark::PartEnd,
        b"unrecorded" => {
            let mut calls = Vec::new();
            while !f.at_end() {
                calls.push(read_unrecorded(f)?);
            }
            Mark::Unrecorded(calls.into())
        }
        b"at" => Mark::CallSite(site(f)?),
        b"call_site" => {
            let site = site(f)?;
            let mut stack = vec![place(f)?];
            while !f.at_end() {
                stack.push(place(f)?);
            }
            Mark::CallStack(site, stack.into())
        }
        _ => return Ok(None),
    }))
}

fn site(f: &mut Fields) -> Result<CallSiteId, ParseError> {
    f.small("the number of a call site").map(CallSiteId)
}

/// A place is an address wherever it can be.
fn place(f: &mut Fields) -> Result<CodePlace, ParseError> {
    let text = f.text("a place in the code, as 0+1a2f or a name")?;
    let address = || {
        let (module, offset) = text.split_once('+')?;
        let is_hexadecimal = offset.bytes().all(|digit| digit.is_ascii_hexdigit());
        let offset = u64::from_str_radix(offset, 16).ok().filter(|_| is_hexadecimal)?;
        Some(CodePlace::Address { module: module.parse().ok()?, offset })
    };
    Ok(address().unwrap_or_else(|| CodePlace::Named(text.replace(NO_BREAK_SPACE, " ").into())))
}
