//! The tasks of a rank of a GOAL text.

use std::collections::VecDeque;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use smallvec::SmallVec;
use titr_common::event::Event;
use titr_common::trace::{EventSource, LocatedEvents, Location, TraceError};

use super::super::{GoalOperation, TaskWriter};
use super::labels::{Label, Labels};
use super::lines::{TextLines, error};
use super::statement::{Statement, parse};
use super::survey::RankPart;

/// The number of operations that are appended at a time.
const BATCH: usize = 256;

/// The tasks of a rank. An operation becomes a task when all statements that name it were read, and all that it requires
/// are tasks.
pub(super) struct TextSource {
    lines: TextLines,
    part: RankPart,
    writer: TaskWriter,
    labels: Labels,
    /// The operations from the number `first` on.
    operations: VecDeque<Waiting>,
    first: u64,
    /// The number of the first operation that a further statement may name.
    complete: u64,
    /// The number of statements that were read.
    statements: u64,
    /// Operations that are ready to become tasks.
    ready: VecDeque<u64>,
    /// The number of operations that are no tasks yet.
    open: u64,
    is_read: bool,
    is_ended: bool,
}

struct Waiting {
    operation: GoalOperation,
    label: Label,
    line: u64,
    /// The number of its statement.
    statement: u64,
    /// The number of operations that it requires and that are no tasks yet; one more until it is complete.
    missing: u32,
    /// The tasks that have to end and that have to begin before it.
    ended: SmallVec<[u64; 2]>,
    begun: SmallVec<[u64; 2]>,
    /// The operations that require this one, and whether only to begin.
    dependents: SmallVec<[(u64, bool); 2]>,
    is_task: bool,
}

impl TextSource {
    pub(super) fn new(path: &Path, file: &Arc<File>, part: RankPart) -> Self {
        Self {
            lines: TextLines::new(path, file, part.place, part.line),
            part,
            writer: TaskWriter::default(),
            labels: Labels::default(),
            operations: VecDeque::new(),
            first: 0,
            complete: 0,
            statements: 0,
            ready: VecDeque::new(),
            open: 0,
            is_read: false,
            is_ended: false,
        }
    }

    fn operation(&mut self, number: u64) -> Option<&mut Waiting> {
        let at = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.operations.get_mut(at)
    }

    /// Reads a statement.
    fn statement(&mut self) -> Result<(), TraceError> {
        let Self { lines, labels, .. } = self;
        let statement = match lines.next()? {
            // The survey has found the end and no fault, so the file has changed since.
            None => Err("the file ends here, and did not before".to_owned()),
            Some(line) => parse(line),
        };
        let statement = match statement {
            Ok(statement) => statement,
            Err(what) => return Err(self.lines.error(what)),
        };
        match statement {
            Statement::Blank => return Ok(()),
            Statement::Operation(label, operation) => {
                let number = self.first + self.operations.len() as u64;
                if !label.is_empty() {
                    labels.insert(label, number);
                }
                let label = Label::of(label);
                let line = lines.line();
                self.operations.push_back(Waiting {
                    operation,
                    label,
                    line,
                    statement: self.statements,
                    missing: 1,
                    ended: SmallVec::new(),
                    begun: SmallVec::new(),
                    dependents: SmallVec::new(),
                    is_task: false,
                });
                self.open += 1;
            }
            Statement::Requires(requires) => {
                let found = labels.get(requires.dependent).zip(labels.get(requires.on));
                let Some((dependent, on)) = found else {
                    return Err(self.lines.error("the file has changed since it was opened"));
                };
                let is_begun = requires.is_begun;
                if let Some(on) = self.operation(on) {
                    on.dependents.push((dependent, is_begun));
                }
                if let Some(dependent) = self.operation(dependent) {
                    dependent.missing += 1;
                }
            }
            Statement::End | Statement::Rank(_) | Statement::Ranks(_) => self.is_read = true,
        }
        self.statements += 1;
        let reach = self.part.reach;
        let is_complete = |statement: u64, this: &Self| this.is_read || statement + reach < this.statements;
        while let Some(waiting) = self.operation(self.complete)
            && let statement = waiting.statement
            && is_complete(statement, self)
        {
            self.complete();
        }
        Ok(())
    }

    /// No further statement names the first operation that is not complete.
    fn complete(&mut self) {
        let number = self.complete;
        self.complete += 1;
        let Some(waiting) = self.operation(number) else { return };
        waiting.missing -= 1;
        let (is_ready, label) = (waiting.missing == 0, std::mem::replace(&mut waiting.label, Label::None));
        self.labels.remove(&label);
        if is_ready {
            self.ready.push_back(number);
        }
    }

    /// Appends an operation whose requirements are tasks.
    fn task(&mut self, number: u64, events: &mut LocatedEvents) -> Result<(), TraceError> {
        let at = usize::try_from(number - self.first).unwrap_or(usize::MAX);
        let Some(waiting) = self.operations.get_mut(at) else { return Ok(()) };
        waiting.is_task = true;
        let Waiting { operation, line, .. } = *waiting;
        let requirements = [waiting.ended.as_slice(), waiting.begun.as_slice()];
        let dependents = std::mem::take(&mut waiting.dependents);
        let count = u32::try_from(dependents.len()).unwrap_or(u32::MAX);
        let Some(task) = self.writer.task(events, (operation.event(), operation.core), count, requirements, Some(line))
        else {
            let what = "more than 4294967295 operations lie between this one and one that it requires";
            return Err(error(self.lines.path(), line, what));
        };
        for (dependent, is_begun) in dependents {
            let Some(waiting) = self.operation(dependent) else { continue };
            let list = if is_begun { &mut waiting.begun } else { &mut waiting.ended };
            list.push(task);
            waiting.missing -= 1;
            if waiting.missing == 0 {
                self.ready.push_back(dependent);
            }
        }
        self.open -= 1;
        while self.operations.front().is_some_and(|first| first.is_task) {
            self.operations.pop_front();
            self.first += 1;
        }
        Ok(())
    }
}

impl EventSource for TextSource {
    fn read(&mut self, events: &mut LocatedEvents) -> Result<bool, TraceError> {
        if self.is_ended {
            return Ok(false);
        }
        if self.writer.tasks == 0 {
            self.writer.init(events, self.part.roots);
        }
        for _ in 0..BATCH {
            while self.ready.is_empty() && !self.is_read {
                self.statement()?;
            }
            let Some(number) = self.ready.pop_front() else { break };
            self.task(number, events)?;
        }
        if self.ready.is_empty() && self.is_read {
            if self.open > 0 {
                return Err(self.circle());
            }
            events.push(Event::Finalize, Location { line: Some(self.lines.line()), ..Location::default() });
            self.is_ended = true;
        }
        Ok(true)
    }

    fn path(&self) -> Option<PathBuf> {
        Some(self.lines.path().to_owned())
    }
}

impl TextSource {
    /// An error at the first operation that requires itself through others, or comes after such ones.
    fn circle(&self) -> TraceError {
        let line = self.operations.iter().find(|waiting| !waiting.is_task).map_or(0, |waiting| waiting.line);
        let what = format!(
            "this operation requires itself through others, or requires ones that do: {} of the rank never begin",
            titr_common::format::counted(self.open, "operation", "operations")
        );
        error(self.lines.path(), line, what)
    }
}
