//! Connections to NATS with a token and the key of its user, over TLS.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_nats::{Auth, AuthError, ConnectOptions};
use nkeys::KeyPair;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;

/// Time limit for a connection, its TLS handshake included.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Returns the current token of the user. It is called at every connection.
pub type TokenSource = Arc<dyn Fn() -> Result<String, String> + Send + Sync>;

/// How a client proves who it is, and which server it trusts.
#[derive(Clone)]
pub struct NatsLogin {
    key: Arc<KeyPair>,
    token: TokenSource,
    trust: NatsServerTrust,
}

/// Which server a client trusts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NatsServerTrust {
    /// One with a certificate of this authority (PEM), over TLS.
    Authority(String),
    /// One on this host without TLS. Use it for addresses of the loopback interface only.
    PlainLoopback,
}

impl NatsServerTrust {
    /// Trusts the servers of the authority `pem`; an empty text stands for a server on this host without TLS.
    #[must_use]
    pub fn from_authority(pem: &str) -> Self {
        if pem.is_empty() { Self::PlainLoopback } else { Self::Authority(pem.to_owned()) }
    }
}

/// The login cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NatsLoginError {
    /// The certificate of the authority cannot be used.
    #[error("the certificate of the NATS authority cannot be used: {0}")]
    Authority(String),
    /// A URL needs TLS.
    #[error("the NATS server `{0}` is neither on this host nor reached over TLS\nhint: name it `tls://…`")]
    PlainText(String),
}

impl NatsLogin {
    /// Logs in with `key` and the token that `token` returns.
    #[must_use]
    pub fn new(key: Arc<KeyPair>, token: TokenSource, trust: NatsServerTrust) -> Self {
        Self { key, token, trust }
    }

    /// Returns the options of a connection. Each connection reads the token again, so that a renewed one counts.
    ///
    /// # Errors
    /// Fails for an authority that cannot be used.
    pub fn connect_options(&self) -> Result<ConnectOptions, NatsLoginError> {
        let (key, token) = (Arc::clone(&self.key), Arc::clone(&self.token));
        let options = ConnectOptions::with_auth_callback(move |nonce| {
            let auth = authenticate(&key, &token, &nonce);
            async move { auth }
        });
        let options = options.connection_timeout(CONNECT_TIMEOUT).ignore_discovered_servers();
        Ok(match &self.trust {
            NatsServerTrust::PlainLoopback => options,
            NatsServerTrust::Authority(pem) => options.require_tls(true).tls_client_config(tls_config(pem)?),
        })
    }

    /// Fails unless each of `urls` may be used with this login: without TLS only servers on this host may.
    ///
    /// # Errors
    /// Fails for the first URL that may not.
    pub fn check_urls(&self, urls: &[String]) -> Result<(), NatsLoginError> {
        let is_allowed = |url: &&String| match self.trust {
            NatsServerTrust::Authority(_) => url.starts_with("tls://"),
            NatsServerTrust::PlainLoopback => is_loopback(url),
        };
        match urls.iter().find(|url| !is_allowed(url)) {
            Some(url) => Err(NatsLoginError::PlainText(url.clone())),
            None => Ok(()),
        }
    }
}

/// Never shows the key.
impl fmt::Debug for NatsLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsLogin").field("trust", &self.trust).finish_non_exhaustive()
    }
}

fn authenticate(key: &KeyPair, token: &TokenSource, nonce: &[u8]) -> Result<Auth, AuthError> {
    let mut auth = Auth::new();
    auth.jwt = Some(token().map_err(AuthError::new)?);
    auth.signature = Some(key.sign(nonce).map_err(AuthError::new)?);
    Ok(auth)
}

fn tls_config(authority_pem: &str) -> Result<ClientConfig, NatsLoginError> {
    let error = |reason: &dyn fmt::Display| NatsLoginError::Authority(reason.to_string());
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(authority_pem.as_bytes()) {
        roots.add(certificate.map_err(|reason| error(&reason))?).map_err(|reason| error(&reason))?;
    }
    if roots.is_empty() {
        return Err(error(&"there is none"));
    }
    let builder =
        ClientConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(|reason| error(&reason))?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

/// Whether `url` names an address of the loopback interface.
fn is_loopback(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = match rest.strip_prefix('[') {
        Some(rest) => rest.split(']').next(),
        None => rest.split([':', '/']).next(),
    };
    let host = host.unwrap_or_default();
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_tls_only_this_host_may_be_named() {
        let key = Arc::new(KeyPair::new_user());
        let token: TokenSource = Arc::new(|| Ok(String::new()));
        let login = |trust| NatsLogin::new(Arc::clone(&key), Arc::clone(&token), trust);
        let allows = |trust, url: &str| login(trust).check_urls(&[url.to_owned()]).is_ok();
        for url in ["nats://127.0.0.1:4222", "nats://localhost:4222", "nats://[::1]:4222", "127.0.0.1"] {
            assert!(allows(NatsServerTrust::PlainLoopback, url), "{url}");
        }
        for url in
            ["nats://192.0.2.1:4222", "nats://localhost.example:4222", "tls://a", "nats://127.0.0.1.example"]
        {
            assert!(!allows(NatsServerTrust::PlainLoopback, url), "{url}");
        }
        let authority = || NatsServerTrust::Authority(String::new());
        assert!(allows(authority(), "tls://nats.example:4222"));
        assert!(!allows(authority(), "nats://127.0.0.1:4222"));
        assert!(login(authority()).connect_options().is_err());
    }
}
