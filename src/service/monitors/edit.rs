//! Changes and removes one monitor.

use std::sync::Arc;

use serde_json::Value;

use super::access::{ExpectedRevision, find_changeable_monitor, find_own_monitor};
use super::account_validation::AccountValidationContext;
use super::monitor_change::MonitorChange;
use super::monitor_service::MonitorService;
use super::save::{save_changes, saved_object};
use crate::catalog::AccountSnapshot;
use crate::domain::{LocationId, MonitorId, MonitorType, Permission};
use crate::schema::reader::InputFormat;
use crate::schema::{Monitor, MonitorDocument, SecretMode, validate};
use crate::service::caller::{Caller, SavedObject, ServiceError};
use crate::syntax::node::Node;

/// Changes a monitor. Not found if `expected_type` is given and is not its type. Its revision stays the same unless a
/// value changes.
///
/// # Errors
/// [`ServiceError::NotFound`], [`ServiceError::Forbidden`] for a monitor defined in a file,
/// [`ServiceError::PreconditionFailed`] for a revision other than `if_match`, [`ServiceError::Invalid`] with every
/// error of `body`; errors of the store.
pub async fn patch(
    service: &MonitorService,
    caller: &Caller,
    id: MonitorId,
    expected_type: Option<MonitorType>,
    format: InputFormat,
    body: &Node,
    if_match: ExpectedRevision,
) -> Result<SavedObject, ServiceError> {
    let _lock = service.lock_exclusive().await;
    let validation = AccountValidationContext::new(service, caller).await?;
    if expected_type.is_some_and(|expected_type| {
        find_own_monitor(&service.dependencies.monitor_cache, caller, id)
            .is_ok_and(|existing| existing.monitor_type() != expected_type)
    }) {
        return Err(ServiceError::NotFound);
    }
    let old = find_changeable_monitor(&service.dependencies.monitor_cache, caller, id, if_match)?;
    let validated =
        validate::merge_and_validate(&old.document, format, body, &validation.context_for_change(id))?;
    let document = without_echoed_locations(&old, validated.document, body, validation.account())?;
    let document = Arc::new(without_echoed_provider(&old, document, validation.account())?);
    let metadata = (*old.metadata).clone();
    let change = MonitorChange::Update {
        audit_action: "change",
        old: Box::new(old),
        document,
        metadata,
        new_origin: None,
    };
    let monitors = save_changes(service, caller, vec![change]).await?;
    saved_object(&monitors, validated.warnings)
}

/// Removes a monitor; its results follow retention.
///
/// # Errors
/// Like [`patch`].
pub async fn delete(
    service: &MonitorService,
    caller: &Caller,
    id: MonitorId,
    if_match: ExpectedRevision,
) -> Result<(), ServiceError> {
    caller.require_permission(Permission::Edit)?;
    let _lock = service.lock_exclusive().await;
    let old = find_changeable_monitor(&service.dependencies.monitor_cache, caller, id, if_match)?;
    save_changes(service, caller, vec![MonitorChange::Remove { old: Box::new(old) }]).await?;
    Ok(())
}

/// Unsets the host of the provider that the client only sent back: a monitor without one is returned with that of the
/// settings, which it must continue to use.
fn without_echoed_provider(
    old: &Monitor,
    document: MonitorDocument,
    account: &AccountSnapshot,
) -> Result<MonitorDocument, ServiceError> {
    let is_mobile = matches!(document.monitor_type(), MonitorType::MobileCloud | MonitorType::MobileLab);
    let default_host = account.shared.mobile_emulation.provider_host.as_deref().filter(|_| is_mobile);
    let sent_host = document.value("hostname").and_then(Value::as_str);
    if default_host.is_none() || sent_host != default_host || old.document.value("hostname").is_some() {
        return Ok(document);
    }
    let mut values = document.to_non_default_fields(SecretMode::Revealed);
    values.shift_remove("hostname");
    MonitorDocument::new(document.monitor_type(), values).map_err(ServiceError::from)
}

/// Unsets locations that the client only sent back: a monitor without its own locations is returned with
/// those of its account, which it must continue to use. `monitor_uses_own_locations` in the body marks an object that
/// was read before, unlike a patch written by hand.
fn without_echoed_locations(
    old: &Monitor,
    document: MonitorDocument,
    body: &Node,
    account: &AccountSnapshot,
) -> Result<MonitorDocument, ServiceError> {
    if body.get("monitor_uses_own_locations").is_none() {
        return Ok(document);
    }
    let home_location = account.location_pool_ids(old).first().copied().map(LocationId);
    let defaults = account.default_location_ids.iter().copied().map(LocationId);
    let echoes_home_location = !old.document.differs_from_default("home_location")
        && document.settings().schedule.home_location == home_location;
    let echoes_locations =
        !old.document.differs_from_default("locations") && document.location_ids().into_iter().eq(defaults);
    if !echoes_home_location && !echoes_locations {
        return Ok(document);
    }
    let mut values = document.to_non_default_fields(SecretMode::Revealed);
    for (name, is_echoed) in [("home_location", echoes_home_location), ("locations", echoes_locations)] {
        if is_echoed {
            values.shift_remove(name);
        }
    }
    MonitorDocument::new(document.monitor_type(), values).map_err(ServiceError::from)
}
