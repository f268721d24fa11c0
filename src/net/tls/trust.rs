//! The trusted certificates of a location: parsed once, shared by all handshakes.

use crate::sync::RwLock;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use rustls::RootCertStore;
use rustls::client::ResolvesClientCert;
use rustls::crypto::CryptoProvider;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, TrustAnchor};
use x509_parser::prelude::{FromDer, X509Certificate};

use super::public_roots::{LoadedRoots, load_public_roots};
use crate::domain::{
    AllowedAccounts, EgressPrincipal, Failure, FailureKind, Phase, Timestamp, replace_control_chars,
};
use crate::net::error::NetConfigError;

/// PEM text with a label for messages, such as its path.
#[derive(Clone, PartialEq, Eq)]
pub struct Pem {
    /// Where it came from.
    pub label: String,
    /// Certificates, followed by the private key for a client certificate.
    pub text: Vec<u8>,
}

impl Pem {
    /// Reads the file at `path`.
    pub fn read(path: &Path) -> io::Result<Self> {
        Ok(Self { label: path.display().to_string(), text: std::fs::read(path)? })
    }

    /// Appends `key` to this certificate and its chain.
    #[must_use]
    pub fn with_key(mut self, key: &Self) -> Self {
        self.text.push(b'\n');
        self.text.extend(&key.text);
        self
    }

    /// Checks that it contains certificates, and that all of them can be read.
    pub fn check_certificates(&self) -> Result<(), NetConfigError> {
        parse_certificates(self).map(drop)
    }

    /// Checks that it can be used as a client certificate: certificates, and the private key of the first.
    pub fn check_certificate_and_key(&self) -> Result<(), NetConfigError> {
        parse_client_certificate(self, &rustls::crypto::aws_lc_rs::default_provider()).map(drop)
    }
}

impl std::fmt::Debug for Pem {
    /// Leaves out the text, which may contain a key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pem").field("label", &self.label).finish_non_exhaustive()
    }
}

/// Which public certificate authorities are trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PublicRoots {
    /// Those of the operating system; the built-in ones of Mozilla when it has none.
    #[default]
    System,
    /// None; only the configured ones.
    None,
}

/// The trusted certificates of a location, and its client certificates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustConfig {
    /// The public authorities.
    pub public_roots: PublicRoots,
    /// Additional CAs for every handshake. A server certificate in this list is trusted as it is.
    pub additional_authorities: Vec<Pem>,
    /// CAs that a monitor names by id (`ca_cert_id`), in addition to the others.
    pub named_authorities: BTreeMap<i64, Pem>,
    /// Client certificates with their keys, by id (`ssl_cert_id`).
    pub client_certificates: BTreeMap<i64, Pem>,
    /// The accounts that may name them, by id; everybody may name those that are not here.
    pub certificate_accounts: BTreeMap<i64, AllowedAccounts>,
}

/// The trust anchors of a handshake.
#[derive(Debug)]
pub(super) struct TrustAnchors {
    /// The CAs at which chains end.
    pub(super) roots: RootCertStore,
    /// The dates of the public ones, as far as they are known.
    public_root_dates: Arc<[RootDate]>,
    /// The dates of the others.
    root_dates: Vec<RootDate>,
    /// The configured certificates: CAs, and server certificates that are trusted as they are.
    pub(super) pinned_certificates: Vec<CertificateDer<'static>>,
    pub(super) crypto_provider: Arc<CryptoProvider>,
}

/// The end of validity of a CA. Chains end there whether it is over or not.
#[derive(Clone, Debug)]
pub(super) struct RootDate {
    /// Identifies its name and key.
    pub(super) name_and_key_digest: [u8; 32],
    /// Subject of the CA, for messages.
    pub(super) subject: Box<str>,
    pub(super) not_after: Timestamp,
}

impl TrustAnchors {
    /// Returns the dates of the CAs, as far as they are known.
    pub(super) fn root_dates(&self) -> impl Iterator<Item = &RootDate> {
        self.public_root_dates.iter().chain(&self.root_dates)
    }
}

/// The public CAs.
#[derive(Clone, Debug)]
struct PublicAuthorities {
    roots: RootCertStore,
    dates: Arc<[RootDate]>,
}

/// The parsed form of [`TrustConfig`].
#[derive(Debug)]
pub(in crate::net) struct TrustStore {
    /// The anchors of handshakes that name no CA.
    location_anchors: Arc<TrustAnchors>,
    /// The public authorities only, from which the anchors of authorities that are set at run time are built.
    public_authorities: PublicAuthorities,
    crypto_provider: Arc<CryptoProvider>,
    /// The location's anchors with one CA of the settings in addition.
    anchors_by_ca_id: BTreeMap<i64, Arc<TrustAnchors>>,
    client_certificates: BTreeMap<i64, Arc<ClientCertificate>>,
    certificate_accounts: BTreeMap<i64, AllowedAccounts>,
    /// The certificates that are set at run time.
    runtime_certificates: RwLock<Arc<RuntimeCertificates>>,
}

