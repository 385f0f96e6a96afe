//! Paje's format, which ViTE and `pj_dump` read (B. de Oliveira Stein, J. Chassin de Kergommeaux, G. Mounié, "Pajé trace file
//! format", 2003; L. M. Schnorr, "Pajé trace file", 2014).
//!
//! A container for each rank, in one for the program; a state of type `S`; a link of type `M` for each message, with
//! its bytes; a variable of the program, `V`, for the bytes of all messages in transit. A file begins with the
//! definitions of its event types, and events refer to earlier definitions by alias.

use std::collections::HashMap;
use std::io::{self, Write};

use titr_common::event::{Activity, Rank};
use titr_common::output::OutputFile;
use titr_common::time::Time;
use titr_common::timeline::{Arrow, Series, State, Subject, TimelineEvent, TimelineWriter};

use super::{Decimal, TimelineFormat};

/// Events by their number, with their fields.
const HEADER: &str = "\
%EventDef PajeDefineContainerType 0
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineStateType 1
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineLinkType 2
% Alias string
% Type string
% StartContainerType string
% EndContainerType string
% Name string
%EndEventDef
%EventDef PajeDefineEntityValue 3
% Alias string
% Type string
% Name string
% Color color
%EndEventDef
%EventDef PajeCreateContainer 4
% Time date
% Alias string
% Type string
% Container string
% Name string
%EndEventDef
%EventDef PajeDestroyContainer 5
% Time date
% Type string
% Name string
%EndEventDef
%EventDef PajeSetState 6
% Time date
% Type string
% Container string
% Value string
%EndEventDef
%EventDef PajeStartLink 7
% Time date
% Type string
% Container string
% Value string
% StartContainer string
% Key string
% Bytes int
%EndEventDef
%EventDef PajeEndLink 8
% Time date
% Type string
% Container string
% Value string
% EndContainer string
% Key string
%EndEventDef
%EventDef PajeDefineVariableType 9
% Alias string
% Type string
% Name string
% Color color
%EndEventDef
%EventDef PajeSetVariable 10
% Time date
% Type string
% Container string
% Value double
%EndEventDef
0 P 0 program
0 R P rank
1 S R state
2 M P R R message
9 V P \"bytes in flight\" \"0.3 0.3 0.3\"
3 m M message \"0.1 0.1 0.1\"
3 c M \"message of a collective\" \"0.6 0.5 0.7\"
4 0 p P 0 program
";

pub(super) const PAJE: TimelineFormat = TimelineFormat {
    name: "paje",
    viewers: "ViTE and pj_dump",
    begin: |path, subject| Ok(Box::new(Paje::new(OutputFile::create(path)?, subject)?)),
};

/// A Paje file.
struct Paje {
    out: OutputFile,
    /// The alias of each state that there was.
    aliases: HashMap<&'static str, usize>,
}

impl Paje {
    /// Begins a file.
    fn new(mut out: OutputFile, subject: &Subject) -> io::Result<Self> {
        out.write_all(HEADER.as_bytes())?;
        for rank in subject.shown() {
            writeln!(out, "4 0 r{} R p \"{}\"", rank.0, subject.rank_name(rank))?;
        }
        Ok(Self { out, aliases: HashMap::new() })
    }

    fn alias(&mut self, state: State) -> io::Result<usize> {
        let next = self.aliases.len();
        let alias = *self.aliases.entry(state.word).or_insert(next);
        if alias == next {
            writeln!(self.out, "3 s{alias} S \"{}\" \"{}\"", state.name(), color(state.activity))?;
        }
        Ok(alias)
    }
}

/// The colour of an activity: red, green and blue, each from 0 to 1.
fn color(activity: Activity) -> &'static str {
    match activity {
        Activity::Compute => "0.3 0.7 0.3",
        Activity::Send => "0.2 0.4 0.8",
        Activity::Recv => "0.9 0.6 0.1",
        Activity::Wait => "0.8 0.2 0.2",
        Activity::File => "0.5 0.4 0.2",
        Activity::Collective => "0.6 0.3 0.7",
    }
}

impl TimelineWriter for Paje {
    fn event(&mut self, at: Time, event: TimelineEvent) -> io::Result<()> {
        let at = Decimal(at);
        let kind = |arrow: Arrow| if arrow.in_collective { 'c' } else { 'm' };
        match event {
            TimelineEvent::Enter(Rank(rank), state) => {
                let alias = self.alias(state)?;
                writeln!(self.out, "6 {at} S r{rank} s{alias}")
            }
            TimelineEvent::Leave(Rank(rank)) => writeln!(self.out, "5 {at} R r{rank}"),
            TimelineEvent::Depart(arrow) => {
                let Arrow { key, from, bytes, .. } = arrow;
                writeln!(self.out, "7 {at} M p {} r{} {key} {}", kind(arrow), from.0, bytes.0)
            }
            TimelineEvent::Arrive(arrow) => {
                writeln!(self.out, "8 {at} M p {} r{} {}", kind(arrow), arrow.to.0, arrow.key)
            }
            TimelineEvent::InFlight(bytes) => writeln!(self.out, "10 {at} V p {}", bytes.0),
        }
    }

    /// `pj_dump` rejects records that are not in order of time.
    fn series(&mut self, _: &Series) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, end: Time) -> io::Result<()> {
        writeln!(self.out, "5 {} P p", Decimal(end))?;
        self.out.finish()
    }
}
