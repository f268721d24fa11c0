//! The table of the assertions that did not hold.

use std::fmt::Write;

use crate::service::result_view::FailedAssertion;
use crate::web::html::escape;

/// Most assertions shown; the steps above have them all.
const MAX_SHOWN: usize = 100;

/// Renders the assertions; nothing without any. Writing into a string cannot fail.
pub(super) fn render_failed_assertions(out: &mut String, assertions: &[FailedAssertion<'_>]) {
    if assertions.is_empty() {
        return;
    }
    out.push_str(r#"<h2>Assertions that failed</h2><div class="scroll"><table class="rows"><thead><tr><th>Step</th><th>Expected</th><th>Found</th></tr></thead><tbody>"#);
    for assertion in assertions.iter().take(MAX_SHOWN) {
        let step =
            assertion.step.map_or_else(String::new, |(number, name)| format!("{number} {}", escape(name)));
        let _ = write!(
            out,
            r#"<tr><td>{step}</td><td class="reason" data-h="expected">{}</td><td class="reason" data-h="found">{}</td></tr>"#,
            escape(assertion.expected),
            escape(&assertion.found)
        );
    }
    out.push_str("</tbody></table></div>");
}
