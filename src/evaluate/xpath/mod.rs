//! XPath 1.0 over a bounded tree: no entities, no endless documents, and a limited number of steps.
//!
//! No existing crate fits: those that support 1.0 cannot be stopped, evaluate `!=` as the negation of `=`, and panic at
//! an unknown prefix.

mod document;
mod eval;
mod evaluator;
mod functions;
mod html;
mod node_budget;
mod nodes;
mod value;

pub(super) use document::{XPathResult, XmlDocument};
pub use html::LazyPageXml;
pub(super) use nodes::XPathNode;
