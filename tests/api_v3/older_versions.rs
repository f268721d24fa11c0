//! Going back to an older version of a monitor: from the audit trail, as a change like any other, without secrets.

use serde_json::{Map, Value, json};
use vigie::domain::{AuditFilter, CustomerId, MonitorId, Pagination, Role, UserId};
use vigie::schema::reader::InputFormat;
use vigie::schema::{Monitor, SecretMode};
use vigie::service::monitors::{OlderVersion, VersionGap, older_versions, patch};
use vigie::service::{Caller, EntryPoint, ServiceError};

use crate::support::app::{App, website};

fn caller() -> Caller {
    Caller {
        customer: CustomerId(1),
        user_id: UserId(5),
        login: "ann".into(),
        role: Role::PowerUser,
        token_scopes: None,
        client_address: None,
        entry_point: EntryPoint::Pages,
    }
}

fn monitor(app: &App, id: i64) -> Monitor {
    app.state.monitor_service.monitor_cache().get(MonitorId(id)).unwrap()
}

async fn trail(app: &App, id: i64) -> Vec<Map<String, Value>> {
    let filter = AuditFilter {
        object_kind: Some("monitor".to_owned()),
        object_id: Some(id),
        ..AuditFilter::default()
    };
    let page = Pagination { limit: 100, offset: 0 };
    app.state.record_service.audit_trail(&caller(), filter, page).await.unwrap().items
}

async fn versions(app: &App, id: i64) -> Vec<Result<OlderVersion, VersionGap>> {
    older_versions(&monitor(app, id), &trail(app, id).await)
}

async fn go_back(app: &App, id: i64, version: &OlderVersion) -> Result<(), ServiceError> {
    let present = monitor(app, id);
    let (service, revision) = (&app.state.monitor_service, Some(present.revision));
    let body = version.to_body(&present).unwrap();
    patch(service, &caller(), present.id, None, InputFormat::V3, &body, revision).await.map(drop)
}

#[tokio::test]
async fn a_monitor_goes_back_and_keeps_the_secrets_that_it_has_now() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let headers = |token: &str, other: &str| json!([{"name": "Authorization", "value": token}, {"name": "X-Shop", "value": other}]);
    let first = json!({"realm_password": "one", "http_headers": headers("token-one", "a"), "timeout": 7, "note": "n"});
    let id = user.post("/monitors/website", website("Shop", first)).await.id();
    let path = format!("/monitors/website/{id}");
    user.patch(&path, json!({"realm_password": "two", "note": null})).await.expect(200);
    user.patch(&path, json!({"http_headers": headers("token-two", "b"), "name": "Store"})).await.expect(200);
    user.patch(&path, json!({"timeout": 9, "depends_on": []})).await.expect(200);

    let found = versions(&app, id).await;
    assert_eq!(found.len(), 4);
    assert_eq!(found[0], Ok(OlderVersion::default()));
    let oldest = found[3].as_ref().unwrap();
    assert_eq!(oldest.kept_secrets, ["realm_password"]);
    assert!(oldest.has_masked_parts());
    let shown = format!("{found:?}");
    for secret in ["one\"", "two\"", "token-one", "token-two"] {
        assert!(!shown.contains(secret), "{secret} is shown: {shown}");
    }
    go_back(&app, id, oldest).await.unwrap();

    let present = monitor(&app, id);
    let values = present.document.to_json(SecretMode::Revealed);
    assert_eq!(
        (&values["name"], &values["timeout"], &values["note"]),
        (&json!("Shop"), &json!(7), &json!("n"))
    );
    assert_eq!(values["realm_password"], "two", "a secret is never restored");
    assert_eq!(values["http_headers"], headers("token-two", "a"));
    // It is a change like any other, from which one can go back again.
    let entries = trail(&app, id).await;
    assert_eq!((&entries[0]["action"], &entries[0]["via"]), (&json!("change"), &json!("pages")));
    let before_it = versions(&app, id).await[1].clone().unwrap();
    assert!(before_it.changes.iter().any(|field| field.name == "name" && field.then == "Store"));
}

#[tokio::test]
async fn a_secret_that_is_not_stored_any_more_does_not_come_back() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let headers = json!([{"name": "Authorization", "value": "token-one"}]);
    let id = user.post("/monitors/website", website("Shop", json!({"http_headers": headers}))).await.id();
    user.patch(&format!("/monitors/website/{id}"), json!({"http_headers": []})).await.expect(200);
    let version = versions(&app, id).await[1].clone().unwrap();
    let lost = version.to_body(&monitor(&app, id)).unwrap_err();
    assert_eq!(lost, ["http_headers[0].value"]);
}

#[tokio::test]
async fn a_change_meanwhile_is_not_overwritten() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let id = user.post("/monitors/website", website("Shop", json!({}))).await.id();
    let path = format!("/monitors/website/{id}");
    user.patch(&path, json!({"name": "Store"})).await.expect(200);
    let (version, seen) = (versions(&app, id).await[1].clone().unwrap(), monitor(&app, id).revision);
    user.patch(&path, json!({"timeout": 9})).await.expect(200);
    let body = version.to_body(&monitor(&app, id)).unwrap();
    let service = &app.state.monitor_service;
    let result = patch(service, &caller(), MonitorId(id), None, InputFormat::V3, &body, Some(seen)).await;
    assert!(matches!(result, Err(ServiceError::PreconditionFailed)), "{result:?}");
}
