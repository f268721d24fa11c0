//! Reads, creates, changes and removes records.

use serde_json::{Map, Value};

use super::context::Bench;
use super::draft::Draft;
use super::kinds::{Kind, kind_of};
use super::parts::ResourceParts;
use crate::domain::{Record, RecordKind, Revision};
use crate::service::caller::{Caller, Refusal, Saved};
use crate::service::resources::certificate::Watcher;
use crate::store::{
    AuditObject, ConfigChange, NewAuditEntry, NewRecord, Paginated, Pagination, RecordFilter, StoreError,
};
use crate::sync::RwLock;
use crate::syntax::source::Node;

/// Records of every kind, to be read and changed by users.
pub struct Resources {
    pub(super) parts: ResourceParts,
    /// Held by every change: rules look at other records as well, such as those on the last admin.
    pub(super) turn: tokio::sync::Mutex<()>,
    /// Who has to know when a certificate comes or goes.
    pub(super) watcher: RwLock<Option<Watcher>>,
}

impl Resources {
    /// Over `parts`.
    #[must_use]
    pub fn new(parts: ResourceParts) -> Self {
        Self { parts, turn: tokio::sync::Mutex::new(()), watcher: RwLock::default() }
    }

    /// Records of the filter's kind that `caller` may see and the filter names, in version 3 form.
    pub async fn list(
        &self,
        caller: &Caller,
        filter: RecordFilter,
        page: Pagination,
    ) -> Result<Paginated<Map<String, Value>>, Refusal> {
        let kind = kind_of(filter.kind);
        caller.require(kind.see)?;
        let bench = self.bench(caller, kind).await?;
        if kind.record == RecordKind::Location {
            return super::location_list::list(&bench, page).await;
        }
        let found = self.parts.ledger.records(filter.for_customer(caller.customer), page).await?;
        let rows = found.items.iter().map(|record| super::show::object(&bench, record)).collect();
        Ok(Paginated { total: found.total, items: rows })
    }

    /// One of them, with its version.
    pub async fn one(
        &self,
        caller: &Caller,
        kind: RecordKind,
        id: i64,
    ) -> Result<(Map<String, Value>, Revision), Refusal> {
        let kind = kind_of(kind);
        caller.require(kind.see)?;
        let bench = self.bench(caller, kind).await?;
        if let Some(object) = super::location_list::of_settings(&bench, id) {
            return Ok((object, Revision(1)));
        }
        let record = self.found(&bench, id).await?;
        Ok((super::show::object(&bench, &record), record.revision))
    }

    /// Makes one.
    pub async fn create(&self, caller: &Caller, kind: RecordKind, body: &Node) -> Result<Saved, Refusal> {
        self.create_under(caller, kind, None, body).await
    }

    /// Makes one of what the path names, such as a performance alert of the monitor `under`.
    pub async fn create_under(
        &self,
        caller: &Caller,
        kind: RecordKind,
        under: Option<i64>,
        body: &Node,
    ) -> Result<Saved, Refusal> {
        let kind = kind_of(kind);
        caller.require(kind.change)?;
        let ahead = super::rules::ahead(&self.bench(caller, kind).await?, body).await?;
        let _turn = self.turn.lock().await;
        // What it is attached to stays until it is kept.
        let _monitors = self.beside(kind).await;
        let bench = Bench { under, ..self.bench(caller, kind).await? };
        let draft = match ahead {
            Some(draft) => draft,
            None => super::rules::create(&bench, body).await?,
        };
        let mut entry = bench.entry("create", AuditObject::Created(0), kind.name_of(&draft.fields));
        (entry.before, entry.after) = super::audit::changes(kind.table, &Map::new(), &draft.fields);
        let new = NewRecord {
            kind: kind.record,
            customer: Some(caller.customer),
            parent_id: draft.assoc,
            unique_key: draft.unique.clone(),
            created_at: bench.now,
            created_by: caller.login.to_string(),
            fields: draft.fields.clone(),
            sealed: draft.private.clone(),
        };
        let ids = self.write(kind, &draft, vec![ConfigChange::CreateRecord(new)], entry).await?;
        let id = ids.first().copied().unwrap_or_default();
        Ok(Saved { id, revision: 1, warnings: draft.warnings, once: draft.once })
    }

    /// Changes one; a body that changes nothing leaves its version as it is.
    pub async fn patch(
        &self,
        caller: &Caller,
        kind: RecordKind,
        id: i64,
        body: &Node,
        if_match: Option<Revision>,
    ) -> Result<Saved, Refusal> {
        let kind = kind_of(kind);
        caller.require(kind.patch)?;
        let _turn = self.turn.lock().await;
        let _monitors = (self.stopped(kind).await, self.beside(kind).await);
        let bench = self.bench(caller, kind).await?;
        let old = self.changeable(&bench, id, if_match).await?;
        let draft = super::rules::patch(&bench, &old, body).await?;
        let unchanged = Saved { id, revision: old.revision.0, ..Saved::default() };
        // An account is kept with its defaults from its first change on: that is no change of them.
        let mut before = match kind.record {
            RecordKind::Customer => kind.table.defaults(),
            _ => Map::new(),
        };
        before.extend(old.fields.clone());
        if draft.fields == before && draft.private == old.private_data && draft.unique == old.unique_key {
            return Ok(Saved { warnings: draft.warnings, ..unchanged });
        }
        let mut entry = bench.entry("change", AuditObject::Id(id), kind.name_of(&draft.fields));
        (entry.before, entry.after) = super::audit::changes(kind.table, &before, &draft.fields);
        let has_password = matches!(kind.record, RecordKind::User | RecordKind::Recipient);
        if has_password && draft.private != old.private_data {
            entry.after.insert("password".to_owned(), Value::from(crate::syntax::MASK));
        }
        let (expected, revision) = (old.revision, Revision(old.revision.0 + 1));
        let record = Record {
            revision,
            modified_at: bench.now,
            parent_id: draft.assoc,
            unique_key: draft.unique.clone(),
            fields: draft.fields.clone(),
            private_data: draft.private.clone(),
            ..old
        };
        let put = ConfigChange::UpdateRecord { record: Box::new(record), expected };
        self.write(kind, &draft, vec![put], entry).await?;
        Ok(Saved { id, revision: revision.0, warnings: draft.warnings, once: draft.once })
    }

