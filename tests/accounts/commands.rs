//! The commands of the host, on a data folder without a server and through a running one.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Output, Stdio};

use serde_json::{Value, json};

use crate::accounts::harness::{Harness, PASSWORD, vigie};

const NEW: &str = "typed into a pipe";

struct Host {
    folder: tempfile::TempDir,
}

impl Host {
    async fn new() -> Self {
        let Harness { folder, store, accounts, .. } = Harness::new().await;
        drop(accounts);
        store.close().await;
        Self { folder }
    }

    fn run(&self, args: &[&str], input: &str) -> Output {
        let data = self.folder.path().display().to_string();
        let mut command = vigie(args);
        command.args(["--data", &data]).env("HOME", self.folder.path()).env_remove("XDG_CONFIG_HOME");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // The process may have ended before it read anything.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    }

    /// Runs a command that must succeed; returns its output.
    fn succeed(&self, args: &[&str], input: &str) -> String {
        let output = self.run(args, input);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{args:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a command; returns its exit code and error output.
    fn fail(&self, args: &[&str], input: &str) -> (i32, String) {
        let output = self.run(args, input);
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    }
}

#[tokio::test]
async fn users_are_added_listed_and_changed() {
    let host = Host::new().await;
    let add = ["user", "add", "anna", "--role", "power-user", "--password-file", "-"];
    assert!(host.succeed(&add, &format!("{NEW}\n")).contains("`anna` was added as POWER-USER"));
    let (code, text) = host.fail(&add, NEW);
    assert!(code == 1 && text.contains("error: The login `anna` is already in use"), "{text}");
    let listed: Vec<Value> = serde_json::from_str(&host.succeed(&["user", "list", "--json"], "")).unwrap();
    assert_eq!(listed[1]["login"], "anna");
    assert_eq!(listed.iter().map(|user| &user["role"]).collect::<Vec<_>>(), ["ADMIN", "POWER-USER"]);
    host.succeed(&["user", "disable", "anna"], "");
    let listed = host.succeed(&["user", "list"], "");
    assert!(listed.contains("disabled") && !listed.contains("argon2"), "{listed}");
    host.succeed(&["user", "enable", "anna"], "");
    host.succeed(&["user", "passwd", "anna", "--password-file", "-"], PASSWORD);
    let (code, text) = host.fail(&["user", "disable", "admin"], "");
    assert!(code == 1 && text.contains("last ADMIN"), "{text}");
    let (code, text) = host.fail(&["user", "passwd", "bert", "--password-file", "-"], PASSWORD);
    assert!(code == 2 && text.contains("no such user `bert`"), "{text}");
    let (code, text) = host.fail(&["user", "add", "b", "--password-file", "-"], "short");
    assert!(code == 2 && text.contains("8 to 1024 characters") && !text.contains("short"), "{text}");
    let (code, text) = host.fail(&["user", "add", "b", "--role", "boss"], "");
    assert!(code == 2 && text.contains("POWER-USER"), "{text}");
}

#[tokio::test]
async fn accounts_are_added_and_have_users_of_their_own() {
    let host = Host::new().await;
    let created = host.succeed(&["customer", "add", "Shop"], "");
    let id = created.split_whitespace().nth(1).unwrap().to_owned();
    host.succeed(&["user", "add", "anna", "--customer", &id, "--role", "ADMIN", "--password-file", "-"], NEW);
    let customers: Value = serde_json::from_str(&host.succeed(&["customer", "list", "--json"], "")).unwrap();
    let number: i64 = id.parse().unwrap();
    assert_eq!(customers, json!([{"id": 1, "name": "default"}, {"id": number, "name": "Shop"}]));
    assert!(!host.succeed(&["user", "list"], "").contains("anna"));
    assert!(host.succeed(&["user", "list", "--customer", &id], "").contains("anna"));
    let (code, text) = host.fail(&["user", "list", "--customer", "77"], "");
    assert!(code == 2 && text.contains("no such account `77`\nhint: `vigie customer list`"), "{text}");
    assert_eq!(host.fail(&["customer", "add", "shop"], "").0, 1);
}

#[tokio::test]
async fn keys_are_listed_rotated_and_pruned() {
    let host = Host::new().await;
    assert!(host.succeed(&["key", "rotate"], "").contains("key 2 seals from now on"));
    let listed = host.succeed(&["key", "list"], "");
    assert!(listed.contains('1') && listed.contains("seals"), "{listed}");
    let (code, text) = host.fail(&["key", "prune", "2"], "");
    assert!(code == 2 && text.contains("key 2 is the one that seals"), "{text}");
    let (code, text) = host.fail(&["key", "prune", "9"], "");
    assert!(code == 2 && text.contains("key 9 does not exist"), "{text}");
    assert_eq!(host.succeed(&["key", "prune"], ""), "removed: 1\n");
    assert_eq!(host.succeed(&["key", "prune"], ""), "no key can be removed\n");
}

#[tokio::test]
async fn a_folder_locked_by_a_process_without_a_server_is_refused() {
    let harness = Harness::new().await;
    let host = Host { folder: harness.folder };
    let (code, text) = host.fail(&["user", "list"], "");
    assert!(code == 1 && text.contains("hint: "), "{text}");
    let (code, text) = host.fail(&["key", "prune"], "");
    assert!(code == 2 && text.contains("stop the server"), "{text}");
    drop(harness.store);
}

/// `vigie serve` on the folder; killed when dropped.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(host: &Host) -> Self {
        let data = host.folder.path().display().to_string();
        let mut command = vigie(&["serve", "--listen", "127.0.0.1:0", "--data", &data]);
        command.env("VIGIE_LOG_FORMAT", "json").stderr(Stdio::piped()).current_dir(host.folder.path());
        let mut child = command.spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let address = log.find_map(|line| {
            let line: Value = serde_json::from_str(&line).unwrap_or_default();
            line["message"].as_str().filter(|reply| reply.starts_with("serving at "))?;
            Some(line["address"].as_str()?.to_owned())
        });
        // Keep reading, so that the log never blocks the process.
        std::thread::spawn(move || log.for_each(drop));
        Self { child, url: format!("http://{}", address.expect("it does not serve")) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn the_same_commands_work_through_a_running_server() {
    let host = Host::new().await;
    host.succeed(&["key", "rotate"], "");
    let server = Server::start(&host);
    host.succeed(&["user", "add", "anna", "--role", "ADMIN", "--password-file", "-"], NEW);
    let created = host.succeed(&["customer", "add", "Shop"], "");
    let shop = created.split_whitespace().nth(1).unwrap().to_owned();
    for login in ["bert", "carl"] {
        let add = ["user", "add", login, "--customer", &shop, "--role", "ADMIN", "--password-file", "-"];
        host.succeed(&add, NEW);
    }
    assert!(host.succeed(&["user", "list", "--customer", &shop], "").contains("bert"));
    assert!(!host.succeed(&["user", "list"], "").contains("bert"));
    let (code, text) = host.fail(&["user", "list", "--customer", "77"], "");
    assert!(code == 2 && text.contains("no such account `77`"), "{text}");
    host.succeed(&["user", "disable", "BERT"], "");
    assert!(host.succeed(&["user", "list", "--customer", &shop], "").contains("disabled"));
    let (code, text) = host.fail(&["user", "disable", "carl"], "");
    assert!(code == 1 && text.contains("last ADMIN"), "{text}");
    host.succeed(&["user", "passwd", "anna", "--password-file", "-"], PASSWORD);
    assert!(host.succeed(&["key", "rotate"], "").contains("key 3 was added"));
    let (code, text) = host.fail(&["key", "prune"], "");
    assert!(code == 2 && text.contains("stop the server"), "{text}");
    // Commands of a client, which has no data folder.
    let client = |args: &[&str], input: &str| {
        let mut command = vigie(args);
        command
            .env("HOME", host.folder.path())
            .env_remove("XDG_CONFIG_HOME")
            .env("VIGIE_SERVER", &server.url);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    };
    let login = ["login", "--user", "anna", "--password-file", "-"];
    let refused = client(&login, NEW);
    let text = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && text.contains("the login or the password is wrong"), "{text}");
    assert!(client(&login, PASSWORD).status.success());
    let foreign = client(&["user", "list", "--customer", &shop], "");
    let text = String::from_utf8(foreign.stderr).unwrap();
    assert!(text.contains("the token belongs to account `1`, not to"), "{text}");
    assert!(client(&["user", "list", "--customer", "1"], "").status.success());
    let listed = client(&["user", "list"], "");
    assert!(
        listed.status.success() && String::from_utf8_lossy(&listed.stdout).contains("anna"),
        "{listed:?}"
    );
    let stored_logins =
        std::fs::read_to_string(host.folder.path().join(".config/vigie/logins.json")).unwrap();
    assert!(client(&["logout"], "").status.success());
    assert!(!client(&["logout"], "").status.success());
    // After the logout, the stored login is invalid.
    std::fs::write(host.folder.path().join(".config/vigie/logins.json"), stored_logins).unwrap();
    assert!(!client(&["user", "list"], "").status.success());
}

#[tokio::test]
async fn a_password_is_never_an_argument_and_needs_a_terminal_or_a_file() {
    let host = Host::new().await;
    for args in [["user", "passwd", "admin", "secret"], ["user", "passwd", "admin", "--password=secret"]] {
        assert_eq!(host.fail(&args, "").0, 2, "{args:?}");
    }
    let data = host.folder.path().display().to_string();
    // `setsid` detaches the process from the terminal.
    let mut command = std::process::Command::new("setsid");
    command.args(["-w", env!("CARGO_BIN_EXE_vigie"), "user", "passwd", "admin", "--data", &data]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("no terminal to prompt") && text.contains("--password-file"), "{text}");
}
