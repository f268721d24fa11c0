//! The commands of the runbooks, run as they stand in the manual, with other paths and addresses.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::daemon::ledger::now;
use crate::daemon::process::http_get;
use crate::support::binary::{err, vigie};
use crate::support::daemon::free_port;
use crate::support::postgres::PostgresServer;

/// How long a part may take until it works, beside other tests.
const PATIENCE: Duration = Duration::from_secs(90);

/// What `systemctl` does here: a unit is a file with the command of its process.
const SYSTEMCTL: &str = r#"#!/bin/sh
unit=$2
pid_file=$ROOT/run/$unit
is_alive() { [ -e "/proc/$1/status" ] && ! grep -q '^State:.Z' "/proc/$1/status"; }
stop() {
    [ -e "$pid_file" ] || return 0
    pid=$(cat "$pid_file")
    kill -TERM "$pid" 2>/dev/null
    while is_alive "$pid"; do sleep 0.05; done
    rm "$pid_file"
}
start() {
    # It ends by itself when the test dies.
    timeout -s KILL 600 sh "$ROOT/units/$unit" >>"$ROOT/run/$unit.log" 2>&1 &
    echo $! >"$pid_file"
}
case $1 in
    start) start ;;
    stop) stop ;;
    restart) stop; start ;;
    *) exit 1 ;;
esac
"#;

/// A host with units, on which the commands of a page run.
struct RunbookHost {
    root: tempfile::TempDir,
    /// What the text of the manual is replaced with.
    replacements: Vec<(String, String)>,
    port: u16,
    /// The data folder of the server that is asked.
    data: &'static str,
}

