//! What people change, kept with who did it: monitors, records, tokens and the audit trail.

use serde_json::{Map, Value};

use crate::domain::{CustomerId, MonitorId, Record, RecordKind, Revision, Timestamp, UserId};
use crate::schema::{Document, Monitor, Origin, Trail};

use super::{Answer, Page};

/// A monitor as it is kept: its document without secrets, and those sealed.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptMonitor {
    /// Its document holds no secrets.
    pub monitor: Monitor,
    /// Its secrets, sealed; `None` when it has none, or they stay with its file.
    pub sealed: Option<Vec<u8>>,
}

/// A monitor that has no id yet.
#[derive(Clone, Debug, PartialEq)]
pub struct NewMonitor {
    /// Whose it is.
    pub customer: CustomerId,
    /// [`Origin::Api`] or [`Origin::Applied`].
    pub origin: Origin,
    /// When it was accepted.
    pub modified_at: Timestamp,
    /// Who made it.
    pub trail: Trail,
    /// Its fields; secrets in it are left out by the store.
    pub document: std::sync::Arc<Document>,
    /// Its secrets, sealed.
    pub sealed: Option<Vec<u8>>,
}

/// A record that has no id yet; as [`Record`], whose revision begins with 1.
#[derive(Clone, Debug, PartialEq)]
pub struct NewRecord {
    /// What it is.
    pub kind: RecordKind,
    /// Whose it is; `None` for a customer, which belongs to itself.
    pub customer: Option<CustomerId>,
    /// What it is attached to.
    pub assoc: Option<i64>,
    /// What no other record of its kind may have.
    pub unique: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Login of who made it.
    pub created_by: String,
    /// Its fields.
    pub fields: Map<String, Value>,
    /// What is never shown.
    pub private: Option<Vec<u8>>,
}

/// One change. Those that name an expected revision fail with [`super::StoreError::Stale`] when the newest
/// version is another one, or is gone.
#[derive(Clone, Debug)]
pub enum Write {
    /// A new monitor; it gets revision 1.
    CreateMonitor(NewMonitor),
    /// A new version of a monitor, whose `revision` is its new one; `expected` is the one that it follows.
    PutMonitor {
        /// The new version.
        kept: Box<KeptMonitor>,
        /// The version that its author saw.
        expected: Revision,
    },
    /// Removes a monitor, its states and the records that are attached to it; its results stay.
    RemoveMonitor {
        /// Which.
        id: MonitorId,
        /// The version that its remover saw.
        expected: Revision,
    },
    /// A new record.
    CreateRecord(NewRecord),
    /// A new version of a record, whose `revision` is its new one.
    PutRecord {
        /// The new version.
        record: Box<Record>,
        /// The version that its author saw.
        expected: Revision,
    },
    /// Removes a record; of a user, its tokens as well.
    RemoveRecord {
        /// What it is.
        kind: RecordKind,
        /// Which.
        id: i64,
        /// The version that its remover saw.
        expected: Revision,
    },
    /// Ends all tokens and sessions of a user, as after a new password.
    EndTokens(UserId),
}

/// What an audit entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditObject {
    /// Its number.
    Id(i64),
    /// What the creating write of this number, from 0, of the same call made: the id at this place of what
    /// [`Ledger::write`] answers. Writes that create nothing do not count.
    Created(usize),
    /// None, as for a login.
    None,
}

/// One entry of the audit trail, to be kept.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditEntry {
    /// Whose trail.
    pub customer: CustomerId,
    /// When.
    pub at: Timestamp,
    /// Login of who did it.
    pub login: String,
    /// From where; empty when it was done on the host itself.
    pub address: String,
    /// The door: `v3`, `legacy`, `apply`, `cli`, `file`, `server`.
    pub via: &'static str,
    /// A word: `create`, `change`, `delete`, `login`, …
    pub action: &'static str,
    /// What it was done to: `monitor` or the name of a [`RecordKind`].
    pub object: &'static str,
    /// Which one.
    pub object_id: AuditObject,
    /// Its name, for people.
    pub object_name: String,
    /// The fields that changed, as they were; without secrets.
    pub before: Map<String, Value>,
    /// The same as they are now.
    pub after: Map<String, Value>,
}

/// The entries of one call by number, from 0; `None` ends. They are made one by one as they are written, so that
/// those of 100,000 monitors are never in memory together.
pub type Entries = Box<dyn Fn(usize) -> Option<AuditEntry> + Send>;

/// One entry of the audit trail, as it was kept.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditRow {
    /// Its number; later entries have higher ones.
    pub id: i64,
    /// When.
    pub at: Timestamp,
    /// Login of who did it.
    pub login: String,
    /// From where.
    pub address: String,
    /// The door.
    pub via: String,
    /// What was done.
    pub action: String,
    /// What it was done to.
    pub object: String,
    /// Which one.
    pub object_id: Option<i64>,
    /// Its name then.
    pub object_name: String,
    /// The fields that changed, as they were.
    pub before: Map<String, Value>,
    /// The same as they became.
    pub after: Map<String, Value>,
}

