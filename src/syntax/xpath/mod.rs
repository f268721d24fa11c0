//! XPath 1.0, parsed: what an expression is, apart from any document (W3C XPath 1.0; sections in brackets).
//!
//! Variables are none, since nothing sets them. Whether a part gives nodes is known without a document, so
//! that what needs nodes is checked here.

mod expression;
mod lexer;
mod parser;

pub use expression::{
    ArithmeticOperator, Axis, ComparisonOperator, Expr, LocationStep, NodeTest, PathStart, XPathFunction,
};
pub use parser::{ParsedXPath, parse};
