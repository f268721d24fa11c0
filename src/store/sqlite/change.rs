//! What people change, one call after the other inside of a shared transaction: each all or nothing, so
//! that one that is refused leaves the others alone.

use rusqlite::Connection;

use crate::domain::{MonitorId, RecordKind, Revision};
use crate::store::contract::{AuditEntry, AuditObject, StoreError, Write};

use super::fault::Fault;
use super::monitors::{self, Put};
use super::records::{self, NewRow, PutRow};
use super::{audit, tokens};

/// Writes of one call, ready to be done: the JSON is written by the caller, not by the writing thread.
pub(super) struct Changes {
    steps: Vec<Step>,
    audit: Vec<AuditEntry>,
}

enum Step {
    CreateMonitor(Put),
    PutMonitor(Put, Revision),
    RemoveMonitor(MonitorId, Revision),
    CreateRecord(NewRow),
    PutRecord(PutRow, Revision),
    RemoveRecord(RecordKind, i64, Revision),
    EndTokens(i64),
}

impl Changes {
    pub(super) fn of(writes: Vec<Write>, audit: Vec<AuditEntry>) -> Self {
        let steps = writes
            .into_iter()
            .map(|write| match write {
                Write::CreateMonitor(new) => Step::CreateMonitor(Put::of_new(new)),
                Write::PutMonitor { kept, expected } => Step::PutMonitor(Put::of_kept(*kept), expected),
                Write::RemoveMonitor { id, expected } => Step::RemoveMonitor(id, expected),
                Write::CreateRecord(new) => Step::CreateRecord(NewRow::of(new)),
                Write::PutRecord { record, expected } => Step::PutRecord(PutRow::of(*record), expected),
                Write::RemoveRecord { kind, id, expected } => Step::RemoveRecord(kind, id, expected),
                Write::EndTokens(user) => Step::EndTokens(user.0),
            })
            .collect();
        Self { steps, audit }
    }

    /// Does all of them or none; answers the ids of those that create.
    pub(super) fn write(&self, conn: &Connection) -> rusqlite::Result<Result<Vec<i64>, StoreError>> {
        let statement = |sql| conn.prepare_cached(sql)?.execute([]);
        statement("SAVEPOINT one_call")?;
        let outcome = match self.steps(conn) {
            Ok(ids) => Ok(ids),
            Err(Fault::Sql(error)) => return Err(error),
            Err(Fault::Told(error)) => {
                statement("ROLLBACK TO one_call")?;
                Err(error)
            }
        };
        statement("RELEASE one_call")?;
        Ok(outcome)
    }

    fn steps(&self, conn: &Connection) -> Result<Vec<i64>, Fault> {
        let mut made = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            made.extend(step.take(conn)?);
        }
        for entry in &self.audit {
            let about = match entry.object_id {
                AuditObject::Id(id) => Some(id),
                AuditObject::Created(number) => Some(*made.get(number).ok_or_else(nothing_made)?),
                AuditObject::None => None,
            };
            audit::keep(conn, entry, about)?;
        }
        Ok(made)
    }
}

/// An entry about what no write of its call makes: nothing is kept, rather than an entry that is about nothing.
fn nothing_made() -> Fault {
    Fault::Told(StoreError::Unusable("an entry of the audit trail is about what was never made".to_owned()))
}

impl Step {
    /// The id of what it makes, if it makes anything.
    fn take(&self, conn: &Connection) -> Result<Option<i64>, Fault> {
        let found = match self {
            Self::CreateMonitor(put) => return put.create(conn).map(Some),
            Self::CreateRecord(new) => return new.create(conn).map(Some),
            Self::PutMonitor(put, expected) => return put.replace(conn, *expected).map(|()| None),
            Self::PutRecord(put, expected) => return put.replace(conn, *expected).map(|()| None),
            Self::RemoveMonitor(id, expected) => monitors::remove(conn, *id, Some(*expected))?,
            Self::RemoveRecord(kind, id, expected) => records::remove(conn, *kind, *id, *expected)?,
            Self::EndTokens(user) => tokens::end_of(conn, *user).map(|()| true)?,
        };
        if found { Ok(None) } else { Err(Fault::Told(StoreError::Stale)) }
    }
}
