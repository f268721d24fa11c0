//! Push tokens, and what comes with them.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::call_limit::CallLimit;
use super::host_service::HostServiceDependencies;
use crate::domain::{MonitorId, Permission, Push, PushStatus};
use crate::pipeline::Planner;
use crate::service::accounts::{generate_token, hash_token};
use crate::service::caller::{Caller, SavedObject, ServiceError};
use crate::store::{AuditObject, NewPushToken};

/// Pushes of a token in [`PUSH_WINDOW`].
const MAX_PUSHES: u32 = 60;
const PUSH_WINDOW: Duration = Duration::from_mins(1);
/// Longest text of a sender, in characters.
const MAX_MESSAGE_CHARS: usize = 1000;
/// Longest output of a job that is kept, in bytes: its end.
pub const MAX_OUTPUT_BYTES: usize = 16 * 1024;
/// Length of a token in bytes; others are not even looked up.
const TOKEN_BYTES: usize = 43;

/// What a call of a push URL says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PushRequest {
    /// Its status; up when absent.
    pub status: Option<PushStatus>,
    /// Text of the sender.
    pub message: String,
    /// A duration in microseconds.
    pub duration_us: Option<u64>,
    /// Exit code of a job.
    pub exit_code: Option<i32>,
    /// Last lines of a job.
    pub output: String,
}

/// The pushes of all accounts.
pub struct PushService {
    dependencies: HostServiceDependencies,
    planner: Arc<dyn Planner>,
    limit: CallLimit,
}

impl PushService {
    /// Creates the service.
    #[must_use]
    pub fn new(dependencies: HostServiceDependencies, planner: Arc<dyn Planner>) -> Self {
        Self { dependencies, planner, limit: CallLimit::new(MAX_PUSHES, PUSH_WINDOW) }
    }

    /// Gives a monitor a new push token, in place of its last one.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] for a monitor of another account, [`ServiceError::Conflict`] for one that is not
    /// pushed.
    pub async fn create_token(&self, caller: &Caller, id: MonitorId) -> Result<SavedObject, ServiceError> {
        let token = generate_token();
        let saved = self.set_token(caller, id, Some(hash_token(&token)), "create_push_token").await?;
        let fields = Map::from_iter([
            ("token".to_owned(), json!(token.as_str())),
            ("path".to_owned(), json!(format!("/push/{}", token.as_str()))),
        ]);
        Ok(SavedObject { create_response_fields: fields, ..saved })
    }

    /// Takes the push token of a monitor away.
    ///
    /// # Errors
    /// As [`Self::create_token`].
    pub async fn revoke_token(&self, caller: &Caller, id: MonitorId) -> Result<(), ServiceError> {
        self.set_token(caller, id, None, "revoke_push_token").await.map(|_| ())
    }

    async fn set_token(
        &self,
        caller: &Caller,
        id: MonitorId,
        hash: Option<[u8; 32]>,
        action: &'static str,
    ) -> Result<SavedObject, ServiceError> {
        caller.require_permission(Permission::Edit)?;
        let HostServiceDependencies { monitor_cache, push_store, config_store, clock, .. } =
            &self.dependencies;
        // The monitor is not removed before the token is stored.
        let _lock = monitor_cache.lock_shared().await;
        let monitor = monitor_cache.get_for_customer(caller.customer, id).ok_or(ServiceError::NotFound)?;
        if !monitor.document.is_pushed() {
            let message = "The monitor is not pushed; set its `report` to push first";
            return Err(ServiceError::Conflict(message.to_owned()));
        }
        let now = clock.now();
        let name = monitor.document.name();
        let audit = caller.audit_entry(now, action, "monitor", AuditObject::Id(id.0), name);
        push_store
            .set_push_token(NewPushToken {
                monitor_id: id,
                customer_id: caller.customer,
                hash,
                created_at: now,
            })
            .await?;
        config_store.write_changes(Vec::new(), vec![audit]).await?;
        Ok(SavedObject { id: id.0, revision: monitor.revision.0, ..SavedObject::default() })
    }

    /// Takes a push that came with `token`.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] for a token that is none, or of a monitor that is not pushed any more;
    /// [`ServiceError::RateLimited`] for more than 60 in a minute.
    pub async fn record_push(&self, token: &str, request: PushRequest) -> Result<(), ServiceError> {
        if token.len() != TOKEN_BYTES {
            return Err(ServiceError::NotFound);
        }
        let HostServiceDependencies { monitor_cache, push_store, clock, .. } = &self.dependencies;
        let pushed = push_store.push_monitor(hash_token(token)).await?.ok_or(ServiceError::NotFound)?;
        let now = clock.now();
        self.limit.count(pushed.monitor_id.0, now).map_err(ServiceError::RateLimited)?;
        let monitor = monitor_cache
            .get_for_customer(pushed.customer_id, pushed.monitor_id)
            .filter(|monitor| monitor.document.is_pushed())
            .ok_or(ServiceError::NotFound)?;
        let before = push_store.push_state(monitor.id).await?;
        let status = request.status.unwrap_or(PushStatus::Up);
        let push = Push {
            status,
            received_at: now,
            message: request.message.chars().filter(|c| !c.is_control()).take(MAX_MESSAGE_CHARS).collect(),
            duration_us: request.duration_us,
            exit_code: request.exit_code,
            output: end_of(&request.output).replace('\0', ""),
        };
        push_store.record_push(monitor.id, push).await?;
        let last_status = before.and_then(|state| state.last).map(|push| push.status);
        // The health shows it at once; alerts follow with the next planned run.
        if status != PushStatus::Started && last_status != Some(status) {
            self.planner.request_first_checks(&[monitor]);
        }
        Ok(())
    }

    /// Returns the pushes of a monitor of the caller's account, as the object of `GET /monitors/{id}/push`.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] for a monitor of another account, or that never had a token.
    pub async fn state(&self, caller: &Caller, id: MonitorId) -> Result<Value, ServiceError> {
        caller.require_permission(Permission::View)?;
        let HostServiceDependencies { monitor_cache, push_store, .. } = &self.dependencies;
        monitor_cache.get_for_customer(caller.customer, id).ok_or(ServiceError::NotFound)?;
        let state = push_store.push_state(id).await?.ok_or(ServiceError::NotFound)?;
        let last = state.last.map(|push| {
            json!({
                "status": push.status.name(),
                "received_at": push.received_at.to_string(),
                "message": push.message,
                "ping_ms": push.duration_us.map(|us| us as f64 / 1000.0),
                "exit_code": push.exit_code,
                "output": push.output,
            })
        });
        Ok(json!({
            "token_created_at": state.token_created_at.map(|at| at.to_string()),
            "running_since": state.started_at.map(|at| at.to_string()),
            "last": last,
        }))
    }
}

/// Returns the end of a text, at most [`MAX_OUTPUT_BYTES`] long.
fn end_of(text: &str) -> &str {
    let start = text.len().saturating_sub(MAX_OUTPUT_BYTES);
    let start = (start..=text.len()).find(|&index| text.is_char_boundary(index)).unwrap_or(text.len());
    &text[start..]
}
