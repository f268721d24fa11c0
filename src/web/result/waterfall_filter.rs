//! What a waterfall is narrowed to: buttons of which one is chosen. The style sheet hides the other rows, so that it works
//! without scripts.

use std::fmt::Write;

use crate::domain::PageObjectKind;
use crate::service::result_view::ObjectView;
use crate::texts::{Locale, key};

/// The kinds with their names, in the order of the buttons. The style sheet has a rule for each.
const KINDS: [(PageObjectKind, &str); 8] = [
    (PageObjectKind::Document, key("document")),
    (PageObjectKind::Frame, key("frame")),
    (PageObjectKind::Script, key("script")),
    (PageObjectKind::StyleSheet, key("style")),
    (PageObjectKind::Image, key("image")),
    (PageObjectKind::Font, key("font")),
    (PageObjectKind::Media, key("media")),
    (PageObjectKind::Other, key("other")),
];

/// Returns the name of a kind.
pub(super) fn kind_name(kind: PageObjectKind) -> &'static str {
    KINDS.iter().find(|(known, _)| *known == kind).map_or("other", |(_, name)| name)
}

/// Returns the text of the button of a kind. Browsers tell what scripts fetch as another kind.
fn label(name: &'static str) -> &'static str {
    if name == "other" { key("XHR and other") } else { name }
}

/// Renders the buttons for `objects`, with how many each shows; nothing when there is nothing to choose. `name` tells them
/// from those of other waterfalls.
pub(super) fn render_filter(out: &mut String, objects: &[&ObjectView<'_>], name: &str, t: Locale) {
    let count_of = |kind| objects.iter().filter(|object| object.kind == kind).count();
    let of_kinds = KINDS.iter().map(|(kind, value)| (*value, label(value), count_of(*kind)));
    let troubled = objects.iter().filter(|object| object.is_troubled()).count();
    let choices: Vec<_> = of_kinds
        .chain([("failed", key("failed or blocked"), troubled)])
        .filter(|(_, _, count)| *count > 0)
        .collect();
    if choices.len() < 2 {
        return;
    }
    // Writing into a string cannot fail, here and below.
    let _ = write!(out, r#"<fieldset class="kinds"><legend>{}</legend>"#, t.text("Show"));
    let all = [("all", key("all"), objects.len())];
    for (value, label, count) in all.into_iter().chain(choices) {
        let checked = if value == "all" { " checked" } else { "" };
        let _ = write!(
            out,
            r#"<label><input type="radio" name="kind-{name}" value="{value}"{checked}> {} <small>{count}</small></label>"#,
            t.text(label)
        );
    }
    out.push_str("</fieldset>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_style_sheet_has_a_rule_for_each_kind() {
        let style = include_str!("../assets/style.css");
        for (_, name) in KINDS {
            let rule = format!(
                r#".waterfall:has([value="{name}"]:checked) tr[data-kind]:not([data-kind="{name}"])"#
            );
            assert!(style.contains(&rule), "{rule}");
        }
        assert!(
            style.contains(r#".waterfall:has([value="failed"]:checked) tr[data-kind]:not([data-failed])"#)
        );
    }
}
