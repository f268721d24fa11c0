//! What packages contain besides the binary: man pages and completions, made from the parser of the command line.

use std::fs;
use std::path::Path;

use anyhow::Context;
use clap::Command;
use clap_complete::{Shell, generate};

/// Writes a man page for each command that `vigie help` lists, and for each of its commands; returns how many.
pub(super) fn write_man_pages(cli: Command, folder: &Path) -> anyhow::Result<usize> {
    let unwritable = || format!("cannot write man pages into `{}`", folder.display());
    fs::create_dir_all(folder).with_context(unwritable)?;
    clap_mangen::generate_to(cli, folder).with_context(unwritable)?;
    let entries = fs::read_dir(folder).with_context(unwritable)?;
    let is_page = |entry: &fs::DirEntry| entry.path().extension().is_some_and(|extension| extension == "1");
    Ok(entries.filter_map(Result::ok).filter(is_page).count())
}

/// Returns the completions for `shell`.
pub(super) fn completions(mut cli: Command, shell: Shell) -> String {
    let mut text = Vec::new();
    generate(shell, &mut cli, "vigie", &mut text);
    String::from_utf8_lossy(&text).into_owned()
}
