//! `vigie apply`: what it makes, changes, takes over, removes, and refuses.

use serde_json::{Value, json};
use vigie::domain::{MonitorId, MonitorType as T, Revision, Role};
use vigie::schema::Origin;
use vigie::service::monitors;
use vigie::service::{AppliedChange, ApplyEntry, ApplyOptions, Caller, ServiceError};
use vigie::syntax::MASK;
use vigie::syntax::node::Node;

use crate::bulk::support::{of_file, told, whole};
use crate::fleet::kit::{Kit, admin, caller, website, with_plans};
use crate::support::fields::Fields;

const PRUNE: ApplyOptions = ApplyOptions { dry_run: false, prune: true };

fn wanted(key: &str, values: Value) -> ApplyEntry {
    ApplyEntry { key: key.to_owned(), kind: T::Website, body: website(values) }
}

async fn applied(
    kit: &Kit,
    all: Vec<ApplyEntry>,
    options: ApplyOptions,
) -> Result<Vec<AppliedChange>, ServiceError> {
    monitors::apply(&kit.monitors, &admin(), all, options).await
}

fn actions(changes: &[AppliedChange]) -> Vec<(&str, &str)> {
    changes.iter().map(|change| (change.key.as_str(), change.action)).collect()
}

fn origin(key: &str) -> Origin {
    Origin::Applied { key: key.into() }
}

#[tokio::test]
async fn it_makes_changes_and_leaves_alone() {
    let kit = Kit::new();
    let files = || {
        vec![wanted("a", json!({"name": "A", "realm_password": "hush"})), wanted("b", json!({"name": "B"}))]
    };
    let dry = applied(&kit, files(), ApplyOptions { dry_run: true, prune: true }).await.unwrap();
    assert_eq!(actions(&dry), [("a", "create"), ("b", "create")]);
    assert_eq!((dry[0].id, &dry[0].after["realm_password"]), (None, &json!(MASK)));
    assert!(kit.monitors.monitors().is_empty() && kit.audit().await.is_empty());
    let made = applied(&kit, files(), PRUNE).await.unwrap();
    assert_eq!(actions(&made), [("a", "create"), ("b", "create")]);
    let (a, b) = (made[0].id.unwrap(), made[1].id.unwrap());
    assert_eq!(kit.monitor(a).origin, origin("a"));
    assert_eq!(kit.monitor(a).document.text("realm_password"), Some("hush"));
    let same = applied(&kit, files(), PRUNE).await.unwrap();
    assert_eq!(actions(&same), [("a", "none"), ("b", "none")]);
    assert_eq!((same[0].id, kit.monitor(a).revision), (Some(a), Revision(1)));
    let kit = kit.restarted().await;
    let next = vec![
        wanted("c", json!({"name": "C"})),
        wanted("b", json!({"name": "B", "timeout": 60})),
        wanted("d", json!({"name": "D"})),
    ];
    let changes = applied(&kit, next, PRUNE).await.unwrap();
    assert_eq!(actions(&changes), [("c", "create"), ("b", "change"), ("d", "create"), ("a", "remove")]);
    assert_eq!(Value::Object(changes[1].before.clone()), json!({"timeout": 30}));
    assert_eq!(Value::Object(changes[1].after.clone()), json!({"timeout": 60}));
    assert_eq!(changes[3].before["realm_password"], MASK);
    assert!(kit.monitors.monitors().get(a).is_none());
    for (change, name) in [(&changes[0], "C"), (&changes[1], "B"), (&changes[2], "D")] {
        assert_eq!(kit.monitor(change.id.unwrap()).name(), name);
    }
    assert_eq!(changes[1].id, Some(b));
    let audit = kit.audit().await;
    let created: Vec<_> = audit.iter().filter(|row| row.action == "create").collect();
    assert!(created.iter().all(|row| {
        row.object_id.is_some_and(|id| id == a.0 || kit.monitor(MonitorId(id)).name() == row.object_name)
    }));
    assert_eq!(audit.iter().filter(|row| row.action == "delete").count(), 1);
    let back =
        applied(&kit, vec![wanted("a", json!({"name": "A2"}))], ApplyOptions::default()).await.unwrap();
    assert_eq!(actions(&back), [("a", "create")], "a key may come back");
    assert_ne!(back[0].id, Some(a));
}

#[tokio::test]
async fn prune_leaves_what_apply_did_not_make() {
    let kit = Kit::new();
    let api = kit.made(json!({})).await;
    let filed = of_file(&kit, 77).await;
    let other = monitors::apply(&kit.monitors, &caller(2, Role::Admin), vec![wanted("a", json!({}))], PRUNE)
        .await
        .unwrap();
    assert_eq!(actions(&applied(&kit, Vec::new(), PRUNE).await.unwrap()), []);
    for id in [api, filed, other[0].id.unwrap()] {
        assert!(kit.monitors.monitors().get(id).is_some());
    }
    let mine = applied(&kit, vec![wanted("a", json!({"name": "mine"}))], PRUNE).await.unwrap();
    assert_eq!(actions(&mine), [("a", "create")], "the key of another account is free");
}

