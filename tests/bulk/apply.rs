//! `vigie apply`: what it creates, changes, adopts, removes, and refuses.

use serde_json::{Value, json};
use vigie::domain::{MonitorId, MonitorType as T, Revision, Role};
use vigie::schema::Origin;
use vigie::service::monitors;
use vigie::service::{AppliedChange, ApplyOptions, Caller, MonitorDefinition, ServiceError};
use vigie::syntax::MASK;
use vigie::syntax::node::Node;

use crate::bulk::support::{create_file_monitor, error_texts, snapshot};
use crate::monitors::harness::{Harness, admin, caller, website, with_plans};
use crate::support::fields::Fields;

const PRUNE: ApplyOptions = ApplyOptions { dry_run: false, prune: true };

fn entry(key: &str, values: Value) -> MonitorDefinition {
    MonitorDefinition { key: key.to_owned(), monitor_type: T::Website, body: website(values) }
}

async fn apply(
    harness: &Harness,
    all: Vec<MonitorDefinition>,
    options: ApplyOptions,
) -> Result<Vec<AppliedChange>, ServiceError> {
    monitors::apply(&harness.monitors, &admin(), all, options).await
}

fn actions(changes: &[AppliedChange]) -> Vec<(&str, &str)> {
    changes.iter().map(|change| (change.key.as_str(), change.action)).collect()
}

fn origin(key: &str) -> Origin {
    Origin::Applied { key: key.into() }
}

#[tokio::test]
async fn apply_creates_changes_removes_and_leaves_alone() {
    let harness = Harness::new();
    let files =
        || vec![entry("a", json!({"name": "A", "realm_password": "hush"})), entry("b", json!({"name": "B"}))];
    let dry = apply(&harness, files(), ApplyOptions { dry_run: true, prune: true }).await.unwrap();
    assert_eq!(actions(&dry), [("a", "create"), ("b", "create")]);
    assert_eq!((dry[0].id, &dry[0].after["realm_password"]), (None, &json!(MASK)));
    assert!(harness.monitors.monitor_cache().is_empty() && harness.audit().await.is_empty());
    let created = apply(&harness, files(), PRUNE).await.unwrap();
    assert_eq!(actions(&created), [("a", "create"), ("b", "create")]);
    let (a, b) = (created[0].id.unwrap(), created[1].id.unwrap());
    assert_eq!(harness.monitor(a).origin, origin("a"));
    assert_eq!(harness.monitor(a).document.text("realm_password"), Some("hush"));
    let same = apply(&harness, files(), PRUNE).await.unwrap();
    assert_eq!(actions(&same), [("a", "none"), ("b", "none")]);
    assert_eq!((same[0].id, harness.monitor(a).revision), (Some(a), Revision(1)));
    let harness = harness.restarted().await;
    let next = vec![
        entry("c", json!({"name": "C"})),
        entry("b", json!({"name": "B", "timeout": 60})),
        entry("d", json!({"name": "D"})),
    ];
    let changes = apply(&harness, next, PRUNE).await.unwrap();
    assert_eq!(actions(&changes), [("c", "create"), ("b", "change"), ("d", "create"), ("a", "remove")]);
    assert_eq!(Value::Object(changes[1].before.clone()), json!({"timeout": 30}));
    assert_eq!(Value::Object(changes[1].after.clone()), json!({"timeout": 60}));
    assert_eq!(changes[3].before["realm_password"], MASK);
    assert!(harness.monitors.monitor_cache().get(a).is_none());
    for (change, name) in [(&changes[0], "C"), (&changes[1], "B"), (&changes[2], "D")] {
        assert_eq!(harness.monitor(change.id.unwrap()).name(), name);
    }
    assert_eq!(changes[1].id, Some(b));
    let audit = harness.audit().await;
    let created: Vec<_> = audit.iter().filter(|row| row.action == "create").collect();
    assert!(created.iter().all(|row| {
        row.object_id.is_some_and(|id| id == a.0 || harness.monitor(MonitorId(id)).name() == row.object_name)
    }));
    assert_eq!(audit.iter().filter(|row| row.action == "delete").count(), 1);
    let back =
        apply(&harness, vec![entry("a", json!({"name": "A2"}))], ApplyOptions::default()).await.unwrap();
    assert_eq!(actions(&back), [("a", "create")], "a key may come back");
    assert_ne!(back[0].id, Some(a));
}

