//! One page to explore a replay: a self-contained HTML file, which a browser opens without a network.
//!
//! Two timeline writers follow the replay. [`overview`] keeps a bounded summary for all ranks, for a run of any length:
//! the shares of activities in cells of ranks and time, and the communication matrix. [`detail`] keeps states and
//! messages as finely as a page has room for them. Their data, the result, the load of links and the options become one object
//! ([`data`]), compressed, in a page whose style and script are in `assets/`.

mod calibration;
mod cells;
mod data;
mod detail;
mod embedded;
mod findings;
mod machine;
mod overview;
mod result;
mod states;
mod study;
mod units;

pub(crate) use calibration::write_calibration;
pub use data::{Origin, PageData};
pub(crate) use machine::{MOST_DRAWN, write_machine};
pub(crate) use result::{ResultKind, write_result};
pub(crate) use study::StudyPage;

use std::cell::RefCell;
use std::io;
use std::path::Path;
use std::rc::Rc;

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;
use sha2::{Digest, Sha256};
use titr_common::output::OutputFile;
use titr_common::timeline::{Excerpt, Excerpted, Subject, TimelineWriter};

use detail::{Detail, DetailWriter};
use overview::{Overview, OverviewWriter};

/// The page; a word in braces is filled in.
const PAGE: &str = include_str!("assets/page.html");
const STYLE: &str = include_str!("assets/page.css");
/// The parts of the script that all pages have, in the order in which they build on each other.
const BASE: &str = concat!(
    include_str!("assets/base.js"),
    include_str!("assets/numbers.js"),
    include_str!("assets/table.js"),
    include_str!("assets/chart.js")
);
const SCATTER: &str = include_str!("assets/scatter.js");
/// Parts of the script, in the order in which they build on each other.
const SCRIPTS: [&str; 17] = [
    BASE,
    SCATTER,
    include_str!("assets/summary.js"),
    include_str!("assets/comparison.js"),
    include_str!("assets/jobs.js"),
    include_str!("assets/levels.js"),
    include_str!("assets/paint.js"),
    include_str!("assets/timeline.js"),
    include_str!("assets/flame.js"),
    include_str!("assets/waiting.js"),
    include_str!("assets/shape.js"),
    include_str!("assets/machine.js"),
    include_str!("assets/path.js"),
    include_str!("assets/messages.js"),
    include_str!("assets/links.js"),
    include_str!("assets/details.js"),
    include_str!("assets/page.js"),
];

/// The parts of the script of a page of charts, of which `last` is its own.
const fn with_charts(last: &'static str) -> [&'static str; 3] {
    [BASE, SCATTER, last]
}

/// Records a replay for its page.
pub struct Recorder {
    overview: Rc<RefCell<Overview>>,
    detail: Rc<RefCell<Detail>>,
    subject: Subject,
}

impl Recorder {
    /// A recorder of a replay, with the excerpt in detail.
    #[must_use]
    pub fn new(subject: &Subject) -> Self {
        Self {
            overview: Rc::new(RefCell::new(Overview::new(subject.ranks))),
            detail: Rc::default(),
            subject: subject.clone(),
        }
    }

    /// The writers that have to receive the replay's events.
    pub(crate) fn writers(&self) -> Vec<Box<dyn TimelineWriter>> {
        let detail = DetailWriter::new(Rc::clone(&self.detail), self.subject.ranks);
        let detail: Box<dyn TimelineWriter> = match self.subject.excerpt == Excerpt::default() {
            true => Box::new(detail),
            false => Box::new(Excerpted::new(Box::new(detail), &self.subject)),
        };
        vec![Box::new(OverviewWriter::new(Rc::clone(&self.overview), self.subject.ranks)), detail]
    }

    /// The recording, once the replay has ended.
    #[must_use]
    pub fn finish(self) -> (Overview, Detail) {
        (self.overview.take(), self.detail.take())
    }
}

/// The policy of a page: a browser shows it with its own style and runs its own script. All else is forbidden, should
/// anything of a trace ever be taken for a part of the page (W3C, "Content Security Policy Level 3").
fn policy(style: &str, script: &str) -> String {
    let hash = |text: &str| embedded::letters(&Sha256::digest(text));
    let (style, script) = (hash(style), hash(script));
    format!(
        "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; img-src data:; base-uri 'none'; \
         form-action 'none'"
    )
}

/// Writes a page.
///
/// # Errors
/// If the data cannot be serialised, or the file not be written.
pub fn write(data: &PageData, path: &Path) -> io::Result<()> {
    write_page(data, &SCRIPTS, path)
}

/// Writes numbers with nine digits, which are more than anybody looks at, and compress well.
struct Rounded;

impl Formatter for Rounded {
    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        // What was written is a number.
        let rounded: f64 = format!("{value:.8e}").parse().unwrap_or(value);
        write!(writer, "{rounded:e}")
    }
}

/// Writes a page with this data, drawn by these scripts.
fn write_page(data: &impl Serialize, scripts: &[&str], path: &Path) -> io::Result<()> {
    let mut json = Vec::new();
    data.serialize(&mut Serializer::with_formatter(&mut json, Rounded))?;
    let data = embedded::encoded(&json);
    let script = format!("\n\"use strict\";\n(() => {{\n{}}})();\n", scripts.concat());
    let style = format!("\n{STYLE}");
    let policy = policy(&style, &script);
    let parts = [("{policy}", policy.as_str()), ("{style}", &style), ("{data}", &data), ("{script}", &script)];
    let mut page = String::with_capacity(PAGE.len() + STYLE.len() + data.len() + 100_000);
    let mut rest = PAGE;
    for (place, part) in parts {
        let (before, after) = rest.split_once(place).unwrap_or((rest, ""));
        page.push_str(before);
        page.push_str(part);
        rest = after;
    }
    page.push_str(rest);
    OutputFile::write(path, page.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_has_one_place_in_the_page() {
        let places = ["{policy}", "{style}", "{data}", "{script}"]
            .map(|place| PAGE.match_indices(place).map(|(at, _)| at).collect::<Vec<_>>());
        assert!(places.iter().all(|places| places.len() == 1), "{places:?}");
        assert!(places.is_sorted());
    }

    /// The script is within the page and is not loaded from elsewhere.
    #[test]
    fn nothing_comes_from_outside() {
        let scripts = SCRIPTS.into_iter().chain(study::SCRIPTS).chain(machine::SCRIPTS).chain(calibration::SCRIPTS);
        let scripts = scripts.chain(ResultKind::Traffic.scripts()).chain(ResultKind::Difference.scripts());
        for text in [PAGE, STYLE].into_iter().chain(scripts) {
            for outside in ["http:", "https:", "import(", "fetch(", "@import", "url(", "src="] {
                assert!(!text.contains(outside), "{outside}");
            }
            assert!(text == PAGE || !text.contains("</script"));
        }
    }
}
