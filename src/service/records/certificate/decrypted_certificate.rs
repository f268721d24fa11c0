//! Stored certificates, decrypted for TLS.

use std::pin::Pin;
use std::sync::Arc;

use zeroize::Zeroizing;

use crate::catalog::record_settings::settings_or_skip;
use crate::domain::{ConfigRecord, ConfigRecordKind, CustomerId};
use crate::schema::typed::record::{CertificateKind, CertificateSettings};
use crate::service::records::dependencies::ConfigRecordServiceDependencies;
use crate::store::{ConfigRecordFilter, Pagination, StoreError, seal_context};

/// A decrypted certificate for TLS, with its secret key.
#[derive(Clone)]
pub struct DecryptedCertificate {
    /// Its id.
    pub id: i64,
    /// Account that owns it.
    pub customer_id: CustomerId,
    /// Its name.
    pub name: String,
    /// Whether it is a client certificate with its key, rather than an authority.
    pub is_client: bool,
    /// Certificates, and the key of a client certificate, as PEM.
    pub pem: Arc<Zeroizing<Vec<u8>>>,
}

/// Receives all certificates whenever they change; the change is complete once its future is.
pub type CertificateWatcher =
    Arc<dyn Fn(Vec<DecryptedCertificate>) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// Returns the certificates of all accounts, decrypted. One that cannot be decrypted is logged and left out.
pub(in crate::service::records) async fn decrypt_all(
    dependencies: &ConfigRecordServiceDependencies,
) -> Result<Vec<DecryptedCertificate>, StoreError> {
    let filter = ConfigRecordFilter::new(ConfigRecordKind::Certificate);
    let found = dependencies.config_store.records(filter, Pagination::ALL).await?;
    Ok(found.items.iter().filter_map(|record| decrypt_record(dependencies, record)).collect())
}

fn decrypt_record(
    dependencies: &ConfigRecordServiceDependencies,
    record: &ConfigRecord,
) -> Option<DecryptedCertificate> {
    let settings: CertificateSettings<'_> = settings_or_skip(record)?;
    let encrypted = record.private_data.as_deref().unwrap_or_default();
    match dependencies.keyring.open(&certificate_seal_context(record.customer), encrypted) {
        Ok(pem) => Some(DecryptedCertificate {
            id: record.id,
            customer_id: record.customer,
            name: settings.name.to_owned(),
            is_client: settings.kind == CertificateKind::Client,
            pem: Arc::new(pem),
        }),
        Err(error) => {
            tracing::error!(certificate_id = record.id, error = %error, "failed to decrypt a certificate");
            None
        }
    }
}

pub(super) fn certificate_seal_context(customer: CustomerId) -> String {
    seal_context(ConfigRecordKind::Certificate.name(), customer)
}
