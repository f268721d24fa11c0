//! Monitors as code against a running server: apply, its diff, prune, and export.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use crate::support::binary::{err, out};

/// A running `vigie serve` that starts without monitors.
struct Server {
    child: Child,
    url: String,
    folder: tempfile::TempDir,
}

impl Server {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("none")).unwrap();
        let mut command = vigie(folder.path());
        command.args(["serve", "--listen", "127.0.0.1:0"]);
        command.arg("--monitors").arg(folder.path().join("none"));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let mut lines_before = Vec::new();
        let url = loop {
            let Some(line) = lines.next() else { panic!("it did not start: {lines_before:#?}") };
            if let Some((_, rest)) = line.split_once("serving at ") {
                break rest.split_whitespace().next().unwrap().trim_end_matches('/').to_owned();
            }
            lines_before.push(line);
        };
        // Later lines are drained so that they do not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, url, folder }
    }

    /// Runs a command against the server.
    fn run(&self, args: &[&str]) -> Output {
        vigie(self.folder.path()).args(args).args(["--server", &self.url]).output().unwrap()
    }

    /// Runs a command that needs no server.
    fn run_local(&self, args: &[&str]) -> Output {
        vigie(self.folder.path()).args(args).output().unwrap()
    }

    /// Runs a command that must succeed; returns its standard output.
    fn run_ok(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}{}", out(&output), err(&output));
        out(&output)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the binary with its own folders and no settings in the environment.
fn vigie(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vigie"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("VIGIE_")) {
        command.env_remove(name);
    }
    command.env("VIGIE_DATA", folder.join("data")).env("XDG_CONFIG_HOME", folder.join("config"));
    command
}

fn two_monitors(interval: u32, password: &str) -> String {
    format!(
        "- {{key: shop, type: website, name: \"Shop: 'start'\", billing_plancode: p, url: 'http://127.0.0.1:9/', interval: {interval}, enabled: false, realm_password: '{password}', note: \"two\\nlines: #1\\n\"}}\n\
         - {{key: port, type: tcp, name: port, billing_plancode: p, hostname: 127.0.0.1, port: 9, interval: 60, enabled: false}}\n"
    )
}

#[test]
fn apply_reports_its_changes_and_reads_what_export_writes() {
    let server = Server::start();
    let file = server.file("code/all.yaml", &two_monitors(5, "s3cret"));
    let dry = server.run_ok(&["apply", &file, "--dry-run"]);
    assert!(dry.contains("+ shop") && dry.ends_with("Dry run: nothing was changed\n"), "{dry}");
    assert!(!dry.contains("s3cret"), "{dry}");
    assert!(server.run_ok(&["apply", &file]).ends_with("2 created, 0 changed, 0 removed; 0 unchanged\n"));
    assert!(server.run_ok(&["apply", &file]).contains("0 created, 0 changed, 0 removed; 2 unchanged"));
    server.file("code/all.yaml", &two_monitors(10, "s3cret"));
    let changed = server.run_ok(&["apply", &file]);
    assert!(changed.contains("~ shop") && changed.contains("~ interval: 5 -> 10"), "{changed}");
    // The second export finds nothing to write.
    let folder = server.at("exported").display().to_string();
    assert!(server.run_ok(&["export", &folder]).contains("2 monitors in 2 files, 2 of them written"));
    assert!(server.run_ok(&["export", &folder]).contains("0 of them written"));
    let written = fs::read_to_string(server.at("exported/website.yaml")).unwrap();
    assert!(written.contains("key: shop") && written.contains("realm_password: \"********\""), "{written}");
    // Masks are refused with the field and a hint; with the value restored nothing changes.
    let refused = server.run(&["apply", &folder]);
    assert_eq!(refused.status.code(), Some(2));
    let reply = err(&refused);
    assert!(reply.contains("`realm_password` is masked") && reply.contains("realm_password_file"), "{reply}");
    server.file("exported/website.yaml", &written.replace("********", "s3cret"));
    assert!(server.run_ok(&["apply", &folder]).contains("0 created, 0 changed, 0 removed; 2 unchanged"));
    assert!(server.run_ok(&["export"]).contains("key: port"));
    assert_eq!(server.run_ok(&["export", "--type", "ping"]), "[]\n");
    let differs = server.run(&["export", &folder]);
    assert!(!differs.status.success() && err(&differs).contains("--force"), "{}", err(&differs));
    server.run_ok(&["export", &folder, "--force"]);
    assert_eq!(fs::read_to_string(server.at("exported/website.yaml")).unwrap(), written);
    // Prune removes the monitors that are missing from the files; without it nothing is removed.
    let one = server.file("less/one.yaml", two_monitors(10, "s3cret").lines().last().unwrap());
    assert!(server.run_ok(&["apply", &one]).contains("0 removed; 1 unchanged"));
    let pruned = server.run_ok(&["apply", &one, "--prune", "--json"]);
    let response: serde_json::Value = serde_json::from_str(&pruned).unwrap();
    let removed = response["changes"].as_array().unwrap().iter().find(|change| change["action"] == "remove");
    assert_eq!(removed.unwrap()["key"], "shop");
    assert!(!server.run_ok(&["export"]).contains("shop"));
}

