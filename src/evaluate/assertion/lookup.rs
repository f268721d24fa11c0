//! Selects the nodes of a source and its property in a response; assertions compare them, variables take the first.

use std::borrow::Cow;

use super::error::AssertionError;
use super::json_query::{self, JsonQuery};
use super::response::{ParsedResponse, ResponseNode};
use crate::evaluate::xpath::XPathResult;
use crate::syntax::path_expression::XPath;

/// Which nodes of a response are selected, compiled.
#[derive(Clone, Debug)]
pub(in crate::evaluate) enum Lookup {
    /// The body as text.
    BodyText,
    /// A JSONPath.
    Json(JsonQuery),
    /// An XPath.
    Xml(XPath),
    /// A header.
    Header(Box<str>),
}

impl Lookup {
    /// Compiles the lookup of `source` and `property`.
    pub(in crate::evaluate) fn new(source: &str, property: &str) -> Result<Self, AssertionError> {
        match source {
            "Response" => Ok(Self::BodyText),
            _ if property.is_empty() => Err(AssertionError::MissingProperty(source.to_owned())),
            "Header" => Ok(Self::Header(property.into())),
            "JSON Response" => json_query::compile_json_path(property).map(Self::Json),
            "XML Response" => Ok(Self::Xml(crate::syntax::path_expression::parse_xpath(property)?)),
            _ => Err(AssertionError::UnknownSource(source.to_owned())),
        }
    }

    /// Returns the selected nodes. Fails with the reason when the response cannot be parsed.
    pub(in crate::evaluate) fn select<'a>(
        &self,
        response: &'a ParsedResponse<'_>,
    ) -> Result<Vec<ResponseNode<'a>>, String> {
        Ok(match self {
            Self::BodyText => vec![ResponseNode::Text(Cow::Borrowed(response.body_text))],
            Self::Json(path) => response.select_json(path)?,
            Self::Xml(path) => match response.xml()?.select(path, &response.node_budget)? {
                XPathResult::Nodes(nodes) => nodes.into_iter().map(ResponseNode::Xml).collect(),
                XPathResult::Text(text) => vec![ResponseNode::Text(Cow::Owned(text))],
            },
            Self::Header(name) => response.header_values(name).into_iter().map(ResponseNode::Text).collect(),
        })
    }
}
