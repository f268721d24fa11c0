//! Sends the certificates of accounts to the locations: at the start, and whenever they change.

use std::sync::Arc;

use super::local_planner::LocalPlanner;
use crate::bus::contract::AssignedCertificate;
use crate::service::{ConfigRecordService, DecryptedCertificate};

/// Keeps the certificates of the locations of `planner` up to date with `record_service`.
///
/// # Errors
/// Fails when the certificates cannot be read.
pub(super) async fn follow_certificates(
    record_service: &ConfigRecordService,
    planner: Arc<LocalPlanner>,
) -> anyhow::Result<()> {
    let on_change = move |certificates: Vec<DecryptedCertificate>| {
        let planner = Arc::clone(&planner);
        let certificates = certificates.into_iter().map(|certificate| {
            let DecryptedCertificate { id, customer_id, name, is_client, pem } = certificate;
            AssignedCertificate { id, customer_id, name, is_client, pem }
        });
        let certificates = certificates.collect();
        Box::pin(async move { planner.update_certificates(certificates).await }) as _
    };
    let following = record_service.watch_certificates(Arc::new(on_change)).await;
    following.map_err(|error| anyhow::anyhow!("failed to read the certificates of accounts: {error:?}"))
}
