//! Rules for collections (formats.md, Postman collections).

use super::rule_context::{RuleContext, RuleInput};
use crate::collection::{parse_collection, parse_data_rows, parse_variable_file};
use crate::domain::MonitorType;
use crate::syntax::ValidationErrorKind;

/// Largest size of all files of a collection, in bytes.
const MAX_FILE_BYTES: usize = 10 * 1024 * 1024;
/// Most things that are listed as not supported.
const MAX_WARNINGS: usize = 20;
/// What a collection that cannot be run leads to.
const CONSEQUENCE: &str = "checks end as unknown, status 61";

/// Checks what the files hold together.
pub(super) fn check(cx: &mut RuleContext<'_>) {
    if cx.document().monitor_type() != MonitorType::CollectionApi || !cx.are_valid(&["files"]) {
        return;
    }
    let encoded = |file: &serde_json::Value| file["base64"].as_str().map_or(0, str::len);
    let bytes = cx.document().list("files").iter().map(encoded).sum::<usize>() / 4 * 3;
    if bytes > MAX_FILE_BYTES {
        let message = format!("`files` must hold at most {} MiB together", MAX_FILE_BYTES >> 20);
        cx.add_error(ValidationErrorKind::Length, "files", message);
    }
}

/// Returns warnings about a collection that cannot be run; it is stored nevertheless.
pub(super) fn warnings(input: &RuleInput<'_>) -> Vec<String> {
    let document = input.document;
    if document.monitor_type() != MonitorType::CollectionApi {
        return Vec::new();
    }
    let text = |field: &str| document.text(field).filter(|text| !text.trim().is_empty());
    let mut warnings = Vec::new();
    match text("script").map(parse_collection) {
        Some(Ok(collection)) => {
            if collection.requests.is_empty() {
                warnings.push(format!("`script` has no request: {CONSEQUENCE}"));
            }
            let items = &collection.unsupported;
            warnings.extend(
                items.iter().take(MAX_WARNINGS).map(|item| format!("`script`, {item}: {CONSEQUENCE}")),
            );
            if items.len() > MAX_WARNINGS {
                let more = items.len() - MAX_WARNINGS;
                warnings.push(format!("`script` has {more} more: `vigie collection check` lists them"));
            }
        }
        Some(Err(error)) => warnings.push(format!("`script`, {error}: {CONSEQUENCE}")),
        None => {}
    }
    for field in ["environment", "globals"] {
        if let Some(Err(error)) = text(field).map(parse_variable_file) {
            warnings.push(format!("`{field}`, {error}: {CONSEQUENCE}"));
        }
    }
    if let Some(Err(reason)) = text("data").map(parse_data_rows) {
        warnings.push(format!("`data`: {reason}: {CONSEQUENCE}"));
    }
    warnings
}
