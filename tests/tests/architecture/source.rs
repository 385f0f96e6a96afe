//! A crate's source as the rules see it: modules, and the imports of each with their lines. Comments, strings and test
//! code are left out. This reads tokens without a grammar: it relies on formatted source and on the absence of macros
//! that hide an import.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The path of a module in its crate: empty for the root, `[flow, sharing]` for `flow/sharing/mod.rs`.
pub type Module = Vec<String>;

/// The modules of a crate, without those that only tests have.
pub struct Crate {
    pub files: BTreeMap<Module, File>,
}

/// The file of a module.
pub struct File {
    pub path: PathBuf,
    pub tokens: Vec<Token>,
}

/// A word or a sign, and the line that it is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub text: String,
    pub line: usize,
}

/// A path that a file names: `[crate, topology, Lattice]`.
pub struct Import {
    pub path: Vec<String>,
    pub line: usize,
}

/// All files below `folder` whose names end in `.rs`, in order.
pub fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut entries: Vec<_> = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

impl Crate {
    /// Reads the crates whose source is in `folder/src`: a library or a command, and each command in `folder/src/bin`.
    pub fn all_of(folder: &Path) -> Vec<Self> {
        let source = folder.join("src");
        let commands = fs::read_dir(source.join("bin")).into_iter().flatten().map(|entry| entry.unwrap().path());
        [source].into_iter().chain(commands.filter(|path| path.is_dir())).map(|source| Self::read(&source)).collect()
    }

    fn read(source: &Path) -> Self {
        let mut files = BTreeMap::new();
        let mut of_tests = Vec::new();
        for path in rust_files(source) {
            let mut module: Module = path
                .strip_prefix(source)
                .unwrap()
                .with_extension("")
                .iter()
                .map(|part| part.to_str().unwrap().to_owned())
                .collect();
            if module[0] == "bin" {
                // A command, and so a crate of its own.
                continue;
            }
            if ["mod", "lib", "main"].contains(&module.last().unwrap().as_str()) {
                module.pop();
            }
            let (tokens, modules) = without_tests(tokens(&fs::read_to_string(&path).unwrap()));
            of_tests.extend(modules.into_iter().map(|name| [module.clone(), vec![name]].concat()));
            files.insert(module, File { path, tokens });
        }
        files.retain(|module, _| !of_tests.iter().any(|of_tests| module.starts_with(of_tests)));
        Self { files }
    }

    /// What `module` imports from its own crate: modules that are not among its ancestors, which hold what their children
    /// share.
    pub fn imports(&self, module: &Module) -> Vec<(Module, usize)> {
        let mut imports = Vec::new();
        for Import { path, line } in self.files[module].imports() {
            let (mut target, rest) = match path[0].as_str() {
                "crate" => (Vec::new(), &path[1..]),
                "self" => (module.clone(), &path[1..]),
                "super" => {
                    let up = path.iter().take_while(|part| *part == "super").count();
                    (module[..module.len().saturating_sub(up)].to_vec(), &path[up..])
                }
                _ => continue,
            };
            for part in rest {
                target.push(part.clone());
                if !self.files.contains_key(&target) {
                    target.pop();
                    break;
                }
            }
            if !module.starts_with(&target) {
                imports.push((target, line));
            }
        }
        imports
    }
}

impl File {
    /// Every path in the file that begins with `crate`, `self` or `super`.
    pub fn imports(&self) -> Vec<Import> {
        let mut imports = Vec::new();
        let mut at = 0;
        while at < self.tokens.len() {
            if self.tokens[at].text == "use" {
                at = tree(&self.tokens, at + 1, &[], &mut imports);
            } else if is_root(&self.tokens[at].text) && self.is("::", at + 1) {
                let line = self.tokens[at].line;
                let mut path = vec![self.tokens[at].text.clone()];
                while self.is("::", at + 1) && self.tokens.get(at + 2).is_some_and(Token::is_word) {
                    path.push(self.tokens[at + 2].text.clone());
                    at += 2;
                }
                imports.push(Import { path, line });
                at += 1;
            } else {
                at += 1;
            }
        }
        imports.retain(|import| is_root(&import.path[0]));
        imports
    }

