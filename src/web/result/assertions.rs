//! The table of the assertions that did not hold.

use std::fmt::Write;

use crate::service::result_view::FailedAssertion;
use crate::texts::{Locale, key};
use crate::web::html::{escape, render_table_head};

/// Most assertions shown; the steps above have them all.
const MAX_SHOWN: usize = 100;

/// Renders the assertions; nothing without any. Writing into a string cannot fail.
pub(super) fn render_failed_assertions(out: &mut String, assertions: &[FailedAssertion<'_>], t: Locale) {
    if assertions.is_empty() {
        return;
    }
    let heads = [("", key("Step")), ("", key("Expected")), ("", key("Found"))];
    let _ = write!(out, "<h2>{}</h2>{}", t.text("Assertions that failed"), render_table_head(&heads, t));
    for assertion in assertions.iter().take(MAX_SHOWN) {
        let step =
            assertion.step.map_or_else(String::new, |(number, name)| format!("{number} {}", escape(name)));
        let _ = write!(
            out,
            r#"<tr><td>{step}</td><td class="reason" data-h="{}">{}</td><td class="reason" data-h="{}">{}</td></tr>"#,
            t.text("expected"),
            escape(assertion.expected),
            t.text("found"),
            escape(&assertion.found)
        );
    }
    out.push_str("</tbody></table></div>");
}
