//! Studies: many simulations that answer one question.
//!
//! A [`Study`] is a file with axes. [`Inputs`] are its platforms, traces and hypotheses, and the points that it has. An
//! [`engine`] simulates the points, and a [`ResultsFolder`] keeps the outcome of each: the study can be killed and started again
//! at any time, and no point is simulated twice.
//!
//! [`placement`] finds the core of each rank with which a program is fastest, [`tolerance`] how much slower a machine may
//! be until a program takes a given part longer, [`advise`] the changes of a program that save most; [`steady`] simulates
//! some iterations of many.

pub(crate) mod advise;
mod axis;
mod cost;
pub(crate) mod engine;
mod error;
mod expression;
mod folder;
mod inputs;
mod magnitude;
mod outcome;
pub(crate) mod placement;
mod ranking;
mod sampling;
pub(crate) mod steady;
mod study;
mod table;
pub(crate) mod tolerance;

pub(crate) use axis::AxisKey;
pub(crate) use error::StudyError;
pub(crate) use folder::ResultsFolder;
pub(crate) use inputs::{Inputs, PreparedPoint};
pub(crate) use outcome::PointOutcome;
pub(crate) use ranking::Ranking;
pub(crate) use sampling::places;
pub(crate) use study::Study;
