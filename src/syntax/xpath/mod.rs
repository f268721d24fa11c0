//! Parser of XPath 1.0, independent of any document (W3C XPath 1.0; sections in brackets).
//!
//! Variables are not supported, since nothing sets them. Whether an expression returns nodes is known without a
//! document, so operands that must be nodes are checked here.

mod expression;
mod lexer;
mod parser;

pub use expression::{
    ArithmeticOperator, Axis, ComparisonOperator, Expr, LocationStep, NodeTest, PathStart, XPathFunction,
};
pub use parser::{ParsedXPath, parse};