impl RunbookHost {
    /// Returns a host whose server is asked at `port` and has its data in `data` below `/var/lib`.
    fn new(data: &'static str, port: u16) -> Self {
        let root = tempfile::tempdir().unwrap();
        let path = root.path();
        for folder in
            ["bin", "run", "units", "var/lib", "etc/vigie", "backup", "backup-keys", "usr/local/bin"]
        {
            fs::create_dir_all(path.join(folder)).unwrap();
        }
        let systemctl = path.join("bin/systemctl");
        fs::write(&systemctl, SYSTEMCTL).unwrap();
        fs::set_permissions(systemctl, fs::Permissions::from_mode(0o755)).unwrap();
        let binary = env!("CARGO_BIN_EXE_vigie");
        for link in ["vigie", "usr/local/bin/vigie"] {
            std::os::unix::fs::symlink(binary, path.join(link)).unwrap();
        }
        let here = |folder: &str| (folder.to_owned(), path.join(&folder[1..]).display().to_string());
        let mut replacements: Vec<_> =
            ["/var/lib/", "/etc/", "/backup/", "/backup-keys/", "/usr/local/bin/"].map(here).into();
        for (_, path) in &mut replacements {
            path.push('/');
        }
        for url in ["https://vigie.example.com", "http://127.0.0.1:7979"] {
            replacements.push((url.to_owned(), format!("http://127.0.0.1:{port}")));
        }
        Self { root, replacements, port, data }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path.trim_start_matches('/'))
    }

    fn unit(&self, name: &str, command: &str) {
        fs::write(self.path("units").join(name), format!("exec {command}")).unwrap();
    }

    fn token(&self) -> String {
        let text =
            fs::read_to_string(self.path("var/lib").join(self.data).join("host-token")).unwrap_or_default();
        text.lines().next().unwrap_or_default().to_owned()
    }

    /// Runs shell commands with the paths and addresses of this host; returns what they print.
    fn run(&self, commands: &str) -> String {
        let mut script = commands.to_owned();
        for (text, here) in &self.replacements {
            script = script.replace(text, here);
        }
        let auth = format!("header = \"Authorization: Bearer {}\"\n", self.token());
        fs::write(self.path("auth"), auth).unwrap();
        let programs =
            ["bin", "usr/local/bin"].map(|folder| self.path(folder).display().to_string()).join(":");
        let path = std::env::var("PATH").unwrap();
        let output = Command::new("sh")
            .args(["-ec", &script])
            .current_dir(self.root.path())
            .env("ROOT", self.root.path())
            .env("PATH", format!("{programs}:{path}:/usr/sbin"))
            .env("VIGIE_SERVER", format!("http://127.0.0.1:{}", self.port))
            .env("VIGIE_TOKEN", self.token())
            .output()
            .unwrap();
        assert!(output.status.success(), "{script}: {} {}", err(&output), self.logs());
        String::from_utf8(output.stdout).unwrap()
    }

    /// Returns the end of each log.
    fn logs(&self) -> String {
        let logs = fs::read_dir(self.path("run")).unwrap().map(|entry| entry.unwrap().path());
        let logs = logs.filter(|path| path.extension().is_some_and(|extension| extension == "log"));
        let end = |path: PathBuf| {
            let text = fs::read_to_string(&path).unwrap();
            let lines: Vec<_> = text.lines().rev().take(12).collect();
            format!("{}: {lines:#?}\n", path.display())
        };
        logs.map(end).collect()
    }

    /// Returns what the server says about its agents, and its newest results, for a failed test.
    fn agents_and_results(&self) -> String {
        let get = |path: &str| {
            let command = format!("curl -sS -K auth 'http://127.0.0.1:7979/api/v3{path}' || true");
            self.run(&command)
        };
        format!("{}\n{}", get("/agents"), get("/results?limit=5"))
    }

    /// Runs a block of commands once the server is ready.
    fn run_when_ready(&self, commands: &str) -> String {
        self.wait_until("the server is ready", || self.is_ready());
        self.run(commands)
    }

    fn is_ready(&self) -> bool {
        let address = ([127, 0, 0, 1], self.port).into();
        http_get(address, "/readyz").is_some_and(|response| response.status == 200)
    }

    fn wait_until(&self, what: &str, mut is_true: impl FnMut() -> bool) {
        let end = Instant::now() + PATIENCE;
        while !is_true() {
            assert!(
                Instant::now() < end,
                "it never came to it that {what}: {} {}",
                self.logs(),
                self.agents_and_results()
            );
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Calls the API, which must succeed.
    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        self.wait_until("the server is ready", || self.is_ready());
        let body = if body.is_null() { String::new() } else { format!("--json '{body}'") };
        let text =
            self.run(&format!("curl -fsS -K auth -X {method} {body} 'http://127.0.0.1:7979/api/v3{path}'"));
        serde_json::from_str(&text).unwrap()
    }

    /// Returns when the runs of the newest results were planned, the newest first.
    fn planned_times(&self) -> Vec<String> {
        let results = self.call("GET", "/results?limit=500&outcome=ok", &Value::Null);
        let results = results["results"].as_array().unwrap();
        results.iter().map(|result| result["planned_at"].as_str().unwrap().to_owned()).collect()
    }

    /// Waits until runs have results that are planned after now.
    fn checks_go_on(&self) {
        let since = now().to_string();
        self.wait_until("checks go on", || self.planned_times().iter().any(|time| *time > since));
    }
}

impl Drop for RunbookHost {
    fn drop(&mut self) {
        let units = fs::read_dir(self.path("units")).unwrap();
        for unit in units.map(|unit| unit.unwrap().file_name().into_string().unwrap()) {
            let _ = Command::new(self.path("bin/systemctl"))
                .args(["stop", &unit])
                .env("ROOT", self.root.path())
                .status();
        }
    }
}

