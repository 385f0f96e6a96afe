//! titr as a module for Python: replays, traces and sweeps, whose results are Arrow tables.
//!
//! Each function runs the command of the same name, with the options of the command as keyword arguments, so that both
//! agree in meaning and in messages. While it runs, other threads of Python do, too, and Ctrl-C ends it.

mod arguments;
mod calibrate;
mod commands;
mod error;
mod events;
mod interruptible;
mod matrix;
mod object;
mod observers;
mod platform;
mod replay;
mod result;
mod sweep;
mod table;
mod trace;

/// The part of the package `titr` that is written in Rust.
#[pyo3::pymodule]
mod _titr {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::calibrate::calibrate;
    #[pymodule_export]
    use crate::commands::{titr, titr_replay};
    #[pymodule_export]
    use crate::error::Error;
    #[pymodule_export]
    use crate::events::Events;
    #[pymodule_export]
    use crate::replay::replay;
    #[pymodule_export]
    use crate::result::Result;
    #[pymodule_export]
    use crate::sweep::sweep;
    #[pymodule_export]
    use crate::table::Table;
    #[pymodule_export]
    use crate::trace::{Trace, open};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
