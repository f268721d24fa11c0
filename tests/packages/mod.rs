//! What the Debian package contains, besides the binary: units, users, folders, scripts, man pages, completions,
//! settings. `tests/packages/run` installs it.

mod contents;
mod maintainer_scripts;
mod units;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::binary::program;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns a folder with what `config/packages/build stage` makes for the package.
fn stage() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(root().join("config/packages/build"));
    command
        .arg("stage")
        .arg("--stage")
        .arg(folder.path())
        .arg("--binary")
        .arg(std::path::absolute(program()).unwrap());
    let output = command.env("CARGO_NET_OFFLINE", "true").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder
}

/// An asset of the package: where it is taken from and where it is installed, with its mode.
struct Asset {
    source: String,
    target: String,
    mode: String,
}

/// Reads `[package.metadata.deb]` of Cargo.toml.
fn assets() -> Vec<Asset> {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let (_, rest) = manifest.split_once("\nassets = [\n").unwrap();
    let (list, _) = rest.split_once("\n]\n").unwrap();
    let to_asset = |line: &str| {
        let mut texts = line.split('"').skip(1).step_by(2).map(str::to_owned);
        let (source, target) = (texts.next().unwrap(), texts.next().unwrap());
        Asset { source, target, mode: texts.next().unwrap() }
    };
    list.lines().map(to_asset).collect()
}

/// Returns the files of `asset`, where `stage` is the folder of what is made for the package.
fn files(asset: &Asset, stage: &Path) -> Vec<PathBuf> {
    let path = match asset.source.strip_prefix("target/packages/stage/") {
        Some(rest) => stage.join(rest),
        None => root().join(&asset.source),
    };
    if path.file_name().is_some_and(|name| name == "*") {
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        return files;
    }
    vec![path]
}
