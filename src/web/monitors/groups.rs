//! The list as groups: the monitors of each value of a custom property, with the most urgent state among them.

use askama::Template;

use crate::service::{ListQuery, StatusGroup};
use crate::texts::Locale;
use crate::web::live::{LiveBlock, LiveRow};

/// A group in the list.
#[derive(Template)]
#[template(path = "monitors_group.html", config = "src/web/askama.toml")]
struct GroupView<'a> {
    id: String,
    group: &'a StatusGroup,
    /// Where its monitors are listed; `None` for those without a value, which no filter selects.
    href: Option<String>,
    t: Locale,
}

/// Renders `groups` of `query`.
pub(super) fn render_groups(query: &ListQuery, groups: &[StatusGroup], t: Locale) -> LiveBlock {
    let to_row = |(index, group): (usize, &StatusGroup)| {
        let href = group.value.as_ref().map(|value| {
            let mut members = ListQuery { view: None, group: String::new(), page_number: 1, ..query.clone() };
            members.exact_properties.push(format!("{}:{value}", query.group));
            members.to_path()
        });
        let id = format!("group-{index}");
        // Writing into a string cannot fail.
        let html = GroupView { id: id.clone(), group, href, t }.render().unwrap_or_default();
        LiveRow { id, html }
    };
    LiveBlock {
        id: "rows",
        before: format!(
            r#"<div class="scroll"><table class="rows"><thead><tr><th>{}</th><th>{}</th><th class="n">{}</th><th>{}</th></tr></thead><tbody>"#,
            t.text("State"),
            t.text("Group"),
            t.text("Monitors"),
            t.text("By state")
        ),
        rows: groups.iter().enumerate().map(to_row).collect(),
        after: "</tbody></table></div>".to_owned(),
    }
}
