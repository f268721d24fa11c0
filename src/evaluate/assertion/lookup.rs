//! What a source and its property select in an answer; assertions compare it, variables take the first of it.

use std::borrow::Cow;

use super::answer::{Answer, Node};
use super::error::AssertionError;
use super::path::{self, Path};
use crate::evaluate::xpath::Found;
use crate::syntax::path::XPath;

/// Something to be looked up, compiled.
#[derive(Clone, Debug)]
pub(in crate::evaluate) enum Lookup {
    /// The body as text.
    Response,
    /// A JSONPath.
    Json(Path),
    /// An XPath.
    Xml(XPath),
    /// A header.
    Header(Box<str>),
}

impl Lookup {
    /// That of `source` and `property`.
    pub(in crate::evaluate) fn of(source: &str, property: &str) -> Result<Self, AssertionError> {
        match source {
            "Response" => Ok(Self::Response),
            _ if property.is_empty() => Err(AssertionError::Property(source.to_owned())),
            "Header" => Ok(Self::Header(property.into())),
            "JSON Response" => path::compile(property).map(Self::Json),
            "XML Response" => Ok(Self::Xml(crate::syntax::path::parse_xpath(property)?)),
            _ => Err(AssertionError::Source(source.to_owned())),
        }
    }

    /// What is there. An answer that cannot be parsed has nothing to select in: it says why.
    pub(in crate::evaluate) fn nodes<'a>(&self, answer: &'a Answer<'_>) -> Result<Vec<Node<'a>>, String> {
        Ok(match self {
            Self::Response => vec![Node::Text(Cow::Borrowed(answer.text))],
            Self::Json(path) => answer.select(path)?,
            Self::Xml(path) => match answer.xml()?.find(path, &answer.fuel)? {
                Found::Nodes(nodes) => nodes.into_iter().map(Node::Xml).collect(),
                Found::Text(text) => vec![Node::Text(Cow::Owned(text))],
            },
            Self::Header(name) => answer.header(name).map(Cow::Owned).map(Node::Text).into_iter().collect(),
        })
    }
}
