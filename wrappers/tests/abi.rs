//! The table of constants agrees with each installed library's header.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod installed;

use std::fmt::Write;
use std::process::Command;

use installed::LIBRARIES;
use titr_wrappers::abi::{CONSTANTS, Constant, Family};

/// A C program that prints the constants that differ from the table.
fn checker(family: Family) -> String {
    let mut c = String::from(
        "#include <mpi.h>\n#include <dlfcn.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\nint main(void) {\n",
    );
    for (expression, values) in CONSTANTS {
        let value = values.iter().find(|(of, _)| *of == family).map(|(_, value)| *value).unwrap();
        let expected = match value {
            Constant::Number(number) => format!("(uintptr_t){number}LL"),
            Constant::AddressOf(name) => format!("(uintptr_t)dlsym(RTLD_DEFAULT, \"{}\")", name.to_str().unwrap()),
        };
        // A handle that is an `int` is compared as one, without its sign.
        let actual = format!("(uintptr_t)({expression})");
        let width = format!("(sizeof({expression}) == 4 ? UINT32_MAX : UINTPTR_MAX)");
        writeln!(
            c,
            "if (({actual} & {width}) != ({expected} & {width})) printf(\"%s is %#lx, not %#lx\\n\", \"{expression}\", (long){actual}, (long){expected});"
        )
        .unwrap();
    }
    c + "return 0;\n}\n"
}

#[test]
fn constants_are_those_of_the_installed_headers() {
    for library in &LIBRARIES {
        let stem = std::env::temp_dir().join(format!("titr-abi-{}-{:?}", std::process::id(), library.family));
        let (source, program) = (stem.with_extension("c"), stem.with_extension("exe"));
        std::fs::write(&source, checker(library.family)).unwrap();
        library.compile(&["-D_GNU_SOURCE", source.to_str().unwrap(), "-o", program.to_str().unwrap(), "-ldl"]);
        let output = Command::new(&program).output().unwrap();
        assert!(output.status.success(), "{:?}: {output:?}", library.family);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{:?}", library.family);
        std::fs::remove_file(source).unwrap();
        std::fs::remove_file(program).unwrap();
    }
}
