//! A file with code, opened to look up addresses in it.

use std::path::Path;

use addr2line::{FunctionName, Loader, demangle_auto};
use object::{Object, ReadCache};
use thiserror::Error;
use titr_common::input;
use titr_common::trace::manifest::{CodeModule, NamedFunction};

/// The reason why a file gives no names of functions.
#[derive(Debug, Error)]
pub(crate) enum NoCode {
    #[error("it cannot be read here: {0}")]
    Unreadable(String),
    #[error("it has been linked again since the program was traced: its build id is another one")]
    OtherBuild,
    #[error("it has no table of symbols there: -g gives the program one, and strip takes it away")]
    Stripped,
}

/// A file with code.
pub(crate) struct Code(Loader);

impl Code {
    /// Opens the file of a module.
    pub(crate) fn open(module: &CodeModule) -> Result<Self, NoCode> {
        let path = Path::new(&module.path);
        if !module.build_id.is_empty() && build_id(path)? != module.build_id {
            return Err(NoCode::OtherBuild);
        }
        Loader::new(path).map(Self).map_err(|error| NoCode::Unreadable(error.to_string()))
    }

    /// The functions that the call is in which returns to `address`, from within to without: the function itself, and those
    /// that it is a part of by inlining.
    pub(crate) fn functions(&self, address: u64) -> Vec<NamedFunction> {
        // The call is before the address that it returns to.
        let address = address.saturating_sub(1);
        let mut functions = Vec::new();
        if let Ok(mut frames) = self.0.find_frames(address) {
            while let Ok(Some(frame)) = frames.next() {
                let symbol = frame.function.as_ref().and_then(|name| FunctionName::raw_name(name).ok());
                let line = frame.location.and_then(|location| {
                    let file = Path::new(location.file?).file_name()?.to_string_lossy().into_owned();
                    Some((file, location.line?))
                });
                if let Some(symbol) = symbol {
                    functions.push(NamedFunction { name: written(&symbol), line });
                }
            }
        }
        if functions.is_empty()
            && let Some(symbol) = self.0.find_symbol(address)
        {
            functions.push(NamedFunction { name: written(symbol), line: None });
        }
        functions
    }
}

/// The build id of a file, in hexadecimal; empty if it has none.
fn build_id(path: &Path) -> Result<String, NoCode> {
    let unreadable = |error: &dyn std::error::Error| NoCode::Unreadable(error.to_string());
    if !path.is_file() {
        return Err(NoCode::Unreadable("it is no regular file".to_owned()));
    }
    let file = ReadCache::new(input::open(path).map_err(|error| unreadable(&error))?);
    let object = object::File::parse(&file).map_err(|error| unreadable(&error))?;
    let id = object.build_id().map_err(|error| unreadable(&error))?;
    Ok(id.unwrap_or_default().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The functions of `titr.h` and `titr.f90` by which a program marks its regions.
const MARKS: [&str; 2] = ["titr_region_begin", "titr_region_end"];

/// The name of a function from its symbol: `solver::sweep` for gfortran's `__solver_MOD_sweep`, `sweep` for Fortran's
/// `sweep_`, and the names of C++ and Rust without parameters.
pub(crate) fn written(symbol: &str) -> String {
    if let Some((module, procedure)) = symbol.strip_prefix("__").and_then(|rest| rest.split_once("_MOD_")) {
        return format!("{module}::{procedure}");
    }
    if symbol == "MAIN__" {
        return "main program".to_owned();
    }
    // `a` would be the type `signed char`.
    let demangled = if symbol.starts_with('_') { demangle_auto(symbol.into(), None) } else { symbol.into() };
    if demangled == symbol {
        return symbol.strip_suffix('_').filter(|name| !name.is_empty()).unwrap_or(symbol).to_owned();
    }
    without_parameters(&demangled).to_owned()
}

/// Whether a function only marks a region.
pub(crate) fn is_mark(name: &str) -> bool {
    MARKS.contains(&name.rsplit("::").next().unwrap_or(name))
}

/// A demangled name up to the parameters of the function, which are in the first parentheses that are not part of a name.
fn without_parameters(name: &str) -> &str {
    let special = ["(anonymous namespace)", "operator()"];
    let mut from = 0;
    while let Some(at) = name[from..].find('(').map(|at| at + from) {
        let within = special.iter().find_map(|word| {
            let begin = at.checked_sub(word.find('(')?)?;
            name.get(begin..)?.starts_with(word).then_some(begin + word.len())
        });
        match within {
            Some(end) => from = end,
            None => return &name[..at],
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_called_as_people_write_them() {
        for (symbol, name) in [
            ("main", "main"),
            ("sweep_", "sweep"),
            ("__solver_MOD_sweep", "solver::sweep"),
            ("MAIN__", "main program"),
            ("_ZN4heat6Solver4stepEi", "heat::Solver::step"),
            ("_ZN12_GLOBAL__N_15relaxEd", "(anonymous namespace)::relax"),
            ("_ZN4heat5SweepclEid", "heat::Sweep::operator()"),
            ("_ZN5pi_rs4main17h0123456789abcdefE", "pi_rs::main"),
            ("_", "_"),
            ("", ""),
        ] {
            assert_eq!(written(symbol), name);
        }
        assert!(is_mark(&written("__titr_MOD_titr_region_begin")));
        assert!(!is_mark("begin"));
    }
}
