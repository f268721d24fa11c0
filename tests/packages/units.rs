//! Units, users and folders of the package, read by the programs of systemd.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

use super::root;
use crate::support::binary::{err, out, program};
use crate::support::daemon::is_root;
use crate::support::lacking::lacks;

/// The units of the package that keep data, each as the user of its name.
const SERVICES: [&str; 3] = ["vigie", "vigie-controller", "vigie-agent"];

/// Returns the units of the package by name, as `config/packages/build` makes them from those of the sources.
fn packaged_units() -> BTreeMap<String, String> {
    let paths = fs::read_dir(root().join("systemd")).unwrap().map(|entry| entry.unwrap().path());
    let to_unit = |path: std::path::PathBuf| {
        let sed =
            Command::new("sed").arg("-f").arg(root().join("config/packages/unit.sed")).arg(&path).output();
        (path.file_name().unwrap().to_str().unwrap().to_owned(), out(&sed.unwrap()))
    };
    paths.filter(|path| path.is_file()).map(to_unit).collect()
}

#[test]
fn units_run_the_installed_program_as_users_of_the_package() {
    let units = packaged_units();
    let users = fs::read_to_string(root().join("systemd/sysusers.d/vigie.conf")).unwrap();
    for name in SERVICES {
        let text = &units[&format!("{name}.service")];
        // `%N` is the name of the unit.
        for line in ["User=%N".to_owned(), format!("StateDirectory={name}")] {
            assert!(text.lines().any(|found| found == line), "{name}: {line}");
        }
        assert!(
            !text.contains("DynamicUser") && text.contains(&format!(" --data /var/lib/{name}")),
            "{text}"
        );
        // Only this user may open the socket of the browsers.
        assert!(
            text.contains(&format!("ExecStartPre=-+/bin/chown {name} /run/vigie/webdriver.sock\n")),
            "{text}"
        );
        assert!(users.lines().any(|line| line.split_whitespace().nth(1) == Some(name)), "{name}");
    }
    for name in ["vigie-hostagent.service", "vigie-webdriver.service"] {
        assert!(units[name].contains("\nDynamicUser=yes\n"), "{name}");
    }
    for (name, text) in &units {
        assert!(!text.contains("/usr/local") && !text.contains("Install:"), "{name}: {text}");
        assert_eq!(text.contains("ExecStart="), text.contains("\nExecStart=/usr/bin/vigie "), "{name}");
    }
}

#[test]
fn systemd_verifies_the_units_of_the_package() {
    const TEST: &str = "packages::units::systemd_verifies_the_units_of_the_package";
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        return lacks(TEST, "systemd-analyze", "`apt-get install systemd`");
    }
    let folder = tempfile::tempdir().unwrap();
    let binary = std::path::absolute(program()).unwrap();
    let mut units = Vec::new();
    for (name, text) in packaged_units() {
        let unit = folder.path().join(name);
        fs::write(&unit, text.replace("/usr/bin/vigie", binary.to_str().unwrap())).unwrap();
        units.push(unit);
    }
    let verify = Command::new("systemd-analyze").arg("verify").args(&units).output().unwrap();
    let stderr = err(&verify);
    let complaints: Vec<_> = stderr.lines().filter(|line| line.contains("vigie")).collect();
    assert!(verify.status.success() && complaints.is_empty(), "{stderr}");
    // As strict as the units of the sources, in tenths: a user that lasts is no more exposed.
    for name in SERVICES {
        let mut security = Command::new("systemd-analyze");
        security.args(["security", "--offline=true", "--threshold=20"]);
        let output = security.arg(folder.path().join(format!("{name}.service"))).output().unwrap();
        assert!(output.status.success(), "{}", out(&output));
    }
}

#[test]
fn users_and_folders_are_made_in_an_empty_root() {
    const TEST: &str = "packages::units::users_and_folders_are_made_in_an_empty_root";
    if !is_root() {
        return lacks(TEST, "root", "run it as root");
    }
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("etc")).unwrap();
    let run = |program: &str, arguments: &[&str], file: &str| {
        let mut command = Command::new(program);
        command.arg(format!("--root={}", folder.path().display())).args(arguments).arg(root().join(file));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{program}: {}", err(&output));
    };
    run("systemd-sysusers", &[], "systemd/sysusers.d/vigie.conf");
    run("systemd-tmpfiles", &["--create"], "systemd/tmpfiles.d/vigie.conf");
    let passwd = fs::read_to_string(folder.path().join("etc/passwd")).unwrap();
    for name in SERVICES {
        let end = format!(":/var/lib/{name}:/usr/sbin/nologin");
        let found = passwd.lines().any(|line| line.starts_with(&format!("{name}:")) && line.ends_with(&end));
        assert!(found, "{passwd}");
    }
    let id = passwd.lines().find(|line| line.starts_with("vigie:")).unwrap().split(':').nth(2).unwrap();
    let metadata = |path: &str| fs::metadata(Path::new(folder.path()).join(path)).unwrap();
    let data = metadata("var/lib/vigie");
    assert_eq!((data.uid().to_string().as_str(), data.permissions().mode() & 0o7777), (id, 0o700));
    let monitors = metadata("etc/vigie/monitors");
    assert_eq!((monitors.uid(), monitors.permissions().mode() & 0o7777), (0, 0o755));
}
