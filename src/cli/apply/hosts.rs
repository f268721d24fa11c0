//! Hosts of `vigie apply`: compared with those of the server by name, then made and changed.

use anyhow::Context;
use http::Method;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::changes::Change;
use crate::cli::api_client::{ApiClient, ListResponse};
use crate::schema::host_file::FileHost;

/// The response to a new or changed host. The token of a new one is left out: a log of a pipeline is no place for it.
#[derive(Debug, Deserialize)]
struct SavedHost {
    id: String,
}

/// Returns what has to change on the server for it to have `hosts`; other hosts stay.
pub(super) async fn plan(server: &mut ApiClient, hosts: &[FileHost]) -> anyhow::Result<Vec<Change>> {
    if hosts.is_empty() {
        return Ok(Vec::new());
    }
    let existing: ListResponse<Map<String, Value>> = server.get("hosts", &[]).await?;
    let change = |host: &FileHost| {
        let is_same = |old: &&Map<String, Value>| old.get("name").and_then(Value::as_str) == Some(&host.name);
        change_of(host, existing.results.iter().find(is_same))
    };
    Ok(hosts.iter().map(change).collect())
}

fn change_of(host: &FileHost, old: Option<&Map<String, Value>>) -> Change {
    let mut change = Change {
        key: host.name.clone(),
        id: old.and_then(|old| old.get("id")?.as_i64()),
        action: String::new(),
        before: Map::new(),
        after: Map::new(),
        warnings: Vec::new(),
    };
    for (name, new_value) in &host.fields {
        let old_value = old.and_then(|old| old.get(name)).unwrap_or(&Value::Null);
        if old_value != new_value {
            if old.is_some() {
                change.before.insert(name.clone(), old_value.clone());
            }
            change.after.insert(name.clone(), new_value.clone());
        }
    }
    let action = match old {
        None => "create",
        Some(_) if change.after.is_empty() => "none",
        Some(_) => "change",
    };
    action.clone_into(&mut change.action);
    change
}

/// Makes the planned changes, and notes the ids of new hosts.
pub(super) async fn make(server: &mut ApiClient, changes: &mut [Change]) -> anyhow::Result<()> {
    for change in changes.iter_mut().filter(|change| change.action != "none") {
        let body = Value::Object(change.after.clone());
        let (method, path) = match change.id {
            Some(id) => (Method::PATCH, format!("hosts/{id}")),
            None => (Method::POST, "hosts".to_owned()),
        };
        let saved: SavedHost = server
            .send_request(method, &path, &[], Some(&body))
            .await
            .with_context(|| format!("the host `{}` cannot be saved", change.key))?;
        change.id = saved.id.parse().ok();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::syntax::json_object::into_object;
    use crate::syntax::node::Position;

    #[test]
    fn only_fields_that_differ_are_changed_and_missing_ones_reset() {
        let host = FileHost {
            name: "db1".to_owned(),
            fields: into_object(json!({"name": "db1", "address": null, "report_seconds": 60})),
            file: Arc::from("hosts.yaml"),
            position: Position::default(),
        };
        let new = change_of(&host, None);
        assert_eq!((new.action.as_str(), new.id), ("create", None));
        assert_eq!(Value::Object(new.after), json!({"name": "db1", "report_seconds": 60}));
        let old =
            json!({"id": 7, "name": "db1", "address": "db1.test", "report_seconds": 60, "state": "silent"});
        let changed = change_of(&host, Some(&into_object(old)));
        assert_eq!((changed.action.as_str(), changed.id), ("change", Some(7)));
        assert_eq!(Value::Object(changed.before), json!({"address": "db1.test"}));
        assert_eq!(Value::Object(changed.after), json!({"address": null}));
        let same = into_object(json!({"id": 7, "name": "db1", "report_seconds": 60}));
        assert_eq!(change_of(&host, Some(&same)).action, "none");
    }
}
