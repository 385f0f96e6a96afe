//! Tasks as text: `task CORE DEPENDENTS ENDED [BEGUN]`, before the line of the event.
//!
//! `ENDED` and `BEGUN` are lists of tasks that have to end, and to begin, before this one begins; `1` is the task before.

use super::ParseError;
use super::fields::Fields;
use super::line::Line;
use crate::event::Task;

/// The word of the grammar.
pub(super) const WORD: &str = "task";

/// Appends the word and the whole task.
pub(super) fn write<'l, 'o>(line: &'l mut Line<'o>, task: &Task) -> &'l mut Line<'o> {
    line.word(WORD).number(u64::from(task.core)).number(u64::from(task.dependents)).list(task.ended.iter().copied());
    if task.begun.is_empty() { line } else { line.list(task.begun.iter().copied()) }
}

/// Reads what follows the word.
pub(super) fn read(f: &mut Fields) -> Result<Task, ParseError> {
    let (core, dependents) = (f.small("a core")?, f.small("a number of dependents")?);
    let ended = tasks(f)?;
    let begun = if f.at_end() { Box::default() } else { tasks(f)? };
    Ok(Task { core, dependents, ended, begun })
}

fn tasks(f: &mut Fields) -> Result<Box<[u32]>, ParseError> {
    let column = f.column();
    let list = f.list("a list of earlier tasks", |back| back)?;
    if list.contains(&0) {
        return Err(ParseError { column, what: "a task depends on earlier tasks: 1 is the one before".to_owned() });
    }
    Ok(list.into())
}
