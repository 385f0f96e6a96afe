//! The first reading of a text: where each rank is, whether every statement is right, and how far apart the statements
//! are that belong together.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use titr_common::trace::TraceError;

use super::labels::Labels;
use super::lines::TextLines;
use super::statement::{Requires, Statement, parse, shown};

/// A world has no more ranks: some memory is needed for each.
const MOST_RANKS: u64 = 1 << 24;

/// What the first reading finds.
#[derive(Debug, Default)]
pub(super) struct GoalSurvey {
    pub(super) ranks: Vec<RankPart>,
    /// The highest number of a network interface, and one more.
    pub(super) interfaces: u32,
}

/// A rank's part of the file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RankPart {
    /// The place after `rank R {`.
    pub(super) place: u64,
    /// The number of that line.
    pub(super) line: u64,
    /// The number of operations without requirements.
    pub(super) roots: u32,
    /// The largest number of statements from an operation to the last one that names it.
    pub(super) reach: u64,
}

/// The statements of a rank.
#[derive(Default)]
struct RankSurvey {
    labels: Labels,
    /// The statement of each operation, and whether the operation has requirements.
    operations: Vec<(u32, bool)>,
    statements: u32,
    reach: u32,
}

impl GoalSurvey {
    pub(super) fn of(path: &Path, file: &Arc<File>) -> Result<Self, TraceError> {
        let mut lines = TextLines::new(path, file, 0, 0);
        let Some(ranks) = world(&mut lines)? else {
            return Err(lines.error("'num_ranks' and the number of ranks are expected first"));
        };
        let mut survey = Self { ranks: Vec::new(), interfaces: 1 };
        let mut of_rank = RankSurvey::default();
        let mut part: Option<RankPart> = None;
        loop {
            let Some(line) = lines.next()? else { break };
            let statement = match parse(line) {
                Ok(statement) => statement,
                Err(what) => return Err(lines.error(what)),
            };
            let result = match (statement, &mut part) {
                (Statement::Blank, _) => Ok(()),
                (Statement::Operation(label, operation), Some(_)) => {
                    survey.interfaces = survey.interfaces.max(operation.interface + 1);
                    operation.fault(ranks).map_or_else(|| of_rank.operation(label), Err)
                }
                (Statement::Requires(requires), Some(_)) => of_rank.requires(&requires),
                (Statement::End, Some(_)) => {
                    let (roots, reach) = of_rank.end();
                    survey.ranks.extend(part.take().map(|part| RankPart { roots, reach, ..part }));
                    Ok(())
                }
                (Statement::Rank(rank), None) => {
                    let next = survey.ranks.len() as u64;
                    part = Some(RankPart { place: lines.place(), line: lines.line(), ..RankPart::default() });
                    if rank == next && next < u64::from(ranks) {
                        Ok(())
                    } else if next == u64::from(ranks) {
                        Err(format!("rank {rank} is not one of the {ranks} ranks"))
                    } else {
                        Err(format!("rank {rank} where rank {next} is expected: all ranks follow in ascending order"))
                    }
                }
                (Statement::Ranks(_), _) => Err("num_ranks stands once, before all ranks".to_owned()),
                (Statement::Rank(_), Some(_)) => Err("the rank before does not end: '}' is expected first".to_owned()),
                (Statement::End, None) => Err("'}' ends no rank".to_owned()),
                (Statement::Operation(..) | Statement::Requires(_), None) => {
                    Err("a statement of no rank: 'rank R {' is expected first".to_owned())
                }
            };
            result.map_err(|what| lines.error(what))?;
        }
        let found = survey.ranks.len();
        if part.is_some() {
            return Err(lines.error(format!("the file ends in rank {found}: '}}' is expected")));
        }
        if (found as u64) < u64::from(ranks) {
            return Err(lines.error(format!("the file ends before rank {found} of {ranks} ranks")));
        }
        Ok(survey)
    }
}

/// The number of ranks, which stands first.
fn world(lines: &mut TextLines) -> Result<Option<u32>, TraceError> {
    while let Some(line) = lines.next()? {
        match parse(line) {
            Ok(Statement::Blank) => {}
            Ok(Statement::Ranks(ranks @ 1..=MOST_RANKS)) => return Ok(Some(ranks as u32)),
            Ok(Statement::Ranks(ranks)) => return Err(lines.error(format!("a world of {ranks} ranks"))),
            Ok(_) => return Ok(None),
            Err(what) => return Err(lines.error(what)),
        }
    }
    Ok(None)
}

impl RankSurvey {
    fn operation(&mut self, label: &[u8]) -> Result<(), String> {
        let number = self.operations.len() as u64;
        self.operations.push((self.statements, false));
        self.statement()?;
        if !label.is_empty() && self.labels.insert(label, number).is_some() {
            return Err(format!("another operation of the rank has the label '{}'", shown(label)));
        }
        Ok(())
    }

    fn requires(&mut self, requires: &Requires) -> Result<(), String> {
        let find = |label| {
            let unknown = || format!("no operation before has the label '{}'", shown(label));
            self.labels.get(label).ok_or_else(unknown)
        };
        let (dependent, on) = (find(requires.dependent)?, find(requires.on)?);
        if dependent == on {
            return Err(format!("'{}' requires itself", shown(requires.on)));
        }
        for operation in [dependent, on] {
            if let Some(&(statement, _)) = self.operations.get(operation as usize) {
                self.reach = self.reach.max(self.statements - statement);
            }
        }
        if let Some((_, has_requirement)) = self.operations.get_mut(dependent as usize) {
            *has_requirement = true;
        }
        self.statement()
    }

    fn statement(&mut self) -> Result<(), String> {
        self.statements = self.statements.checked_add(1).ok_or("the rank has more than 4294967295 statements")?;
        Ok(())
    }

    /// The number of roots and the reach of a rank, which ends here.
    fn end(&mut self) -> (u32, u64) {
        let roots = self.operations.iter().filter(|(_, has_requirement)| !has_requirement).count() as u32;
        let reach = u64::from(self.reach);
        self.labels.clear();
        self.operations.clear();
        (self.statements, self.reach) = (0, 0);
        (roots, reach)
    }
}
