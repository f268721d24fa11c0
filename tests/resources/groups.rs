//! Notifier groups, templates and SLAs: which objects they may reference.

use serde_json::{Value, json};
use vigie::domain::{ConfigRecordKind, CustomerId, GroupMonitor, Role};

use crate::resources::kit::{
    Kit, admin, assert_isolated, assert_refused, assert_roles, conflict, forbidden, messages, object,
};

const GROUP: ConfigRecordKind = ConfigRecordKind::NotifierGroup;
const SLA: ConfigRecordKind = ConfigRecordKind::Sla;
const MONITOR: i64 = 200_001;

async fn kit() -> Kit {
    let kit = Kit::new().await;
    kit.monitor(MONITOR, CustomerId(1), json!({}));
    kit.monitor(200_003, CustomerId(1), json!({}));
    kit.monitor(200_002, kit.other, json!({}));
    kit
}

#[tokio::test]
async fn a_group_references_objects_of_the_account_once_each() {
    let kit = kit().await;
    let recipient = json!({"name": "a", "recipient": "a@a.example"});
    let stranger =
        kit.create(&kit.stranger(), ConfigRecordKind::Recipient, recipient.clone()).await.unwrap().id;
    let recipient = kit.create_valid(ConfigRecordKind::Recipient, recipient).await;
    let step = |step: i64| json!({"id": MONITOR, "step_number": step});
    let no_recipient = format!("`recipients[1].id`: recipient `{stranger}` does not exist");
    assert_refused(
        &kit,
        GROUP,
        &[
            (json!({"name": "x".repeat(129)}), &["`name` must have at most 128 characters, not 129"]),
            (
                json!({"name": "g", "monitors": [{"id": MONITOR}, {"id": 200_002}]}),
                &["`monitors[1].id`: monitor `200002` does not exist"],
            ),
            (json!({"name": "g", "recipients": [{"id": recipient}, {"id": stranger}]}), &[&no_recipient]),
            (
                json!({"name": "g", "templates": [{"id": recipient}]}),
                &[&format!("`templates[0].id`: template `{recipient}` does not exist")],
            ),
            (
                json!({"name": "g", "monitors": [step(1), step(2), step(1)]}),
                &["`monitors[2]` is already in the list"],
            ),
            (
                json!({"name": "g", "monitors": [step(51)]}),
                &["`monitors[0].step_number` must be a whole number from 1 to 50, not `51`"],
            ),
            (
                json!({"name": "g", "errortypes": [{"id": 0}]}),
                &["`errortypes[0].id` must be a whole number from 1 to 9999, not `0`"],
            ),
        ],
    )
    .await;
    let body = json!({"name": "g", "is_default": true, "monitors": [{"id": MONITOR}, step(2)],
        "recipients": [{"id": recipient}], "errortypes": [{"id": 51}]});
    let group = kit.create_valid(GROUP, body.clone()).await;
    let facts = kit.accounts.account(CustomerId(1)).await.unwrap();
    let monitor = |step_number| GroupMonitor { monitor_id: MONITOR, step_number, content_view_id: None };
    assert_eq!(facts.contacts.groups[0].group_monitors, [monitor(None), monitor(Some(2))]);
    assert_eq!(conflict(kit.create(&admin(), GROUP, body).await), "A notifier_group `g` already exists");
    // The id of a monitor that does not exist is left out, and the read object can be sent back.
    kit.monitors.apply(Vec::new(), &[vigie::domain::MonitorId(MONITOR)]);
    let shown = kit.get(GROUP, group).await;
    assert_eq!(shown["monitors"], json!([]));
    kit.patch(&admin(), GROUP, group, shown).await.unwrap();
    assert_isolated(&kit, GROUP, group, json!({"name": "x"})).await;
}

#[tokio::test]
async fn a_template_in_use_cannot_be_removed() {
    let kit = kit().await;
    let template = json!({"name": "t", "kind": "site_error", "method_id": 1, "subject": "s", "text": "b"});
    let template = kit.create_valid(ConfigRecordKind::Template, template).await;
    let group = kit.create_valid(GROUP, json!({"name": "g", "templates": [{"id": template}]})).await;
    assert_eq!(
        conflict(kit.delete(&admin(), ConfigRecordKind::Template, template).await),
        "Groups use this template; remove it from them first: `g`"
    );
    kit.delete(&admin(), GROUP, group).await.unwrap();
    kit.delete(&admin(), ConfigRecordKind::Template, template).await.unwrap();
}

fn sla(more: Value) -> Value {
    let mut body = json!({"monitor_id": MONITOR, "name": "Gold", "availability": 99.95});
    body.as_object_mut().unwrap().extend(object(more));
    body
}

#[tokio::test]
async fn a_monitor_has_one_sla() {
    let kit = kit().await;
    let id = kit.create_valid(SLA, sla(json!({}))).await;
    let shown = kit.get(SLA, id).await;
    assert_eq!(
        shown,
        json!({"id": id, "monitor_id": MONITOR, "name": "Gold", "description": null, "availability": 99.95,
            "uptime": null, "response_time": null, "use_fullpage_time": false, "operating_periods": [],
            "exclusions": []})
    );
    assert_eq!(
        conflict(kit.create(&admin(), SLA, sla(json!({}))).await),
        "The monitor has an agreement already; change that"
    );
    kit.patch(&admin(), SLA, id, shown).await.unwrap();
    assert_eq!(
        messages(kit.patch(&admin(), SLA, id, json!({"monitor_id": 200_003})).await),
        ["`monitor_id` of an agreement cannot be changed; remove it and create another"]
    );
    assert_isolated(&kit, SLA, id, json!({"name": "x"})).await;
    kit.delete(&admin(), SLA, id).await.unwrap();
    kit.create_valid(SLA, sla(json!({}))).await;
}

