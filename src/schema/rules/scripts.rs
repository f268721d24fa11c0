//! Scripts: protected variables and their password, steps, archives (fields.md 2 and 3, behaviour.md 8).

use base64::Engine as _;

use super::super::document::Document;
use super::judged::{Bench, Judged};
use crate::domain::{MonitorType, constant_time_eq};
use crate::script::dialect::Script;
use crate::script::{ScriptError, check_well_formed, has_secrets, same_protected_variables};
use crate::syntax::{MASK, ValidationErrorKind};

const PASSWORD: &str = "transaction_password";

/// Bytes of a JAR (fields.md 2).
const MOST_JAR: usize = 50 * 1024 * 1024;

pub(super) fn check(bench: &mut Bench<'_>) {
    if bench.has("content_views") && bench.sound(&["content_views"]) {
        views(bench);
    }
    match bench.document().kind() {
        MonitorType::BrowserScript if bench.sound(&["script", PASSWORD]) => protected(bench),
        MonitorType::Selenium if bench.sound(&["script"]) => archive(bench),
        _ => {}
    }
}

/// The id of a content view names it in results, alerts and groups.
fn views(bench: &mut Bench<'_>) {
    let ids: Vec<i64> =
        bench.document().list("content_views").iter().filter_map(|view| view["id"].as_i64()).collect();
    for (index, id) in ids.iter().enumerate() {
        if ids[..index].contains(id) {
            let path = format!("content_views[{index}].id");
            bench.fault(
                ValidationErrorKind::DuplicateField,
                &path,
                format!("`{path}`: there is a content view `{id}` already"),
            );
        }
    }
}

/// `transaction_password` is needed to save or change protected variables (fields.md 3): a script that has
/// some needs one, and whoever changes them, or the password, has to know the one that is stored.
fn protected(bench: &mut Bench<'_>) {
    let script = bench.document().text("script").unwrap_or_default();
    if has_secrets(script) && bench.document().text(PASSWORD).is_none_or(str::is_empty) {
        let message = format!("`{PASSWORD}` is required: the script has protected variables");
        bench.fault(ValidationErrorKind::MissingField, PASSWORD, message);
    }
    let Some(old) = bench.judged.old else { return };
    let before = old.text("script").unwrap_or_default();
    let stored = old.text(PASSWORD).filter(|stored| !stored.is_empty());
    let Some(stored) = stored.filter(|_| has_secrets(before)) else { return };
    let given = bench.judged.body.get(PASSWORD).map(|node| node.as_text().unwrap_or_default());
    if let Some(given) = given.filter(|given| *given != MASK) {
        if !constant_time_eq(given, stored) {
            bench.conflict_with_hint(
                PASSWORD,
                format!("`{PASSWORD}` is not the one that is stored"),
                "to set another one, take the protected variables out of the script first".to_owned(),
            );
        }
    } else if !same_protected_variables(before, script) {
        let message = format!("`{PASSWORD}` is required to change protected variables of the script");
        bench.fault(ValidationErrorKind::MissingField, PASSWORD, message).hint =
            Some("give the one that is stored".to_owned());
    }
}

/// A JAR is a ZIP archive: it begins with an entry, or with the end of an empty one.
fn archive(bench: &mut Bench<'_>) {
    let text = bench.document().text("script").unwrap_or_default();
    let characters = || text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=');
    let start: Vec<u8> = characters().take(8).collect();
    let engine = base64::engine::general_purpose::STANDARD_NO_PAD;
    let magic = engine.decode(&start).unwrap_or_default();
    if !magic.starts_with(b"PK\x03\x04") && !magic.starts_with(b"PK\x05\x06") {
        bench.fault(
            ValidationErrorKind::Format,
            "script",
            "`script` must be the Base64 of a JAR, which is a ZIP archive".to_owned(),
        );
    } else if characters().count() / 4 * 3 > MOST_JAR {
        bench.fault(
            ValidationErrorKind::Length,
            "script",
            "`script` must hold a JAR of at most 50 MiB".to_owned(),
        );
    }
}

/// Faults of one script that are told when it is saved.
const MOST_TOLD: usize = 20;

/// Of a script that cannot be played, which is stored nevertheless.
pub(in crate::schema) fn warnings(judged: &Judged<'_>) -> Vec<String> {
    let document = judged.document;
    let Some(text) = document.text("script") else { return Vec::new() };
    match document.kind() {
        MonitorType::BrowserScript => played(document, text),
        MonitorType::Api => check_well_formed(text).err().iter().map(unparsed).collect(),
        _ => Vec::new(),
    }
}

fn played(document: &Document, text: &str) -> Vec<String> {
    let script = match Script::parse(text) {
        Ok(script) => script,
        Err(faults) => return unplayable(&faults),
    };
    let mut told = Vec::new();
    let (steps, allowed) = (script.steps.len(), document.number("transaction_steps_allowed"));
    if i64::try_from(steps).is_ok_and(|steps| steps > allowed) {
        told.push(format!(
            "`script` has {steps} steps, more than the {allowed} that are allowed: checks end with status 94"
        ));
    }
    if let Some(act) = script.first_relative_open().filter(|_| document.text("url").is_none()) {
        let (line, column) = (act.position.line, act.position.column);
        told.push(format!(
            "`script`, line {line}, column {column}: a relative URL needs `base` of the script or `url` of the monitor"
        ));
    }
    told
}

fn unplayable(faults: &[ScriptError]) -> Vec<String> {
    let one = |fault: &ScriptError| {
        let hint = fault.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        format!("{}{hint}: checks end with status 96", unparsed(fault))
    };
    let mut told: Vec<String> = faults.iter().take(MOST_TOLD).map(one).collect();
    if faults.len() > MOST_TOLD {
        told.push(format!(
            "`script` has at least {} more faults: `vigie script check` lists them",
            faults.len() - MOST_TOLD
        ));
    }
    told
}

fn unparsed(fault: &ScriptError) -> String {
    let (line, column) = (fault.position.line, fault.position.column);
    format!("`script` cannot be parsed, line {line}, column {column}: {}", fault.message)
}
