//! Every function in an installed `mpi.h` is intercepted, with the number of arguments in the header.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod installed;

use std::collections::BTreeMap;

use installed::{LIBRARIES, Library};
use titr_wrappers::abi::Family;
use titr_wrappers::functions;

/// The functions that an installed header declares, each with its parameters.
fn declared(library: &Library) -> BTreeMap<String, Vec<String>> {
    let mut arguments = vec!["-E", "-P", "-x", "c"];
    arguments.extend(match library.family {
        // Open MPI hides functions that MPI 3.0 removed, and has its extensions in a header of their own; its library
        // has them all.
        Family::OpenMpi => &["-DOMPI_OMIT_MPI1_COMPAT_DECLS=0", "-include", "mpi.h", "-include", "mpi-ext.h"][..],
        Family::Mpich | Family::Standard => &["-include", "mpi.h"],
    });
    arguments.push("/dev/null");
    let text = library.compile(&arguments);
    prototypes(&text)
}

/// The prototypes in preprocessed C whose names begin with `MPI_` or `MPIX_`.
fn prototypes(text: &str) -> BTreeMap<String, Vec<String>> {
    let text =
        text.split_whitespace().collect::<Vec<_>>().join(" ").replace("__attribute__((visibility(\"default\")))", "");
    let mut found = BTreeMap::new();
    for statement in text.split([';', '{', '}']) {
        let Some((head, rest)) = statement.split_once('(') else {
            continue;
        };
        let Some(name) = head.split([' ', '*']).rfind(|word| !word.is_empty()) else {
            continue;
        };
        if head.contains("typedef") || !(name.starts_with("MPI_") || name.starts_with("MPIX_")) {
            continue;
        }
        found.insert(name.to_owned(), parameters(rest));
    }
    found
}

/// The parameters in `rest`, which begins behind the opening parenthesis.
fn parameters(rest: &str) -> Vec<String> {
    let mut parameters = vec![String::new()];
    let mut depth = 1;
    for c in rest.chars() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        match c {
            _ if depth == 0 => break,
            ',' if depth == 1 => parameters.push(String::new()),
            _ => parameters.last_mut().unwrap().push(c),
        }
    }
    parameters.iter().map(|parameter| parameter.trim().to_owned()).filter(|parameter| parameter != "void").collect()
}

/// Functions left to the library on purpose: conversions that the Fortran bindings call, and those that reveal its
/// presence.
fn is_left_alone(name: &str) -> bool {
    let ends = ["_f2c", "_c2f", "_f082c", "_c2f08", "_f082f", "_f2f08", "_fromint", "_toint"];
    let is_conversion = ends.iter().any(|end| name.ends_with(end));
    is_conversion || functions::environment::LEFT_ALONE.iter().any(|function| function.name == name)
}

#[test]
fn every_declared_function_is_wrapped_with_its_arity() {
    let wrapped: BTreeMap<&str, usize> = functions::all().map(|function| (function.name, function.arity)).collect();
    for library in &LIBRARIES {
        let declared = declared(library);
        // The header of the standard ABI has only the functions that the others lack.
        let least = if library.family == Family::Standard { 40 } else { 400 };
        assert!(declared.len() > least, "{:?}: only {} functions found in mpi.h", library.family, declared.len());
        for (name, parameters) in declared.iter().filter(|(name, _)| !is_left_alone(name)) {
            // A callback that is a constant is passed to MPI, not called; `...` of MPI_Pcontrol is not a parameter.
            if name == "MPI_DUP_FN" {
                continue;
            }
            let arity = parameters.iter().filter(|parameter| *parameter != "...").count();
            assert_eq!(wrapped.get(name.as_str()), Some(&arity), "{:?}: {name}{parameters:?}", library.family);
        }
    }
}

/// The type of a parameter without its name, qualifiers and the difference between an array and a pointer.
fn c_type(parameter: &str) -> String {
    let stars = parameter.matches(['*', '[']).count();
    let plain = parameter.split('[').next().unwrap().replace('*', " ");
    let base = plain.split_whitespace().find(|word| *word != "const").unwrap();
    base.to_owned() + &"*".repeat(stars)
}

#[test]
fn arguments_are_read_as_the_types_they_have() {
    let mut compared = 0;
    for library in &LIBRARIES {
        let declared = declared(library);
        for function in functions::all() {
            let Some(parameters) = declared.get(function.name) else { continue };
            let is_large = function.name.ends_with("_c");
            let (count, displacement) = if is_large { ("MPI_Count", "MPI_Aint") } else { ("int", "int") };
            for (read, parameter) in function.types().iter().zip(parameters) {
                let read = read.replace("COUNT", count).replace("DISPLACEMENT", displacement);
                // Arguments that are only passed on have no type.
                assert!(read.is_empty() || read == c_type(parameter), "{}: {read} for {parameter}", function.name);
                compared += 1;
            }
        }
    }
    assert!(compared > 1000, "only {compared} arguments are read");
}

#[test]
fn every_wrapped_function_is_declared_somewhere_and_once() {
    let declared: Vec<_> = LIBRARIES.iter().map(declared).collect();
    let mut names: Vec<&str> = functions::all().map(|function| function.name).collect();
    for name in &names {
        assert!(declared.iter().any(|header| header.contains_key(*name)), "no installed mpi.h has {name}");
    }
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all, "a function is in two chapters");
}