#[tokio::test]
async fn goals_periods_and_exclusions_are_validated() {
    let kit = kit().await;
    let exclusion = |more: Value| {
        let mut one = json!({"from_date": "2026-01-01 00:00:00", "thru_date": "2026-01-02 00:00:00"});
        one.as_object_mut().unwrap().extend(object(more));
        sla(json!({"exclusions": [one]}))
    };
    assert_refused(
        &kit,
        SLA,
        &[
            (sla(json!({"monitor_id": 200_002})), &["`monitor_id`: monitor `200002` does not exist"]),
            (
                sla(json!({"availability": 0})),
                &["`availability` must be a number from 0.001 to 100, not `0`"],
            ),
            (sla(json!({"uptime": 100.5})), &["`uptime` must be a number from 0.001 to 100, not `100.5`"]),
            (sla(json!({"availability": 99.9999})), &["`availability` must have at most three decimals"]),
            (
                exclusion(json!({"thru_date": "2026-01-01 00:00:00"})),
                &["`exclusions[0].thru_date` must be after `from_date`"],
            ),
            (
                exclusion(json!({"location_id": 77})),
                &["`exclusions[0].location_id`: location `77` does not exist"],
            ),
            (
                sla(json!({"operating_periods": [{"from_day": 8, "from_time": "25:00", "thru_day": 1}]})),
                &[
                    "`operating_periods[0].from_day` must be a whole number from 1 to 7, not `8`",
                    "`operating_periods[0].from_time` must be a time `hh:mm` of 24 hours, not `25:00`",
                    "`operating_periods[0].thru_time` is required",
                ],
            ),
        ],
    )
    .await;
    kit.create_valid(SLA, exclusion(json!({"location_id": 2, "note": "move"}))).await;
    assert_roles(
        &kit,
        ConfigRecordKind::Template,
        |role| json!({"name": role.name()}),
        &[Role::Admin, Role::CoAdmin, Role::PowerUser],
    )
    .await;
}

#[tokio::test]
async fn slas_of_several_monitors_are_edited_at_once() {
    let kit = kit().await;
    let body = |monitors: Value, more: Value| {
        let mut body = json!({"monitors": monitors});
        body.as_object_mut().unwrap().extend(object(more));
        vigie::syntax::node::Node::from(body)
    };
    let edit = async |monitors: Value, more: Value| {
        kit.resources.bulk_edit_slas(&admin(), &body(monitors, more)).await
    };
    let first = kit.create_valid(SLA, sla(json!({"description": "old"}))).await;
    let both = json!([MONITOR, 200_003]);
    assert_eq!(
        messages(edit(both.clone(), json!({"uptime": 99})).await),
        ["`name` is required: some of the monitors have no agreement yet"]
    );
    assert_eq!(
        forbidden(edit(json!([MONITOR, 200_002]), json!({"name": "n"})).await),
        "`monitors`: monitor `200002` does not exist; nothing was changed"
    );
    assert_eq!(messages(edit(both.clone(), json!({"name": ""})).await), ["`name` must not be empty"]);
    edit(both, json!({"name": "Silver", "uptime": 99.5, "description": null})).await.unwrap();
    let all = kit.list(&admin(), vigie::store::ConfigRecordFilter::new(SLA)).await;
    let brief: Vec<_> = all
        .iter()
        .map(|one| {
            (
                one["monitor_id"].as_i64().unwrap(),
                one["name"].as_str().unwrap(),
                one["availability"].as_f64(),
                one["uptime"].as_f64(),
            )
        })
        .collect();
    assert_eq!(brief, [(MONITOR, "Silver", Some(99.95), Some(99.5)), (200_003, "Silver", None, Some(99.5))]);
    assert_eq!((&all[0]["id"], &all[0]["description"]), (&json!(first), &Value::Null));
    let actions: Vec<_> =
        kit.audit_trail().await.iter().take(2).map(|entry| (entry.action.clone(), entry.object_id)).collect();
    let new = all[1]["id"].as_i64();
    assert_eq!(actions, [("create".to_owned(), new), ("change".to_owned(), Some(first))]);
}

#[tokio::test]
async fn a_group_references_existing_content_views() {
    let kit = kit().await;
    let view = json!({"id": 4, "notify_on_error": true, "inherit_global_errors": false});
    let fields = json!({"name": "Shop", "content_views": [view]});
    let serde_json::Value::Object(fields) = fields else { unreachable!() };
    let mut monitor = kit.monitors.get(vigie::domain::MonitorId(MONITOR)).unwrap();
    let document =
        vigie::schema::MonitorDocument::new(vigie::domain::MonitorType::BrowserScript, fields).unwrap();
    monitor.document = std::sync::Arc::new(document);
    kit.monitors.apply(vec![monitor], &[]);
    let group_of = |view: i64| json!({"name": "g", "monitors": [{"id": MONITOR, "content_view_id": view}]});
    let group = kit.create_valid(GROUP, group_of(4)).await;
    let shown = kit.get(GROUP, group).await;
    assert_eq!(shown["monitors"], json!([{"id": MONITOR, "step_number": null, "content_view_id": 4}]));
    kit.patch(&admin(), GROUP, group, shown).await.unwrap();
    let refused = format!("{:?}", kit.create(&admin(), GROUP, group_of(5)).await);
    assert!(refused.contains("has no content view `5`"), "{refused}");
}
