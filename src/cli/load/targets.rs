//! The targets of a load run: the built-in responder in a child process, so that the figures of the pipeline do not
//! include its work.

use std::process::Stdio;

use anyhow::{Context, bail};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::cli::output::UsageError;
use crate::cli::responder::ListeningLine;
use crate::domain::MonitorType;
use crate::net::Pem;
use crate::settings::Settings;
use crate::targets::{BuiltInTargetAddresses, nth_target_address};

/// Number of addresses that each target listens on; all connections to one address and port share 28,000 local ports.
const ADDRESSES_PER_TARGET: u8 = 16;

/// A running responder, ended on drop.
pub(super) struct LoadTargets {
    responder_addresses: BuiltInTargetAddresses,
    ca_pem: String,
    // The child handle holds its standard input open; dropping the handle closes it, and the child exits.
    _responder_process: Child,
}

impl LoadTargets {
    /// Starts this same binary as a responder and waits until it listens.
    pub(super) async fn start_responder() -> anyhow::Result<Self> {
        let own_executable = std::env::current_exe().context("the path of this program is unknown")?;
        let mut child = Command::new(own_executable)
            .args(["responder", "--spread", &ADDRESSES_PER_TARGET.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .context("the built-in targets cannot be started")?;
        let Some(stdout) = child.stdout.take() else { bail!("the built-in targets have no output") };
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).await?;
        let listening_line: ListeningLine =
            serde_json::from_str(&line).context("the built-in targets did not print their addresses")?;
        Ok(Self {
            responder_addresses: listening_line.addresses,
            ca_pem: listening_line.ca_pem,
            _responder_process: child,
        })
    }

    /// Makes checks with `settings` trust the HTTPS target.
    pub(super) fn trust_target_ca(&self, settings: &mut Settings) {
        trust_ca(settings, self.ca_pem.clone());
    }

    /// Returns the certificate of the authority of the HTTPS target, in PEM.
    pub(super) fn ca_pem(&self) -> &str {
        &self.ca_pem
    }

    /// Fields of monitor `index` of `monitor_type`; `None` for a type without a built-in target.
    pub(super) fn monitor_fields(
        &self,
        monitor_type: MonitorType,
        index: usize,
    ) -> Option<Map<String, Value>> {
        let target_address = |first_address| nth_target_address(first_address, index, ADDRESSES_PER_TARGET);
        let type_fields = match monitor_type {
            MonitorType::Website => {
                json!({"url": format!("http://{}/", target_address(self.responder_addresses.http))})
            }
            MonitorType::WebsiteSsl => {
                json!({"url": format!("https://{}/", target_address(self.responder_addresses.https))})
            }
            MonitorType::Tcp => hostname_and_port_fields(target_address(self.responder_addresses.tcp)),
            MonitorType::Ping => json!({"hostname": target_address(self.responder_addresses.tcp).ip()}),
            MonitorType::NameServer => {
                let mut fields = hostname_and_port_fields(target_address(self.responder_addresses.dns));
                fields["name_to_resolve"] = json!("www.example.test");
                fields
            }
            _ => return None,
        };
        let Value::Object(mut fields) = type_fields else { return None };
        fields.insert("type".to_owned(), json!(monitor_type));
        fields.insert("name".to_owned(), json!(format!("load {index}")));
        fields.insert("billing_plancode".to_owned(), json!("load"));
        Some(fields)
    }
}

/// Makes checks with `settings` trust the authority `ca_pem` of the HTTPS target.
pub(super) fn trust_ca(settings: &mut Settings, ca_pem: String) {
    let pem = Pem { label: "built-in targets".to_owned(), text: ca_pem.into_bytes() };
    settings.net.trust_config.additional_authorities.push(pem);
}

/// Returns the error for a type without a target.
pub(super) fn no_target_error(monitor_type: MonitorType) -> anyhow::Error {
    let hint = "targets exist for `website`, `website-ssl`, `tcp`, `name-server` and `ping`".to_owned();
    UsageError::with_hint(format!("type `{monitor_type}` has no built-in target"), Some(hint))
}

fn hostname_and_port_fields(address: std::net::SocketAddr) -> Value {
    json!({"hostname": address.ip(), "port": address.port()})
}
