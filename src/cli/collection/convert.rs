//! `vigie collection convert`: writes a collection as a `website-api` monitor.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, anyhow, bail};
use serde_json::{Map, Value};

use super::super::input_file::read_monitor_file;
use super::super::output;
use crate::collection::{convert_to_steps, parse_collection, parse_variable_file};
use crate::syntax::yaml_writer::format_monitors;

/// Write a collection as a monitor file with API steps
///
/// Prints the file, or what the steps would lose: a line for each thing, and no file. `--lossy` prints the file then,
/// too. A `collection-api` monitor runs the collection itself and loses nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie collection convert shop.json > shop.yaml
  vigie collection convert shop.json --environment live.json --lossy > shop.yaml

Exit codes: 0 nothing is lost, 1 something is, 2 wrong use or a file that cannot be read.")]
pub(super) struct Args {
    /// The collection, of format 2.0 or 2.1
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// An environment whose values take the place of their placeholders
    #[arg(long, value_name = "FILE")]
    environment: Option<PathBuf>,
    /// Print the file although something is lost
    #[arg(long)]
    lossy: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let read = |path: &PathBuf| read_monitor_file(path).map_err(anyhow::Error::msg);
    let name = args.file.display();
    let collection = parse_collection(&read(&args.file)?).map_err(|error| anyhow!("{name}: {error}"))?;
    if collection.requests.is_empty() {
        bail!("{name}: it has no request");
    }
    let environment = match &args.environment {
        Some(path) => {
            parse_variable_file(&read(path)?)
                .map_err(|error| anyhow!("{error}"))
                .with_context(|| path.display().to_string())?
                .variables
        }
        None => Vec::new(),
    };
    let conversion = convert_to_steps(&collection, &environment);
    for loss in &conversion.losses {
        output::print_note(&format!("{name}: lost: {loss}"));
    }
    let is_lossless = conversion.losses.is_empty();
    if is_lossless || args.lossy {
        let mut fields = Map::new();
        fields.insert("key".to_owned(), Value::from(key_from(&collection.name)));
        fields.insert("type".to_owned(), Value::from("website-api"));
        fields.insert("name".to_owned(), Value::from(collection.name.as_str()));
        fields.insert("billing_plancode".to_owned(), Value::from("default"));
        fields.insert("api_steps".to_owned(), Value::Array(conversion.steps));
        output::print(&format_monitors(&[fields]))?;
    }
    Ok(ExitCode::from(u8::from(!is_lossless)))
}

/// Returns a key made of the letters and digits of `name`.
fn key_from(name: &str) -> String {
    let words: Vec<String> = name
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    if words.is_empty() { "collection".to_owned() } else { words.join("-") }
}
