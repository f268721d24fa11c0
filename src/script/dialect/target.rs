//! How acts say which element they are about: one locator as an attribute, or several `by` in order.

use super::act::{Locator, Target};
use super::css;
use super::element::{Element, LONGEST};
use super::vocabulary::{Aim, LOCATORS, Word};
use crate::syntax::path;
use crate::syntax::path::PathError;
use crate::syntax::template::{TemplatePart, has_placeholders, parse};

/// Locators of one element.
const MOST_LOCATORS: usize = 20;

/// The element that an act is about; `None` when it is about none, or when a fault says why.
pub(super) fn target(act: &mut Element<'_, '_, '_, '_>, word: &Word) -> Option<Target> {
    if word.aim == Aim::Nothing {
        act.reader.children(act.node, &[]);
        return None;
    }
    let listed = act.reader.children(act.node, &["by"]);
    let short: Vec<&'static str> = word.locators().filter(|name| act.given(name).is_some()).collect();
    let name = act.name();
    match (short.as_slice(), listed.as_slice()) {
        ([], []) => {
            if word.aim == Aim::Element {
                let names = listing(word.locators());
                let hint = format!("give one of {names}, or `by` elements in it");
                let at = act.node.range().start;
                act.reader.fault(at, format!("`{name}` does not say which element is meant"), Some(hint));
            }
            None
        }
        ([one], []) => locator(act, one).map(|locator| Target { locators: vec![locator] }),
        ([_, second, ..], []) => {
            let hint = "several go into `by` elements, in the order in which they are tried".to_owned();
            act.fault_in(second, format!("`{name}` has more than one locator as an attribute"), Some(hint));
            None
        }
        ([one, ..], _) => {
            let hint = format!("make `{one}` a `by` element too");
            act.fault_in(one, format!("`{name}` has locators both as attribute and as `by`"), Some(hint));
            None
        }
        ([], listed) if listed.len() > MOST_LOCATORS => {
            act.fault(format!("`{name}` has more than {MOST_LOCATORS} locators"));
            None
        }
        ([], listed) => {
            let mut locators = Vec::with_capacity(listed.len());
            for node in listed {
                locators.push(by(&mut Element { node: *node, reader: act.reader }));
            }
            locators.into_iter().collect::<Option<Vec<_>>>().map(|locators| Target { locators })
        }
    }
}

fn by(element: &mut Element<'_, '_, '_, '_>) -> Option<Locator> {
    element.reader.attributes(element.node, &LOCATORS);
    element.reader.children(element.node, &[]);
    let given: Vec<&'static str> =
        LOCATORS.into_iter().filter(|name| element.given(name).is_some()).collect();
    if let [one] = given.as_slice() {
        return locator(element, one);
    }
    element.fault(format!("`by` needs exactly one of {}", listing(LOCATORS)));
    None
}

fn listing(names: impl IntoIterator<Item = &'static str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The locator that the attribute `name` is.
fn locator(element: &mut Element<'_, '_, '_, '_>, name: &str) -> Option<Locator> {
    let text = element.template(name)?;
    if text.chars().count() > LONGEST {
        element.fault_in(name, format!("a locator has at most {LONGEST} characters"), None);
        return None;
    }
    let fault = match name {
        "css" => with_values(&text, css::fault),
        "xpath" => with_values(&text, xpath_fault),
        _ => None,
    };
    if let Some(fault) = fault {
        let kind = if name == "css" { "CSS selector" } else { "XPath 1.0" };
        element.fault_in(name, format!("`{name}` is no {kind}: {fault}"), None);
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

/// What `judge` finds in `text`. Values are not known yet: it is well when a word or a number makes it well.
fn with_values(text: &str, judge: impl Fn(&str) -> Option<String>) -> Option<String> {
    if !has_placeholders(text) {
        return judge(text);
    }
    let with = |value: &str| -> String {
        let piece = |piece: &TemplatePart<'_>| match piece {
            TemplatePart::Text(text) => (*text).to_owned(),
            TemplatePart::Placeholder(_) => value.to_owned(),
        };
        parse(text).iter().map(piece).collect()
    };
    let fault = judge(&with("x"))?;
    judge(&with("1")).and(Some(fault))
}

fn xpath_fault(text: &str) -> Option<String> {
    match path::parse_xpath(text) {
        Err(PathError::TooComplex) => Some("it has too many brackets".to_owned()),
        Err(PathError::Syntax(fault)) => Some(fault),
        Ok(path) if !path.prefixes.is_empty() => Some("pages know no namespace prefixes".to_owned()),
        Ok(path) if !path.expr.returns_node_set() => Some("it gives no element".to_owned()),
        Ok(_) => None,
    }
}
