//! The index of an account, and the lists of its records.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::kinds::{PAGES, RecordPages};
use super::password_page::user;
use super::record_choices::record_choices;
use super::record_page::edit_form;
use super::record_scope::{NoPage, RecordPath, RecordScope};
use super::state::AccountState;
use crate::domain::Pagination;
use crate::schema::field::{Field, FieldType};
use crate::texts::{Locale, key};
use crate::web::actions::refused;
use crate::web::form::form_choices::Choices;
use crate::web::form::form_zones::FormZones;
use crate::web::form::labels::{label, value_label};
use crate::web::html::with_code;
use crate::web::page_frame::{PageFrame, Section, render_page};
use crate::web::viewer::Viewer;

/// Records on a page.
const PAGE_ROWS: u32 = 100;
/// Longest text in a cell, in characters.
const MAX_CELL_CHARS: usize = 120;

#[derive(Template)]
#[template(path = "account_index.html", config = "src/web/askama.toml")]
struct Index {
    /// Whether the person has a password that they can change.
    has_password: bool,
    t: Locale,
}

#[derive(Template)]
#[template(path = "record_list.html", config = "src/web/askama.toml")]
struct RecordList<'a> {
    pages: &'a RecordPages,
    list_path: String,
    columns: Vec<String>,
    rows: Vec<RecordRow>,
    /// What the times of the list are in; empty without times.
    times_in: String,
    total: u64,
    may_edit: bool,
    /// Numbers of the pages before and behind this one.
    previous: Option<u32>,
    next: Option<u32>,
    t: Locale,
}

struct RecordRow {
    id: i64,
    cells: Vec<String>,
}

/// `?page=`, from 1.
#[derive(Deserialize)]
pub(in crate::web) struct ListQuery {
    #[serde(default)]
    page: Option<u32>,
}

/// `GET /account`
pub(in crate::web) async fn get_index(Extension(viewer): Extension<Viewer>) -> Response {
    if viewer.caller.is_none() {
        return NoPage::NotSignedIn.into_response();
    }
    let has_password = user(&viewer).is_ok();
    let t = viewer.locale();
    let title = format!("{} · Vigie", t.text(Section::Account.name()));
    let frame = PageFrame { section: Some(Section::Account), ..PageFrame::new(&title, &viewer) };
    // Writing into a string cannot fail.
    render_page(frame, &Index { has_password, t }.render().unwrap_or_default()).into_response()
}

/// `GET /account/{kind}`, and below a monitor
pub(in crate::web) async fn get_list(
    State(state): State<AccountState>,
    Extension(viewer): Extension<Viewer>,
    Path(path): Path<RecordPath>,
    Query(query): Query<ListQuery>,
) -> Response {
    let scope = match RecordScope::find(&state, &viewer, &path) {
        Ok(scope) => scope,
        Err(refusal) => return refusal.into_response(),
    };
    let pages = scope.pages;
    if pages.is_single() {
        let id = scope.caller.customer.to_string();
        return edit_form(&state, &viewer, scope, &id).await;
    }
    let t = viewer.locale();
    let page = query.page.unwrap_or(1).max(1);
    let wanted = Pagination { limit: PAGE_ROWS, offset: u64::from(page - 1) * u64::from(PAGE_ROWS) };
    let listed = match scope.list(&state.config_record_service, wanted).await {
        Ok(listed) => listed,
        Err(error) => return refused(&error),
    };
    let of_monitors = match record_choices(&state, &scope, false, t).await {
        Ok(choices) => choices,
        Err(error) => return refused(&error),
    };
    let of_recipients = of_monitors.choices_of_recipient();
    let to_row = |record: &Map<String, Value>| {
        let is_about_recipient = record.get("type").and_then(Value::as_str) == Some("Notifier");
        let choices = |column: &str| match column {
            "assoc_id" if is_about_recipient => of_recipients,
            column => of_monitors.of(column),
        };
        RecordRow {
            id: record.get("id").and_then(Value::as_i64).unwrap_or_default(),
            cells: pages
                .columns
                .iter()
                .map(|column| match (record.get(*column), pages.table.field(column)) {
                    (Some(Value::String(time)), Some(field)) if FormZones::is_date(field) => {
                        scope.zones.shown_time(time)
                    }
                    (Some(Value::String(text)), Some(field)) if is_choice(field) => {
                        value_label(field, text, t)
                    }
                    (value, _) => cell(value, choices(column), t),
                })
                .collect(),
        }
    };
    let has_more = u64::from(page) * u64::from(PAGE_ROWS) < listed.total;
    let list = RecordList {
        pages,
        list_path: scope.list_path(),
        columns: pages.columns.iter().map(|column| t.text(&label(column)).to_owned()).collect(),
        rows: listed.items.iter().map(to_row).collect(),
        times_in: times_in(&scope, t),
        total: listed.total,
        may_edit: scope.may_edit(&state, &viewer),
        previous: (page > 1).then(|| page - 1),
        next: has_more.then(|| page + 1),
        t,
    };
    // Writing into a string cannot fail.
    scope.render_list_page(&viewer, &list.render().unwrap_or_default())
}

fn is_choice(field: &Field) -> bool {
    matches!(field.field_type, FieldType::TextEnum(_))
}

/// Returns what the times of a list are in; empty for a list without times.
fn times_in(scope: &RecordScope, t: Locale) -> String {
    let is_date = |column: &&str| scope.pages.table.field(column).is_some_and(FormZones::is_date);
    if !scope.pages.columns.iter().any(is_date) {
        return String::new();
    }
    let (dates, account) = (scope.zones.dates, scope.zones.account);
    if dates == account {
        return t.fill("Times are in {zone}.", &[("zone", dates.name())]);
    }
    t.fill(
        "Dates are in {zone}; times of the week in {account}, the time zone of the account.",
        &[("zone", dates.name()), ("account", account.name())],
    )
}

/// Returns what a cell shows of `value`: the name of what an id refers to, and of a list of objects how many there are.
fn cell(value: Option<&Value>, choices: Option<&Choices>, t: Locale) -> String {
    let text = match value {
        None | Some(Value::Null) => return "–".to_owned(),
        Some(Value::Bool(flag)) => t.text(if *flag { key("yes") } else { key("no") }).to_owned(),
        Some(Value::Array(items)) => items.len().to_string(),
        Some(Value::String(text)) if text.is_empty() => "–".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    let choice =
        choices.and_then(|choices| choices.iter().find(|(value, _)| *value == text).map(|(_, label)| label));
    choice.unwrap_or(&text).chars().take(MAX_CELL_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn cells_are_words() {
        let choices = vec![("7".to_owned(), "shop".to_owned())];
        for (value, expected) in [
            (json!(7), "shop"),
            (json!(8), "8"),
            (json!(true), "yes"),
            (json!([{"id": 1}, {"id": 2}]), "2"),
            (json!(null), "–"),
            (json!(""), "–"),
            (json!("<b>"), "<b>"),
        ] {
            assert_eq!(cell(Some(&value), Some(&choices), Locale::default()), expected);
        }
    }
}
