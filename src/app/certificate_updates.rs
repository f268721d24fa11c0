//! Passes the certificates of accounts to the networks: at the start, and whenever they change.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::net::{Net, Pem};
use crate::service::{DecryptedCertificate, RecordService};

/// Keeps the certificates of `nets` up to date with `resources`.
pub(super) async fn follow_certificates(
    resources: &RecordService,
    nets: Vec<Arc<Net>>,
) -> anyhow::Result<()> {
    let on_change = move |certificates: Vec<DecryptedCertificate>| apply_certificates(&nets, certificates);
    let outcome = resources.watch_certificates(Arc::new(on_change)).await;
    outcome.map_err(|error| anyhow::anyhow!("failed to read the certificates of accounts: {error:?}"))
}

fn apply_certificates(nets: &[Arc<Net>], certificates: Vec<DecryptedCertificate>) {
    let (mut authority_pems, mut client_pems) = (BTreeMap::new(), BTreeMap::new());
    for certificate in certificates {
        let DecryptedCertificate { id, name, is_client: client, pem } = certificate;
        let pem = Pem { label: name, text: pem.to_vec() };
        if client {
            client_pems.insert(id, pem)
        } else {
            authority_pems.insert(id, pem)
        };
    }
    for (net_index, net) in nets.iter().enumerate() {
        let unusable = net.set_certificates(authority_pems.clone(), client_pems.clone());
        // An unusable certificate is unusable at every location: log it once.
        for (id, error) in unusable.into_iter().filter(|_| net_index == 0) {
            tracing::error!(certificate_id = id, error = %error, "failed to load a certificate");
        }
    }
}
