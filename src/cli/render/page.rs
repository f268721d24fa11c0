//! Prints a page: its totals, a waterfall of its objects, and the differences to the last passing run.

use std::fmt::Write;

use super::objects;
use super::text::shorten_url;
use crate::cli::style::Style;
use crate::service::result_view::{PageView, format_duration, format_grouped, waterfall_span_us};

/// Objects that are printed; the JSON has all of them.
const MAX_PRINTED_OBJECTS: usize = 60;

/// Prints the page, after an empty line.
pub(super) fn render_page(out: &mut String, page: &PageView<'_>, style: Style) {
    let object_count = page.objects.len();
    let mut line = format!(
        "page with {object_count} {}, {} bytes in {}",
        if object_count == 1 { "object" } else { "objects" },
        format_grouped(page.decoded_bytes),
        format_duration(page.total_us)
    );
    let further_counts = [
        (page.failed_count, "failed"),
        (page.third_party_count, "third-party"),
        (page.unlisted_objects, "more not loaded"),
    ];
    for (number, text) in further_counts.into_iter().filter(|(number, _)| *number > 0) {
        let _ = write!(line, ", {number} {text}");
    }
    let _ = writeln!(out, "\n  {}", style.bold(&line));
    let span_us = waterfall_span_us(&page.objects);
    for object in page.objects.iter().take(MAX_PRINTED_OBJECTS) {
        objects::render_object(out, object, span_us, style);
    }
    if object_count > MAX_PRINTED_OBJECTS {
        let _ = writeln!(out, "  … {} more objects, see --json", object_count - MAX_PRINTED_OBJECTS);
    }
    for change in &page.changes {
        let _ = writeln!(
            out,
            "  note  {}",
            change.format(&format!("`{}`", shorten_url(change.url)), format_grouped)
        );
    }
}