#[tokio::test]
async fn prune_removes_only_monitors_of_apply() {
    let harness = Harness::new();
    let api = harness.create_monitor(json!({})).await;
    let filed = create_file_monitor(&harness, 77).await;
    let other =
        monitors::apply(&harness.monitors, &caller(2, Role::Admin), vec![entry("a", json!({}))], PRUNE)
            .await
            .unwrap();
    assert_eq!(actions(&apply(&harness, Vec::new(), PRUNE).await.unwrap()), []);
    for id in [api, filed, other[0].id.unwrap()] {
        assert!(harness.monitors.monitor_cache().get(id).is_some());
    }
    let mine = apply(&harness, vec![entry("a", json!({"name": "mine"}))], PRUNE).await.unwrap();
    assert_eq!(actions(&mine), [("a", "create")], "the key of another account is free");
}

#[tokio::test]
async fn a_monitor_of_an_api_is_adopted_by_its_exported_key() {
    let harness = Harness::new();
    let one = harness.create_monitor(json!({"name": "one"})).await;
    let two = harness.create_monitor(json!({"name": "two"})).await;
    let key = |id: MonitorId| format!("api-{}", id.0);
    let files = vec![entry(&key(one), json!({"name": "one"})), entry(&key(two), json!({"name": "2"}))];
    let changes = apply(&harness, files.clone(), PRUNE).await.unwrap();
    assert_eq!(actions(&changes), [(key(one).as_str(), "none"), (key(two).as_str(), "change")]);
    assert_eq!(
        (harness.monitor(one).origin, harness.monitor(two).origin),
        (origin(&key(one)), origin(&key(two)))
    );
    let harness = harness.restarted().await;
    assert_eq!(harness.monitor(one).origin, origin(&key(one)), "it was kept");
    assert_eq!(harness.monitor(two).name(), "2");
    let again = apply(&harness, files, PRUNE).await.unwrap();
    assert!(again.iter().all(|change| change.action == "none"), "{again:?}");
    let removed = apply(&harness, Vec::new(), PRUNE).await.unwrap();
    assert_eq!(removed.len(), 2, "what was taken over is removed with its entry");
    let new = apply(&harness, vec![entry("api-999999", json!({}))], PRUNE).await.unwrap();
    assert_eq!(actions(&new), [("api-999999", "create")], "it does not exist to take over");
}

