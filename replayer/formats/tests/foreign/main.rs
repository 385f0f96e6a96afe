//! Traces of other tools. The files are in `tests/data/foreign`; those that are not titr's own are in a directory that
//! `TITR_FOREIGN` names, and the tests on them are ignored unless they are asked for.

mod counts;
mod otf2;
