//! Stored certificates, opened for those who speak TLS.

use std::sync::Arc;

use zeroize::Zeroizing;

use crate::catalog::record_settings::settings_or_skip;
use crate::domain::{CustomerId, Record, RecordKind};
use crate::schema::typed::record::{CertificateKind, CertificateSettings};
use crate::service::resources::dependencies::ResourceDependencies;
use crate::store::{Pagination, RecordFilter, StoreError, seal_context};

/// A certificate with what is never shown: for those who speak TLS.
#[derive(Clone)]
pub struct OpenedCertificate {
    /// Its number.
    pub id: i64,
    /// What people call it.
    pub name: String,
    /// Whether it is a client certificate with its key, or an authority.
    pub client: bool,
    /// Certificates, and the key of a client, as PEM.
    pub pem: Arc<Zeroizing<Vec<u8>>>,
}

/// Takes all certificates that there are.
pub type CertificateWatcher = Arc<dyn Fn(Vec<OpenedCertificate>) + Send + Sync>;

/// All of all accounts, opened. One that cannot be opened is told in the log and left out.
pub(in crate::service::resources) async fn open_all(
    dependencies: &ResourceDependencies,
) -> Result<Vec<OpenedCertificate>, StoreError> {
    let filter = RecordFilter::new(RecordKind::Certificate);
    let found = dependencies.config.records(filter, Pagination { limit: u32::MAX, offset: 0 }).await?;
    Ok(found.items.iter().filter_map(|record| open_record(dependencies, record)).collect())
}

fn open_record(dependencies: &ResourceDependencies, record: &Record) -> Option<OpenedCertificate> {
    let settings: CertificateSettings<'_> = settings_or_skip(record)?;
    let sealed = record.private_data.as_deref().unwrap_or_default();
    match dependencies.vault.open(&certificate_seal_context(record.customer), sealed) {
        Ok(pem) => Some(OpenedCertificate {
            id: record.id,
            name: settings.name.to_owned(),
            client: settings.kind == CertificateKind::Client,
            pem: Arc::new(pem),
        }),
        Err(error) => {
            tracing::error!(certificate_id = record.id, error = %error, "failed to decrypt a certificate");
            None
        }
    }
}

pub(super) fn certificate_seal_context(customer: CustomerId) -> String {
    seal_context(RecordKind::Certificate.name(), customer)
}