#[tokio::test]
async fn all_errors_are_reported_and_nothing_is_changed() {
    let harness = Harness::new();
    let existing =
        apply(&harness, vec![entry("there", json!({"realm_password": "hush"}))], PRUNE).await.unwrap();
    let before = snapshot(&harness).await;
    let mut ping = entry("there", json!({}));
    ping.monitor_type = T::Ping;
    let cases: Vec<(Vec<MonitorDefinition>, &str)> = vec![
        (
            vec![entry("fine", json!({})), entry("there", json!({"realm_password": MASK}))],
            "realm_password: monitor with key `there`: `realm_password` is masked: `********` is not its value",
        ),
        (
            vec![entry("a", json!({"realm_password_file": "/etc/passwd"}))],
            "realm_password_file: monitor with key `a`: `realm_password_file`: cannot read `/etc/passwd`: the server does not read files",
        ),
        (vec![entry("a", json!({"interval": 7})), entry("b", json!({}))], "interval: monitor with key `a`: "),
        (vec![entry("a", json!({"id": 7}))], "id: monitor with key `a`: `id` is set by Vigie"),
        (vec![entry("a", json!({"customer": 2}))], "customer: monitor with key `a`: `customer` must be `1`"),
        (
            vec![entry("a", json!({})), entry("a", json!({}))],
            "key: monitor with key `a`: `key` is used more than once",
        ),
        (vec![ping], "type: monitor with key `there`: `type` must stay `website`"),
        (
            vec![MonitorDefinition { body: Node::from(json!([])), ..entry("a", json!({})) }],
            ": monitor with key `a`: ",
        ),
    ];
    for (all, start) in cases {
        let found = error_texts(apply(&harness, all.clone(), PRUNE).await.map(drop));
        assert!(found.len() == 1 && found[0].starts_with(start), "{found:?}");
        let dry = ApplyOptions { dry_run: true, prune: true };
        assert_eq!(error_texts(apply(&harness, all, dry).await.map(drop)), found, "a dry run says the same");
    }
    let reader: Caller = caller(1, Role::ReadOnly);
    let refused = monitors::apply(&harness.monitors, &reader, vec![entry("a", json!({}))], PRUNE).await;
    assert!(matches!(refused, Err(ServiceError::Forbidden(_))));
    harness.store.broken.store(true, std::sync::atomic::Ordering::Relaxed);
    assert!(apply(&harness, vec![entry("a", json!({}))], PRUNE).await.is_err());
    harness.store.broken.store(false, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(snapshot(&harness).await, before);
    assert_eq!(harness.monitor(existing[0].id.unwrap()).document.text("realm_password"), Some("hush"));
}

#[tokio::test]
async fn a_full_plan_may_stay_full() {
    let harness = Harness::over(with_plans());
    let small = |key: &str| entry(key, json!({"billing_plancode": "small", "name": key}));
    apply(&harness, vec![small("a"), small("b")], PRUNE).await.unwrap();
    let same = apply(&harness, vec![small("a"), small("b")], PRUNE).await.unwrap();
    assert!(same.iter().all(|change| change.action == "none"), "{same:?}");
    let swapped = apply(&harness, vec![small("a"), small("c")], PRUNE).await.unwrap();
    assert_eq!(actions(&swapped), [("a", "none"), ("c", "create"), ("b", "remove")]);
    let found = error_texts(apply(&harness, vec![small("a"), small("c"), small("d")], PRUNE).await.map(drop));
    assert!(found.len() == 1 && found[0].contains("is full"), "{found:?}");
}

#[tokio::test]
async fn dependencies_are_named_by_key_even_of_monitors_that_the_same_call_creates() {
    let harness = Harness::new();
    let all = || {
        vec![
            entry("front", json!({"name": "F", "depends_on": ["shop", "router"]})),
            entry("shop", json!({"name": "S", "depends_on": ["router"]})),
            entry("router", json!({"name": "R"})),
        ]
    };
    let dry = apply(&harness, all(), ApplyOptions { dry_run: true, prune: false }).await.unwrap();
    assert_eq!(dry[0].after["depends_on"], json!(["shop", "router"]));
    let created = apply(&harness, all(), PRUNE).await.unwrap();
    let ids: Vec<MonitorId> = created.iter().map(|change| change.id.unwrap()).collect();
    let parents = |id: MonitorId| harness.monitor(id).document.parent_ids();
    assert_eq!((parents(ids[0]), parents(ids[1])), (vec![ids[1], ids[2]], vec![ids[2]]));
    let same = apply(&harness, all(), PRUNE).await.unwrap();
    assert_eq!(actions(&same), [("front", "none"), ("shop", "none"), ("router", "none")]);
    // The direction turns round in one call, which closes no circle.
    let turned = vec![
        entry("shop", json!({"name": "S"})),
        entry("router", json!({"name": "R", "depends_on": ["shop"]})),
    ];
    apply(&harness, turned, ApplyOptions::default()).await.unwrap();
    assert_eq!((parents(ids[1]), parents(ids[2])), (vec![], vec![ids[1]]));
}

#[tokio::test]
async fn circles_and_keys_that_no_monitor_has_are_refused_and_nothing_is_applied() {
    let harness = Harness::new();
    let refused = async |entries: Vec<MonitorDefinition>| {
        let texts = error_texts(apply(&harness, entries, PRUNE).await);
        assert!(harness.monitors.monitor_cache().is_empty());
        texts.join("\n")
    };
    let circle = vec![
        entry("a", json!({"depends_on": ["b"]})),
        entry("b", json!({"depends_on": ["c"]})),
        entry("c", json!({"depends_on": ["a"]})),
    ];
    let text = refused(circle).await;
    let named = "`a` depends on `b`, which depends on `c`, which depends on `a`";
    assert!(text.contains(named) && text.matches("circle").count() == 1, "{text}");
    assert!(
        refused(vec![entry("a", json!({"depends_on": ["a"]}))]).await.contains("cannot depend on itself")
    );
    let unknown = refused(vec![entry("a", json!({"depends_on": ["x"]}))]).await;
    assert!(unknown.contains("no monitor has the key `x`"), "{unknown}");
    let unknown = refused(vec![entry("a", json!({"depends_on": [99]}))]).await;
    assert!(unknown.contains("monitor `99` does not exist"), "{unknown}");
    let many: Vec<String> = (0..21).map(|number| format!("k{number}")).collect();
    assert!(refused(vec![entry("a", json!({"depends_on": many}))]).await.contains("at most 20 entries"));
}
