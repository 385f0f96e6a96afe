//! Names of functions in the notation of their language.

use addr2line::demangle_auto;

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
    let demangled = demangle_auto(symbol.into(), None);
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