    /// Removes one.
    pub async fn delete(
        &self,
        caller: &Caller,
        kind: RecordKind,
        id: i64,
        if_match: Option<Revision>,
    ) -> Result<(), Refusal> {
        let kind = kind_of(kind);
        caller.require(kind.change)?;
        let _turn = self.turn.lock().await;
        let _monitors = self.stopped(kind).await;
        let bench = self.bench(caller, kind).await?;
        let old = self.changeable(&bench, id, if_match).await?;
        let draft = super::rules::remove(&bench, &old).await?;
        let mut entry = bench.entry("delete", AuditObject::Id(id), kind.name_of(&old.fields));
        (entry.before, entry.after) = super::audit::changes(kind.table, &old.fields, &Map::new());
        let remove = ConfigChange::RemoveRecord { kind: kind.record, id, expected: old.revision };
        self.write(kind, &draft, vec![remove], entry).await?;
        Ok(())
    }

    /// Lets nobody make or change a monitor where monitors may name what is changed: between "no monitor uses
    /// it" and its end there is no moment for one that does. Always behind the own turn.
    pub(super) async fn stopped(&self, kind: &Kind) -> Option<tokio::sync::RwLockWriteGuard<'_, ()>> {
        if kind.named_by_monitors { Some(self.parts.roster.alone().await) } else { None }
    }

    /// The monitors that it names stay until it is kept.
    pub(super) async fn beside(&self, kind: &Kind) -> Option<tokio::sync::RwLockReadGuard<'_, ()>> {
        if kind.names_monitors { Some(self.parts.roster.beside().await) } else { None }
    }

    /// The record `id` that the caller may see; settings' locations are none.
    pub(super) async fn found(&self, bench: &Bench<'_>, id: i64) -> Result<Record, Refusal> {
        let record = self.parts.ledger.record(bench.kind.record, id).await?;
        record.filter(|record| bench.sees(record)).ok_or(Refusal::NotFound)
    }

    /// Refuses what is not attached to `under`, as of another monitor than the path names.
    pub async fn belongs(
        &self,
        caller: &Caller,
        kind: RecordKind,
        id: i64,
        under: i64,
    ) -> Result<(), Refusal> {
        let bench = self.bench(caller, kind_of(kind)).await?;
        let record = self.found(&bench, id).await?;
        if record.parent_id == Some(under) { Ok(()) } else { Err(Refusal::NotFound) }
    }

    /// As [`Resources::found`], where it is to be changed.
    pub(super) async fn changeable(
        &self,
        bench: &Bench<'_>,
        id: i64,
        if_match: Option<Revision>,
    ) -> Result<Record, Refusal> {
        super::location_list::refuse_of_settings(bench, id)?;
        let record = self.found(bench, id).await?;
        if record.customer != bench.caller.customer {
            let message = "This location is shared by all accounts; only account 1 can change it";
            return Err(Refusal::Forbidden(message.to_owned()));
        }
        match if_match {
            Some(wanted) if wanted != record.revision => Err(Refusal::Stale),
            _ => Ok(record),
        }
    }

    pub(super) async fn bench<'a>(
        &'a self,
        caller: &'a Caller,
        kind: &'static Kind,
    ) -> Result<Bench<'a>, Refusal> {
        Bench::new(&self.parts, caller, kind).await
    }

    /// One transaction, and then everybody who has to know is told.
    pub(super) async fn write(
        &self,
        kind: &Kind,
        draft: &Draft,
        mut changes: Vec<ConfigChange>,
        entry: NewAuditEntry,
    ) -> Result<Vec<i64>, Refusal> {
        changes.extend(draft.more.iter().cloned());
        let written = self.parts.ledger.write_changes(changes, vec![entry]).await;
        let ids = written.map_err(|error| match error {
            StoreError::AlreadyExists(_) if kind.record == RecordKind::Sla => {
                Refusal::Conflict("The monitor has an agreement already; change that".to_owned())
            }
            StoreError::AlreadyExists(_) => {
                let name = kind.name_of(&draft.fields);
                Refusal::Conflict(format!("There is a {} `{name}` already", kind.record))
            }
            other => Refusal::from(other),
        })?;
        if kind.in_directory {
            self.parts.directory.forget();
        }
        if kind.record == RecordKind::Certificate {
            self.tell_certificates().await?;
        }
        Ok(ids)
    }

    /// Lets `watcher` know all certificates now, and whenever one comes or goes.
    pub async fn watch_certificates(&self, watcher: Watcher) -> Result<(), Refusal> {
        *self.watcher.write() = Some(watcher);
        self.tell_certificates().await
    }

    async fn tell_certificates(&self) -> Result<(), Refusal> {
        let watcher = self.watcher.read().clone();
        if let Some(watcher) = watcher {
            watcher(super::certificate::all(&self.parts).await?);
        }
        Ok(())
    }
}
