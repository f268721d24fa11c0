//! The scripts of the package that dpkg runs, with programs that only record how they were called.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use super::root;
use crate::support::binary::{err, out};

/// Runs a script of the package with `arguments`, where `programs` are recorded in the file `calls` of `folder`.
fn run(script: &str, arguments: &[&str], folder: &Path) -> Output {
    for program in ["systemd-tmpfiles", "deb-systemd-invoke", "rm"] {
        let path = folder.join(program);
        fs::write(&path, "#!/bin/sh\necho \"${0##*/} $*\" >> \"${0%/*}/calls\"\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let text = fs::read_to_string(root().join("config/packages/deb").join(script)).unwrap();
    assert_eq!(text.matches("\n#DEBHELPER#\n").count(), 1, "{script}: cargo-deb puts its part there");
    // The folder of the running systemd: without it, as in a container.
    let text = text.replace("/run/systemd/system", folder.join("systemd").to_str().unwrap());
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let output =
        Command::new("sh").args(["-c", &text, script]).args(arguments).env("PATH", path).output().unwrap();
    assert!(output.status.success(), "{script} {arguments:?}: {}", err(&output));
    output
}

fn calls(folder: &Path) -> String {
    let calls = fs::read_to_string(folder.join("calls")).unwrap_or_default();
    let _ = fs::remove_file(folder.join("calls"));
    calls
}

#[test]
fn scripts_are_sound() {
    for script in ["postinst", "postrm"] {
        let path = root().join("config/packages/deb").join(script);
        let syntax = Command::new("sh").arg("-n").arg(&path).output().unwrap();
        assert!(syntax.status.success(), "{}", err(&syntax));
        if let Ok(output) = Command::new("shellcheck").arg(&path).output() {
            assert!(output.status.success(), "{}", out(&output));
        }
    }
}

#[test]
fn the_first_installation_tells_how_to_sign_in_and_an_upgrade_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let first = out(&run("postinst", &["configure", ""], folder.path()));
    assert!(first.contains("vigie open") && first.contains("/var/lib/vigie/admin-password"), "{first}");
    assert_eq!(calls(folder.path()), "systemd-tmpfiles --create vigie.conf\n");
    assert_eq!(out(&run("postinst", &["configure", "0.1.0"], folder.path())), "");
    assert_eq!(calls(folder.path()), "systemd-tmpfiles --create vigie.conf\n");
    // With systemd running, browsers that run get the new binary.
    fs::create_dir(folder.path().join("systemd")).unwrap();
    assert_eq!(out(&run("postinst", &["configure", "0.1.0"], folder.path())), "");
    assert_eq!(calls(folder.path()), "deb-systemd-invoke try-restart vigie-webdriver.service\n");
    assert_eq!(out(&run("postinst", &["abort-upgrade", "0.1.0"], folder.path())), "");
    assert_eq!(calls(folder.path()), "");
}

#[test]
fn data_are_removed_by_purge_alone() {
    let folder = tempfile::tempdir().unwrap();
    for action in ["remove", "upgrade", "failed-upgrade", "abort-install", "disappear"] {
        run("postrm", &[action], folder.path());
        assert_eq!(calls(folder.path()), "", "{action}");
    }
    run("postrm", &["purge"], folder.path());
    let calls = calls(folder.path());
    for removed in ["rm -rf /etc/vigie\n", "rm -rf /var/lib/vigie /var/lib/private/vigie\n"] {
        assert!(calls.contains(removed), "{calls}");
    }
    assert_eq!(calls.lines().count(), 5, "{calls}");
}
