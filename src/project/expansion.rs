//! Property expansions, `${…}`, in the texts of a project.

use std::borrow::Cow;

use crate::syntax::escape::escape_xml_text;

/// Maximum size of an expanded text, in bytes.
const MAX_EXPANDED_BYTES: usize = 4 * 1024 * 1024;
/// Maximum nesting of expansions in values of expansions.
const MAX_DEPTH: usize = 16;
/// Maximum number of expansions of one text.
const MAX_EXPANSIONS: usize = 10_000;

/// What an expansion refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PropertyReference<'e> {
    /// `${name}`: a property of the case or of what is around it.
    Name(&'e str),
    /// `${#TestCase#name}` and its kin: the scope without its marks, and the name.
    Scoped(&'e str, &'e str),
    /// `${Step#Property}`.
    Step(&'e str, &'e str),
}

/// An expansion, with the path into the value of its property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PropertyExpression<'e> {
    pub(crate) reference: PropertyReference<'e>,
    /// XPath or JSONPath.
    pub(crate) path: Option<&'e str>,
}

impl<'e> PropertyExpression<'e> {
    /// Parses what stands between the braces.
    pub(crate) fn parse(text: &'e str) -> Self {
        if let Some((scope, rest)) = text.strip_prefix('#').and_then(|scoped| scoped.split_once('#')) {
            let (name, path) = split_path(rest);
            return Self { reference: PropertyReference::Scoped(scope, name), path };
        }
        match text.split_once('#') {
            Some((step, rest)) => {
                let (property, path) = split_path(rest);
                Self { reference: PropertyReference::Step(step, property), path }
            }
            None => Self { reference: PropertyReference::Name(text), path: None },
        }
    }
}

fn split_path(text: &str) -> (&str, Option<&str>) {
    text.split_once('#').map_or((text, None), |(name, path)| (name, Some(path)))
}

/// Returns the value of a property.
pub(crate) trait PropertyResolver {
    /// Returns the value of `expression`; `None` when there is none.
    ///
    /// # Errors
    /// When its path cannot be evaluated.
    fn resolve(&self, expression: PropertyExpression<'_>) -> Result<Option<String>, String>;

    /// Is told the value of `expression` once the expansions in it are replaced.
    fn note_value(&self, _expression: PropertyExpression<'_>, _value: &str) {}
}

/// Expands `text` by `resolver`: inner expansions first, and expansions in values too. A missing value is empty;
/// `$${` stands for `${`. With `entitize`, values are escaped for XML.
///
/// # Errors
/// When a path cannot be evaluated, or the text grows too large.
pub(crate) fn expand<'t>(
    text: &'t str,
    resolver: &dyn PropertyResolver,
    entitize: bool,
) -> Result<Cow<'t, str>, String> {
    if !text.contains("${") {
        return Ok(Cow::Borrowed(text));
    }
    let mut expander = Expander { resolver, expansion_count: 0 };
    expander.expand(text, entitize, 0).map(Cow::Owned)
}

struct Expander<'r> {
    resolver: &'r dyn PropertyResolver,
    expansion_count: usize,
}

impl Expander<'_> {
    fn expand(&mut self, text: &str, entitize: bool, depth: usize) -> Result<String, String> {
        if depth > MAX_DEPTH {
            return Err(format!("expansions are nested deeper than {MAX_DEPTH}"));
        }
        let (mut out, mut rest) = (String::new(), text);
        while let Some(start) = rest.find("${") {
            if rest[..start].ends_with('$') {
                // `$${` is not an expansion.
                out.push_str(&rest[..start - 1]);
                out.push_str("${");
                rest = &rest[start + 2..];
                continue;
            }
            let Some(end) = find_end(&rest[start + 2..]) else { break };
            out.push_str(&rest[..start]);
            let content = &rest[start + 2..start + 2 + end];
            out.push_str(&self.expand_one(content, entitize, depth)?);
            if out.len() > MAX_EXPANDED_BYTES {
                return Err(format!("a text has more than {MAX_EXPANDED_BYTES} bytes when it is expanded"));
            }
            rest = &rest[start + 3 + end..];
        }
        out.push_str(rest);
        Ok(out)
    }

    fn expand_one(&mut self, content: &str, entitize: bool, depth: usize) -> Result<String, String> {
        self.expansion_count += 1;
        if self.expansion_count > MAX_EXPANSIONS {
            return Err(format!("a text has more than {MAX_EXPANSIONS} expansions"));
        }
        let inner = if content.contains("${") {
            Cow::Owned(self.expand(content, false, depth + 1)?)
        } else {
            content.into()
        };
        let expression = PropertyExpression::parse(&inner);
        let value = self.resolver.resolve(expression)?.unwrap_or_default();
        let value = if value.contains("${") { self.expand(&value, false, depth + 1)? } else { value };
        self.resolver.note_value(expression, &value);
        Ok(if entitize { escape_xml_text(&value) } else { value })
    }
}

/// Returns the offset of the brace that ends the expansion whose content begins `text`.
fn find_end(text: &str) -> Option<usize> {
    let (mut depth, mut previous) = (0_usize, ' ');
    for (index, c) in text.char_indices() {
        match c {
            '{' if previous == '$' => depth += 1,
            '}' if depth == 0 => return Some(index),
            '}' => depth -= 1,
            _ => {}
        }
        previous = c;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Values(&'static [(&'static str, &'static str)]);

    impl PropertyResolver for Values {
        fn resolve(&self, expression: PropertyExpression<'_>) -> Result<Option<String>, String> {
            let key = match expression.reference {
                PropertyReference::Name(name) => name.to_owned(),
                PropertyReference::Scoped(scope, name) => format!("#{scope}#{name}"),
                PropertyReference::Step(step, property) => format!("{step}#{property}"),
            };
            let key = expression.path.map_or(key.clone(), |path| format!("{key}#{path}"));
            Ok(self.0.iter().find(|(name, _)| *name == key).map(|(_, value)| (*value).to_owned()))
        }
    }

    #[test]
    fn expansions_are_replaced_in_every_scope() {
        let values = Values(&[
            ("a", "1"),
            ("#Project#host", "h"),
            ("Login#Response#//id[1]", "7"),
            ("Login#Response#$.a['b']", "8"),
            ("which", "a"),
            ("outer", "<${a}>"),
            ("loop", "${loop}"),
            ("k1", "v"),
        ]);
        for (text, expected) in [
            ("none", "none"),
            ("${a}", "1"),
            ("x${a}y${a}", "x1y1"),
            ("http://${#Project#host}/", "http://h/"),
            ("${Login#Response#//id[1]}", "7"),
            ("${Login#Response#$.a['b']}", "8"),
            ("${${which}}", "1"),
            ("${k${a}}", "v"),
            ("${outer}", "<1>"),
            ("${missing}|", "|"),
            ("$${a}", "${a}"),
            ("${a", "${a"),
            ("$a {b}", "$a {b}"),
        ] {
            assert_eq!(expand(text, &values, false).unwrap(), expected, "{text}");
        }
        assert_eq!(expand("<a>${outer}</a>", &values, true).unwrap(), "<a>&lt;1&gt;</a>");
        assert!(expand("${loop}", &values, false).is_err());
    }

    #[test]
    fn expansion_is_bounded() {
        let values =
            Values(&[("a", "${b}${b}${b}${b}"), ("b", "${c}${c}${c}${c}${c}${c}${c}${c}"), ("c", "x")]);
        assert!(expand(&"${a}".repeat(400), &values, false).unwrap_err().contains("more than"));
        assert!(expand(&"${".repeat(10_000), &values, false).is_ok());
    }
}