/// Certificates set at run time, parsed, with their original text.
#[derive(Debug, Default)]
struct RuntimeCertificates {
    /// The location's anchors with one CA in addition, and the text of that CA.
    anchors_by_ca_id: BTreeMap<i64, (Pem, Arc<TrustAnchors>)>,
    client_certificates: BTreeMap<i64, Arc<ClientCertificate>>,
}

/// A client certificate.
#[derive(Debug)]
pub(super) struct ClientCertificate {
    /// Its PEM text, which OpenSSL needs.
    pub(super) pem: Pem,
    pub(super) resolver: Arc<dyn ResolvesClientCert>,
}

impl TrustStore {
    pub(super) fn new(
        trust_config: &TrustConfig,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Self, NetConfigError> {
        let public_authorities = match trust_config.public_roots {
            PublicRoots::System => load_system_roots(),
            PublicRoots::None => PublicAuthorities::from_certificates(&[]),
        };
        let mut pinned = Vec::new();
        for pem in &trust_config.additional_authorities {
            pinned.extend(parse_certificates(pem)?);
        }
        let location_anchors = build_anchors(public_authorities.clone(), &pinned, provider);
        let mut anchors_by_ca_id = BTreeMap::new();
        for (&id, pem) in &trust_config.named_authorities {
            let certificates: Vec<_> = pinned.iter().cloned().chain(parse_certificates(pem)?).collect();
            anchors_by_ca_id
                .insert(id, Arc::new(build_anchors(public_authorities.clone(), &certificates, provider)));
        }
        let mut client_certificates = BTreeMap::new();
        for (&id, pem) in &trust_config.client_certificates {
            client_certificates.insert(id, Arc::new(parse_client_certificate(pem, provider)?));
        }
        Ok(Self {
            location_anchors: Arc::new(location_anchors),
            public_authorities,
            crypto_provider: provider.clone(),
            anchors_by_ca_id,
            client_certificates,
            certificate_accounts: trust_config.certificate_accounts.clone(),
            runtime_certificates: RwLock::default(),
        })
    }

    /// Replaces the certificates that were set at run time; unchanged ones are not parsed again. Unusable ones are
    /// skipped; returns their errors.
    pub(super) fn set_runtime_certificates(
        &self,
        authorities: BTreeMap<i64, Pem>,
        client_certificates: BTreeMap<i64, Pem>,
    ) -> Vec<(i64, NetConfigError)> {
        let previous = self.runtime_certificates();
        let mut errors = Vec::new();
        let mut certificates = RuntimeCertificates::default();
        for (id, pem) in authorities {
            match previous.anchors_by_ca_id.get(&id).filter(|(previous_pem, _)| *previous_pem == pem) {
                Some(unchanged) => drop(certificates.anchors_by_ca_id.insert(id, unchanged.clone())),
                None => match self.build_anchors_for_ca(&pem) {
                    Ok(anchors) => drop(certificates.anchors_by_ca_id.insert(id, (pem, Arc::new(anchors)))),
                    Err(error) => errors.push((id, error)),
                },
            }
        }
        for (id, pem) in client_certificates {
            match previous
                .client_certificates
                .get(&id)
                .filter(|previous_certificate| previous_certificate.pem == pem)
            {
                Some(unchanged) => drop(certificates.client_certificates.insert(id, unchanged.clone())),
                None => match parse_client_certificate(&pem, &self.crypto_provider) {
                    Ok(client_certificate) => {
                        drop(certificates.client_certificates.insert(id, Arc::new(client_certificate)));
                    }
                    Err(error) => errors.push((id, error)),
                },
            }
        }
        *self.runtime_certificates.write() = Arc::new(certificates);
        errors
    }

    /// Builds the anchors of an authority like those of the settings: with the public ones and the location's own.
    fn build_anchors_for_ca(&self, pem: &Pem) -> Result<TrustAnchors, NetConfigError> {
        let certificates: Vec<_> = self
            .location_anchors
            .pinned_certificates
            .iter()
            .cloned()
            .chain(parse_certificates(pem)?)
            .collect();
        Ok(build_anchors(self.public_authorities.clone(), &certificates, &self.crypto_provider))
    }

    fn runtime_certificates(&self) -> Arc<RuntimeCertificates> {
        Arc::clone(&self.runtime_certificates.read())
    }

    /// Fails with [`FailureKind::NotConfigured`] (status 95) when `principal` may not use one of these certificates.
    pub(super) fn check_access(
        &self,
        ca_id: Option<i64>,
        client_certificate_id: Option<i64>,
        principal: EgressPrincipal,
    ) -> Result<(), Failure> {
        for (field, id) in [("ca_cert_id", ca_id), ("ssl_cert_id", client_certificate_id)] {
            let accounts = id.and_then(|id| Some((id, self.certificate_accounts.get(&id)?)));
            if let Some((id, _)) = accounts.filter(|(_, accounts)| !accounts.allows_principal(principal)) {
                let detail = format!(
                    "`{field}`: certificate `{id}` is not for this account; add the account to its `accounts` in the setting `certificates`"
                );
                return Err(Failure::new(Phase::Tls, FailureKind::NotConfigured, detail));
            }
        }
        Ok(())
    }

    /// Returns the anchors of handshakes that name no CA.
    pub(super) fn location_anchors(&self) -> Arc<TrustAnchors> {
        self.location_anchors.clone()
    }

    /// Returns the anchors of the location, with the CA `id` in addition if one is named.
    pub(super) fn anchors_for_ca(&self, id: Option<i64>) -> Result<Arc<TrustAnchors>, Failure> {
        let Some(id) = id else { return Ok(self.location_anchors.clone()) };
        let find_runtime_certificate =
            || self.runtime_certificates().anchors_by_ca_id.get(&id).map(|(_, anchors)| anchors.clone());
        self.anchors_by_ca_id
            .get(&id)
            .cloned()
            .or_else(find_runtime_certificate)
            .ok_or_else(|| unknown_certificate_failure("ca_cert_id", id))
    }

    /// Returns the client certificate `id`, of the settings or set at run time.
    pub(super) fn client_certificate(&self, id: i64) -> Result<Arc<ClientCertificate>, Failure> {
        let find_runtime_certificate = || self.runtime_certificates().client_certificates.get(&id).cloned();
        self.client_certificates
            .get(&id)
            .cloned()
            .or_else(find_runtime_certificate)
            .ok_or_else(|| unknown_certificate_failure("ssl_cert_id", id))
    }
}

fn unknown_certificate_failure(field: &str, id: i64) -> Failure {
    let detail = format!("`{field}` {id} is not among the certificates of this location");
    Failure::new(Phase::Tls, FailureKind::NotConfigured, detail)
}

impl PublicAuthorities {
    /// Creates them from `certificates`; those that cannot be parsed are left out.
    fn from_certificates(certificates: &[CertificateDer<'static>]) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(certificates.iter().cloned());
        Self { roots, dates: root_dates(certificates).into() }
    }
}

fn load_system_roots() -> PublicAuthorities {
    let LoadedRoots { roots, system_certificates } = load_public_roots();
    PublicAuthorities { roots, dates: root_dates(&system_certificates).into() }
}

/// Returns the SHA-256 of name and key of an authority.
pub(super) fn name_and_key_digest(anchor: &TrustAnchor<'_>) -> [u8; 32] {
    let bytes = [anchor.subject.as_ref(), anchor.subject_public_key_info.as_ref()].concat();
    let mut result = [0; 32];
    result.copy_from_slice(digest(&SHA256, &bytes).as_ref());
    result
}

fn root_dates(certificates: &[CertificateDer<'static>]) -> Vec<RootDate> {
    let date = |der: &CertificateDer<'static>| {
        let anchor = webpki::anchor_from_trusted_cert(der).ok()?;
        let (_, certificate) = X509Certificate::from_der(der).ok()?;
        Some(RootDate {
            name_and_key_digest: name_and_key_digest(&anchor),
            subject: replace_control_chars(&certificate.subject().to_string()).into(),
            not_after: Timestamp::from_seconds(certificate.validity().not_after.timestamp()),
        })
    };
    certificates.iter().filter_map(date).collect()
}

fn build_anchors(
    public_authorities: PublicAuthorities,
    extra_certificates: &[CertificateDer<'static>],
    provider: &Arc<CryptoProvider>,
) -> TrustAnchors {
    let PublicAuthorities { mut roots, dates } = public_authorities;
    roots.add_parsable_certificates(extra_certificates.iter().cloned());
    TrustAnchors {
        roots,
        public_root_dates: dates,
        root_dates: root_dates(extra_certificates),
        pinned_certificates: extra_certificates.to_vec(),
        crypto_provider: provider.clone(),
    }
}

fn parse_certificates(pem: &Pem) -> Result<Vec<CertificateDer<'static>>, NetConfigError> {
    let pem_error = |detail: String| NetConfigError::Pem { label: pem.label.clone(), detail };
    let certificates = CertificateDer::pem_slice_iter(&pem.text)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| pem_error(error.to_string()))?;
    if certificates.is_empty() {
        return Err(pem_error("it contains no `BEGIN CERTIFICATE`".to_owned()));
    }
    let (_, unusable) = RootCertStore::empty().add_parsable_certificates(certificates.iter().cloned());
    if unusable > 0 {
        return Err(pem_error(format!(
            "{unusable} of its {} certificates cannot be read",
            certificates.len()
        )));
    }
    Ok(certificates)
}

fn parse_client_certificate(
    pem: &Pem,
    provider: &CryptoProvider,
) -> Result<ClientCertificate, NetConfigError> {
    let pem_error = |detail: String| NetConfigError::Pem { label: pem.label.clone(), detail };
    let chain = parse_certificates(pem)?;
    let key = PrivateKeyDer::from_pem_slice(&pem.text)
        .map_err(|error| pem_error(format!("there is no private key in it that can be read: {error}")))?;
    let certified_key =
        CertifiedKey::from_der(chain, key, provider).map_err(|error| pem_error(error.to_string()))?;
    Ok(ClientCertificate { pem: pem.clone(), resolver: Arc::new(SingleCertAndKey::from(certified_key)) })
}
