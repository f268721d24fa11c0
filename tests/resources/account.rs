//! The account and the audit trail.

use serde_json::{Value, json};
use vigie::domain::{ConfigRecordKind, CustomerId, Revision, Role, Timestamp};
use vigie::service::ServiceError;
use vigie::store::AuditFilter;
use vigie::syntax::node::Node;
use vigie::texts::Language;

use crate::resources::kit::{ALL, Kit, NOON, admin, as_role, forbidden, long, messages};

#[tokio::test]
async fn an_account_has_defaults_and_is_patched_partially() {
    let kit = Kit::new().await;
    let (account, revision) = kit.resources.account(&admin()).await.unwrap();
    let expected = json!({
        "id": 1, "name": "default", "time_zone": "UTC", "default_locations": [],
        "multipop_threshold": "2", "brand": "Vigie", "language": "en", "certificate_days": null,
    });
    assert_eq!((json!(account), revision), (expected, Revision(1)));
    let change = async |body: Value| kit.resources.update_account(&admin(), &Node::from(body), None).await;
    let saved = change(json!({
        "time_zone": "Europe/Paris", "default_locations": [{"id": 2}, {"id": 1}],
        "multipop_threshold": 3, "certificate_days": 14, "language": "de",
    }));
    assert_eq!(saved.await.unwrap().revision, 2);
    let (account, _) = kit.resources.account(&admin()).await.unwrap();
    assert_eq!(account["multipop_threshold"], "3");
    assert_eq!(account["default_locations"], json!([{"id": 2}, {"id": 1}]));
    let facts = kit.accounts.account(CustomerId(1)).await.unwrap();
    assert_eq!(facts.default_location_ids, [2, 1]);
    assert_eq!((facts.certificate_warning_days, facts.time_zone.iana_name()), (14, Some("Europe/Paris")));
    assert_eq!(facts.language, Language::German);
    // The read object can be sent back; null restores a default.
    assert_eq!(change(Value::Object(account)).await.unwrap().revision, 2);
    change(json!({"certificate_days": null, "time_zone": null})).await.unwrap();
    let (account, _) = kit.resources.account(&admin()).await.unwrap();
    assert_eq!((&account["certificate_days"], &account["time_zone"]), (&Value::Null, &json!("UTC")));
    assert_eq!(
        json!(kit.audit_trail().await[0].before),
        json!({"time_zone": "Europe/Paris", "certificate_days": 14})
    );
}

#[tokio::test]
async fn the_first_change_of_an_account_records_only_changed_fields() {
    let kit = Kit::new().await;
    let change = async |body: Value| kit.resources.update_account(&admin(), &Node::from(body), None).await;
    assert_eq!(change(json!({"time_zone": "UTC"})).await.unwrap().revision, 1);
    assert_eq!(change(json!({"brand": "Shop"})).await.unwrap().revision, 2);
    let entry = &kit.audit_trail().await[0];
    assert_eq!(
        (json!(entry.before), json!(entry.after)),
        (json!({"brand": "Vigie"}), json!({"brand": "Shop"}))
    );
}

