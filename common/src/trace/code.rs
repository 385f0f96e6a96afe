//! Files with code that call sites are in, and the names of these places once they have been looked up.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A file with code of the program: the program itself, or a library.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct CodeModule {
    /// The path of the file, on the host of the rank.
    pub path: String,
    /// The build id that the linker gave the file, in hexadecimal, which identifies the file; empty if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub build_id: String,
}

/// The names of call sites in one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NamedCode {
    /// The file.
    pub module: CodeModule,
    /// The functions that a call is in, by the address in the file that it returns to: the function itself, and those that it
    /// is a part of by inlining.
    pub places: BTreeMap<u64, Vec<NamedFunction>>,
}

/// A function that makes a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamedFunction {
    /// The name, as its language writes it.
    pub name: String,
    /// The file, without its folders, and the line of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<(String, u32)>,
}
