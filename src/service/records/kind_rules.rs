//! Dispatches to the rules of each kind of record.

use super::record_context::RecordContext;
use super::record_draft::RecordDraft;
use super::{
    account, blackout, certificate, event, location, notifier_group, performance_alert, property, recipient,
    sla, template, user,
};
use crate::domain::{ConfigRecord, ConfigRecordKind};
use crate::service::caller::ServiceError;
use crate::syntax::node::Node;

/// Prepares a new certificate, which is slow to parse, before locks are taken; `None` for other kinds.
pub(super) async fn parse_before_locking(
    cx: &RecordContext<'_>,
    body: &Node,
) -> Result<Option<RecordDraft>, ServiceError> {
    match cx.definition.kind {
        ConfigRecordKind::Certificate => certificate::create(cx, body).await.map(Some),
        _ => Ok(None),
    }
}

/// Prepares a new record of any kind but certificates.
pub(super) async fn create(cx: &RecordContext<'_>, body: &Node) -> Result<RecordDraft, ServiceError> {
    match cx.definition.kind {
        ConfigRecordKind::User => user::create(cx, body).await,
        ConfigRecordKind::Location => location::create(cx, body),
        ConfigRecordKind::Property => property::create(cx, body),
        ConfigRecordKind::Blackout => blackout::create(cx, body),
        ConfigRecordKind::Event => event::create(body),
        ConfigRecordKind::Recipient => recipient::create(cx, body),
        ConfigRecordKind::NotifierGroup => notifier_group::create(cx, body).await,
        ConfigRecordKind::Template => template::create(cx, body),
        ConfigRecordKind::Sla => sla::create(cx, body),
        ConfigRecordKind::PerformanceAlert => performance_alert::create(cx, body).await,
        ConfigRecordKind::Certificate | ConfigRecordKind::Customer | ConfigRecordKind::Test => {
            Err(ServiceError::NotFound)
        }
    }
}

/// Prepares the change of `old` by `body`.
pub(super) async fn patch(
    cx: &RecordContext<'_>,
    old: &ConfigRecord,
    body: &Node,
) -> Result<RecordDraft, ServiceError> {
    match cx.definition.kind {
        ConfigRecordKind::User => user::patch(cx, old, body).await,
        ConfigRecordKind::Location => location::patch(cx, old, body),
        ConfigRecordKind::Property => property::patch(cx, old, body),
        ConfigRecordKind::Blackout => blackout::patch(old, body),
        ConfigRecordKind::Customer => account::patch(cx, old, body),
        ConfigRecordKind::Recipient => recipient::patch(cx, old, body),
        ConfigRecordKind::NotifierGroup => notifier_group::patch(cx, old, body).await,
        ConfigRecordKind::Template => template::patch(cx, old, body),
        ConfigRecordKind::Sla => sla::patch(cx, old, body),
        ConfigRecordKind::PerformanceAlert => performance_alert::patch(cx, old, body),
        ConfigRecordKind::Certificate | ConfigRecordKind::Event | ConfigRecordKind::Test => {
            Err(ServiceError::NotFound)
        }
    }
}

/// Checks whether `old` may be removed; returns the changes and guards of the removal.
pub(super) async fn removal_draft(
    cx: &RecordContext<'_>,
    old: &ConfigRecord,
) -> Result<RecordDraft, ServiceError> {
    match cx.definition.kind {
        ConfigRecordKind::User => return user::removal_draft(cx, old).await,
        ConfigRecordKind::Location => location::check_removal(cx, old).await?,
        ConfigRecordKind::Property => property::check_removal(cx, old)?,
        ConfigRecordKind::Certificate => certificate::check_removal(cx, old)?,
        ConfigRecordKind::Blackout => blackout::check_removal(cx, old)?,
        ConfigRecordKind::Recipient => return recipient::removal_draft(cx, old).await,
        ConfigRecordKind::Template => template::check_removal(cx, old)?,
        ConfigRecordKind::NotifierGroup | ConfigRecordKind::Sla | ConfigRecordKind::PerformanceAlert => {}
        ConfigRecordKind::Customer | ConfigRecordKind::Event | ConfigRecordKind::Test => {
            return Err(ServiceError::NotFound);
        }
    }
    Ok(RecordDraft::default())
}
