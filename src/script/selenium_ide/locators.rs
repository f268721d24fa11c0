//! Converts targets of Selenium IDE to locators.

use super::super::language::Locator;
use super::text::convert_placeholders;

/// Converts `target` to locators.
///
/// # Errors
/// Fails with the reason when the script language has no such locator.
pub(super) fn convert_locators(target: &str) -> Result<Vec<Locator>, String> {
    if target.starts_with("//") || target.starts_with("(//") {
        return Ok(vec![Locator::XPath(convert_placeholders(target))]);
    }
    let Some((prefix, text)) = target.split_once('=') else {
        return Err(if target.is_empty() {
            "it does not say which element is meant".to_owned()
        } else {
            format!("`{}` is not a locator", crate::syntax::truncate_value(target))
        });
    };
    let text = convert_placeholders(text);
    Ok(vec![match prefix {
        "id" => Locator::Id(text),
        "name" => Locator::Name(text),
        "css" => Locator::Css(text),
        "xpath" => Locator::XPath(text),
        "linkText" | "link" => Locator::Link(text.strip_prefix("exact:").unwrap_or(&text).to_owned()),
        "partialLinkText" => {
            Locator::XPath(format!("//a[contains(normalize-space(.), {})]", xpath_literal(text.trim())))
        }
        "class" | "className" => Locator::Css(format!(".{text}")),
        "identifier" => return Ok(vec![Locator::Id(text.clone()), Locator::Name(text)]),
        _ => {
            let prefix = crate::syntax::truncate_value(prefix);
            return Err(format!("the dialect has no locator of the kind `{prefix}=`"));
        }
    }])
}

/// Returns a CSS locator for the element with a suffix, where possible.
pub(super) fn css_locator_with_suffix(locator: &Locator, suffix: &str) -> Option<Locator> {
    let attribute = |name: &str, text: &str| {
        let text = text.replace('\\', "\\\\").replace('"', "\\\"");
        Some(Locator::Css(format!("[{name}=\"{text}\"]{suffix}")))
    };
    match locator {
        Locator::Id(text) => attribute("id", text),
        Locator::Name(text) => attribute("name", text),
        Locator::Css(text) if !text.contains(',') => Some(Locator::Css(format!("{text}{suffix}"))),
        _ => None,
    }
}

/// Quotes a text for XPath 1.0, which has no escapes.
fn xpath_literal(text: &str) -> String {
    if !text.contains('"') {
        return format!("\"{text}\"");
    }
    if !text.contains('\'') {
        return format!("'{text}'");
    }
    let parts: Vec<String> = text.split('"').map(|part| format!("\"{part}\"")).collect();
    format!("concat({})", parts.join(", '\"', "))
}
