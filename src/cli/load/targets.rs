//! The targets of a load run: the built-in responder in a child process, so that the figures of the pipeline do not
//! include its work.

use std::process::Stdio;

use anyhow::{Context, bail};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::cli::responder::ListeningLine;
use crate::domain::MonitorType;
use crate::net::Pem;
use crate::settings::Settings;
use crate::targets::{BuiltInTargetAddresses, nth_target_address};

/// Addresses that each target listens on; all connections to one address and port share 28,000 local ports.
const TARGET_ADDRESSES: u8 = 16;

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
        let program = std::env::current_exe().context("the path of this program is unknown")?;
        let mut child = Command::new(program)
            .args(["responder", "--spread", &TARGET_ADDRESSES.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .context("the built-in targets cannot be started")?;
        let Some(stdout) = child.stdout.take() else { bail!("the built-in targets have no output") };
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).await?;
        let greeting: ListeningLine =
            serde_json::from_str(&line).context("the built-in targets did not print their addresses")?;
        Ok(Self {
            responder_addresses: greeting.addresses,
            ca_pem: greeting.ca_pem,
            _responder_process: child,
        })
    }

    /// Makes checks with `settings` trust the HTTPS target.
    pub(super) fn trust_target_ca(&self, settings: &mut Settings) {
        let text = self.ca_pem.clone().into_bytes();
        settings
            .net
            .trust_config
            .additional_authorities
            .push(Pem { label: "built-in targets".to_owned(), text });
    }

    /// Fields of monitor `index` of `kind`; `None` for a type without a built-in target.
    pub(super) fn monitor_fields(&self, kind: MonitorType, index: usize) -> Option<Map<String, Value>> {
        let at = |first| nth_target_address(first, index, TARGET_ADDRESSES);
        let specific = match kind {
            MonitorType::Website => json!({"url": format!("http://{}/", at(self.responder_addresses.http))}),
            MonitorType::WebsiteSsl => {
                json!({"url": format!("https://{}/", at(self.responder_addresses.https))})
            }
            MonitorType::Tcp => hostname_and_port_fields(at(self.responder_addresses.tcp)),
            MonitorType::Ping => json!({"hostname": at(self.responder_addresses.tcp).ip()}),
            MonitorType::NameServer => {
                let mut fields = hostname_and_port_fields(at(self.responder_addresses.dns));
                fields["name_to_resolve"] = json!("www.example.test");
                fields
            }
            _ => return None,
        };
        let Value::Object(mut fields) = specific else { return None };
        fields.insert("type".to_owned(), json!(kind));
        fields.insert("name".to_owned(), json!(format!("load {index}")));
        fields.insert("billing_plancode".to_owned(), json!("load"));
        Some(fields)
    }
}

fn hostname_and_port_fields(address: std::net::SocketAddr) -> Value {
    json!({"hostname": address.ip(), "port": address.port()})
}
