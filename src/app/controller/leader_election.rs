//! Waits for the lead, and keeps it.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use super::lease_validity::LeaseValidity;
use crate::app::systemd;
use crate::store::{
    ControllerAddress, ControllerLease, PostgresLocation, StoreError, StoreOptions, open_lease,
};

/// Time between two looks at the lease, or two renewals.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
const RENEWAL_INTERVAL: Duration = Duration::from_secs(1);

/// The session of this controller for the lease, made anew when it breaks.
pub(super) struct LeaderElection {
    pub(super) location: PostgresLocation,
    pub(super) options: StoreOptions,
    /// This controller. Its certificate changes when it is renewed.
    pub(super) address: watch::Receiver<ControllerAddress>,
    /// The controller that leads, as far as known.
    pub(super) leader: watch::Sender<Option<ControllerAddress>>,
    pub(super) validity: LeaseValidity,
    pub(super) lease: Option<ControllerLease>,
    /// Whether the last failure was logged.
    pub(super) is_failing: bool,
}

impl LeaderElection {
    /// Waits until this controller leads; returns its epoch.
    ///
    /// # Errors
    /// Fails when the database is one that no controller can use, at the first look.
    pub(super) async fn wait_to_lead(&mut self) -> Result<i64, StoreError> {
        let mut is_first = true;
        loop {
            let requested_at = Instant::now();
            match self.look_and_take().await {
                Ok(Some(epoch)) => {
                    self.validity.extend(requested_at);
                    return Ok(epoch);
                }
                Ok(None) => self.is_failing = false,
                Err(error @ StoreError::Unavailable(_)) => self.drop_session(&error),
                Err(error) if is_first => return Err(error),
                Err(error) => self.drop_session(&error),
            }
            is_first = false;
            systemd::notify_watchdog();
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
    }

    /// Renews the lease of `epoch` until another controller has taken it.
    pub(super) async fn keep(&mut self, epoch: i64) {
        loop {
            tokio::time::sleep(RENEWAL_INTERVAL).await;
            let requested_at = Instant::now();
            let address = self.address.borrow().clone();
            let renewed = match self.session().await {
                Ok(lease) => lease.renew(epoch, &address).await,
                Err(error) => Err(error),
            };
            match renewed {
                Ok(true) => {
                    self.validity.extend(requested_at);
                    self.is_failing = false;
                }
                Ok(false) => return,
                Err(error) => self.drop_session(&error),
            }
        }
    }

    /// Gives the lead of `epoch` up.
    pub(super) async fn release(mut self, epoch: i64) {
        self.leader.send_replace(None);
        let released = match self.session().await {
            Ok(lease) => lease.release(epoch).await,
            Err(error) => Err(error),
        };
        if let Err(error) = released {
            tracing::warn!(error = %error, "the lead could not be given up; another controller takes it in a few seconds");
        }
        if let Some(lease) = self.lease {
            lease.close().await;
        }
    }

    async fn look_and_take(&mut self) -> Result<Option<i64>, StoreError> {
        let address = self.address.borrow().clone();
        let lease = self.session().await?;
        let current = lease.leader().await?;
        let can_lead = current.as_ref().is_none_or(|leader| leader.is_expired);
        let taken = if can_lead { lease.take(&address).await? } else { None };
        let leader = current.filter(|leader| !leader.is_expired).map(|leader| leader.address);
        self.leader.send_if_modified(|known| {
            let has_changed = *known != leader;
            *known = leader;
            has_changed
        });
        Ok(taken)
    }

    async fn session(&mut self) -> Result<&mut ControllerLease, StoreError> {
        let lease = match self.lease.take() {
            Some(lease) => lease,
            None => open_lease(&self.location, self.options.clone()).await?,
        };
        Ok(self.lease.insert(lease))
    }

    fn drop_session(&mut self, error: &StoreError) {
        self.lease = None;
        if !std::mem::replace(&mut self.is_failing, true) {
            tracing::warn!(error_kind = error.kind(), "the lease of the controllers cannot be used: {error}");
        }
    }
}
