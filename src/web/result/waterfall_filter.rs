//! What a waterfall is narrowed to: buttons of which one is chosen. The style sheet hides the other rows, so that it works
//! without scripts.

use std::fmt::Write;

use crate::domain::PageObjectKind;
use crate::service::result_view::ObjectView;

/// The kinds with their names, in the order of the buttons. The style sheet has a rule for each.
const KINDS: [(PageObjectKind, &str); 8] = [
    (PageObjectKind::Document, "document"),
    (PageObjectKind::Frame, "frame"),
    (PageObjectKind::Script, "script"),
    (PageObjectKind::StyleSheet, "style"),
    (PageObjectKind::Image, "image"),
    (PageObjectKind::Font, "font"),
    (PageObjectKind::Media, "media"),
    (PageObjectKind::Other, "other"),
];

/// Returns the name of a kind.
pub(super) fn kind_name(kind: PageObjectKind) -> &'static str {
    KINDS.iter().find(|(known, _)| *known == kind).map_or("other", |(_, name)| name)
}

/// Returns the text of the button of a kind. Browsers tell what scripts fetch as another kind.
fn label(name: &'static str) -> &'static str {
    if name == "other" { "XHR and other" } else { name }
}

/// Renders the buttons for `objects`, with how many each shows; nothing when there is nothing to choose. `name` tells them
/// from those of other waterfalls.
pub(super) fn render_filter(out: &mut String, objects: &[&ObjectView<'_>], name: &str) {
    let count_of = |kind| objects.iter().filter(|object| object.kind == kind).count();
    let of_kinds = KINDS.iter().map(|(kind, value)| (*value, label(value), count_of(*kind)));
    let troubled = objects.iter().filter(|object| object.is_troubled()).count();
    let choices: Vec<_> = of_kinds
        .chain([("failed", "failed or blocked", troubled)])
        .filter(|(_, _, count)| *count > 0)
        .collect();
    if choices.len() < 2 {
        return;
    }
    out.push_str(r#"<fieldset class="kinds"><legend>Show</legend>"#);
    let all = [("all", "all", objects.len())];
    for (value, label, count) in all.into_iter().chain(choices) {
        let checked = if value == "all" { " checked" } else { "" };
        // Writing into a string cannot fail.
        let _ = write!(
            out,
            r#"<label><input type="radio" name="kind-{name}" value="{value}"{checked}> {label} <small>{count}</small></label>"#
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
