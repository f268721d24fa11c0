//! Descriptions of actions and locators in failures and results.

use crate::script::language::{Action, ElementTarget, Locator};

/// Describes the action and its position: `` `click` in line 7 ``.
pub(super) fn describe_action(action: &Action) -> String {
    match action.position.line {
        0 => format!("`{}`", action.kind.name()),
        line => format!("`{}` in line {line}", action.kind.name()),
    }
}

/// Describes how an element is located, as the script writes it, including placeholders.
pub(super) fn describe_target(target: &ElementTarget) -> String {
    let descriptions: Vec<String> = target.locators.iter().map(describe_locator).collect();
    descriptions.join(", ")
}

/// Returns the attribute that a locator is written as, and its text.
pub(super) const fn locator_name_and_text(locator: &Locator) -> (&'static str, &String) {
    match locator {
        Locator::Id(text) => ("id", text),
        Locator::Css(text) => ("css", text),
        Locator::XPath(text) => ("xpath", text),
        Locator::Link(text) => ("link", text),
        Locator::Name(text) => ("name", text),
        Locator::Text(text) => ("text", text),
    }
}

fn describe_locator(locator: &Locator) -> String {
    let (attribute, text) = locator_name_and_text(locator);
    format!("{attribute} `{text}`")
}