#[tokio::test]
async fn what_an_api_made_is_taken_over_by_its_exported_key() {
    let kit = Kit::new();
    let one = kit.made(json!({"name": "one"})).await;
    let two = kit.made(json!({"name": "two"})).await;
    let key = |id: MonitorId| format!("api-{}", id.0);
    let files = vec![wanted(&key(one), json!({"name": "one"})), wanted(&key(two), json!({"name": "2"}))];
    let changes = applied(&kit, files.clone(), PRUNE).await.unwrap();
    assert_eq!(actions(&changes), [(key(one).as_str(), "none"), (key(two).as_str(), "change")]);
    assert_eq!((kit.monitor(one).origin, kit.monitor(two).origin), (origin(&key(one)), origin(&key(two))));
    let kit = kit.restarted().await;
    assert_eq!(kit.monitor(one).origin, origin(&key(one)), "it was kept");
    assert_eq!(kit.monitor(two).name(), "2");
    let again = applied(&kit, files, PRUNE).await.unwrap();
    assert!(again.iter().all(|change| change.action == "none"), "{again:?}");
    let gone = applied(&kit, Vec::new(), PRUNE).await.unwrap();
    assert_eq!(gone.len(), 2, "what was taken over is removed with its entry");
    let new = applied(&kit, vec![wanted("api-999999", json!({}))], PRUNE).await.unwrap();
    assert_eq!(actions(&new), [("api-999999", "create")], "it does not exist to take over");
}

#[tokio::test]
async fn faults_of_all_are_told_and_nothing_is_done() {
    let kit = Kit::new();
    let there = applied(&kit, vec![wanted("there", json!({"realm_password": "hush"}))], PRUNE).await.unwrap();
    let before = whole(&kit).await;
    let mut ping = wanted("there", json!({}));
    ping.kind = T::Ping;
    let cases: Vec<(Vec<ApplyEntry>, &str)> = vec![
        (
            vec![wanted("fine", json!({})), wanted("there", json!({"realm_password": MASK}))],
            "realm_password: monitor with key `there`: `realm_password` is masked: `********` is not its value",
        ),
        (
            vec![wanted("a", json!({"realm_password_file": "/etc/passwd"}))],
            "realm_password_file: monitor with key `a`: `realm_password_file`: cannot read `/etc/passwd`: the server does not read files",
        ),
        (
            vec![wanted("a", json!({"interval": 7})), wanted("b", json!({}))],
            "interval: monitor with key `a`: ",
        ),
        (vec![wanted("a", json!({"id": 7}))], "id: monitor with key `a`: `id` is set by Vigie"),
        (vec![wanted("a", json!({"customer": 2}))], "customer: monitor with key `a`: `customer` must be `1`"),
        (
            vec![wanted("a", json!({})), wanted("a", json!({}))],
            "key: monitor with key `a`: `key` is used more than once",
        ),
        (vec![ping], "type: monitor with key `there`: `type` must stay `website`"),
        (
            vec![ApplyEntry { body: Node::from(json!([])), ..wanted("a", json!({})) }],
            ": monitor with key `a`: ",
        ),
    ];
    for (all, start) in cases {
        let found = told(applied(&kit, all.clone(), PRUNE).await.map(drop));
        assert!(found.len() == 1 && found[0].starts_with(start), "{found:?}");
        let dry = ApplyOptions { dry_run: true, prune: true };
        assert_eq!(told(applied(&kit, all, dry).await.map(drop)), found, "a dry run says the same");
    }
    let reader: Caller = caller(1, Role::ReadOnly);
    let refused = monitors::apply(&kit.monitors, &reader, vec![wanted("a", json!({}))], PRUNE).await;
    assert!(matches!(refused, Err(ServiceError::Forbidden(_))));
    kit.ledger.broken.store(true, std::sync::atomic::Ordering::Relaxed);
    assert!(applied(&kit, vec![wanted("a", json!({}))], PRUNE).await.is_err());
    kit.ledger.broken.store(false, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(whole(&kit).await, before);
    assert_eq!(kit.monitor(there[0].id.unwrap()).document.text("realm_password"), Some("hush"));
}

#[tokio::test]
async fn a_full_plan_may_be_kept_full() {
    let kit = Kit::over(with_plans());
    let small = |key: &str| wanted(key, json!({"billing_plancode": "small", "name": key}));
    applied(&kit, vec![small("a"), small("b")], PRUNE).await.unwrap();
    let same = applied(&kit, vec![small("a"), small("b")], PRUNE).await.unwrap();
    assert!(same.iter().all(|change| change.action == "none"), "{same:?}");
    let swapped = applied(&kit, vec![small("a"), small("c")], PRUNE).await.unwrap();
    assert_eq!(actions(&swapped), [("a", "none"), ("c", "create"), ("b", "remove")]);
    let found = told(applied(&kit, vec![small("a"), small("c"), small("d")], PRUNE).await.map(drop));
    assert!(found.len() == 1 && found[0].contains("is full"), "{found:?}");
}
