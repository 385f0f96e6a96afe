//! One stream for many ranks.
//!
//! Most ranks of a program do the same, except that each names its own neighbours. The lines of their streams then
//! differ in numbers alone. A template is the text of such streams with a *place* for each number that differs, and
//! a [column] for each place: the number of each rank.
//!
//! ```text
//! # titr 1
//! # ranks 65*62+1*62+64             the ranks whose stream this is: inside a grid of 64 × 64
//! # $1 rank 1*3844                  place 1 holds the number of the next rank
//! # $2 1400*62 1500*3782            place 2 holds 1400 for the first 62 ranks, and 1500 for the others
//! $0 send $1 0 640                  place 0 holds the number of the rank
//! $0 loop 2 400 $2
//! # end 401
//! ```
//!
//! With the numbers of a rank in its places, the template is the stream of the rank, line by line and byte by byte. Readers
//! of lines therefore know nothing else of templates.
//!
//! The idea is that of ScalaTrace's location-independent encoding (M. Noeth et al., J. Parallel Distrib. Comput. 69(8),
//! 2009) and of Pilgrim's patterns of ranks (C. Wang et al., SC 2021), applied to any numbers of a text instead of the
//! ranks of known calls.

mod column;
mod rank_list;
mod read;
mod runs;
mod text;
mod write;

pub(super) use column::{Column, ColumnBuilder};
pub(super) use rank_list::RankList;
pub(super) use read::{Places, StreamTemplate};
pub use write::complete;
pub(super) use write::share_streams;

/// The beginning of the line with the ranks of a template.
const RANKS: &str = "# ranks ";
/// The beginning of a line with a column; the number of its place follows.
const COLUMN: &str = "# $";
