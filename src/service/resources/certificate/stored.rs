//! Stored certificates, opened for those who speak TLS.

use std::sync::Arc;

use zeroize::Zeroizing;

use crate::catalog::stored::listed;
use crate::domain::{CustomerId, Record, RecordKind};
use crate::schema::typed::record::{CertificateKind, CertificateSettings};
use crate::service::resources::parts::ResourceParts;
use crate::store::{Pagination, RecordFilter, StoreError, seal_context};

/// A certificate with what is never shown: for those who speak TLS.
#[derive(Clone)]
pub struct OpenCertificate {
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
pub type Watcher = Arc<dyn Fn(Vec<OpenCertificate>) + Send + Sync>;

/// All of all accounts, opened. One that cannot be opened is told in the log and left out.
pub(in crate::service::resources) async fn all(
    parts: &ResourceParts,
) -> Result<Vec<OpenCertificate>, StoreError> {
    let filter = RecordFilter::new(RecordKind::Certificate);
    let found = parts.ledger.records(filter, Pagination { limit: u32::MAX, offset: 0 }).await?;
    Ok(found.items.iter().filter_map(|record| open(parts, record)).collect())
}

fn open(parts: &ResourceParts, record: &Record) -> Option<OpenCertificate> {
    let settings: CertificateSettings<'_> = listed(record)?;
    let sealed = record.private_data.as_deref().unwrap_or_default();
    match parts.vault.open(&context(record.customer), sealed) {
        Ok(pem) => Some(OpenCertificate {
            id: record.id,
            name: settings.name.to_owned(),
            client: settings.kind == CertificateKind::Client,
            pem: Arc::new(pem),
        }),
        Err(error) => {
            tracing::error!(certificate_id = record.id, error = %error, "a certificate cannot be opened");
            None
        }
    }
}

pub(super) fn context(customer: CustomerId) -> String {
    seal_context(RecordKind::Certificate.name(), customer)
}
