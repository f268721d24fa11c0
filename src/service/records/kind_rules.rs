//! Dispatches to the rules of each kind of record.

use super::record_context::RecordContext;
use super::record_draft::RecordDraft;
use super::{
    account, blackout, certificate, event, location, notifier_group, performance_alert, property, recipient,
    sla, template, user,
};
use crate::domain::{Record, RecordKind};
use crate::service::caller::ServiceError;
use crate::syntax::node::Node;

/// Prepares a new certificate, which is slow to parse, before locks are taken; `None` for other kinds.
pub(super) async fn parse_before_locking(
    cx: &RecordContext<'_>,
    body: &Node,
) -> Result<Option<RecordDraft>, ServiceError> {
    match cx.definition.kind {
        RecordKind::Certificate => certificate::create(cx, body).await.map(Some),
        _ => Ok(None),
    }
}

/// Prepares a new record of any kind but certificates.
pub(super) async fn create(cx: &RecordContext<'_>, body: &Node) -> Result<RecordDraft, ServiceError> {
    match cx.definition.kind {
        RecordKind::User => user::create(cx, body).await,
        RecordKind::Location => location::create(cx, body),
        RecordKind::Property => property::create(cx, body),
        RecordKind::Blackout => blackout::create(cx, body),
        RecordKind::Event => event::create(body),
        RecordKind::Recipient => recipient::create(cx, body),
        RecordKind::NotifierGroup => notifier_group::create(cx, body).await,
        RecordKind::Template => template::create(cx, body),
        RecordKind::Sla => sla::create(cx, body),
        RecordKind::PerformanceAlert => performance_alert::create(cx, body).await,
        RecordKind::Certificate | RecordKind::Customer | RecordKind::Test => Err(ServiceError::NotFound),
    }
}

/// Prepares the change of `old` by `body`.
pub(super) async fn patch(
    cx: &RecordContext<'_>,
    old: &Record,
    body: &Node,
) -> Result<RecordDraft, ServiceError> {
    match cx.definition.kind {
        RecordKind::User => user::patch(cx, old, body).await,
        RecordKind::Location => location::patch(cx, old, body),
        RecordKind::Property => property::patch(cx, old, body),
        RecordKind::Blackout => blackout::patch(old, body),
        RecordKind::Customer => account::patch(cx, old, body),
        RecordKind::Recipient => recipient::patch(cx, old, body),
        RecordKind::NotifierGroup => notifier_group::patch(cx, old, body).await,
        RecordKind::Template => template::patch(cx, old, body),
        RecordKind::Sla => sla::patch(cx, old, body),
        RecordKind::PerformanceAlert => performance_alert::patch(cx, old, body),
        RecordKind::Certificate | RecordKind::Event | RecordKind::Test => Err(ServiceError::NotFound),
    }
}

/// Checks whether `old` may be removed; returns the changes and guards of the removal.
pub(super) async fn removal_draft(cx: &RecordContext<'_>, old: &Record) -> Result<RecordDraft, ServiceError> {
    match cx.definition.kind {
        RecordKind::User => return user::removal_draft(cx, old).await,
        RecordKind::Location => location::check_removal(cx, old).await?,
        RecordKind::Property => property::check_removal(cx, old)?,
        RecordKind::Certificate => certificate::check_removal(cx, old)?,
        RecordKind::Blackout => blackout::check_removal(cx, old)?,
        RecordKind::Recipient => return recipient::removal_draft(cx, old).await,
        RecordKind::Template => template::check_removal(cx, old)?,
        RecordKind::NotifierGroup | RecordKind::Sla | RecordKind::PerformanceAlert => {}
        RecordKind::Customer | RecordKind::Event | RecordKind::Test => return Err(ServiceError::NotFound),
    }
    Ok(RecordDraft::default())
}
