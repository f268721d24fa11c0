//! Bulk edit of blackouts: several monitors, all or nothing.

use serde_json::{Value, json};
use vigie::domain::{ConfigRecordKind, CustomerId, Role};
use vigie::service::ServiceError;
use vigie::store::ConfigRecordFilter;
use vigie::syntax::node::Node;

use crate::resources::kit::{Kit, admin, as_role, forbidden, messages};

const KIND: ConfigRecordKind = ConfigRecordKind::Blackout;

async fn kit() -> Kit {
    let kit = Kit::new().await;
    for id in [11, 12] {
        kit.monitor(id, CustomerId(1), json!({}));
    }
    kit.monitor(13, kit.other, json!({}));
    kit
}

async fn edit(kit: &Kit, body: Value) -> Result<(), ServiceError> {
    kit.resources.bulk_edit_blackouts(&admin(), &Node::from(body)).await
}

/// Returns monitor, `weekly` or `once`, and note of each blackout, sorted.
async fn blackouts_of(kit: &Kit) -> Vec<String> {
    let rows = kit.list(&admin(), ConfigRecordFilter::new(KIND)).await;
    let mut blackouts: Vec<String> = rows
        .iter()
        .map(|row| {
            let weekly = if row["persistent"] == true { "weekly" } else { "once" };
            format!("{} {weekly} {}", row["assoc_id"], row["note"].as_str().unwrap_or("-"))
        })
        .collect();
    blackouts.sort();
    blackouts
}

fn once(note: &str, thru: &str) -> Value {
    json!({"type": "Monitor", "from_date": "2026-01-01 12:00:00", "thru_date": thru, "note": note})
}

fn weekly() -> Value {
    json!({"type": "Alert", "start_day": 1, "start_time": "00:00", "end_day": 2, "end_time": "00:00"})
}

// row: 2.4 bulk edit.update_one_time; 2.4 bulk edit.update_persistent; 2.4 bulk edit.update_one_time_action
// row: 2.4 bulk edit.update_persistent_action; 2.4 bulk edit.one_time_blackouts
// row: 2.4 bulk edit.persistent_blackouts; 2.4 one-time blackout; 2.4 persistent blackout
#[tokio::test]
async fn each_half_is_appended_or_replaced_separately() {
    let kit = kit().await;
    let both = json!({
        "monitors": [11, 12, 11], "update_one_time": true, "update_one_time_action": "append",
        "one_time_blackouts": [once("a", "2026-01-01 13:00:00")],
        "update_persistent": true, "update_persistent_action": "append", "persistent_blackouts": [weekly()],
    });
    edit(&kit, both).await.unwrap();
    assert_eq!(blackouts_of(&kit).await, ["11 once a", "11 weekly -", "12 once a", "12 weekly -"]);
    kit.clock.advance(std::time::Duration::from_hours(2));
    let later = json!({"type": "Monitor", "from_date": "2026-01-01 14:00:00", "thru_date": "2026-01-01 15:00:00", "note": "b"});
    let replace = json!({
        "monitors": [11], "update_one_time": true, "update_one_time_action": "replace",
        "one_time_blackouts": [later], "update_persistent": false, "persistent_blackouts": [weekly()],
    });
    edit(&kit, replace.clone()).await.unwrap();
    // Past blackouts stay; the half without an update is unchanged.
    assert_eq!(
        blackouts_of(&kit).await,
        ["11 once a", "11 once b", "11 weekly -", "12 once a", "12 weekly -"]
    );
    edit(&kit, replace).await.unwrap();
    assert_eq!(
        blackouts_of(&kit).await,
        ["11 once a", "11 once b", "11 weekly -", "12 once a", "12 weekly -"]
    );
    let none = json!({
        "monitors": [12], "update_one_time": false, "update_persistent": true,
        "update_persistent_action": "replace", "persistent_blackouts": [],
    });
    edit(&kit, none).await.unwrap();
    assert_eq!(blackouts_of(&kit).await, ["11 once a", "11 once b", "11 weekly -", "12 once a"]);
    let trail = kit.audit_trail().await;
    let created = trail.iter().filter(|row| row.action == "create").collect::<Vec<_>>();
    assert_eq!((trail.len(), created.len()), (8, 6));
    for row in created {
        let monitor = row.after["assoc_id"].as_i64().unwrap();
        let record = kit.record(KIND, row.object_id.unwrap()).await;
        assert!(record.is_none_or(|record| record.parent_id == Some(monitor)), "{row:?}");
    }
}

// row: 2.4 bulk edit.monitors
#[tokio::test]
async fn one_foreign_monitor_refuses_the_whole_edit() {
    let kit = kit().await;
    let body = |monitors: Value| {
        json!({
            "monitors": monitors, "update_one_time": false, "update_persistent": true,
            "update_persistent_action": "append", "persistent_blackouts": [weekly()],
        })
    };
    let text = "`monitors`: monitor `13` does not exist; nothing was changed";
    assert_eq!(forbidden(edit(&kit, body(json!([11, 13]))).await), text);
    let many: Vec<i64> = (5000..9000).collect();
    assert!(forbidden(edit(&kit, body(json!(many))).await).len() < 200);
    let caller = as_role(Role::ReadOnly);
    let outcome = kit.resources.bulk_edit_blackouts(&caller, &Node::from(body(json!([11])))).await;
    assert_eq!(forbidden(outcome), "The role READONLY does not permit this");
    assert_eq!(messages(edit(&kit, body(json!([]))).await), ["`monitors` must have at least 1 entry, not 0"]);
    assert!(blackouts_of(&kit).await.is_empty() && kit.audit_trail().await.is_empty());
}

#[tokio::test]
async fn a_call_creates_at_most_100000_blackouts() {
    let kit = kit().await;
    for id in 1000..1101 {
        kit.monitor(id, CustomerId(1), json!({}));
    }
    let monitors: Vec<i64> = (1000..1101).collect();
    let body = json!({
        "monitors": monitors, "update_one_time": false, "update_persistent": true,
        "update_persistent_action": "append", "persistent_blackouts": vec![weekly(); 1000],
    });
    assert_eq!(
        messages(edit(&kit, body).await),
        ["`monitors`: this creates and removes 101000 blackouts; at most 100000 are allowed at once"]
    );
    assert!(blackouts_of(&kit).await.is_empty());
}
