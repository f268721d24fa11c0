//! Notifier groups, templates and agreements: what they may name.

use serde_json::{Value, json};
use vigie::domain::{CustomerId, GroupMonitor, RecordKind, Role};

use crate::resources::kit::{Kit, admin, apart, conflict, forbidden, messages, object, refuses, roles};

const GROUP: RecordKind = RecordKind::NotifierGroup;
const SLA: RecordKind = RecordKind::Sla;
const MONITOR: i64 = 200_001;

async fn kit() -> Kit {
    let kit = Kit::new().await;
    kit.monitor(MONITOR, CustomerId(1), json!({}));
    kit.monitor(200_003, CustomerId(1), json!({}));
    kit.monitor(200_002, kit.other, json!({}));
    kit
}

#[tokio::test]
async fn a_group_names_what_the_account_has_and_each_once() {
    let kit = kit().await;
    let recipient = json!({"name": "a", "recipient": "a@a.example"});
    let stranger = kit.make(&kit.stranger(), RecordKind::Recipient, recipient.clone()).await.unwrap().id;
    let recipient = kit.made(RecordKind::Recipient, recipient).await;
    let step = |step: i64| json!({"id": MONITOR, "step_number": step});
    let strange = format!("`recipients[1].id`: recipient `{stranger}` does not exist");
    refuses(
        &kit,
        GROUP,
        &[
            (json!({"name": "x".repeat(129)}), &["`name` must have at most 128 characters, not 129"]),
            (
                json!({"name": "g", "monitors": [{"id": MONITOR}, {"id": 200_002}]}),
                &["`monitors[1].id`: monitor `200002` does not exist"],
            ),
            (json!({"name": "g", "recipients": [{"id": recipient}, {"id": stranger}]}), &[&strange]),
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
    let group = kit.made(GROUP, body.clone()).await;
    let facts = kit.accounts.facts(CustomerId(1)).await.unwrap();
    let monitor = |step_number| GroupMonitor { id: MONITOR, step_number, content_view_id: None };
    assert_eq!(facts.contacts.groups[0].monitors, [monitor(None), monitor(Some(2))]);
    assert_eq!(conflict(kit.make(&admin(), GROUP, body).await), "A notifier_group `g` already exists");
    // A monitor that is gone does not come back out, and what was read can be sent back.
    kit.monitors.apply(Vec::new(), &[vigie::domain::MonitorId(MONITOR)]);
    let shown = kit.shown(GROUP, group).await;
    assert_eq!(shown["monitors"], json!([]));
    kit.change(&admin(), GROUP, group, shown).await.unwrap();
    apart(&kit, GROUP, group, json!({"name": "x"})).await;
}

#[tokio::test]
async fn a_template_that_a_group_uses_stays() {
    let kit = kit().await;
    let template = json!({"name": "t", "kind": "site_error", "method_id": 1, "subject": "s", "text": "b"});
    let template = kit.made(RecordKind::Template, template).await;
    let group = kit.made(GROUP, json!({"name": "g", "templates": [{"id": template}]})).await;
    assert_eq!(
        conflict(kit.gone(&admin(), RecordKind::Template, template).await),
        "Groups use this template; remove it from them first: `g`"
    );
    kit.gone(&admin(), GROUP, group).await.unwrap();
    kit.gone(&admin(), RecordKind::Template, template).await.unwrap();
}

fn agreement(more: Value) -> Value {
    let mut body = json!({"monitor_id": MONITOR, "name": "Gold", "availability": 99.95});
    body.as_object_mut().unwrap().extend(object(more));
    body
}

#[tokio::test]
async fn a_monitor_has_one_agreement() {
    let kit = kit().await;
    let id = kit.made(SLA, agreement(json!({}))).await;
    let shown = kit.shown(SLA, id).await;
    assert_eq!(
        shown,
        json!({"id": id, "monitor_id": MONITOR, "name": "Gold", "description": null, "availability": 99.95,
            "uptime": null, "response_time": null, "use_fullpage_time": false, "operating_periods": [],
            "exclusions": []})
    );
    assert_eq!(
        conflict(kit.make(&admin(), SLA, agreement(json!({}))).await),
        "The monitor has an agreement already; change that"
    );
    kit.change(&admin(), SLA, id, shown).await.unwrap();
    assert_eq!(
        messages(kit.change(&admin(), SLA, id, json!({"monitor_id": 200_003})).await),
        ["`monitor_id` of an agreement cannot be changed; remove it and create another"]
    );
    apart(&kit, SLA, id, json!({"name": "x"})).await;
    kit.gone(&admin(), SLA, id).await.unwrap();
    kit.made(SLA, agreement(json!({}))).await;
}

#[tokio::test]
async fn goals_periods_and_exclusions_have_their_bounds() {
    let kit = kit().await;
    let exclusion = |more: Value| {
        let mut one = json!({"from_date": "2026-01-01 00:00:00", "thru_date": "2026-01-02 00:00:00"});
        one.as_object_mut().unwrap().extend(object(more));
        agreement(json!({"exclusions": [one]}))
    };
    refuses(
        &kit,
        SLA,
        &[
            (agreement(json!({"monitor_id": 200_002})), &["`monitor_id`: monitor `200002` does not exist"]),
            (
                agreement(json!({"availability": 0})),
                &["`availability` must be a number from 0.001 to 100, not `0`"],
            ),
            (
                agreement(json!({"uptime": 100.5})),
                &["`uptime` must be a number from 0.001 to 100, not `100.5`"],
            ),
            (
                agreement(json!({"availability": 99.9999})),
                &["`availability` must have at most three decimals"],
            ),
            (
                exclusion(json!({"thru_date": "2026-01-01 00:00:00"})),
                &["`exclusions[0].thru_date` must be after `from_date`"],
            ),
            (
                exclusion(json!({"location_id": 77})),
                &["`exclusions[0].location_id`: location `77` does not exist"],
            ),
            (
                agreement(
                    json!({"operating_periods": [{"from_day": 8, "from_time": "25:00", "thru_day": 1}]}),
                ),
                &[
                    "`operating_periods[0].from_day` must be a whole number from 1 to 7, not `8`",
                    "`operating_periods[0].from_time` must be a time `hh:mm` of 24 hours, not `25:00`",
                    "`operating_periods[0].thru_time` is required",
                ],
            ),
        ],
    )
    .await;
    kit.made(SLA, exclusion(json!({"location_id": 2, "note": "move"}))).await;
    roles(
        &kit,
        RecordKind::Template,
        |role| json!({"name": role.name()}),
        &[Role::Admin, Role::CoAdmin, Role::PowerUser],
    )
    .await;
}

#[tokio::test]
async fn agreements_of_several_monitors_are_brought_in_line_at_once() {
    let kit = kit().await;
    let body = |monitors: Value, more: Value| {
        let mut body = json!({"monitors": monitors});
        body.as_object_mut().unwrap().extend(object(more));
        vigie::syntax::node::Node::from(body)
    };
    let edit = async |monitors: Value, more: Value| {
        kit.resources.bulk_edit_slas(&admin(), &body(monitors, more)).await
    };
    let first = kit.made(SLA, agreement(json!({"description": "old"}))).await;
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
    let all = kit.listed(&admin(), vigie::store::RecordFilter::new(SLA)).await;
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
        kit.trail().await.iter().take(2).map(|entry| (entry.action.clone(), entry.object_id)).collect();
    let new = all[1]["id"].as_i64();
    assert_eq!(actions, [("create".to_owned(), new), ("change".to_owned(), Some(first))]);
}

#[tokio::test]
async fn a_group_names_content_views_that_there_are() {
    let kit = kit().await;
    let view = json!({"id": 4, "notify_on_error": true, "inherit_global_errors": false});
    let fields = json!({"name": "Shop", "content_views": [view]});
    let serde_json::Value::Object(fields) = fields else { unreachable!() };
    let mut monitor = kit.monitors.get(vigie::domain::MonitorId(MONITOR)).unwrap();
    let document =
        vigie::schema::MonitorDocument::new(vigie::domain::MonitorType::BrowserScript, fields).unwrap();
    monitor.document = std::sync::Arc::new(document);
    kit.monitors.apply(vec![monitor], &[]);
    let named = |view: i64| json!({"name": "g", "monitors": [{"id": MONITOR, "content_view_id": view}]});
    let group = kit.made(GROUP, named(4)).await;
    let shown = kit.shown(GROUP, group).await;
    assert_eq!(shown["monitors"], json!([{"id": MONITOR, "step_number": null, "content_view_id": 4}]));
    kit.change(&admin(), GROUP, group, shown).await.unwrap();
    let refused = format!("{:?}", kit.make(&admin(), GROUP, named(5)).await);
    assert!(refused.contains("has no content view `5`"), "{refused}");
}
