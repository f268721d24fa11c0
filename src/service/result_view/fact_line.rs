//! One fact about the target of a check, as a line.

/// One fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactLine {
    /// Its label; empty when it continues the line before.
    pub label: &'static str,
    /// Its value, with units.
    pub value: String,
}
