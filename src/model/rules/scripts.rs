//! Scripts: protected variables and their password, steps, archives (fields.md 2 and 3, behaviour.md 8).

use base64::Engine as _;

use super::super::MonitorType;
use super::super::fault::{MASK, Rule};
use super::super::script::{ScriptFacts, ScriptFault, hides, same_protected, well_formed};
use super::super::text::same_secret;
use super::{Bench, Judged};

const PASSWORD: &str = "transaction_password";

/// Bytes of a JAR (fields.md 2).
const MOST_JAR: usize = 50 * 1024 * 1024;

pub(super) fn check(bench: &mut Bench<'_>) {
    match bench.document().kind() {
        MonitorType::BrowserScript if bench.sound(&["script", PASSWORD]) => protected(bench),
        MonitorType::Selenium if bench.sound(&["script"]) => archive(bench),
        _ => {}
    }
}

/// `transaction_password` is needed to save or change protected variables (fields.md 3): a script that has
/// some needs one, and whoever changes them, or the password, has to know the one that is stored.
fn protected(bench: &mut Bench<'_>) {
    let script = bench.document().text("script").unwrap_or_default();
    if hides(script) && bench.document().text(PASSWORD).is_none_or(str::is_empty) {
        let message = format!("`{PASSWORD}` is required: the script has protected variables");
        bench.fault(Rule::Missing, PASSWORD, message);
    }
    let Some(old) = bench.judged.old else { return };
    let before = old.text("script").unwrap_or_default();
    let stored = old.text(PASSWORD).filter(|stored| !stored.is_empty());
    let Some(stored) = stored.filter(|_| hides(before)) else { return };
    let given = bench.judged.body.get(PASSWORD).map(|node| node.as_text().unwrap_or_default());
    if let Some(given) = given.filter(|given| *given != MASK) {
        if !same_secret(given, stored) {
            bench.conflict_with_hint(
                PASSWORD,
                format!("`{PASSWORD}` is not the one that is stored"),
                "to set another one, take the protected variables out of the script first".to_owned(),
            );
        }
    } else if !same_protected(before, script) {
        let message = format!("`{PASSWORD}` is required to change protected variables of the script");
        bench.fault(Rule::Missing, PASSWORD, message).hint = Some("give the one that is stored".to_owned());
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
            Rule::Format,
            "script",
            "`script` must be the Base64 of a JAR, which is a ZIP archive".to_owned(),
        );
    } else if characters().count() / 4 * 3 > MOST_JAR {
        bench.fault(Rule::Length, "script", "`script` must hold a JAR of at most 50 MiB".to_owned());
    }
}

/// A script that cannot be played, which is stored nevertheless.
pub(super) fn warning(judged: &Judged<'_>) -> Option<String> {
    let document = judged.document;
    match document.kind() {
        MonitorType::BrowserScript => {}
        MonitorType::Api => {
            let fault = well_formed(document.text("script")?).err()?;
            return Some(unparsed(&fault));
        }
        _ => return None,
    }
    let allowed = document.number("transaction_steps_allowed");
    match ScriptFacts::read(document.text("script")?) {
        Err(fault) => Some(format!("{}: checks end with status 96", unparsed(&fault))),
        Ok(facts) if i64::try_from(facts.steps).is_ok_and(|steps| steps > allowed) => Some(format!(
            "`script` has {} steps, more than the {allowed} that are allowed: checks end with status 94",
            facts.steps
        )),
        Ok(_) => None,
    }
}

fn unparsed(fault: &ScriptFault) -> String {
    let (line, column) = (fault.place.line, fault.place.column);
    format!("`script` cannot be parsed, line {line}, column {column}: {}", fault.message)
}
