//! Commands in the manual and the README: each parses, and each example marked `sh run` runs.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use vigie::cli;
use vigie::manual::{self, PAGES};

use super::{fences, inline_code, root};
use crate::support::daemon::Daemon;
use crate::support::namespace::inside;

/// Splits a command line into words as a shell does, up to a pipe, redirection or comment.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for character in line.chars() {
        match (quote, character) {
            (Some(open), end) if open == end => quote = None,
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, '|' | '>' | '#') => break,
            (None, ' ') => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

#[test]
fn every_command_line_of_an_example_parses() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let pages = PAGES.iter().map(|page| (page.path, page.markdown)).chain([("README.md", readme.as_str())]);
    let (mut wrong, mut parsed) = (Vec::new(), 0);
    for (name, text) in pages {
        let blocks = fences(text).into_iter().filter(|fence| fence.info.split(' ').next() == Some("sh"));
        let commands: Vec<String> = blocks.map(|fence| fence.text.replace("\\\n", " ")).collect();
        for line in commands.iter().flat_map(|text| text.lines()).filter(|line| line.starts_with("vigie ")) {
            let words = words(line);
            parsed += 1;
            if words.get(1).is_some_and(|word| word == "help") {
                continue;
            }
            if let Err(error) = cli::clap_command().try_get_matches_from(&words) {
                wrong.push(format!("{name}: {line}: {}", error.to_string().lines().next().unwrap()));
            }
        }
    }
    assert!(parsed > 50, "only {parsed} commands: is the search broken?");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_command_named_in_the_text_exists() {
    let (mut wrong, mut named) = (Vec::new(), 0);
    for (page, span) in inline_code().into_iter().filter(|(_, span)| span.starts_with("vigie ")) {
        named += 1;
        wrong.extend(unknown_part(span).map(|part| format!("{page}: `{span}`: {part}")));
    }
    assert!(named > 50, "only {named} commands: is the search broken?");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Returns the first subcommand or flag of `span` that does not exist; placeholders are in capital letters.
fn unknown_part(span: &str) -> Option<String> {
    let mut command = cli::clap_command();
    let mut parts = span.split([' ', '[', ']', '=']).skip(1).filter(|part| !part.is_empty());
    let is_name = |part: &str| part.starts_with(|first: char| first.is_ascii_lowercase());
    for part in parts.by_ref() {
        if let Some(flag) = part.strip_prefix("--") {
            if flag != "version" && !command.get_arguments().any(|known| known.get_long() == Some(flag)) {
                return Some(part.to_owned());
            }
        } else if let Some(found) = command.find_subcommand(part) {
            command = found.clone();
        } else if command.has_subcommands() && is_name(part) && part != "help" {
            return Some(part.to_owned());
        } else if part == "help" {
            let subject = parts.next().filter(|subject| is_name(subject))?;
            let known = command.find_subcommand(subject).is_some() || manual::find_page(subject).is_some();
            return (!known).then(|| subject.to_owned());
        }
    }
    None
}

#[test]
fn unknown_parts_of_commands_are_detected() {
    assert_eq!(unknown_part("vigie check TYPE TARGET [--set FIELD=VALUE …] [--json]"), None);
    assert_eq!(unknown_part("vigie help alerting"), None);
    assert_eq!(unknown_part("vigie help nothing").as_deref(), Some("nothing"));
    assert_eq!(unknown_part("vigie chekc tcp").as_deref(), Some("chekc"));
    assert_eq!(unknown_part("vigie key turn").as_deref(), Some("turn"));
    assert_eq!(unknown_part("vigie serve --demon").as_deref(), Some("--demon"));
}

/// The examples use port 7979, so they run in a network namespace where it is free.
#[test]
fn every_example_marked_to_run_succeeds() {
    if !inside("manual::examples::every_example_marked_to_run_succeeds", "ip link set lo up", "") {
        return;
    }
    let mut ran = 0;
    for page in PAGES {
        let fences = fences(page.markdown);
        if !fences.iter().any(|fence| fence.info == "sh run") {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let _server = start_demo(folder.path());
        for fence in fences {
            if let Some((_, file)) = fence.info.split_once(" file=") {
                fs::write(folder.path().join(file), format!("{}\n", fence.text)).unwrap();
            } else if fence.info == "sh run" {
                run_script(page.path, fence.text, folder.path());
                ran += 1;
            }
        }
    }
    assert!(ran > 20, "only {ran} examples: is the search broken?");
}

fn program_folder() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_vigie")).parent().unwrap()
}

fn run_script(page: &str, script: &str, folder: &Path) {
    let path = format!("{}:{}", program_folder().display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("bash");
    command.args(["-euo", "pipefail", "-c", script]).current_dir(folder).env("PATH", path);
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(
        output.status.success(),
        "{page}: {}\n{script}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Starts `vigie serve --demo` on port 7979 with its data in `vigie-data`.
fn start_demo(folder: &Path) -> Daemon {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vigie"));
    command.args(["serve", "--demo", "--data", "vigie-data"]).current_dir(folder);
    let server = Daemon::start(&mut command);
    let end = Instant::now() + Duration::from_secs(30);
    let ready = ["-fs", "-o", "/dev/null", "http://127.0.0.1:7979/readyz"];
    while !Command::new("curl").args(ready).status().unwrap().success() {
        assert!(Instant::now() < end, "the demo server is not ready");
        std::thread::sleep(Duration::from_millis(50));
    }
    server
}
