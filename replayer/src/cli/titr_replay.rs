//! `titr-replay`: the subcommands of `titr` that replay, under one name, told apart by an option.

use std::ffi::OsString;

/// The options of `titr-replay` that ask for another subcommand than `replay`, and whether the value of each is the first argument of
/// that subcommand.
const SUBCOMMANDS: [(&str, &str, bool); 3] =
    [("--traffic", "traffic", true), ("--triggered", "trigger", true), ("--vary", "vary", false)];

/// The words for `titr` that ask for what these words ask `titr-replay` for.
pub(super) fn titr_words(mut words: Vec<OsString>) -> Vec<OsString> {
    let mut subcommand = "replay";
    let found = SUBCOMMANDS.into_iter().find_map(|(option, name, is_argument)| {
        let is_option = |word: &OsString| value_in(word, option).is_some() || word == option;
        words.iter().take_while(|word| *word != "--").position(is_option).map(|at| (at, option, name, is_argument))
    });
    if let Some((at, option, name, is_argument)) = found {
        subcommand = name;
        if is_argument {
            match value_in(&words[at], option) {
                Some(value) => words[at] = value,
                None => drop(words.remove(at)),
            }
        }
    }
    ["titr", subcommand].map(OsString::from).into_iter().chain(words).collect()
}

/// The value in a word `OPTION=VALUE`.
fn value_in(word: &OsString, option: &str) -> Option<OsString> {
    let bytes = word.as_encoded_bytes().strip_prefix(option.as_bytes())?.strip_prefix(b"=")?;
    Some(String::from_utf8_lossy(bytes).into_owned().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> String {
        let words = titr_words(line.split_whitespace().map(OsString::from).collect());
        words.join(&OsString::from(" ")).into_string().unwrap()
    }

    #[test]
    fn an_option_asks_for_a_subcommand() {
        assert_eq!(words("--platform p t --json"), "titr replay --platform p t --json");
        assert_eq!(words("-p p --traffic uniform --load 0.1"), "titr traffic -p p uniform --load 0.1");
        assert_eq!(words("-p p --traffic=uniform"), "titr traffic -p p uniform");
        assert_eq!(words("--triggered m.gz -p p"), "titr trigger m.gz -p p");
        assert_eq!(words("-p p --vary a=1,2 t"), "titr vary -p p --vary a=1,2 t");
        assert_eq!(words("-p p --vary=a=1,2 t"), "titr vary -p p --vary=a=1,2 t");
        assert_eq!(words("-p p -- --traffic"), "titr replay -p p -- --traffic");
        assert_eq!(words("--traffic"), "titr traffic");
    }
}
