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

/// A new record of a kind that takes long to read and looks at no other record: nobody waits for it.
pub(super) async fn prepare_slow(
    bench: &RecordContext<'_>,
    body: &Node,
) -> Result<Option<RecordDraft>, ServiceError> {
    match bench.kind.record {
        RecordKind::Certificate => certificate::create(bench, body).await.map(Some),
        _ => Ok(None),
    }
}

/// A new record of any other kind.
pub(super) async fn create(bench: &RecordContext<'_>, body: &Node) -> Result<RecordDraft, ServiceError> {
    match bench.kind.record {
        RecordKind::User => user::create(bench, body).await,
        RecordKind::Location => location::create(bench, body),
        RecordKind::Property => property::create(bench, body),
        RecordKind::Blackout => blackout::create(bench, body),
        RecordKind::Event => event::create(body),
        RecordKind::Recipient => recipient::create(bench, body),
        RecordKind::NotifierGroup => notifier_group::create(bench, body).await,
        RecordKind::Template => template::create(bench, body),
        RecordKind::Sla => sla::create(bench, body),
        RecordKind::PerformanceAlert => performance_alert::create(bench, body).await,
        RecordKind::Certificate | RecordKind::Customer | RecordKind::Test => Err(ServiceError::NotFound),
    }
}

/// `old` as `body` wants it.
pub(super) async fn patch(
    bench: &RecordContext<'_>,
    old: &Record,
    body: &Node,
) -> Result<RecordDraft, ServiceError> {
    match bench.kind.record {
        RecordKind::User => user::patch(bench, old, body).await,
        RecordKind::Location => location::patch(bench, old, body),
        RecordKind::Property => property::patch(bench, old, body),
        RecordKind::Blackout => blackout::patch(old, body),
        RecordKind::Customer => account::patch(bench, old, body),
        RecordKind::Recipient => recipient::patch(bench, old, body),
        RecordKind::NotifierGroup => notifier_group::patch(bench, old, body).await,
        RecordKind::Template => template::patch(bench, old, body),
        RecordKind::Sla => sla::patch(bench, old, body),
        RecordKind::PerformanceAlert => performance_alert::patch(bench, old, body),
        RecordKind::Certificate | RecordKind::Event | RecordKind::Test => Err(ServiceError::NotFound),
    }
}

/// Whether `old` may go; what is held until it went.
pub(super) async fn removal_draft(
    bench: &RecordContext<'_>,
    old: &Record,
) -> Result<RecordDraft, ServiceError> {
    match bench.kind.record {
        RecordKind::User => return user::removal_draft(bench, old).await,
        RecordKind::Location => location::check_removal(bench, old).await?,
        RecordKind::Property => property::check_removal(bench, old)?,
        RecordKind::Certificate => certificate::check_removal(bench, old)?,
        RecordKind::Blackout => blackout::check_removal(bench, old)?,
        RecordKind::Recipient => return recipient::removal_draft(bench, old).await,
        RecordKind::Template => template::check_removal(bench, old)?,
        RecordKind::NotifierGroup | RecordKind::Sla | RecordKind::PerformanceAlert => {}
        RecordKind::Customer | RecordKind::Event | RecordKind::Test => return Err(ServiceError::NotFound),
    }
    Ok(RecordDraft::default())
}
