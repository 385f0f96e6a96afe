//! Results as one JSON object.

use super::{Form, Renderer};

/// The option `--json`.
pub(super) const JSON: Form = Form {
    option: "json",
    help: "Prints one JSON object instead of a summary",
    renderer: Renderer::Print(|results, out| {
        serde_json::to_writer(&mut *out, &results)?;
        writeln!(out)
    }),
};
