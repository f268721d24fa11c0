//! Parses JSONPath and XPath within limits: when they are saved, and again when they are used.

use serde_json_path::JsonPath;

use super::xpath::{self, Expr};

/// Maximum number of opening brackets of a path: nested brackets are nested calls of the parser.
const MAX_BRACKETS: usize = 32;
/// Maximum number of `..` in a JSONPath: each visits the whole document, and multiplies what is selected.
const MAX_DESCENDANT_SEGMENTS: usize = 4;
/// Maximum number of namespaces that the prolog of an XPath declares.
const MAX_DECLARED_NAMESPACES: usize = 32;

/// Why a path cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// It would take too much time or memory.
    #[error("the path has too many brackets or `..` steps")]
    TooComplex,
    /// Its syntax is invalid.
    #[error("{0}")]
    Syntax(String),
}

/// Compiles a JSONPath of RFC 9535; a missing leading `$.` is added (behaviour.md 4).
///
/// # Errors
/// As [`PathError`].
pub fn parse_json_path(text: &str) -> Result<JsonPath, PathError> {
    let full_path = match text.chars().next() {
        Some('$') => text.to_owned(),
        Some('[' | '.') => format!("${text}"),
        _ => format!("$.{text}"),
    };
    if full_path.matches(['[', '(']).count() > MAX_BRACKETS
        || full_path.matches("..").count() > MAX_DESCENDANT_SEGMENTS
    {
        return Err(PathError::TooComplex);
    }
    JsonPath::parse(&full_path).map_err(|error| PathError::Syntax(error.to_string()))
}

/// A compiled XPath 1.0.
#[derive(Clone, Debug, PartialEq)]
pub struct XPath {
    /// The expression.
    pub expr: Expr,
    /// The namespace prefixes in it.
    pub prefixes: Box<[Box<str>]>,
    /// Namespaces that its own prolog declares.
    pub declared_namespaces: DeclaredNamespaces,
}

/// Namespaces declared in the prolog of an expression, which take precedence over those of the document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeclaredNamespaces {
    /// Pairs of prefix and namespace.
    pub by_prefix: Box<[(Box<str>, Box<str>)]>,
    /// The namespace of element names without a prefix.
    pub default_element: Option<Box<str>>,
}

impl DeclaredNamespaces {
    /// Returns the namespace of `prefix`.
    #[must_use]
    pub fn find(&self, prefix: &str) -> Option<&str> {
        self.by_prefix.iter().find(|(declared, _)| **declared == *prefix).map(|(_, uri)| &**uri)
    }
}

/// Compiles an XPath 1.0.
///
/// # Errors
/// As [`PathError`].
pub fn parse_xpath(text: &str) -> Result<XPath, PathError> {
    if text.matches(['[', '(']).count() > MAX_BRACKETS {
        return Err(PathError::TooComplex);
    }
    let (expr, prefixes) = xpath::parse(text).map_err(PathError::Syntax)?;
    Ok(XPath { expr, prefixes, declared_namespaces: DeclaredNamespaces::default() })
}

/// Compiles an XPath 1.0 after a prolog as test projects have it: any number of `declare namespace p='uri';` and
/// `declare default element namespace 'uri';`.
///
/// # Errors
/// As [`PathError`].
pub fn parse_xpath_with_prolog(text: &str) -> Result<XPath, PathError> {
    let (mut by_prefix, mut default_element, mut rest) = (Vec::new(), None, text.trim());
    while let Some(declaration) = strip_words(rest, &["declare"]) {
        if let Some(after) = strip_words(declaration, &["default", "element", "namespace"]) {
            let (uri, after) = split_literal(after)?;
            default_element = Some(uri).filter(|uri| !uri.is_empty()).map(Box::from);
            rest = after;
        } else {
            let after = strip_words(declaration, &["namespace"]).ok_or_else(prolog_error)?;
            let (prefix, after) = after.split_once('=').ok_or_else(prolog_error)?;
            let (uri, after) = split_literal(after.trim_start())?;
            by_prefix.push((prefix.trim().into(), uri.into()));
            rest = after;
        }
        if by_prefix.len() > MAX_DECLARED_NAMESPACES {
            return Err(PathError::TooComplex);
        }
    }
    let declared_namespaces = DeclaredNamespaces { by_prefix: by_prefix.into(), default_element };
    Ok(XPath { declared_namespaces, ..parse_xpath(rest)? })
}

fn prolog_error() -> PathError {
    PathError::Syntax("its declaration is not `declare namespace prefix='uri';`".to_owned())
}

/// Returns what follows `words` at the start of `text`.
fn strip_words<'t>(text: &'t str, words: &[&str]) -> Option<&'t str> {
    words.iter().try_fold(text, |text, word| {
        let after = text.strip_prefix(word)?;
        after.starts_with(char::is_whitespace).then(|| after.trim_start())
    })
}

/// Splits `text` after the quoted literal at its start and the semicolon that may follow.
fn split_literal(text: &str) -> Result<(&str, &str), PathError> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"')).ok_or_else(prolog_error)?;
    let (literal, after) = text[1..].split_once(quote).ok_or_else(prolog_error)?;
    let after = after.trim_start();
    Ok((literal, after.strip_prefix(';').unwrap_or(after).trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prolog_declares_namespaces() {
        let path = parse_xpath_with_prolog(
            "declare namespace a='urn:a';\ndeclare default element namespace \"urn:d\";\n//a:b/c",
        )
        .unwrap();
        assert_eq!(path.declared_namespaces.find("a"), Some("urn:a"));
        assert_eq!(path.declared_namespaces.default_element.as_deref(), Some("urn:d"));
        assert_eq!(&*path.prefixes, &["a".into()]);
        assert_eq!(
            parse_xpath_with_prolog("declare/b").unwrap().expr,
            parse_xpath("declare/b").unwrap().expr
        );
        for invalid in ["declare namespace a;//b", "declare namespace a='urn:a", "//b[exists(c)]", "//*:b"] {
            assert!(parse_xpath_with_prolog(invalid).is_err(), "{invalid}");
        }
    }
}
