//! Renews the token of the agent: over the bus at half of its life, over HTTPS when it has expired.

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use zeroize::Zeroizing;

use crate::app::location_sealer::LocationSealer;
use crate::bus::messages::{SealContext, Sealer};
use crate::bus::nats::subjects::AgentSubject;
use crate::bus::nats::{AgentCredential, AgentGrant, NatsConnection};
use crate::clock::{Clock, SystemClock};
use crate::sync::RwLock;

/// Longest pause between two looks at the token: the clock may be set.
const LOOK_INTERVAL: Duration = Duration::from_mins(1);
/// Pause after a renewal that failed.
const RETRY_PAUSE: Duration = Duration::from_secs(15);
/// How long a reply may take.
const REPLY_TIMEOUT: Duration = Duration::from_secs(10);

/// Renews the token over HTTPS, whose client belongs to the terminal.
pub type HttpsRenewal = Arc<
    dyn Fn(AgentCredential, PathBuf) -> Pin<Box<dyn Future<Output = anyhow::Result<()>> + Send>>
        + Send
        + Sync,
>;

/// Opens what is sealed for the location with the keys of the newest grant.
pub(super) struct RenewedSealer {
    credential: AgentCredential,
    current: RwLock<LocationSealer>,
}

impl RenewedSealer {
    /// Creates the sealer with the keys of `credential`.
    ///
    /// # Errors
    /// Fails for a credential whose keys cannot be read.
    pub(super) fn new(credential: AgentCredential) -> anyhow::Result<Self> {
        let current = RwLock::new(sealer_of(&credential)?);
        Ok(Self { credential, current })
    }

    /// Takes the keys of a new grant.
    fn renew(&self) {
        match sealer_of(&self.credential) {
            Ok(sealer) => *self.current.write() = sealer,
            Err(error) => tracing::error!(error = %error, "the new data keys cannot be used"),
        }
    }
}

fn sealer_of(credential: &AgentCredential) -> anyhow::Result<LocationSealer> {
    Ok(LocationSealer::from_data_keys(credential.location_id(), &credential.data_keys()?))
}

impl Sealer for RenewedSealer {
    fn seal(&self, context: SealContext, id: i64, plain: &[u8]) -> Vec<u8> {
        self.current.read().seal(context, id, plain)
    }

    fn open(&self, context: SealContext, id: i64, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, String> {
        self.current.read().open(context, id, sealed)
    }

    fn sealing_key(&self, sealed: &[u8]) -> u32 {
        self.current.read().sealing_key(sealed)
    }
}

/// Keeps the token valid, for ever.
pub(super) async fn run(
    credential: &AgentCredential,
    connection: &NatsConnection,
    sealer: &RenewedSealer,
    (data_dir, over_https): (PathBuf, HttpsRenewal),
) {
    // The keys may have changed while the agent was off.
    let mut is_due = true;
    loop {
        let now = SystemClock.now();
        if is_due || now >= credential.renewal_due_at() {
            let renewed = if connection.is_connected() {
                renew_over_bus(credential, connection).await
            } else if now >= credential.expires_at() {
                over_https(credential.clone(), data_dir.clone()).await
            } else {
                Err(anyhow::anyhow!("the bus is not connected"))
            };
            match renewed {
                Ok(()) => {
                    is_due = false;
                    sealer.renew();
                    tracing::info!(until = %credential.expires_at(), "the token of the agent was renewed");
                }
                Err(error) => {
                    tracing::debug!(error = %error, "the token of the agent is not renewed yet");
                    tokio::time::sleep(RETRY_PAUSE).await;
                    continue;
                }
            }
        }
        tokio::time::sleep(LOOK_INTERVAL).await;
    }
}

async fn renew_over_bus(credential: &AgentCredential, connection: &NatsConnection) -> anyhow::Result<()> {
    let subject = AgentSubject::Renew.of(credential.location_id(), credential.agent_id());
    let body = serde_json::to_vec(&credential.renewal_request(env!("CARGO_PKG_VERSION")))?;
    let request = async_nats::Request::new().payload(body.into()).timeout(Some(REPLY_TIMEOUT));
    let reply = connection.client().send_request(subject, request).await?;
    let grant: AgentGrant = serde_json::from_slice(&reply.payload)?;
    Ok(credential.apply(grant)?)
}
