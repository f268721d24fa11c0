//! The files of a new NATS server: its settings, its TLS certificate and key, the tokens of the accounts.

use std::fmt::Write;
use std::net::IpAddr;
use std::time::{Duration, UNIX_EPOCH};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose,
};

use super::nats_trust::{NatsTrust, ServerTokens};
use crate::domain::Timestamp;

/// Lifetime of the certificates, which starts a day in the past.
const CERTIFICATE_LIFETIME: Duration = Duration::from_hours(24 * 365 * 10);
/// How long before their creation they become valid.
const BACKDATE: Duration = Duration::from_hours(24);
/// Hosts of the certificate unless others are named.
const LOOPBACK_HOSTS: &[&str] = &["localhost", "127.0.0.1"];

/// Where the server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NatsServerOptions {
    /// Names and addresses of its host; without one it listens on loopback only.
    pub hosts: Vec<String>,
    /// TCP port.
    pub port: u16,
    /// Whether clients use TLS; without it, only a server without hosts can be made.
    pub has_tls: bool,
}

/// A file of the server.
pub struct NatsServerFile {
    /// Path below the folder of the server.
    pub path: String,
    /// Content.
    pub content: String,
    /// Whether only its owner may read it.
    pub is_secret: bool,
}

/// Makes the keys of a new installation, and the files of its server.
///
/// # Errors
/// Fails for a host that no certificate can name, and when the system gives no random numbers.
pub fn create_nats_installation(
    options: &NatsServerOptions,
    now: Timestamp,
) -> Result<(NatsTrust, Vec<NatsServerFile>), String> {
    let ca_key = KeyPair::generate().map_err(|error| error.to_string())?;
    let ca_key_pem = ca_key.serialize_pem();
    let ca = CertifiedIssuer::self_signed(ca_params(now), ca_key).map_err(|error| error.to_string())?;
    let hosts = options.certificate_hosts();
    if !options.has_tls && !options.hosts.is_empty() {
        return Err("without TLS, the server can be reached on its own host only".to_owned());
    }
    let urls = hosts.iter().map(|host| options.url(host)).collect();
    // Without a certificate of an authority, clients refuse every server but one on loopback.
    let ca_pem = if options.has_tls { ca.pem() } else { String::new() };
    let (trust, tokens) =
        NatsTrust::create(urls, (ca_pem, ca_key_pem), now).map_err(|error| error.to_string())?;
    let mut files = if options.has_tls { certificate_files(&hosts, &ca, now)? } else { Vec::new() };
    for (account, jwt) in &tokens.account_jwts {
        files.push(NatsServerFile {
            path: format!("jwt/{account}.jwt"),
            content: jwt.clone(),
            is_secret: false,
        });
    }
    let settings = server_settings(options, &tokens);
    files.push(NatsServerFile { path: "nats.conf".to_owned(), content: settings, is_secret: false });
    Ok((trust, files))
}

/// Makes a new TLS certificate and key of the server for `hosts`, from the authority of the installation.
///
/// # Errors
/// Fails for a host that no certificate can name.
pub fn renew_nats_certificate(
    trust: &NatsTrust,
    hosts: &[String],
    now: Timestamp,
) -> Result<Vec<NatsServerFile>, String> {
    let key = KeyPair::from_pem(trust.ca_key_pem.as_str()).map_err(|error| error.to_string())?;
    // The certificate of the authority names the same subject and key.
    let issuer = Issuer::new(ca_params(now), key);
    certificate_files(hosts, &issuer, now)
}

fn certificate_files(
    hosts: &[String],
    issuer: &Issuer<'_, KeyPair>,
    now: Timestamp,
) -> Result<Vec<NatsServerFile>, String> {
    let key = KeyPair::generate().map_err(|error| error.to_string())?;
    let certificate = server_params(hosts, now)
        .and_then(|params| params.signed_by(&key, issuer))
        .map_err(|error| error.to_string())?;
    let file = |path: &str, content, is_secret| NatsServerFile { path: path.to_owned(), content, is_secret };
    Ok(vec![
        file("nats-server.crt", certificate.pem(), false),
        file("nats-server.key", key.serialize_pem(), true),
    ])
}

impl NatsServerOptions {
    /// Returns the hosts that the certificate names; this host as well, for clients beside the server.
    fn certificate_hosts(&self) -> Vec<String> {
        let own = LOOPBACK_HOSTS.iter().map(|host| (*host).to_owned());
        if self.hosts.is_empty() { own.collect() } else { self.hosts.clone() }
    }

    fn url(&self, host: &str) -> String {
        let (scheme, port) = (if self.has_tls { "tls" } else { "nats" }, self.port);
        match host.parse::<IpAddr>() {
            Ok(IpAddr::V6(_)) => format!("{scheme}://[{host}]:{port}"),
            _ => format!("{scheme}://{host}:{port}"),
        }
    }

    fn listen_address(&self) -> &'static str {
        let is_ipv6 = |host: &String| host.parse::<IpAddr>().is_ok_and(|address| address.is_ipv6());
        match self.hosts.as_slice() {
            [] => "127.0.0.1",
            hosts if hosts.iter().any(is_ipv6) => "[::]",
            _ => "0.0.0.0",
        }
    }
}

fn ca_params(now: Timestamp) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "Vigie NATS authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    set_validity(&mut params, now);
    params
}

fn server_params(hosts: &[String], now: Timestamp) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(hosts.to_vec())?;
    params.distinguished_name.push(DnType::CommonName, "Vigie NATS server");
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    set_validity(&mut params, now);
    Ok(params)
}

fn set_validity(params: &mut CertificateParams, now: Timestamp) {
    let now = Duration::from_micros(u64::try_from(now.as_micros()).unwrap_or_default());
    let not_before = UNIX_EPOCH + now.saturating_sub(BACKDATE);
    params.not_before = not_before.into();
    params.not_after = (not_before + CERTIFICATE_LIFETIME).into();
}

const TLS_SETTINGS: &str = "\
tls {
  cert_file: \"nats-server.crt\"
  key_file: \"nats-server.key\"
  timeout: 5
}
";

fn server_settings(options: &NatsServerOptions, tokens: &ServerTokens) -> String {
    let mut text = String::new();
    let (address, port) = (options.listen_address(), options.port);
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "\
# Settings of the NATS server of Vigie, as `vigie nats init` wrote them. Paths are relative to the folder in which the
# server starts: `cd` to the folder of this file first. The only secret here is `nats-server.key`.

server_name: vigie
listen: \"{address}:{port}\"

{tls}
# Results, assignments and captures. Raise `max_file_store` for long outages of the control plane.
jetstream {{
  store_dir: \"jetstream\"
  max_memory_store: 64MB
  max_file_store: 20GB
}}

# Bytes of a message.
max_payload: 1048576
max_control_line: 4096
max_pending: 64MB
write_deadline: \"10s\"
ping_interval: \"20s\"
ping_max: 2

# Who may connect: whoever has a token that a key of Vigie signed. There is no monitoring port.
operator: \"{operator}\"
system_account: {system}
resolver: {{
  type: full
  dir: \"jwt\"
  allow_delete: false
  interval: \"2m\"
  limit: 100
}}
",
        tls = if options.has_tls { TLS_SETTINGS } else { "" },
        operator = tokens.operator_jwt,
        system = tokens.system_account,
    );
    text
}
