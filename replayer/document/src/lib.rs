//! Files that people write: platforms, hypotheses, rules of triggers.
//!
//! 1. [`Source`]: the text of the file and of each override, with [mistakes](Mistake) shown in them.
//! 2. [`Located`]: the values of a TOML text, each with its place. Another language is read into the same values.
//! 3. [`Located::read`]: the values as types that derive `Deserialize`. A [`Spanned`] value has its place, for
//!    [mistakes that show later](Source::wrong).
//!
//! ```
//! use serde::Deserialize;
//! use titr_document::{Source, Spanned};
//!
//! #[derive(Deserialize)]
//! struct Load {
//!     messages: Spanned<u32>,
//! }
//!
//! let source = Source::new("load.toml", "messages = 0".to_owned(), []);
//! let load: Load = source.read()?;
//! let mistake = source.wrong(&load.messages, "there are no messages").with_help("write how many there are");
//! assert_eq!(
//!     mistake.to_string(),
//!     "× there are no messages
//!    ╭─[load.toml:1:12]
//!  1 │ messages = 0
//!    ·            ─
//!    ╰────
//!   help: write how many there are"
//! );
//! # Ok::<(), titr_document::Mistake>(())
//! ```

mod deserialize;
mod source;
mod value;

pub use source::{Checked, DocumentError, Mistake, Part, Place, Source};
pub use toml::Spanned;
pub use value::{Located, Shorthand, Table, Value, override_as_toml};