#[test]
fn hosts_are_applied_before_the_monitors_that_name_them_and_exported() {
    let server = Server::start();
    let hosts =
        |seconds: u32| format!("hosts:\n  - {{name: db1, address: 127.0.0.1, report_seconds: {seconds}}}\n");
    server.file("code/hosts.yaml", &hosts(30));
    let monitor =
        "- {key: db, type: hostagent, name: db, billing_plancode: p, host_id: db1, enabled: false}\n";
    server.file("code/db.yaml", monitor);
    let folder = server.at("code").display().to_string();
    assert!(out(&server.run_local(&["config", "check", &folder])).contains("1 monitor and 1 host"));
    let dry = server.run_ok(&["apply", &folder, "--dry-run"]);
    assert!(dry.contains("+ host db1") && dry.contains("hosts: 1 would be created"), "{dry}");
    assert_eq!(server.run_ok(&["hosts", "--json"]), "[]\n");
    let applied = server.run_ok(&["apply", &folder]);
    assert!(applied.contains("hosts: 1 created") && applied.contains("\n1 created"), "{applied}");
    // Neither a secret, nor a warning about a host that was made in the same call.
    assert!(!applied.contains("vgh_") && !applied.contains("warning"), "{applied}");
    assert!(
        server.run_ok(&["apply", &folder]).contains("hosts: 0 created, 0 changed, 0 removed; 1 unchanged")
    );
    let exported = server.at("exported").display().to_string();
    assert!(
        server.run_ok(&["export", &exported]).contains("1 monitor and 1 host in 2 files, 2 of them written")
    );
    let written = fs::read_to_string(server.at("exported/hosts.yaml")).unwrap();
    assert!(
        written.ends_with("hosts:\n  - name: db1\n    address: \"127.0.0.1\"\n    report_seconds: 30\n"),
        "{written}"
    );
    assert!(
        server.run_ok(&["apply", &exported]).contains("hosts: 0 created, 0 changed, 0 removed; 1 unchanged")
    );
    // A folder with both can be tested too; the monitor in it is disabled.
    let tested = server.run_local(&["test", &folder]);
    assert!(err(&tested).contains("every monitor of the suite is disabled"), "{}", err(&tested));
    // A monitor that is refused leaves the hosts as they are, and what a file does not set is reset.
    server.file("code/hosts.yaml", "hosts: [{name: db1}]\n");
    server.file(
        "code/db.yaml",
        &monitor.replace("db1", "db2, thresholds: [{metric: load1, error: 1, for: 99}]"),
    );
    assert_eq!(server.run(&["apply", &folder]).status.code(), Some(2));
    assert!(server.run_ok(&["hosts", "--json"]).contains("\"report_seconds\": 30"));
    server.file("code/db.yaml", monitor);
    let changed = server.run_ok(&["apply", &folder, "--prune"]);
    assert!(changed.contains("~ host db1") && changed.contains("- address: 127.0.0.1"), "{changed}");
    assert!(changed.contains("~ report_seconds: 30 -> 60"), "{changed}");
    // The terminal changes single fields.
    let hosts: serde_json::Value = serde_json::from_str(&server.run_ok(&["hosts", "--json"])).unwrap();
    let id = hosts[0]["id"].to_string();
    server.run_ok(&["hosts", "change", &id, "--address", "db1.test"]);
    assert!(server.run_ok(&["hosts", "--json"]).contains("db1.test"));
    server.run_ok(&["hosts", "change", &id, "--address", ""]);
    assert!(!server.run_ok(&["hosts", "--json"]).contains("db1.test"));
    assert!(err(&server.run(&["hosts", "change", &id])).contains("nothing to change"));
    let secret = server.run(&["hosts", "change", &id, "--metrics-url", "http://u:p4ss@127.0.0.1/"]);
    assert!(
        !secret.status.success() && err(&secret).contains("must not contain credentials"),
        "{}",
        err(&secret)
    );
    // Server folders hold monitors alone.
    let settings = server.file("vigie.yaml", &format!("monitors: [{folder}]\n"));
    let misplaced = server.run_local(&["config", "check", &settings]);
    assert!(out(&misplaced).contains("a server reads no hosts from its own folders"), "{}", out(&misplaced));
}

#[test]
fn errors_of_files_are_reported_with_their_position() {
    let server = Server::start();
    for (text, part) in [
        (
            "- {key: a, type: tcp, name: a, billing_plancode: p, hostname: h, port: 1, intervall: 5}\n",
            ":1:75: `intervall` is not a field",
        ),
        ("- {type: tcp, name: a, billing_plancode: p, hostname: h, port: 1}\n", "`key` is required"),
        (
            "- {key: a, customer: 7, type: tcp, name: a, billing_plancode: p, hostname: h, port: 1}\n",
            "remove it",
        ),
        ("- [", "all.yaml:"),
    ] {
        let file = server.file("bad/all.yaml", text);
        let output = server.run(&["apply", &file]);
        assert!(output.status.code() == Some(2) && err(&output).contains(part), "{text}{}", err(&output));
    }
    let empty = server.at("none").display().to_string();
    assert!(err(&server.run(&["apply", &empty, "--prune"])).contains("contains no monitor files"));
    let valid = server.file("good/all.yaml", &two_monitors(5, "x"));
    let token = server.file("token", "wrong\n");
    let refused = server.run(&["apply", &valid, "--token-file", &token]);
    assert!(refused.status.code() == Some(1) && err(&refused).contains("vigie login"), "{}", err(&refused));
    assert_eq!(server.run_ok(&["export"]), "[]\n");
}
