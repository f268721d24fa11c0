//! XPath 1.0 over a bounded tree: no entities, no endless documents, and no more steps than it is granted.
//!
//! Why not a crate: those that speak 1.0 cannot be stopped, take the negative of `=` for `!=`, and panic at a
//! prefix that they do not know.

mod document;
mod eval;
mod evaluator;
mod fuel;
mod functions;
mod nodes;
mod value;

pub(super) use document::{XPathResult, XmlDocument};
pub(super) use nodes::XPathNode;
