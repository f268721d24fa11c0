//! `vigie agent`: the agent of a location on a host of its own.

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use serde_json::json;
use url::Url;

use super::api_client::{ApiClient, parse_server_url};
use super::output::{self, UsageError};
use super::password::read_password_file;
use super::trust::ServerTrust;
use crate::app::{self, AgentOptions};
use crate::bus::nats::{AgentCredential, AgentGrant, NewCredential};
use crate::clock::{Clock, SystemClock};
use crate::service::agents::RenewalProof;

/// Name of the file with the authorities of the server, in the data folder of an agent.
const SERVER_CA_FILE: &str = "server-ca.pem";

/// The agent of a location on a host of its own
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie agent enrol https://vigie.example.com --secret-file secret --data agent
  vigie agent run --data agent
  vigie agent renew --data agent")]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Exchange an enrolment secret for a credential of this agent
    ///
    /// The keys of the agent are made here and never leave the data folder.
    Enrol(EnrolArgs),
    /// Run the checks of the location of this agent
    ///
    /// The agent needs a credential from `vigie agent enrol` in its data folder. Its settings are those of `location`,
    /// `engine`, `browser` and so on in the settings file. SIGTERM and SIGINT hand its monitors over to the other agents
    /// of the location and end it after its running checks, a second signal at once.
    Run {
        /// The settings file; without it, that of the variable `VIGIE_CONFIG`
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        /// The data folder of the agent [default: vigie-data]
        #[arg(long, value_name = "DIR")]
        data: Option<PathBuf>,
    },
    /// Renew the token of this agent now, such as after a long time offline
    Renew {
        /// The data folder of the agent
        #[arg(long, value_name = "DIR")]
        data: PathBuf,
    },
}

#[derive(Debug, clap::Args)]
struct EnrolArgs {
    /// URL of the server, such as `https://vigie.example.com`; without TLS on this host only
    #[arg(value_name = "URL")]
    server: String,
    /// File with the enrolment secret, `-` for standard input
    #[arg(long, value_name = "FILE")]
    secret_file: PathBuf,
    /// The data folder of the agent, which is created
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Display name [default: the name of this host]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Trust the authorities in FILE (PEM) in addition to those of the system
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
}

pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.action {
        Action::Run { config, data } => {
            super::process::raise_descriptor_limit();
            let config = super::settings::existing_config_file(config)?;
            let renew_over_https = Arc::new(|credential: AgentCredential, data: PathBuf| {
                let renewal = async move { renew_over_https(&credential, &data).await };
                Box::pin(renewal) as Pin<Box<dyn Future<Output = anyhow::Result<()>> + Send>>
            });
            app::run_agent(AgentOptions { config, data, renew_over_https })?;
            Ok(ExitCode::SUCCESS)
        }
        Action::Enrol(args) => block_on(enrol(args)),
        Action::Renew { data } => block_on(renew(&data)),
    }
}

fn block_on(work: impl Future<Output = anyhow::Result<ExitCode>>) -> anyhow::Result<ExitCode> {
    super::process::build_single_threaded_runtime()?.block_on(work)
}

async fn renew(data: &Path) -> anyhow::Result<ExitCode> {
    let credential = AgentCredential::read(data)?;
    renew_over_https(&credential, data).await?;
    output::print(&format!("the token is valid until {}\n", credential.expires_at()))?;
    Ok(ExitCode::SUCCESS)
}

async fn enrol(args: EnrolArgs) -> anyhow::Result<ExitCode> {
    let url = server_url(&args.server)?;
    let keys = NewCredential::create(&args.data)?;
    let server_ca = match &args.ca_file {
        Some(file) => std::fs::read_to_string(file)
            .with_context(|| format!("the CA file `{}` cannot be read", file.display()))?,
        None => String::new(),
    };
    let secret = read_password_file(&args.secret_file).context("the enrolment secret cannot be read")?;
    let name = args.name.unwrap_or_else(host_name);
    let body = json!({
        "secret": *secret,
        "name": name,
        "public_key": keys.public_key(),
        "exchange_key": keys.exchange_public_key(),
        "version": env!("CARGO_PKG_VERSION"),
    });
    let trust = ServerTrust { ca_file: args.ca_file.as_deref(), pinned_sha256: None };
    let mut client = ApiClient::connect(url.clone(), None, trust).await?;
    let grant: AgentGrant = client.post("agents/enrol", &body).await?;
    let credential = keys.save(&args.data, (url.to_string(), server_ca.clone()), grant)?;
    if !server_ca.is_empty() {
        let path = args.data.join(SERVER_CA_FILE);
        std::fs::write(&path, server_ca).with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    output::print(&format!(
        "enrolled as agent {} of location {}; the credential is in `{}`\n",
        credential.agent_id(),
        credential.location_id(),
        args.data.display()
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// Renews the token of the agent with its key; works after the token has expired too.
pub(super) async fn renew_over_https(credential: &AgentCredential, data: &Path) -> anyhow::Result<()> {
    let (server, server_ca) = credential.server();
    let (agent, time) = (credential.agent_id(), SystemClock.now().to_string());
    let mut random = [0_u8; 16];
    aws_lc_rs::rand::fill(&mut random).map_err(|_| anyhow::anyhow!("the system gives no random numbers"))?;
    let nonce = format!("{:032x}", u128::from_be_bytes(random));
    let proof = RenewalProof { agent, time: &time, nonce: &nonce };
    let request = credential.renewal_request(env!("CARGO_PKG_VERSION"));
    let body = json!({
        "time": time,
        "nonce": nonce,
        "signature": credential.sign(&proof.text())?,
        "version": request.version,
        "newest_data_key": request.newest_data_key,
    });
    let ca_path = data.join(SERVER_CA_FILE);
    let ca_file = (!server_ca.is_empty()).then_some(ca_path.as_path());
    let trust = ServerTrust { ca_file, pinned_sha256: None };
    let mut client = ApiClient::connect(server_url(&server)?, None, trust).await?;
    let grant: AgentGrant = client.post(&format!("agents/{agent}/renew"), &body).await?;
    Ok(credential.apply(grant)?)
}

/// Reads the URL of a server that gets a secret, which goes over TLS or stays on this host.
pub(super) fn server_url(text: &str) -> anyhow::Result<Url> {
    let url = parse_server_url(text)?;
    let is_loopback = match url.host() {
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        Some(url::Host::Domain(name)) => name == "localhost",
        None => false,
    };
    if url.scheme() == "https" || is_loopback {
        return Ok(url);
    }
    let hint = "name it `https://…`; `--ca-file FILE` trusts a private authority".to_owned();
    Err(UsageError::with_hint(format!("`{url}` has no TLS, and is not on this host"), Some(hint)))
}

fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "agent".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_goes_over_tls_or_stays_on_this_host() {
        for url in ["https://vigie.example", "http://127.0.0.1:7979", "http://localhost", "http://[::1]:1"] {
            assert!(server_url(url).is_ok(), "{url}");
        }
        for url in
            ["http://vigie.example", "http://192.0.2.1", "http://localhost.example", "nats://127.0.0.1"]
        {
            assert!(server_url(url).is_err(), "{url}");
        }
    }
}
