//! The buttons of the page of a monitor.

use askama::Template;

use crate::domain::{Permission, Timestamp};
use crate::schema::{Monitor, Origin};
use crate::texts::{Locale, key};
use crate::web::csrf::FORM_TOKEN_FIELD;
use crate::web::viewer::Viewer;

/// How long a monitor can be paused: seconds, and what they are called.
const PAUSES: [(u64, &str); 5] = [
    (1_800, key("30 minutes")),
    (3_600, key("1 hour")),
    (14_400, key("4 hours")),
    (86_400, key("1 day")),
    (604_800, key("7 days")),
];

#[derive(Template)]
#[template(path = "monitor_buttons.html", config = "src/web/askama.toml")]
struct Buttons<'a> {
    path: String,
    form_token: &'a str,
    may_run: bool,
    may_edit: bool,
    is_paused: bool,
    /// Whether a job pushes what it shows.
    is_pushed: bool,
    /// Whether no file manages it.
    is_changeable: bool,
    t: Locale,
}

/// Renders what `viewer` can do to `monitor`; empty for nothing.
pub(in crate::web) fn render_buttons(monitor: &Monitor, viewer: &Viewer, now: Timestamp) -> String {
    let (Some(caller), Some(form_token)) = (viewer.caller_for(monitor.customer), viewer.form_token()) else {
        return String::new();
    };
    let allows_tests = monitor.document.settings().schedule.allow_on_demand_tests;
    let buttons = Buttons {
        path: format!("/monitors/{}", monitor.id),
        form_token,
        may_run: allows_tests && caller.allows(Permission::Edit),
        may_edit: caller.allows(Permission::Edit),
        is_paused: monitor.paused_until(now).is_some(),
        is_pushed: monitor.document.is_pushed(),
        is_changeable: !matches!(monitor.origin, Origin::File { .. }),
        t: viewer.locale(),
    };
    // Writing into a string cannot fail.
    buttons.render().unwrap_or_default()
}
