//! Passes the certificates of accounts to the networks: at the start, and whenever they change.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::location_agents::LocationAgents;
use crate::net::{Net, Pem};
use crate::service::{ConfigRecordService, DecryptedCertificate};
use crate::sync::Mutex;

/// The certificates of accounts, for the networks of the locations.
pub(super) struct AccountCertificates {
    agents: Arc<LocationAgents>,
    authority_pems: Mutex<BTreeMap<i64, Pem>>,
    client_pems: Mutex<BTreeMap<i64, Pem>>,
}

impl AccountCertificates {
    /// Keeps the certificates of the networks of `agents` up to date with `record_service`.
    pub(super) async fn follow(
        record_service: &ConfigRecordService,
        agents: Arc<LocationAgents>,
    ) -> anyhow::Result<Arc<Self>> {
        let updates =
            Arc::new(Self { agents, authority_pems: Mutex::default(), client_pems: Mutex::default() });
        let following = Arc::clone(&updates);
        let on_change = move |certificates: Vec<DecryptedCertificate>| following.apply(certificates);
        match record_service.watch_certificates(Arc::new(on_change)).await {
            Ok(()) => Ok(updates),
            Err(error) => Err(anyhow::anyhow!("failed to read the certificates of accounts: {error:?}")),
        }
    }

    /// Passes the certificates to `net`, the network of one location. Returns the id and error of each that it cannot
    /// use.
    pub(super) fn apply_to(&self, net: &Net) -> Vec<(i64, String)> {
        let (authorities, clients) = (self.authority_pems.lock().clone(), self.client_pems.lock().clone());
        let unusable = net.set_certificates(authorities, clients);
        unusable.into_iter().map(|(id, error)| (id, error.to_string())).collect()
    }

    fn apply(&self, certificates: Vec<DecryptedCertificate>) {
        let (mut authority_pems, mut client_pems) = (BTreeMap::new(), BTreeMap::new());
        for certificate in certificates {
            let DecryptedCertificate { id, name, is_client, pem } = certificate;
            let pem = Pem { label: name, text: pem.to_vec() };
            if is_client {
                client_pems.insert(id, pem)
            } else {
                authority_pems.insert(id, pem)
            };
        }
        *self.authority_pems.lock() = authority_pems;
        *self.client_pems.lock() = client_pems;
        for (agent_index, agent) in self.agents.current().iter().enumerate() {
            let unusable = self.apply_to(&agent.net);
            // An unusable certificate is unusable at every location: log it once.
            for (id, error) in unusable.into_iter().filter(|_| agent_index == 0) {
                tracing::error!(certificate_id = id, error, "failed to load a certificate");
            }
        }
    }
}