/// Returns the blocks of shell commands of a section of a page, in their order.
fn blocks(page: &str, section: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/manual").join(page);
    let text = fs::read_to_string(path).unwrap();
    let (mut blocks, mut is_section, mut block) = (Vec::new(), false, None::<String>);
    for line in text.lines() {
        match (line.trim(), block.as_mut()) {
            ("```", Some(_)) => blocks.extend(block.take().filter(|_| is_section)),
            (_, Some(commands)) => commands.extend([line.trim(), "\n"]),
            ("```sh", None) => block = Some(String::new()),
            (heading, None) => {
                if let Some(title) = heading.strip_prefix("## ") {
                    is_section = title == section;
                }
            }
        }
    }
    assert!(!blocks.is_empty(), "`{page}` has no commands in `{section}`");
    blocks
}

const PAGE: &str = "cluster-runbook.md";

#[tokio::test(flavor = "multi_thread")]
async fn the_commands_of_the_cluster_runbook_work() {
    let postgres = PostgresServer::start();
    postgres.execute("postgres", "CREATE DATABASE vigie".to_owned()).await;
    let mut host = RunbookHost::new("vigie-controller", free_port());
    let database = format!("127.0.0.1:{}", postgres.port);
    host.replacements.extend([
        ("db.example.net:5432".to_owned(), database.clone()),
        (
            "--host=db.example.net --port=5432".to_owned(),
            format!("--host=127.0.0.1 --port={}", postgres.port),
        ),
        ("sslmode=verify-full".to_owned(), "sslmode=disable".to_owned()),
    ]);
    set_up_cluster(&host, &database);
    add_location(&mut host);

    let block = &blocks(PAGE, "Back up");
    host.run(&block.concat());
    let backed_up_at = now().to_string();
    host.checks_go_on();

    for block in blocks(PAGE, "Upgrade") {
        host.run_until_it_works(&block);
        host.checks_go_on();
    }

    host.run("systemctl stop nats-server; rm -r /etc/nats");
    for block in blocks(PAGE, "The disk of NATS is lost") {
        host.run(&block);
        host.checks_go_on();
    }

    // What is stored after the backup comes again.
    let before = host.planned_times();
    let newest = before.iter().max().unwrap();
    assert!(*newest > backed_up_at);
    postgres.execute("postgres", "DROP DATABASE vigie WITH (FORCE)".to_owned()).await;
    for block in blocks(PAGE, "The disk of the database is lost") {
        host.run_until_it_works(&block);
    }
    host.checks_go_on();
    host.wait_until("results come again", || host.planned_times().contains(newest));

    for file in ["vigie.key", "nats-trust.sealed"] {
        fs::remove_file(host.path("var/lib/vigie-controller").join(file)).unwrap();
    }
    host.run(&blocks(PAGE, "The keys of a controller are lost").concat());
    host.checks_go_on();

    move_location(&host);
    host.checks_go_on();
}

/// Starts NATS and a controller.
fn set_up_cluster(host: &RunbookHost, database: &str) {
    let (nats, data) = (host.path("etc/nats"), host.path("var/lib/vigie-controller"));
    let port = free_port().to_string();
    let init = [
        "nats",
        "init",
        nats.to_str().unwrap(),
        "--no-tls",
        "--port",
        &port,
        "--data",
        data.to_str().unwrap(),
    ];
    let output = vigie(&init);
    assert!(output.status.success(), "{}", err(&output));
    let settings = host.path("etc/vigie/vigie.yaml");
    let url = format!("postgres://vigie@{database}/vigie?sslmode=disable");
    fs::write(&settings, format!("store: {{url: '{url}'}}\n")).unwrap();
    let vigie = host.path("usr/local/bin/vigie").display().to_string();
    let listen = format!("127.0.0.1:{}", host.port);
    host.unit(
        "vigie-controller",
        &format!(
            "{vigie} controller --listen {listen} --config {} --data {}",
            settings.display(),
            data.display()
        ),
    );
    for unit in ["vigie-agent", "vigie-agent-new"] {
        host.unit(unit, &format!("{vigie} agent run --data {}", host.path("var/lib").join(unit).display()));
    }
    host.unit("nats-server", &format!("sh -c 'cd {} && exec nats-server -c nats.conf'", nats.display()));
    host.run("systemctl start nats-server\nsystemctl start vigie-controller");
}

