//! Dispatches to the rules of each kind of record.

use super::record_context::RecordContext;
use super::record_draft::RecordDraft;
use super::{
    account, agent, blackout, certificate, event, host, location, notifier_group, performance_alert,
    property, recipient, sla, template, user, view,
};
use crate::domain::{ConfigRecord, ConfigRecordKind};
use crate::service::caller::ServiceError;
use crate::syntax::node::Node;

/// Prepares a new certificate, which is slow to parse, before locks are taken; `None` for other kinds.
pub(super) async fn creation_draft_before_locking(
    cx: &RecordContext<'_>,
    body: &Node,
) -> Result<Option<RecordDraft>, ServiceError> {
    match cx.definition.kind {
        ConfigRecordKind::Certificate => certificate::creation_draft(cx, body).await.map(Some),
        _ => Ok(None),
    }
}

/// Prepares a new record of any kind but certificates.
pub(super) async fn creation_draft(cx: &RecordContext<'_>, body: &Node) -> Result<RecordDraft, ServiceError> {
    match cx.definition.kind {
        ConfigRecordKind::User => user::creation_draft(cx, body).await,
        ConfigRecordKind::Location => location::creation_draft(cx, body),
        ConfigRecordKind::Property => property::creation_draft(cx, body),
        ConfigRecordKind::Blackout => blackout::creation_draft(cx, body),
        ConfigRecordKind::Event => event::creation_draft(body),
        ConfigRecordKind::Recipient => recipient::creation_draft(cx, body),
        ConfigRecordKind::NotifierGroup => notifier_group::creation_draft(cx, body).await,
        ConfigRecordKind::Template => template::creation_draft(cx, body),
        ConfigRecordKind::Sla => sla::creation_draft(cx, body),
        ConfigRecordKind::PerformanceAlert => performance_alert::creation_draft(cx, body).await,
        ConfigRecordKind::View => view::creation_draft(cx, body).await,
        ConfigRecordKind::Host => host::creation_draft(cx, body),
        ConfigRecordKind::Certificate
        | ConfigRecordKind::Customer
        | ConfigRecordKind::Test
        | ConfigRecordKind::Agent
        | ConfigRecordKind::LocationKey
        | ConfigRecordKind::Share => Err(ServiceError::NotFound),
    }
}

/// Prepares the change of `old` by `body`.
pub(super) async fn change_draft(
    cx: &RecordContext<'_>,
    old: &ConfigRecord,
    body: &Node,
) -> Result<RecordDraft, ServiceError> {
    match cx.definition.kind {
        ConfigRecordKind::User => user::change_draft(cx, old, body).await,
        ConfigRecordKind::Location => location::change_draft(cx, old, body),
        ConfigRecordKind::Property => property::change_draft(cx, old, body),
        ConfigRecordKind::Blackout => blackout::change_draft(old, body),
        ConfigRecordKind::Customer => account::change_draft(cx, old, body),
        ConfigRecordKind::Recipient => recipient::change_draft(cx, old, body),
        ConfigRecordKind::NotifierGroup => notifier_group::change_draft(cx, old, body).await,
        ConfigRecordKind::Template => template::change_draft(cx, old, body),
        ConfigRecordKind::Sla => sla::change_draft(cx, old, body),
        ConfigRecordKind::PerformanceAlert => performance_alert::change_draft(cx, old, body),
        ConfigRecordKind::Agent => agent::change_draft(old, body),
        ConfigRecordKind::View => view::change_draft(cx, old, body),
        ConfigRecordKind::Host => host::change_draft(cx, old, body),
        ConfigRecordKind::Certificate
        | ConfigRecordKind::Event
        | ConfigRecordKind::Test
        | ConfigRecordKind::LocationKey
        | ConfigRecordKind::Share => Err(ServiceError::NotFound),
    }
}

/// Checks whether `old` may be removed; returns the changes and guards of the removal.
pub(super) async fn removal_draft(
    cx: &RecordContext<'_>,
    old: &ConfigRecord,
) -> Result<RecordDraft, ServiceError> {
    match cx.definition.kind {
        ConfigRecordKind::User => return user::removal_draft(cx, old).await,
        ConfigRecordKind::Location => return location::removal_draft(cx, old).await,
        ConfigRecordKind::Property => property::check_removal(cx, old)?,
        ConfigRecordKind::Certificate => certificate::check_removal(cx, old)?,
        ConfigRecordKind::Blackout => blackout::check_removal(cx, old)?,
        ConfigRecordKind::Recipient => return recipient::removal_draft(cx, old).await,
        ConfigRecordKind::Template => template::check_removal(cx, old)?,
        ConfigRecordKind::Host => host::check_removal(cx, old)?,
        ConfigRecordKind::NotifierGroup
        | ConfigRecordKind::Sla
        | ConfigRecordKind::PerformanceAlert
        | ConfigRecordKind::View => {}
        ConfigRecordKind::Customer
        | ConfigRecordKind::Event
        | ConfigRecordKind::Test
        | ConfigRecordKind::Agent
        | ConfigRecordKind::LocationKey
        | ConfigRecordKind::Share => {
            return Err(ServiceError::NotFound);
        }
    }
    Ok(RecordDraft::default())
}
