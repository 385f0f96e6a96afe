//! The forms of results, for users and for programs. Nothing is computed here: results contain their own data.
//!
//! To add a form, write it in a file of this folder and name it in [`FORMS`]; `titr-replay` then has an option for it.
//! The [text summary](text) is printed if no other form is requested.

pub mod advice;
mod cause;
mod csv;
pub mod difference;
mod json;
pub mod own_profile;
mod places;
pub mod text;
pub mod triggered;
pub mod variations;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use titr_analyses::AnalysedResult;
use titr_simulation::traffic::TrafficResult;
use titr_simulation::triggered::TriggeredResult;
use variations::Variations;

/// The result of a command.
#[derive(Clone, Copy, Serialize)]
#[serde(untagged)]
pub enum Results<'a> {
    /// A trace was replayed.
    Simulation(&'a AnalysedResult),
    /// A platform was measured under synthetic traffic.
    Traffic(&'a TrafficResult),
    /// A network trace was replayed.
    Triggered(&'a TriggeredResult),
    /// A trace was replayed on variations of a platform.
    Variations(&'a Variations),
}

/// A form that results are written in.
pub struct Form {
    /// The option that selects it, without its dashes.
    pub option: &'static str,
    /// The help for that option.
    pub help: &'static str,
    /// How the form is written.
    pub renderer: Renderer,
}

/// The function that writes results.
#[derive(Clone, Copy)]
pub enum Renderer {
    /// Prints the results on standard output, instead of the summary.
    Print(Print),
    /// Writes the results to a path that the option takes, beside the summary.
    Save {
        /// The kind of place that the path names, for the help: `FILE`, `DIRECTORY`.
        place: &'static str,
        /// The files that may be written for a path.
        files: Files,
        /// Writes the files at the path.
        save: Save,
    },
}

/// Prints results.
pub type Print = fn(Results, &mut dyn Write) -> io::Result<()>;

/// The files that results may be written to for a path.
pub type Files = fn(&Path) -> Vec<PathBuf>;

/// Writes results to a path.
pub type Save = fn(Results, &Path) -> io::Result<()>;

/// All forms but the summary.
pub static FORMS: &[Form] = &[json::JSON, csv::CSV];