/// Adds a location as the page says, and a monitor that is checked there.
fn add_location(host: &mut RunbookHost) {
    let [create, enrol] = blocks(PAGE, "Add a location").try_into().unwrap();
    let created: Value = serde_json::from_str(&host.run_when_ready(&create)).unwrap();
    fs::write(host.path("secret"), created["enrolment_secret"].as_str().unwrap()).unwrap();
    host.run(&enrol);
    let id: i64 = created["id"].as_str().unwrap().parse().unwrap();
    host.replacements.push(("100001".to_owned(), id.to_string()));
    let monitor = json!({"name": "controller", "hostname": "127.0.0.1", "port": host.port, "interval_seconds": 5,
        "timeout": 5, "billing_plancode": "x", "locations": [{"id": id}], "home_location": id});
    host.call("POST", "/monitors/tcp", &monitor);
    host.checks_go_on();
}

fn move_location(host: &RunbookHost) {
    let agents = |host: &RunbookHost, state: &str| {
        let agents = host.call("GET", "/agents", &Value::Null);
        let list = agents["results"].as_array().unwrap();
        let is_wanted = |agent: &&Value| agent["state"] == state;
        list.iter().filter(is_wanted).map(|agent| agent["id"].as_i64().unwrap()).collect::<Vec<_>>()
    };
    let [make_secret, start, revoke] = blocks(PAGE, "Move a location to another host").try_into().unwrap();
    let made: Value = serde_json::from_str(&host.run(&make_secret)).unwrap();
    fs::write(host.path("secret"), made["enrolment_secret"].as_str().unwrap()).unwrap();
    host.wait_until("the old agent is online", || agents(host, "online").len() == 1);
    let old = agents(host, "online")[0];
    host.run(&start);
    host.wait_until("both agents are online", || agents(host, "online").len() == 2);
    host.run(&revoke.replace("agents/1\n", &format!("agents/{old}\n")));
    host.wait_until("the new agent is alone", || {
        let online = agents(host, "online");
        online.len() == 1 && online[0] != old
    });
}

impl RunbookHost {
    /// Runs a block whose last command asks a server that is starting.
    fn run_until_it_works(&self, block: &str) {
        let (before, last) = block.trim_end().rsplit_once('\n').unwrap_or(("", block));
        if last.starts_with("curl") || last.starts_with("vigie") {
            self.run(before);
            self.run_when_ready(last);
        } else {
            self.run(block);
        }
    }
}

#[test]
fn the_commands_for_a_database_of_sqlite_work() {
    let mut host = RunbookHost::new("vigie", free_port());
    host.replacements
        .push(("/other-place/".to_owned(), host.path("backup-keys/").display().to_string() + "/"));
    let (vigie, data) = (host.path("usr/local/bin/vigie"), host.path("var/lib/vigie"));
    let command = format!(
        "{} serve --listen 127.0.0.1:{} --data {} --monitors {}",
        vigie.display(),
        host.port,
        data.display(),
        host.path("etc/vigie").display()
    );
    host.unit("vigie", &command);
    host.run("systemctl start vigie");
    let monitor = |name: &str| {
        json!({"name": name, "hostname": "127.0.0.1", "port": host.port, "interval": 1,
        "timeout": 5, "billing_plancode": "x"})
    };
    host.call("POST", "/monitors/tcp", &monitor("before the backup"));
    host.run(&blocks("database.md", "Back up")[0]);
    host.run("cp /var/lib/vigie/vigie.key /backup-keys/");
    host.call("POST", "/monitors/tcp", &monitor("after the backup"));
    host.run(&blocks("database.md", "Restore")[0]);
    let listed = host.call("GET", "/monitors", &Value::Null);
    let names: Vec<_> =
        listed["results"].as_array().unwrap().iter().map(|monitor| &monitor["name"]).collect();
    assert_eq!(names, ["before the backup"]);
}
