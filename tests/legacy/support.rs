//! Logged-in clients of the legacy API.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;
use vigie::api::legacy;
use vigie::clock::Clock;
use vigie::domain::{
    ConfigRecordKind, CustomerId, MonitorId, MonitorType, Revision, Role, Timestamp, UserId,
};
use vigie::schema::{Monitor, MonitorDocument, Origin};
use vigie::store::{ConfigChange, ConfigStore, NewConfigRecord, StoredToken, TokenKind, TokenStore};

use crate::support::app::{App, sha256};

/// Returns the router of the legacy API of `app`.
pub fn router(app: &App) -> Router {
    Router::new().nest("/legacy-api", legacy::router(app.state.clone()))
}

/// A client with its login and session.
#[derive(Clone)]
pub struct Someone {
    pub router: Router,
    pub login: String,
    pub session: String,
}

/// Creates a user of `role` in `customer`, with additional fields `more`, and returns its logged-in client.
pub async fn someone(app: &App, customer: CustomerId, role: Role, more: Value) -> Someone {
    let login = format!("{}-{customer}", role.name().to_lowercase());
    let mut fields =
        json!({"login": login, "name": "", "role": role.name(), "enabled": true, "locked": false});
    fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let record = NewConfigRecord {
        kind: ConfigRecordKind::User,
        customer: Some(customer),
        parent_id: None,
        unique_key: Some(login.clone()),
        created_at: app.clock.now(),
        created_by: "test".to_owned(),
        fields: fields.as_object().unwrap().clone(),
        private_data: None,
    };
    let user = UserId(
        app.store.write_changes(vec![ConfigChange::CreateRecord(record)], Vec::new()).await.unwrap()[0],
    );
    let session = format!("session-{user}");
    let issued_at = app.clock.now();
    let expires_at = issued_at + Duration::from_mins(15);
    let token =
        StoredToken::new(sha256(&session), TokenKind::LegacySession, user, issued_at).expiring_at(expires_at);
    app.store.insert(token).await.unwrap();
    Someone { router: router(app), login, session }
}

/// Starts the application with a logged-in admin.
pub async fn start_with_admin() -> (App, Someone) {
    let app = App::start().await;
    let admin = someone(&app, CustomerId(1), Role::Admin, json!({})).await;
    (app, admin)
}

impl Someone {
    pub async fn get(&self, path: &str) -> Value {
        self.call("GET", path, None).await
    }

    pub async fn post(&self, body: Value) -> Value {
        self.call("POST", "/devices", Some(body)).await
    }

    /// Sends a request with login and session in the query.
    pub async fn call(&self, method: &str, path: &str, body: Option<Value>) -> Value {
        let mark = if path.contains('?') { '&' } else { '?' };
        let path = format!("{path}{mark}login={}&session={}", self.login, self.session);
        let body = body.map_or_else(String::new, |body| body.to_string());
        send(&self.router, method, &path, &[("content-type", "application/json")], &body).await
    }

    /// Creates a monitor and returns its id.
    pub async fn made(&self, body: Value) -> String {
        let response = self.post(body).await;
        assert_eq!(outcome(&response), ("0", "No errors."), "{response}");
        response["results"]["id"].as_str().unwrap().to_owned()
    }

    /// Returns the ids that a list contains.
    pub async fn ids(&self, query: &str) -> Vec<String> {
        let response = self.get(&format!("/devices?{query}")).await;
        assert_eq!(outcome(&response), ("0", "No errors."), "{query}: {response}");
        response["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["id"].as_str().unwrap().to_owned())
            .collect()
    }
}

/// Sends any request. The response must be HTTP 200 with four texts of metadata; results exclude an error.
pub async fn send(router: &Router, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Value {
    let mut request = Request::builder().method(method).uri(format!("/legacy-api{path}"));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = router.clone().oneshot(request.body(Body::from(body.to_owned())).unwrap()).await.unwrap();
    assert_eq!(
        (response.status().as_u16(), &response.headers()["content-type"]),
        (200, &"application/json".parse().unwrap())
    );
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    let response: Value = serde_json::from_slice(&bytes).unwrap();
    let metadata = response["metadata"].as_object().unwrap();
    assert_eq!(metadata.keys().collect::<Vec<_>>(), ["login", "session", "status", "message"]);
    assert!(metadata.values().all(Value::is_string), "{response}");
    assert!(metadata["status"] == "0" || response.get("results").is_none(), "{response}");
    response
}

/// Returns status and message.
pub fn outcome(response: &Value) -> (&str, &str) {
    (response["metadata"]["status"].as_str().unwrap(), response["metadata"]["message"].as_str().unwrap())
}

pub fn website(name: &str) -> Value {
    json!({"billing_plancode": "p", "site_type": "website", "name": name, "url": "http://a.test/", "interval": 5, "enabled": "y"})
}

/// Inserts a monitor directly into memory, as those of files are.
pub fn insert_monitor(app: &App, id: i64, kind: MonitorType, origin: Origin, values: Value) {
    let monitor = Monitor {
        id: MonitorId(id),
        customer: CustomerId(1),
        origin,
        revision: Revision(1),
        modified_at: Timestamp::from_seconds(1_767_225_600),
        document: Arc::new(MonitorDocument::new(kind, values.as_object().unwrap().clone()).unwrap()),
        metadata: Arc::default(),
    };
    app.state.monitor_service.monitor_cache().apply(vec![monitor], &[]);
}