    fn is(&self, text: &str, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.text == text)
    }
}

impl Token {
    pub fn is_word(&self) -> bool {
        self.text.starts_with(|c: char| c.is_alphanumeric() || c == '_')
    }
}

fn is_root(word: &str) -> bool {
    ["crate", "self", "super"].contains(&word)
}

/// The leaves of the tree that a `use` has from `at` on; returns where it ends.
fn tree(tokens: &[Token], mut at: usize, prefix: &[String], imports: &mut Vec<Import>) -> usize {
    let (mut path, line) = (prefix.to_vec(), tokens[at].line);
    loop {
        match tokens[at].text.as_str() {
            "{" => {
                while tokens[at].text != "}" {
                    at = tree(tokens, at + 1, &path, imports);
                }
                return at + 1;
            }
            "as" => at += 1,
            "," | ";" | "}" => break,
            "::" | "*" => {}
            word => path.push(word.to_owned()),
        }
        at += 1;
    }
    if path.len() > prefix.len() {
        imports.push(Import { path, line });
    }
    at
}

/// The words and signs of a text, without its comments, and with nothing inside strings.
pub fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let (mut tokens, mut at, mut line) = (Vec::new(), 0, 1);
    while at < bytes.len() {
        let rest = &text[at..];
        let (length, kept) = match bytes[at] {
            b'/' if rest.starts_with("//") => (rest.find('\n').unwrap_or(rest.len()), false),
            b'/' if rest.starts_with("/*") => (rest.find("*/").map_or(rest.len(), |end| end + 2), false),
            b'"' => (string(rest), true),
            b'r' if rest[1..].trim_start_matches('#').starts_with('"') => {
                let hashes = rest[1..].find('"').unwrap();
                let end = format!("\"{}", "#".repeat(hashes));
                (hashes + 2 + rest[hashes + 2..].find(&end).unwrap() + end.len(), true)
            }
            b'\'' => (character(rest), true),
            c if c.is_ascii_alphanumeric() || c == b'_' => {
                let is_part = |c: char| c.is_alphanumeric() || c == '_';
                (rest.find(|c| !is_part(c)).unwrap_or(rest.len()), true)
            }
            c if c.is_ascii_whitespace() => (1, false),
            _ if rest.starts_with("::") || rest.starts_with("=>") => (2, true),
            _ => (rest.chars().next().map_or(1, char::len_utf8), true),
        };
        if kept {
            tokens.push(Token { text: rest[..length].to_owned(), line });
        }
        line += rest[..length].matches('\n').count();
        at += length;
    }
    tokens
}

/// How long the string is that a text begins with.
fn string(text: &str) -> usize {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|&(_, c)| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

/// How long the character is that a text begins with; of a lifetime, the apostrophe.
fn character(text: &str) -> usize {
    let mut inside = text[1..].char_indices();
    match inside.next() {
        Some((_, '\\')) => text[3..].find('\'').map_or(1, |end| end + 4),
        Some(_) => inside.next().filter(|&(_, c)| c == '\'').map_or(1, |(at, _)| at + 2),
        None => 1,
    }
}

/// The tokens without what stands under `#[cfg(test)]`, and the modules among that which are files.
fn without_tests(tokens: Vec<Token>) -> (Vec<Token>, Vec<String>) {
    let mark = ["#", "[", "cfg", "(", "test", ")", "]"];
    let (mut kept, mut modules, mut at) = (Vec::new(), Vec::new(), 0);
    while at < tokens.len() {
        let here = &tokens[at..];
        if here.len() < mark.len() || !here.iter().zip(mark).all(|(token, mark)| token.text == mark) {
            kept.push(here[0].clone());
            at += 1;
            continue;
        }
        let end = at + here.iter().position(|token| [";", "{"].contains(&token.text.as_str())).unwrap();
        if tokens[end].text == ";" {
            if tokens[end - 2].text == "mod" {
                modules.push(tokens[end - 1].text.clone());
            }
            at = end + 1;
        } else {
            at = block(&tokens, end);
        }
    }
    (kept, modules)
}

/// Where the block ends that begins with the bracket at `open`: behind the bracket that closes it.
pub fn block(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}
