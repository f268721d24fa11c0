//! The file of a monitor with API steps that was converted from another format.

use std::process::ExitCode;

use serde_json::{Map, Value};

use super::output;
use crate::syntax::yaml_writer::format_monitors;

/// Prints the file of a `website-api` monitor `name` with `steps`, if nothing was lost, or that is `lossy`. Returns the exit
/// code.
pub(super) fn print_steps_monitor(
    name: &str,
    steps: Vec<Value>,
    is_lossless: bool,
    lossy: bool,
) -> anyhow::Result<ExitCode> {
    if is_lossless || lossy {
        output::print(&format_steps_monitor(name, steps))?;
    }
    Ok(ExitCode::from(u8::from(!is_lossless)))
}

fn format_steps_monitor(name: &str, steps: Vec<Value>) -> String {
    let mut fields = Map::new();
    fields.insert("key".to_owned(), Value::from(key_from(name)));
    fields.insert("type".to_owned(), Value::from("website-api"));
    fields.insert("name".to_owned(), Value::from(name));
    fields.insert("billing_plancode".to_owned(), Value::from("default"));
    fields.insert("api_steps".to_owned(), Value::Array(steps));
    format_monitors(&[fields])
}

/// Returns a key made of the letters and digits of `name`.
fn key_from(name: &str) -> String {
    let words: Vec<String> = name
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    if words.is_empty() { "converted".to_owned() } else { words.join("-") }
}
