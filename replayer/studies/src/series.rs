//! A column of the table of results, whatever the form of the table.

/// A column of the table.
pub(crate) struct Series<'a> {
    pub name: &'a str,
    /// The SI unit; empty for plain numbers and texts.
    pub unit: &'a str,
    /// The value of each point, a number or a text; empty if there is none.
    pub cells: Vec<String>,
}
