//! Parses the target of an action: one locator as an attribute, or several `by` elements in order.

use super::action::{ElementTarget, Locator};
use super::css_selector;
use super::element::{ElementParser, MAX_EXPRESSION_CHARS};
use super::vocabulary::{ActionSpec, LOCATOR_ATTRIBUTES, TargetRequirement};
use crate::syntax::path_expression;
use crate::syntax::path_expression::PathError;
use crate::syntax::template::{TemplatePart, has_placeholders, parse_template};

/// Maximum number of locators of one element.
const MAX_LOCATORS: usize = 20;

/// Parses the target of an action; `None` when it has none, or after adding an error.
pub(super) fn parse_target(
    element: &mut ElementParser<'_, '_, '_, '_>,
    spec: &ActionSpec,
) -> Option<ElementTarget> {
    if spec.target == TargetRequirement::None {
        element.context.allowed_children(element.node, &[]);
        return None;
    }
    let by_elements = element.context.allowed_children(element.node, &["by"]);
    let attributes: Vec<&'static str> =
        spec.locators().filter(|name| element.attribute(name).is_some()).collect();
    let name = element.name();
    match (attributes.as_slice(), by_elements.as_slice()) {
        ([], []) => {
            if spec.target == TargetRequirement::Required {
                let names = join_names(spec.locators());
                let hint = format!("give one of {names}, or `by` elements in it");
                let offset = element.node.range().start;
                element.context.add_error(
                    offset,
                    format!("`{name}` does not say which element is meant"),
                    Some(hint),
                );
            }
            None
        }
        ([attribute], []) => {
            parse_locator(element, attribute).map(|locator| ElementTarget { locators: vec![locator] })
        }
        ([_, second, ..], []) => {
            let hint = "several go into `by` elements, in the order in which they are tried".to_owned();
            element.add_attribute_error(
                second,
                format!("`{name}` has more than one locator as an attribute"),
                Some(hint),
            );
            None
        }
        ([attribute, ..], _) => {
            let hint = format!("make `{attribute}` a `by` element too");
            element.add_attribute_error(
                attribute,
                format!("`{name}` has locators both as attribute and as `by`"),
                Some(hint),
            );
            None
        }
        ([], by_elements) if by_elements.len() > MAX_LOCATORS => {
            element.add_error(format!("`{name}` has more than {MAX_LOCATORS} locators"));
            None
        }
        ([], by_elements) => {
            let mut locators = Vec::with_capacity(by_elements.len());
            for node in by_elements {
                locators.push(parse_by_element(&mut ElementParser { node: *node, context: element.context }));
            }
            locators.into_iter().collect::<Option<Vec<_>>>().map(|locators| ElementTarget { locators })
        }
    }
}

fn parse_by_element(element: &mut ElementParser<'_, '_, '_, '_>) -> Option<Locator> {
    element.context.check_attributes(element.node, &LOCATOR_ATTRIBUTES);
    element.context.allowed_children(element.node, &[]);
    let present_attributes: Vec<&'static str> =
        LOCATOR_ATTRIBUTES.into_iter().filter(|name| element.attribute(name).is_some()).collect();
    if let [attribute] = present_attributes.as_slice() {
        return parse_locator(element, attribute);
    }
    element.add_error(format!("`by` needs exactly one of {}", join_names(LOCATOR_ATTRIBUTES)));
    None
}

fn join_names(names: impl IntoIterator<Item = &'static str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Parses the locator in the attribute `name`.
fn parse_locator(element: &mut ElementParser<'_, '_, '_, '_>, name: &str) -> Option<Locator> {
    let text = element.non_blank_template(name)?;
    if text.chars().count() > MAX_EXPRESSION_CHARS {
        element.add_attribute_error(
            name,
            format!("a locator has at most {MAX_EXPRESSION_CHARS} characters"),
            None,
        );
        return None;
    }
    let error = match name {
        "css" => check_with_sample_values(&text, css_selector::syntax_error),
        "xpath" => check_with_sample_values(&text, xpath_error),
        _ => None,
    };
    if let Some(error) = error {
        let kind = if name == "css" { "a CSS selector" } else { "an XPath 1.0 expression" };
        element.add_attribute_error(name, format!("`{name}` is not {kind}: {error}"), None);
        return None;
    }
    Some(match name {
        "id" => Locator::Id(text),
        "css" => Locator::Css(text),
        "xpath" => Locator::XPath(text),
        "link" => Locator::Link(text),
        "name" => Locator::Name(text),
        _ => Locator::Text(text),
    })
}

/// Checks `text` with `check`. Values of placeholders are unknown: the text passes if it does with a word or a
/// number.
fn check_with_sample_values(text: &str, check: impl Fn(&str) -> Option<String>) -> Option<String> {
    if !has_placeholders(text) {
        return check(text);
    }
    let with_value = |value: &str| -> String {
        let render_part = |part: &TemplatePart<'_>| match part {
            TemplatePart::Text(text) => (*text).to_owned(),
            TemplatePart::Placeholder(_) => value.to_owned(),
        };
        parse_template(text).iter().map(render_part).collect()
    };
    let error = check(&with_value("x"))?;
    check(&with_value("1")).and(Some(error))
}

fn xpath_error(text: &str) -> Option<String> {
    match path_expression::parse_xpath(text) {
        Err(PathError::TooComplex) => Some("it has too many brackets".to_owned()),
        Err(PathError::Syntax(error)) => Some(error),
        Ok(path) if !path.prefixes.is_empty() => Some("namespace prefixes are not supported".to_owned()),
        Ok(path) if !path.expr.returns_node_set() => Some("it does not select elements".to_owned()),
        Ok(_) => None,
    }
}
