//! Writes check results to a HAR 1.2 file.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::output::{self, UsageError};
use crate::domain::{CheckResult, Phase, StepResult, Timestamp};

/// The file to write to. It is opened before any check runs, and keeps its old content until the results are written.
pub(in crate::cli::check) struct HarFile {
    path: PathBuf,
    file: File,
}

impl HarFile {
    /// Opens the file at `path`, or creates it.
    ///
    /// # Errors
    /// When it cannot be written to.
    pub(in crate::cli::check) fn open(path: &Path) -> anyhow::Result<Self> {
        let opened = OpenOptions::new().write(true).create(true).truncate(false).open(path);
        let file = opened.map_err(|error| har_write_error(path, &error))?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Writes the exchanges of `results`, and prints a note for every check without exchanges.
    ///
    /// # Errors
    /// When it can no longer be written to.
    pub(in crate::cli::check) fn write(mut self, results: &[CheckResult]) -> anyhow::Result<()> {
        let har = build_har(results);
        for (check_number, result) in (1..).zip(results) {
            if result_entries(check_number, result).is_empty() {
                output::print_note(&format!(
                    "note: `{}`: this check of type `{}` has no HTTP exchanges, so the HAR file has none",
                    result.monitor_name, result.monitor_type
                ));
            }
        }
        let mut text = serde_json::to_vec_pretty(&har)?;
        text.push(b'\n');
        self.write_text(&text).map_err(|error| har_write_error(&self.path, &error))
    }

    fn write_text(&mut self, text: &[u8]) -> io::Result<()> {
        // Pipes and terminals have no length.
        if self.file.metadata()?.is_file() {
            self.file.set_len(0)?;
        }
        self.file.write_all(text)?;
        self.file.flush()
    }
}

fn har_write_error(path: &Path, error: &io::Error) -> anyhow::Error {
    UsageError::with_hint(format!("the HAR file `{}` cannot be written: {error}", path.display()), None)
}

fn check_page_id(check_number: usize) -> String {
    format!("page_{check_number}")
}

fn step_page_id(check_number: usize, step: &StepResult) -> String {
    format!("{}_{}", check_page_id(check_number), step.number)
}

/// Returns the whole file.
fn build_har(results: &[CheckResult]) -> Value {
    let pages: Vec<Value> =
        (1..).zip(results).flat_map(|(check_number, result)| result_pages(check_number, result)).collect();
    let entries: Vec<Value> =
        (1..).zip(results).flat_map(|(check_number, result)| result_entries(check_number, result)).collect();
    json!({"log": {
        "version": "1.2",
        "creator": {"name": "vigie", "version": env!("CARGO_PKG_VERSION")},
        "pages": pages,
        "entries": entries,
    }})
}

/// Returns the pages of a check: one per step that ran in a browser, otherwise one for the whole check.
fn result_pages(check_number: usize, result: &CheckResult) -> Vec<Value> {
    let steps = result.details.steps.iter().filter_map(|step| Some((step, step.browser_step.as_ref()?)));
    let mut pages: Vec<Value> = steps
        .map(|(step, browser_step)| {
            let page_event_millis = |phase| {
                let timing = browser_step.timing.as_ref()?;
                timing.phases.micros(phase).map(|micros| super::entry::to_millis(micros.into()))
            };
            let reason = step.failures.first().map(|failure| format!(": {failure}")).unwrap_or_default();
            json!({
                "startedDateTime": attempt_started_at(result) + Duration::from_micros(step.start_offset_us),
                "id": step_page_id(check_number, step),
                "title": format!("{}: {}", result.monitor_name, step.name),
                "pageTimings": {
                    "onContentLoad": page_event_millis(Phase::DomLoad).unwrap_or(-1.0),
                    "onLoad": page_event_millis(Phase::PageLoad).unwrap_or(-1.0),
                },
                "comment": format!("step {}, status {}{reason}", step.number, step.status.0),
            })
        })
        .collect();
    if pages.is_empty() {
        pages.push(whole_check_page(check_number, result));
    }
    pages
}

fn whole_check_page(check_number: usize, result: &CheckResult) -> Value {
    let reason = result.reasons.first().map(|reason| format!(": {reason}")).unwrap_or_default();
    let load_millis =
        result.details.page_load.as_ref().map_or(-1.0, |page| super::entry::to_millis(page.duration_us));
    json!({
        "startedDateTime": attempt_started_at(result),
        "id": check_page_id(check_number),
        "title": &*result.monitor_name,
        "pageTimings": {"onContentLoad": -1, "onLoad": load_millis},
        "comment": format!("{} ({}){reason}", result.status_text, result.status.0),
    })
}

/// Start of the attempt that the exchanges belong to.
fn attempt_started_at(result: &CheckResult) -> Timestamp {
    result.attempts.last().map_or(result.started_at, |attempt| attempt.started_at)
}

/// Returns the entries of a check, ordered by start: one for each exchange and each object of its page.
fn result_entries(check_number: usize, result: &CheckResult) -> Vec<Value> {
    let (started_at, details) = (attempt_started_at(result), &result.details);
    let outside_steps =
        details.exchanges.iter().map(|exchange| (exchange, None, check_page_id(check_number)));
    let in_steps = details.steps.iter().flat_map(|step| {
        let comment = format!("step {}: {}", step.number, step.name);
        let page_id = if step.browser_step.is_some() {
            step_page_id(check_number, step)
        } else {
            check_page_id(check_number)
        };
        step.exchanges.iter().map(move |exchange| (exchange, Some(comment.clone()), page_id.clone()))
    });
    let exchanges = outside_steps.chain(in_steps).map(|(exchange, comment, page_id)| {
        (exchange.start_offset_us, super::entry::entry_from_exchange(started_at, exchange, comment), page_id)
    });
    // The steps already contain what the browser loaded.
    let ran_in_browser = details.steps.iter().any(|step| step.browser_step.is_some());
    let objects = details.page_load.iter().filter(|_| !ran_in_browser).flat_map(|page| &page.objects);
    let objects = objects.map(|object| {
        (
            object.start_offset_us,
            super::entry::entry_from_object(started_at, object),
            check_page_id(check_number),
        )
    });
    let mut entries: Vec<(u64, Value, String)> = exchanges.chain(objects).collect();
    entries.sort_by_key(|(started_us, ..)| *started_us);
    entries
        .into_iter()
        .map(|(_, mut entry, page_id)| {
            entry["pageref"] = page_id.into();
            entry
        })
        .collect()
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
