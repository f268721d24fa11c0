//! Dispatches to the rules of each kind of record.

use super::context::Bench;
use super::draft::Draft;
use super::{
    account, blackout, certificate, event, group, location, performance_alert, property, recipient, sla,
    template, user,
};
use crate::domain::{Record, RecordKind};
use crate::service::caller::Refusal;
use crate::syntax::source::Node;

/// A new record of a kind that takes long to read and looks at no other record: nobody waits for it.
pub(super) async fn ahead(bench: &Bench<'_>, body: &Node) -> Result<Option<Draft>, Refusal> {
    match bench.kind.record {
        RecordKind::Certificate => certificate::create(bench, body).await.map(Some),
        _ => Ok(None),
    }
}

/// A new record of any other kind.
pub(super) async fn create(bench: &Bench<'_>, body: &Node) -> Result<Draft, Refusal> {
    match bench.kind.record {
        RecordKind::User => user::create(bench, body).await,
        RecordKind::Location => location::create(bench, body),
        RecordKind::Property => property::create(bench, body),
        RecordKind::Blackout => blackout::create(bench, body),
        RecordKind::Event => event::create(body),
        RecordKind::Recipient => recipient::create(bench, body),
        RecordKind::NotifierGroup => group::create(bench, body).await,
        RecordKind::Template => template::create(bench, body),
        RecordKind::Sla => sla::create(bench, body),
        RecordKind::PerformanceAlert => performance_alert::create(bench, body).await,
        RecordKind::Certificate | RecordKind::Customer | RecordKind::Test => Err(Refusal::NotFound),
    }
}

/// `old` as `body` wants it.
pub(super) async fn patch(bench: &Bench<'_>, old: &Record, body: &Node) -> Result<Draft, Refusal> {
    match bench.kind.record {
        RecordKind::User => user::patch(bench, old, body).await,
        RecordKind::Location => location::patch(bench, old, body),
        RecordKind::Property => property::patch(bench, old, body),
        RecordKind::Blackout => blackout::patch(old, body),
        RecordKind::Customer => account::patch(bench, old, body),
        RecordKind::Recipient => recipient::patch(bench, old, body),
        RecordKind::NotifierGroup => group::patch(bench, old, body).await,
        RecordKind::Template => template::patch(bench, old, body),
        RecordKind::Sla => sla::patch(bench, old, body),
        RecordKind::PerformanceAlert => performance_alert::patch(bench, old, body),
        RecordKind::Certificate | RecordKind::Event | RecordKind::Test => Err(Refusal::NotFound),
    }
}

/// Whether `old` may go; what is held until it went.
pub(super) async fn remove(bench: &Bench<'_>, old: &Record) -> Result<Draft, Refusal> {
    match bench.kind.record {
        RecordKind::User => return user::remove(bench, old).await,
        RecordKind::Location => location::remove(bench, old).await?,
        RecordKind::Property => property::remove(bench, old)?,
        RecordKind::Certificate => certificate::remove(bench, old)?,
        RecordKind::Blackout => blackout::remove(bench, old)?,
        RecordKind::Recipient => return recipient::remove(bench, old).await,
        RecordKind::Template => template::remove(bench, old)?,
        RecordKind::NotifierGroup | RecordKind::Sla | RecordKind::PerformanceAlert => {}
        RecordKind::Customer | RecordKind::Event | RecordKind::Test => return Err(Refusal::NotFound),
    }
    Ok(Draft::default())
}
