//! Shows mistakes in users' files as the command line does.

use std::path::Path;

use titr_platform::Platform;

/// The output for a platform in a file of this name: the mistake, or the warnings if there is none.
pub fn shown(name: &str, text: &str, overrides: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    said(&path, overrides).replace(&format!("{}/", folder.path().display()), "")
}

fn said(path: &Path, overrides: &[&str]) -> String {
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    match Platform::load(path, &overrides) {
        Ok(platform) => platform.warnings.iter().map(|warning| format!("warning: {warning}\n")).collect(),
        Err(error) => format!("  {error}\n"),
    }
}

/// The output for a valid file after each of several changes to it: a description of the case, the text that is removed
/// and its replacement.
pub fn all(name: &str, right: &str, cases: &[(&str, &str, &str)]) -> String {
    assert_eq!(shown(name, right, &[]), "");
    let mut all = String::new();
    for (case, old, new) in cases {
        assert!(right.contains(old), "{case}");
        all += &format!("# {case}\n{}\n", shown(name, &right.replacen(old, new, 1), &[]));
    }
    all
}
