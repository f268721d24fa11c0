//! Monitors as somebody is writing them: validated like those that are saved, and not stored.

use std::sync::Arc;

use super::access::{ExpectedRevision, find_changeable_monitor};
use super::account_validation::AccountValidationContext;
use super::monitor_service::MonitorService;
use crate::domain::{MonitorId, MonitorType, Revision};
use crate::schema::reader::InputFormat;
use crate::schema::validate;
use crate::schema::{Monitor, MonitorMetadata, Origin};
use crate::service::caller::{Caller, ServiceError};
use crate::syntax::node::Node;

/// Which monitor a draft would become when it is saved.
#[derive(Clone, Copy, Debug)]
pub enum DraftOf {
    /// A new one of this type.
    New(MonitorType),
    /// An existing one, of this revision; the draft holds what would change.
    Change(MonitorId, ExpectedRevision),
}

/// A monitor that is not saved.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The monitor; a new one has the id 0.
    pub monitor: Monitor,
    /// Warnings for its author, one sentence each.
    pub warnings: Vec<String>,
}

/// Validates `body` as saving it would, without saving it. Secrets that it leaves out or masks are those of the stored
/// monitor.
///
/// # Errors
/// Like [`super::create`] and [`super::patch`], except that full billing plans are no error.
pub async fn draft(
    service: &MonitorService,
    caller: &Caller,
    draft_of: DraftOf,
    body: &Node,
) -> Result<Draft, ServiceError> {
    let _lock = service.lock_shared().await;
    let validation = AccountValidationContext::new(service, caller).await?;
    let (validated, stored) = match draft_of {
        DraftOf::New(monitor_type) => {
            let context = validation.validation_context();
            (validate::validate_new(monitor_type, InputFormat::V3, body, &context)?, None)
        }
        DraftOf::Change(id, expected) => {
            let stored = find_changeable_monitor(&service.dependencies.monitor_cache, caller, id, expected)?;
            let context = validation.context_for_change(id);
            let validated = validate::merge_and_validate(&stored.document, InputFormat::V3, body, &context)?;
            (validated, Some(stored))
        }
    };
    let document = Arc::new(validated.document);
    let monitor = match stored {
        Some(stored) => Monitor { document, ..stored },
        None => Monitor {
            id: MonitorId(0),
            customer: caller.customer,
            origin: Origin::Api,
            revision: Revision(1),
            modified_at: service.dependencies.clock.now(),
            document,
            metadata: Arc::new(MonitorMetadata::default()),
        },
    };
    Ok(Draft { monitor, warnings: validated.warnings })
}
