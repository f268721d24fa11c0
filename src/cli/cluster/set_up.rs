//! Makes the data of the parts, and the locations and monitors over the API.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use anyhow::{Context, bail};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;
use url::Url;

use super::cluster_folder::ClusterFolder;
use super::monitors::monitors;
use super::programs::{Programs, command_as, give};
use crate::app::read_host_token;
use crate::cli::api_client::ApiClient;
use crate::cli::trust::ServerTrust;
use crate::targets::BuiltInTargetAddresses;

/// The locations, each with one agent.
pub(super) const LOCATIONS: [&str; 3] = ["Paris", "Oslo", "Lisbon"];
/// The files that all controllers have.
const SHARED_FILES: [&str; 2] = ["vigie.key", "nats-trust.sealed"];
/// How long the first controller may take to serve.
const START_TIMEOUT: Duration = Duration::from_mins(1);
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// A response to `POST /locations`.
#[derive(Deserialize)]
struct NewLocation {
    id: String,
    enrolment_secret: String,
}

/// Returns a port on loopback that nobody uses now.
pub(super) fn free_port() -> anyhow::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// Makes the data of PostgreSQL, with the user `vigie` and the password in `password_file`.
pub(super) async fn init_postgres(
    programs: &Programs,
    folder: &ClusterFolder,
    password_file: &Path,
) -> anyhow::Result<PathBuf> {
    let data = folder.join("postgres");
    fs::create_dir(&data)?;
    let password = folder.join("postgres-password");
    fs::copy(password_file, &password)?;
    for path in [&data, &password] {
        give(path, programs.postgres_user.as_ref())?;
    }
    let mut initdb = command_as(programs.postgres_user.as_ref(), &programs.postgres_folder.join("initdb"));
    initdb.args(["--auth=scram-sha-256", "--username=vigie", "--no-locale", "--encoding=UTF8"]);
    initdb.arg("--pwfile").arg(&password).arg("-D").arg(&data).current_dir(folder.path());
    run("initdb", &initdb.output().await?)?;
    fs::remove_file(password)?;
    Ok(data)
}

/// Makes the settings and keys of NATS; returns its folder, and that with the keys of the controllers.
pub(super) async fn init_nats(
    programs: &Programs,
    folder: &ClusterFolder,
    port: u16,
) -> anyhow::Result<(PathBuf, PathBuf)> {
    let (nats, keys) = (folder.join("nats"), folder.join("keys"));
    let mut init = command_as(None, &programs.vigie);
    init.args(["nats", "init", "--no-tls", "--port", &port.to_string()]).arg(&nats).arg("--data").arg(&keys);
    init.env("VIGIE_STORE_URL", format!("sqlite:{}", keys.join("unused.db").display()));
    run("`vigie nats init`", &init.output().await?)?;
    give(&nats, programs.other_user.as_ref())?;
    Ok((nats, keys))
}

/// Makes the data folder of a controller, with the keys in `keys`.
pub(super) fn init_controller(programs: &Programs, data: &Path, keys: &Path) -> anyhow::Result<()> {
    fs::create_dir(data)?;
    for file in SHARED_FILES {
        fs::copy(keys.join(file), data.join(file)).with_context(|| format!("cannot copy `{file}`"))?;
    }
    give(data, programs.other_user.as_ref())
}

/// Waits until the controller with its data in `data` serves the API; returns a connection.
pub(super) async fn connect(url: &Url, data: &Path) -> anyhow::Result<ApiClient> {
    let give_up_at = Instant::now() + START_TIMEOUT;
    loop {
        let tried = async {
            let token = read_host_token(data).context("the controller has written no host token")?.token;
            let mut client = ApiClient::connect(url.clone(), Some(token), ServerTrust::default()).await?;
            client.get::<Value>("monitors", &[("limit", "1".to_owned())]).await?;
            anyhow::Ok(client)
        };
        match tried.await {
            Ok(client) => return Ok(client),
            Err(error) if Instant::now() >= give_up_at => {
                return Err(
                    error.context(format!("no controller serves within {} s", START_TIMEOUT.as_secs()))
                );
            }
            Err(_) => tokio::time::sleep(LOOK_INTERVAL).await,
        }
    }
}

/// Creates a location, and the data folder of its agent, which enrols at `url`. Returns the id of the location.
pub(super) async fn enrol_agent(
    (programs, folder): (&Programs, &ClusterFolder),
    (client, url): (&mut ApiClient, &Url),
    (agent, location): (&str, &str),
) -> anyhow::Result<i64> {
    let created: NewLocation = client.post("locations", &json!({"name": location, "verifies": true})).await?;
    let (data, secret) = (folder.join(agent), folder.join("enrolment-secret"));
    fs::write(&secret, &created.enrolment_secret)?;
    let mut enrol = command_as(None, &programs.vigie);
    enrol
        .args(["agent", "enrol", url.as_str(), "--name", agent, "--secret-file"])
        .arg(&secret)
        .arg("--data")
        .arg(&data);
    run("`vigie agent enrol`", &enrol.output().await?)?;
    fs::remove_file(secret)?;
    give(&data, programs.other_user.as_ref())?;
    created.id.parse().context("the id of the location is no number")
}

/// Creates the monitors of the built-in targets.
pub(super) async fn create_monitors(
    client: &mut ApiClient,
    addresses: &BuiltInTargetAddresses,
    locations: &[(i64, &str)],
) -> anyhow::Result<()> {
    for (kind, fields) in monitors(addresses, locations) {
        client.post::<Value>(&format!("monitors/{kind}"), &fields).await?;
    }
    Ok(())
}

/// Checks that a program has done its work.
fn run(what: &str, output: &Output) -> anyhow::Result<()> {
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    bail!("{what} failed: {}", text.trim().lines().last().unwrap_or("it says no reason"))
}
