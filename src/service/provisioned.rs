//! What the audit trail says when monitor files change monitors.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::domain::{MonitorId, Timestamp};
use crate::schema::Monitor;
use crate::service::monitors::{after_create, before_delete, between};
use crate::store::{AuditEntries, AuditObject, NewAuditEntry};

/// What the entries about a set of files are made from.
pub(super) struct Told<'a> {
    /// The file of each monitor.
    pub(super) files: HashMap<MonitorId, Arc<str>>,
    /// The monitors as they were kept, without secrets.
    pub(super) stored: &'a [Monitor],
    /// The monitors of files as they ran, with secrets; none at the start.
    pub(super) running: &'a [Monitor],
}

/// What becomes of one monitor.
enum Turn {
    Made(Monitor),
    Changed(Box<(Monitor, Monitor)>),
    Gone(Monitor),
}

impl Told<'_> {
    /// An entry for each monitor that is put or removed, in this order.
    pub(super) fn entries(self, puts: &[Monitor], removed: &[MonitorId], now: Timestamp) -> AuditEntries {
        let mut before: HashMap<_, _> = self.stored.iter().map(|monitor| (monitor.id, monitor)).collect();
        let mut known = HashSet::new();
        for ran in self.running {
            // With its secrets, so that a new one is seen. Only files change documents of such monitors.
            if let Some(before) = before.get_mut(&ran.id) {
                *before = ran;
                known.insert(ran.id);
            }
        }
        let put = |new: &Monitor| match before.get(&new.id) {
            None => Turn::Made(new.clone()),
            Some(old) if known.contains(&new.id) => Turn::Changed(Box::new(((*old).clone(), new.clone()))),
            // Of secrets nothing is known from before the start: they count as the same.
            Some(old) => Turn::Changed(Box::new(((*old).clone(), without_secrets(new)))),
        };
        let puts = puts.iter().map(put);
        let gone = removed.iter().filter_map(|id| before.get(id)).map(|old| Turn::Gone((*old).clone()));
        let turns: Vec<_> = puts.chain(gone).collect();
        let files = self.files;
        Box::new(move |number| turns.get(number).map(|turn| turn.entry(&files, now)))
    }
}

fn without_secrets(monitor: &Monitor) -> Monitor {
    let bare = monitor.document.without_secrets();
    Monitor { document: Arc::new(bare), ..monitor.clone() }
}

impl Turn {
    fn entry(&self, files: &HashMap<MonitorId, Arc<str>>, at: Timestamp) -> NewAuditEntry {
        let (action, monitor, before, after) = match self {
            Self::Made(new) => ("create", new, Map::new(), after_create(&new.document)),
            Self::Changed(both) => {
                let (old, new) = both.as_ref();
                let (before, after) = differences(old, new);
                ("change", new, before, after)
            }
            Self::Gone(old) => ("delete", old, before_delete(&old.document), Map::new()),
        };
        NewAuditEntry {
            customer: monitor.customer,
            at,
            login: files.get(&monitor.id).map_or_else(|| "file".to_owned(), |file| format!("file {file}")),
            address: String::new(),
            entry_point: "file",
            action,
            object: "monitor",
            object_id: AuditObject::Id(monitor.id.0),
            object_name: monitor.name().to_owned(),
            before,
            after,
        }
    }
}

/// As of any change; a file may also give its key to a monitor of another type.
fn differences(old: &Monitor, new: &Monitor) -> (Map<String, Value>, Map<String, Value>) {
    let (mut before, mut after) = between(&old.document, &new.document);
    if old.kind() != new.kind() {
        before.insert("type".to_owned(), json!(old.kind().name()));
        after.insert("type".to_owned(), json!(new.kind().name()));
    }
    (before, after)
}
