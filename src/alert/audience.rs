//! Who is told: recipients, their groups and what mutes them (behaviour.md 6).

use super::{Heard, Terms};
use crate::model::{NoticeKind, NotifierGroup, Recipient, RecipientId};

/// The people of an account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contacts {
    /// Who may be told.
    pub recipients: Vec<Recipient>,
    /// Who is told of what; none means everybody of all.
    pub groups: Vec<NotifierGroup>,
}

/// Everybody whom the groups name for what `cause` found, who wants `kind` and is not muted, each with the group
/// that names them; each once, by id. Thresholds are not looked at here.
#[must_use]
pub fn audience(
    terms: &Terms<'_>,
    kind: NoticeKind,
    cause: Option<&Heard>,
) -> Vec<(RecipientId, Option<i64>)> {
    let _ = (terms, kind, cause);
    todo!("h-alarm")
}