#[tokio::test]
async fn invalid_values_are_refused_with_every_error() {
    let kit = Kit::new().await;
    let change =
        async |body: Value| messages(kit.resources.update_account(&admin(), &Node::from(body), None).await);
    let cases: &[(Value, &[&str])] = &[
        (
            json!({"time_zone": "Mars/Olympus", "default_locations": [{"id": 1}, {"id": 7}, {"id": 1}]}),
            &[
                "`time_zone` must be the IANA name of a zone, such as `Europe/Paris`, not `Mars/Olympus`",
                "`default_locations[1].id`: location `7` does not exist",
                "`default_locations[2].id`: location `1` is in the list already",
            ],
        ),
        (
            json!({"multipop_threshold": 4}),
            &["`multipop_threshold` must be one of `2`, `1`, `3`, `all`, not `4`"],
        ),
        (
            json!({"certificate_days": 0}),
            &["`certificate_days` must be a whole number from 1 to 3650, not `0`"],
        ),
        (
            json!({"certificate_days": 3651}),
            &["`certificate_days` must be a whole number from 1 to 3650, not `3651`"],
        ),
        (json!({"brand": long(65)}), &["`brand` must have at most 64 characters, not 65"]),
        (json!({"zone": "UTC"}), &["`zone` is not a field of `Account`\n  hint: remove it"]),
    ];
    for (body, expected) in cases {
        assert_eq!(change(body.clone()).await, *expected, "{body}");
    }
    for body in
        [json!({"certificate_days": 1}), json!({"certificate_days": 3650}), json!({"brand": long(64)})]
    {
        assert_eq!(change(body.clone()).await, Vec::<String>::new(), "{body}");
    }
    for value in ["1", "2", "3", "all"] {
        assert_eq!(change(json!({"multipop_threshold": value})).await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn each_account_sees_and_changes_only_itself() {
    let kit = Kit::new().await;
    let (account, _) = kit.resources.account(&kit.stranger()).await.unwrap();
    assert_eq!((&account["id"], &account["name"]), (&json!(kit.other.0), &json!("other")));
    let one = kit.resources.get(&kit.stranger(), ConfigRecordKind::Customer, 1).await;
    assert_eq!(one.err(), Some(ServiceError::NotFound));
    let power = as_role(Role::PowerUser);
    assert!(kit.resources.account(&power).await.is_ok());
    let body = Node::from(json!({"brand": "x"}));
    assert_eq!(
        forbidden(kit.resources.update_account(&power, &body, None).await),
        "The role POWER-USER does not permit this"
    );
}

#[tokio::test]
async fn the_audit_trail_records_actions_and_is_filtered() {
    let kit = Kit::new().await;
    let first = kit.create_valid(ConfigRecordKind::Property, json!({"name": "a"})).await;
    kit.clock.advance(std::time::Duration::from_mins(1));
    kit.patch(&as_role(Role::CoAdmin), ConfigRecordKind::Property, first, json!({"name": "b"}))
        .await
        .unwrap();
    kit.create_valid(ConfigRecordKind::Location, json!({"name": "c"})).await;
    kit.create(&kit.stranger(), ConfigRecordKind::Property, json!({"name": "theirs"})).await.unwrap();
    let rows = async |filter: AuditFilter| {
        let found = kit.resources.audit_trail(&admin(), filter, ALL).await.unwrap();
        let brief = |row: &serde_json::Map<String, Value>| {
            format!(
                "{} {} {}",
                row["action"].as_str().unwrap(),
                row["object"].as_str().unwrap(),
                row["object_name"]
            )
        };
        found.items.iter().map(brief).collect::<Vec<_>>()
    };
    let no_filter = AuditFilter::default;
    let all = ["create location \"c\"", "change property \"b\"", "create property \"a\""];
    assert_eq!(rows(no_filter()).await, all);
    // The account in a filter is ignored: it is always the caller's.
    assert_eq!(rows(AuditFilter { customer: Some(kit.other), ..no_filter() }).await, all);
    assert_eq!(rows(AuditFilter { login: Some("bert".to_owned()), ..no_filter() }).await, all[1..2]);
    assert_eq!(rows(AuditFilter { object_kind: Some("location".to_owned()), ..no_filter() }).await, all[..1]);
    assert_eq!(rows(AuditFilter { object_id: Some(first), ..no_filter() }).await, all[1..]);
    let later = Some(Timestamp::from_seconds(NOON + 60));
    assert_eq!(rows(AuditFilter { from: later, ..no_filter() }).await, all[..2]);
    assert_eq!(rows(AuditFilter { until: later, ..no_filter() }).await, all[2..]);
    let row = kit.resources.audit_trail(&admin(), no_filter(), ALL).await.unwrap().items.pop().unwrap();
    assert_eq!(row["at"], "2026-01-01T12:00:00Z");
    assert_eq!(
        (&row["login"], &row["address"], &row["via"]),
        (&json!("anna"), &json!("192.0.2.7"), &json!("v3"))
    );
    assert_eq!(row["after"], json!({"name": "a", "values": []}));
    assert_eq!(row["before"], json!({}));
    let report = kit.resources.audit_trail(&as_role(Role::ReportOnly), no_filter(), ALL).await;
    assert_eq!(forbidden(report), "The role REPORTONLY does not permit this");
}
