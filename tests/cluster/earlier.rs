//! An earlier version of Vigie: parts of a cluster may be of it while others are upgraded already.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// The commit at which agents of other hosts and controllers were there, before the issue of this folder's tests began.
const COMMIT: &str = "8aed9cb7";

/// Returns its program: that of `VIGIE_TEST_EARLIER_PROGRAM`, or one that is built from the history of this clone.
pub fn program() -> &'static OsStr {
    static PROGRAM: OnceLock<OsString> = OnceLock::new();
    PROGRAM.get_or_init(|| std::env::var_os("VIGIE_TEST_EARLIER_PROGRAM").unwrap_or_else(build))
}

fn build() -> OsString {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (tree, target) = (root.join("target/earlier/tree"), root.join("target/earlier/target"));
    if !tree.exists() {
        run(Command::new("git").current_dir(root).args(["worktree", "prune"]));
        let checkout = ["worktree", "add", "--detach"];
        run(Command::new("git").current_dir(root).args(checkout).arg(&tree).arg(COMMIT));
    }
    let build = ["build", "--locked", "--bin", "vigie", "--target-dir"];
    run(Command::new("cargo").current_dir(&tree).args(build).arg(&target));
    target.join("debug/vigie").into()
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
