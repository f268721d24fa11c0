//! The door to the own rules of each kind, and what they look at.

use std::sync::Arc;

use super::draft::Draft;
use super::kinds::Kind;
use super::parts::ResourceParts;
use super::{
    account, blackout, certificate, event, group, location, performance_alert, property, recipient, sla,
    template, user,
};
use crate::catalog::AccountFacts;
use crate::domain::{CustomerId, Record, RecordKind, Timestamp};
use crate::service::caller::{Caller, Refusal};
use crate::store::{AuditEntry, AuditObject};
use crate::syntax::source::Node;

/// What one call works with.
pub(super) struct Bench<'a> {
    pub(super) parts: &'a ResourceParts,
    pub(super) caller: &'a Caller,
    pub(super) kind: &'static Kind,
    pub(super) now: Timestamp,
    /// What is known of the account.
    pub(super) facts: Arc<AccountFacts>,
    /// What the path of a create names.
    pub(super) under: Option<i64>,
}

impl<'a> Bench<'a> {
    pub(super) async fn new(
        parts: &'a ResourceParts,
        caller: &'a Caller,
        kind: &'static Kind,
    ) -> Result<Self, Refusal> {
        let facts = parts.directory.facts(caller.customer).await?;
        Ok(Self { parts, caller, kind, now: parts.clock.now(), facts, under: None })
    }

    /// Whether the caller may see `record`: those of the account, and shared locations.
    pub(super) fn sees(&self, record: &Record) -> bool {
        record.customer == self.caller.customer || location::is_shared(record)
    }

    /// An audit entry about a record of this kind.
    pub(super) fn entry(&self, action: &'static str, object: AuditObject, name: &str) -> AuditEntry {
        self.caller.entry(self.now, action, self.kind.record.name(), object, name)
    }
}

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

/// How many monitors fit, over all accounts, as `… that 3 monitors use`; `None` when there is none.
pub(super) fn users_of(
    parts: &ResourceParts,
    customer: Option<CustomerId>,
    uses: impl Fn(&crate::schema::Document) -> bool,
) -> Option<String> {
    let fits = |monitor: &crate::schema::Monitor| {
        customer.is_none_or(|customer| monitor.customer == customer) && uses(&monitor.document)
    };
    match parts.roster.count(0, fits).0 {
        0 => None,
        1 => Some("1 monitor uses".to_owned()),
        count => Some(format!("{count} monitors use")),
    }
}
