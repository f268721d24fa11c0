//! Passwords of PostgreSQL, in each place that the settings have for one.

use std::path::Path;

use nix::sys::signal::Signal;

use super::plants::Plants;
use super::settings::STORE_PASSWORDS;
use super::{Leaks, files};
use crate::daemon::process::{self as daemon, Daemon};
use crate::support::binary::vigie;
use crate::support::postgres::PostgresServer;

/// Also what the library for PostgreSQL has to say.
const LOG_FILTER: &str = "trace,sqlx=trace,rustls=trace";

#[tokio::test]
async fn the_password_of_the_store_is_in_no_log_file_or_output() {
    let (mut plants, mut leaks) = (Plants::default(), Leaks::default());
    let postgres = PostgresServer::start();
    for sql in ["CREATE ROLE guest LOGIN", "CREATE DATABASE planted OWNER guest"] {
        postgres.execute("postgres", sql.to_owned()).await;
    }
    for place in STORE_PASSWORDS {
        let password = plants.plant(place);
        postgres.execute("postgres", format!("ALTER ROLE guest PASSWORD '{password}'")).await;
        let folder = daemon::folder("");
        let settings = folder.path().join("vigie.yaml");
        write_settings(&settings, place, postgres.port, &password);
        let finder = plants.finder();
        for command in [
            &["config", "check", settings.to_str().unwrap()][..],
            &["store", "check", "--config", settings.to_str().unwrap()],
        ] {
            let output = vigie(command);
            leaks.search(&finder, &command.join(" "), &[output.stdout, output.stderr].concat());
        }
        let mut command = daemon::command(folder.path());
        command.arg("--config").arg(&settings).env("VIGIE_LOG_LEVEL", LOG_FILTER);
        let mut server = Daemon::from_child(command.spawn().unwrap(), folder);
        for path in ["/metrics", "/readyz", "/healthz", "/"] {
            leaks.search(&finder, path, server.get_with_headers(path, "").1.as_bytes());
        }
        server.signal(Signal::SIGTERM);
        server.wait_for_exit();
        let log = server.log_text();
        assert!(log.contains("serving at"), "{log}");
        leaks.search(&finder, "the log", log.as_bytes());
        for (name, bytes) in files::files(&server.folder.path().join("data")) {
            leaks.search(&finder, &name, &bytes);
        }
        // A password that is refused is not shown either.
        let wrong = plants.plant("a wrong password");
        write_settings(&settings, place, postgres.port, &wrong);
        let output = vigie(&["store", "check", "--config", settings.to_str().unwrap()]);
        let refusal = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && refusal.contains("password"), "{refusal}");
        leaks.search(&plants.finder(), "the refusal", refusal.as_bytes());
    }
    assert!(STORE_PASSWORDS.iter().all(|place| plants.has(place)));
    assert!(leaks.0.is_empty(), "{}", leaks.0.join("\n"));
}

fn write_settings(file: &Path, place: &str, port: u16, password: &str) {
    let address = format!("127.0.0.1:{port}/planted?sslmode=disable");
    let settings = if place == "store.url" {
        let encoded = password.replace('/', "%2F");
        format!("store: {{url: 'postgres://guest:{encoded}@{address}'}}\n")
    } else {
        let password_file = file.with_extension("password");
        std::fs::write(&password_file, password).unwrap();
        format!(
            "store: {{url: 'postgres://guest@{address}', password_file: '{}'}}\n",
            password_file.display()
        )
    };
    std::fs::write(file, settings).unwrap();
}
