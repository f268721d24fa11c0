//! `vigie results` and `vigie monitors`, from the database of a run that has ended.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use vigie::domain::{CustomerId, MonitorType, Timestamp};
use vigie::schema::{MonitorDocument, MonitorMetadata, Origin};
use vigie::store::{ConfigChange, ConfigStore, NewMonitor, PostgresStore, Store};

use crate::cli::support::Targets;
use crate::daemon::process::{Daemon, tcp_monitor};
use crate::support::binary::{err, out, vigie};
use crate::support::postgres::SharedDatabase;

#[test]
fn results_of_a_database_are_read_without_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_str().unwrap();
    load_results(folder.path());

    let output = vigie(&["results", "--data", data, "--limit", "2", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let results: serde_json::Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!(results.as_array().unwrap().len(), 2);
    assert_eq!(results[0]["type"], "tcp");

    let text = out(&vigie(&["results", "--data", data, "--outcome", "ok", "--from", "1h"]));
    assert!(text.starts_with("PLANNED (UTC)") && text.contains("tcp"), "{text}");
    let text = out(&vigie(&["results", "--data", data, "--thru", "2020-01-01"]));
    assert_eq!(text, "0 of 0 results\n");
    assert_eq!(out(&vigie(&["monitors", "--data", data])), "0 of 0 monitors\n");
}

#[test]
fn a_missing_source_is_reported_with_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let output = vigie(&["results", "--data", folder.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("vigie.db"), "{}", err(&output));
    let closed = crate::support::closed::ClosedPort::new();
    let output = vigie(&["monitors", "--server", &format!("http://{}", closed.at)]);
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).contains("hint: is `vigie serve` running there?"), "{}", err(&output));
    assert_eq!(vigie(&["results", "--server", "nonsense"]).status.code(), Some(2));
}

