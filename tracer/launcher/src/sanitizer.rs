//! AddressSanitizer, which ends a program if its run-time library is not the first one that the dynamic loader has
//! loaded.
//!
//! The tracer does not interfere with the sanitizer, so it may come first: the tracer's library declares this
//! (`__asan_default_options`), unless the program has options of its own, which an environment variable overrides.

use std::ffi::OsString;

use crate::elf::Elf;

/// The variable that has the sanitizer's options.
pub(crate) const OPTIONS: &str = "ASAN_OPTIONS";

/// The option that is about the order of libraries.
const ORDER: &str = "verify_asan_link_order";

/// The variable to set for a program whose options in the environment are `options`.
pub(crate) fn setting(program: Option<&Elf>, options: Option<OsString>) -> Option<(OsString, OsString)> {
    let is_runtime = |name: &String| name.starts_with("libasan.so") || name.starts_with("libclang_rt.asan");
    if !program?.needed.iter().any(is_runtime) {
        return None;
    }
    let mut options = options.unwrap_or_default();
    if options.to_string_lossy().contains(ORDER) {
        return None;
    }
    if !options.is_empty() {
        options.push(":");
    }
    options.push(format!("{ORDER}=0"));
    Some((OPTIONS.into(), options))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_programs_of_the_sanitizer_get_its_option() {
        let mut program = Elf::open(&std::env::current_exe().unwrap()).unwrap();
        assert_eq!(setting(Some(&program), None), None);
        program.needed.insert(0, "libasan.so.8".to_owned());
        let value = |options: &str| setting(Some(&program), Some(options.into())).map(|(_, value)| value);
        assert_eq!(value(""), Some("verify_asan_link_order=0".into()));
        assert_eq!(value("detect_leaks=0"), Some("detect_leaks=0:verify_asan_link_order=0".into()));
        assert_eq!(value("verify_asan_link_order=1"), None);
    }
}