/// Which entries of the audit trail are wanted; newest first.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    /// Of this account.
    pub customer: Option<CustomerId>,
    /// By this login.
    pub login: Option<String>,
    /// About this kind of object.
    pub object: Option<String>,
    /// About this one.
    pub object_id: Option<i64>,
    /// At or after.
    pub from: Option<Timestamp>,
    /// Before.
    pub thru: Option<Timestamp>,
}

/// Which records are wanted; every part that is set narrows. By id.
#[derive(Clone, Debug)]
pub struct RecordFilter {
    /// What they are.
    pub kind: RecordKind,
    /// Of this account; for all accounts when absent.
    pub customer: Option<CustomerId>,
    /// Attached to one of these; empty for any or none.
    pub assoc: Vec<i64>,
    /// Made at or after.
    pub from: Option<Timestamp>,
    /// Made before.
    pub thru: Option<Timestamp>,
    /// Fields with these values, such as `("event", "deploy")`.
    pub fields: Vec<(&'static str, Value)>,
}

impl RecordFilter {
    /// All records of `kind`.
    #[must_use]
    pub fn of(kind: RecordKind) -> Self {
        Self { kind, customer: None, assoc: Vec::new(), from: None, thru: None, fields: Vec::new() }
    }

    /// Those of `customer` alone.
    #[must_use]
    pub fn within(mut self, customer: CustomerId) -> Self {
        self.customer = Some(customer);
        self
    }
}

/// A window of a list, with the number of all that match.
#[derive(Clone, Debug)]
pub struct Listed<T> {
    /// How many match in all.
    pub count: u64,
    /// Those in the window.
    pub rows: Vec<T>,
}

/// What a token opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// An access token of version 3: lives for an hour from its issue.
    Access,
    /// A session of the legacy API: ends 15 minutes after its last use.
    Session,
}

/// A token as it is kept: never itself, only its hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// SHA-256 of the token.
    pub hash: [u8; 32],
    /// What it opens.
    pub kind: TokenKind,
    /// Whose it is.
    pub user: UserId,
    /// When it was given.
    pub issued_at: Timestamp,
    /// Until when it opens anything.
    pub expires_at: Timestamp,
}

/// Keeps what people change. Every call of [`Ledger::write`] is one transaction: all of it or nothing,
/// with its audit entries.
pub trait Ledger: Send + Sync + 'static {
    /// All monitors that were not removed, of all accounts, in the order of their ids.
    fn kept_monitors(&self) -> Answer<'_, Vec<KeptMonitor>>;

    /// Makes `changes` in their order; answers the ids of those that create, in that order.
    fn write(&self, changes: Vec<Write>, audit: Vec<AuditEntry>) -> Answer<'_, Vec<i64>>;

    /// One record.
    fn record(&self, kind: RecordKind, id: i64) -> Answer<'_, Option<Record>>;

    /// The record of `kind` that has this unique text.
    fn record_by(&self, kind: RecordKind, unique: String) -> Answer<'_, Option<Record>>;

    /// Records, by id.
    fn records(&self, filter: RecordFilter, page: Page) -> Answer<'_, Listed<Record>>;

    /// The audit trail, newest first.
    fn audit(&self, filter: AuditFilter, page: Page) -> Answer<'_, Listed<AuditRow>>;

    /// The account of each monitor that ever had a result, removed ones too.
    fn owner_of(&self, monitor: MonitorId) -> Answer<'_, Option<CustomerId>>;

    /// Seals anew what `reseal` gives another form: secrets of monitors, private parts of certificates and recipients.
    /// Each is called with the context of [`crate::store::seal_context`]. Answers how many changed.
    fn reseal(&self, reseal: Reseal) -> Answer<'_, u64>;
}

/// Gives sealed bytes their new form; `None` leaves them as they are.
pub type Reseal = std::sync::Arc<dyn Fn(&str, &[u8]) -> Option<Vec<u8>> + Send + Sync>;

/// What sealed bytes are bound to, so that those of one account or kind open nowhere else.
#[must_use]
pub fn seal_context(kind: &str, customer: CustomerId) -> String {
    format!("vigie/{kind}/{customer}")
}

/// Keeps the tokens of who is logged in.
pub trait Tokens: Send + Sync + 'static {
    /// Keeps a new token.
    fn issue(&self, token: Token) -> Answer<'_, ()>;

    /// The token with this hash, expired or not.
    fn token(&self, hash: [u8; 32]) -> Answer<'_, Option<Token>>;

    /// Moves the end of a session.
    fn extend(&self, hash: [u8; 32], expires_at: Timestamp) -> Answer<'_, ()>;

    /// Ends one token.
    fn end(&self, hash: [u8; 32]) -> Answer<'_, ()>;

    /// Removes what expired before `now`; answers how many went.
    fn purge(&self, now: Timestamp) -> Answer<'_, u64>;
}