#[test]
fn the_data_option_overrides_the_server_variable() {
    let mut command = assert_cmd::Command::cargo_bin("vigie").unwrap();
    command.env("VIGIE_SERVER", "http://127.0.0.1:1").args(["results", "--data", "/nonexistent"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", err(&output));
    assert!(err(&output).contains("/nonexistent"), "{}", err(&output));
}

/// Writes results of TCP monitors to the database in `folder`.
fn load_results(folder: &Path) {
    let data = folder.to_str().unwrap();
    let run =
        ["load", "--monitors", "3", "--interval", "1", "--type", "tcp", "--duration", "1", "--data", data];
    let output = vigie(&run);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
}

#[test]
fn the_newest_result_is_a_state_of_nagios() {
    let targets = Targets::start();
    let closed = crate::support::closed::ClosedPort::new();
    let monitors = tcp_monitor("open", targets.at().tcp.port()) + &tcp_monitor("closed", closed.at.port());
    let daemon = Daemon::start(&monitors);
    let data = daemon.folder.path().join("data");
    let data = data.to_str().unwrap();
    let read = |args: &[&str]| {
        let output = vigie(&[&["results", "--data", data, "--format", "nagios"][..], args].concat());
        assert_eq!(err(&output), "", "{args:?}");
        (output.status.code().unwrap(), out(&output))
    };
    let read_result = |args: &[&str]| {
        let deadline = Instant::now() + Duration::from_secs(40);
        loop {
            let (code, text) = read(args);
            // The first checks run when the server has started.
            if !text.contains("matches the options") {
                return (code, text);
            }
            assert!(Instant::now() < deadline, "{args:?}: {text}");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let (code, text) = read_result(&["open", "--from", "1h"]);
    assert!(code == 0 && text.starts_with("OK: open: in ") && text.contains(" | time="), "{text}");
    let (code, text) = read_result(&["closed"]);
    assert!(code == 2 && text.starts_with("CRITICAL: closed: ") && text.contains("refused"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    for (args, message) in [
        (vec!["open", "--thru", "2020-01-01"], "no result of `open` matches the options"),
        (vec!["opne"], "did you mean `open`?"),
        (vec![], "`--format nagios` is for one monitor"),
        (vec!["open", "--limit", "2"], "`--limit` has no effect"),
    ] {
        let (code, text) = read(&args);
        assert!(
            code == 3 && text.starts_with("UNKNOWN: ") && text.contains(message),
            "{args:?}: {code} {text}"
        );
    }
}

#[test]
fn settings_and_urls_name_a_database_too() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_str().unwrap();
    load_results(folder.path());
    let elsewhere = folder.path().join("elsewhere.db");
    fs::rename(folder.path().join("vigie.db"), &elsewhere).unwrap();
    let url = format!("sqlite:{}", elsewhere.display());
    let settings = folder.path().join("settings.yaml");
    fs::write(&settings, format!("store: {{url: '{url}'}}\n")).unwrap();
    let settings_file = settings.to_str().unwrap();
    for command in ["results", "monitors"] {
        let by_url = vigie(&[command, "--json", "--url", &url]);
        assert_eq!(by_url.status.code(), Some(0), "{}", err(&by_url));
        let by_config = vigie(&[command, "--json", "--config", settings_file]);
        assert_eq!((err(&by_config), out(&by_config)), (String::new(), out(&by_url)));
        assert_eq!(out(&by_url).contains("tcp"), command == "results");
    }
    // The folder has no database; the settings of the environment name another one.
    let by_config = format!("--config {settings_file}");
    let by_variable = "--url \"$VIGIE_STORE_URL\"".to_owned();
    for (variable, value, option) in
        [("VIGIE_CONFIG", settings_file, by_config), ("VIGIE_STORE_URL", url.as_str(), by_variable)]
    {
        let mut command = assert_cmd::Command::cargo_bin("vigie").unwrap();
        command.env_remove("VIGIE_CONFIG").env_remove("VIGIE_STORE_URL").env(variable, value);
        let output = command.args(["results", "--data", data]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", err(&output));
        let hint = format!("the settings name `{}`; read it with `{option}`", elsewhere.display());
        assert!(err(&output).contains(&hint), "{}", err(&output));
    }
    let output = vigie(&["results", "--url", "mysql://x"]);
    assert_eq!(output.status.code(), Some(2), "{}", err(&output));
    let both = vigie(&["results", "--url", &url, "--server", "http://127.0.0.1:1"]);
    assert_eq!(both.status.code(), Some(2), "{}", err(&both));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_postgresql_database_is_read_while_a_server_uses_it() {
    let folder = tempfile::tempdir().unwrap();
    load_results(folder.path());
    let database = SharedDatabase::create().await;
    let server = &database.server;
    // A copy needs a database without tables.
    let name = server.create_database().await;
    let (from, to) = (format!("sqlite:{}/vigie.db", folder.path().display()), server.url(&name));
    let copied = vigie(&["store", "copy", "--from", &from, "--to", &to]);
    assert_eq!(copied.status.code(), Some(0), "{}", err(&copied));
    let store = PostgresStore::connect(&server.settings(&name)).await.unwrap();
    let values = json!({"name": "shop", "hostname": "127.0.0.1", "port": 9, "interval": 5, "timeout": 30});
    let Value::Object(values) = values else { unreachable!() };
    let monitor = ConfigChange::CreateMonitor(NewMonitor {
        customer: CustomerId::OPERATOR,
        origin: Origin::Api,
        modified_at: Timestamp::from_seconds(1_772_323_200),
        metadata: MonitorMetadata::default(),
        document: Arc::new(MonitorDocument::new(MonitorType::Tcp, values).unwrap()),
        sealed_secrets: None,
    });
    store.write_changes(vec![monitor], Vec::new()).await.unwrap();
    let settings = folder.path().join("settings.yaml");
    fs::write(&settings, format!("store: {{url: '{to}'}}\n")).unwrap();
    let read = |args: &[&str]| {
        let output = vigie(&[args, &["--config", settings.to_str().unwrap()]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
        out(&output)
    };
    assert_eq!(read(&["results", "--json"]), out(&vigie(&["results", "--json", "--url", &from])));
    assert!(read(&["monitors"]).contains("shop"));
    read(&["report", "shop", "--step", "minute", "--from", "1h"]);
    store.close().await;
    database.remove().await;
}
