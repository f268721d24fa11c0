//! The whole text of error messages, one row for each call. Texts with a test of their own elsewhere are left out.

use axum::http::Method;
use axum::response::IntoResponse;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use vigie::api::ApiError;
use vigie::domain::{Role, StoreError};
use vigie::service::ServiceError;

use crate::support::app::{App, Client, website};

const GET: Method = Method::GET;
const POST: Method = Method::POST;
const PATCH: Method = Method::PATCH;

/// Method, path, body, expected status and messages, one per line.
type Rows<'a> = Vec<(Method, &'a str, Value, u16, &'a str)>;

/// Method, path, headers, body, expected status and message.
type RawCall<'a> = (Method, &'a str, Vec<(&'a str, &'a str)>, String, u16, &'a str);

/// Sends every row and compares status and messages. Prints all rows that differ.
async fn check(client: &Client, rows: Rows<'_>) {
    let mut wrong = Vec::new();
    for (method, path, body, status, expected) in rows {
        let reply = if method == GET || body.is_null() {
            client.send(method.clone(), path, &[], "").await
        } else {
            client.json(method.clone(), path, &[], &body).await
        };
        let (found, text) = (reply.status.as_u16(), reply.text.clone());
        let messages = if found >= 400 { reply.refused(found).join("\n") } else { text };
        if found != status || messages != expected {
            wrong.push(format!("{method} {path} {body}: {found} {messages}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn calls_and_bodies() {
    const JSON: (&str, &str) = ("content-type", "application/json");
    let app = App::start().await;
    let user = app.login(Role::Admin).await;
    let monitor = user.post("/monitors/website", website("Shop", json!({}))).await.id();
    let path = format!("/monitors/{monitor}");
    let rows: [RawCall<'_>; 6] = [
        (POST, "/monitors/website", vec![JSON], " ".into(), 400, "The body is empty; send a JSON object"),
        (
            POST,
            "/monitors/website",
            vec![("content-type", "text/plain")],
            "{}".into(),
            415,
            "The body must be JSON, with `Content-Type: application/json`",
        ),
        (
            POST,
            "/monitors/website",
            vec![JSON],
            "{\"name\" 1}".into(),
            400,
            "The body is not valid JSON: line 1, column 9: expected `:`",
        ),
        (
            POST,
            "/access-tokens",
            vec![JSON],
            format!("{{\"username\":\"{}\"}}", "x".repeat(3 << 20)),
            413,
            "The body is larger than this call takes",
        ),
        (Method::PUT, "/monitors", vec![], String::new(), 405, "`PUT` is not allowed here"),
        (
            PATCH,
            &path,
            vec![JSON, ("if-match", "\"99\"")],
            "{\"name\":\"Other\"}".into(),
            405,
            "`PATCH` is not allowed here",
        ),
    ];
    for (method, path, headers, body, status, expected) in rows {
        let reply = user.send(method.clone(), path, &headers, body).await;
        assert_eq!(reply.refused(status), [expected], "{method} {path}");
    }
    let path = format!("/monitors/website/{monitor}");
    let body = json!({"name": "Other"});
    for (etag, expected) in [
        ("\"99\"", "The object has changed since; read it again and send the change with the new `ETag`"),
        ("other", "`If-Match` is not an `ETag` of this object"),
    ] {
        let reply = user.json(PATCH, &path, &[("if-match", etag)], &body).await;
        assert_eq!(reply.refused(412), [expected]);
    }
    let required = "An access token is required: `Authorization: Bearer <token>`";
    assert_eq!(app.anonymous().get("/monitors").await.refused(401), [required]);
    let login = json!({"username": "nobody", "password": "wrong"});
    let failed = "invalid_request - User authentication failed.";
    assert_eq!(app.anonymous().post("/access-tokens", login).await.refused(400), [failed]);
    let expired = app.anonymous().send(GET, "/monitors", &[("authorization", "Bearer forged")], "").await;
    assert_eq!(expired.refused(401), ["The login is invalid or expired; log in again"]);
}

#[tokio::test]
async fn queries() {
    let app = App::start().await;
    let user = app.login(Role::Admin).await;
    let many = (0..150).map(|n| format!("zz{n}=1")).collect::<Vec<_>>().join("&");
    let messages = user.get(&format!("/monitors?{many}")).await.refused(400);
    assert_eq!(messages.last().unwrap(), "too many errors; the rest of the query was not read");
    let time = "such as `2026-11-20T12:00:00Z`, or `2026-11-20 12:00:00` in the account's time zone";
    let from = format!("`from` must be a time {time}, not `noon`");
    let rows: Rows<'_> = vec![
        (GET, "/monitors?limitt=1", Value::Null, 400, "unknown parameter `limitt`; did you mean `limit`?"),
        (GET, "/monitors?limit=1&limit=2", Value::Null, 400, "`limit` is given twice"),
        (GET, "/monitors?limit=-1", Value::Null, 400, "`limit` must be a whole number from 0, not `-1`"),
        (
            GET,
            "/monitors?value_id=a",
            Value::Null,
            400,
            "`value_id` must be an id or a comma list of ids, not `a`",
        ),
        (GET, "/events?from=noon", Value::Null, 400, &from),
        (
            GET,
            "/results?from=2026-11-20T12:00:00Z&thru=2026-11-20T11:00:00Z",
            Value::Null,
            400,
            "`from` must be before `thru`",
        ),
        (GET, "/episodes?open=perhaps", Value::Null, 400, "`open` must be `true` or `false`, not `perhaps`"),
    ];
    check(&user, rows).await;
}

#[tokio::test]
async fn monitors() {
    let app = App::start().await;
    let user = app.login(Role::Admin).await;
    let id = user.post("/monitors/website", website("Shop", json!({}))).await.id();
    let step = json!({"step_name": "s", "url": "http://a.example/", "http_method": "GET", "head": {}});
    let api = user
        .post("/monitors/website-api", json!({"billing_plancode": "b", "name": "API", "api_steps": [step]}))
        .await
        .id();
    let planned_only = user
        .post("/monitors/website", website("Planned", json!({"allow_internal_testing": false})))
        .await
        .id();
    let [pause, convert, test_planned, test_elsewhere] = [
        format!("/monitors/{id}/pause"),
        format!("/monitors/website-api/{api}/convert-api"),
        format!("/tests?monitor_id={planned_only}"),
        format!("/tests?monitor_id={id}&location_id=99"),
    ];
    let rows: Rows<'_> = vec![
        (
            POST,
            &pause,
            json!({"until": "2026-11-20T11:00:00Z"}),
            400,
            "`until` must be in the future, not `2026-11-20T11:00:00Z`",
        ),
        (
            POST,
            &pause,
            json!({"until": "tomorrow"}),
            400,
            "`until` must be a time such as `2026-11-20T12:00:00Z`, or `2026-11-20 12:00:00` in the time zone of the account",
        ),
        (PATCH, &convert, json!({}), 409, "This monitor has API steps already"),
        (
            POST,
            &test_planned,
            json!({}),
            409,
            "The monitor permits planned runs only: its `allow_internal_testing` is false",
        ),
        (POST, &test_elsewhere, json!({}), 400, "`location_id` must be a location of the account, not `99`"),
        (POST, "/apply", json!({"monitors": [1]}), 400, "`monitors[0]` must be a map of fields, not 1"),
        (
            POST,
            "/apply",
            json!({"monitors": [{"key": "", "type": "website"}]}),
            400,
            "`monitors[0].key` must be a string of 1 to 255 characters",
        ),
        (
            POST,
            "/apply",
            json!({"monitors": [{"key": "a", "type": "webseite"}]}),
            400,
            "`monitors[0].type` must be a monitor type, not `webseite`\n  hint: did you mean `website`?",
        ),
        (
            POST,
            "/apply",
            json!({"monitors": [
                website("A", json!({"key": "a", "type": "website"})),
                website("A", json!({"key": "a", "type": "website"})),
            ]}),
            400,
            "`monitors[1].key` must be unique; `a` is used twice",
        ),
        (
            POST,
            "/apply",
            json!({"monitors": [website("A", json!({"key": "a", "type": "website", "customer": "other"}))]}),
            400,
            "monitor with key `a`: `customer` must be `1`, your account, not `other`",
        ),
        (
            POST,
            "/apply",
            json!({"monitors": [website("A", json!({"key": "a", "type": "website", "realm_password_file": "/etc/passwd"}))]}),
            400,
            "monitor with key `a`: `realm_password_file`: cannot read `/etc/passwd`: the server does not read files and variables for clients; send the value",
        ),
        (
            POST,
            "/monitors/website",
            website("A", json!({"realm_password_file": "/etc/passwd"})),
            400,
            "`realm_password_file` is not a field of `website`\n  hint: did you mean `realm_password`?",
        ),
        (POST, "/monitors/website", website("", json!({})), 400, "`name` must not be empty"),
        (
            POST,
            "/monitors/website",
            website("A", json!({"home_location": 9})),
            400,
            "`home_location` must be one of the monitor's locations, not `9`\n  hint: they are 1",
        ),
    ];
    check(&user, rows).await;
}

#[tokio::test]
async fn records() {
    let app = App::start().await;
    let user = app.login(Role::Admin).await;
    let monitor = user.post("/monitors/website", website("Shop", json!({}))).await.id();
    let alerts = format!("/monitors/{monitor}/performance-alerts");
    let sla = json!({"monitor_id": monitor, "name": "Gold", "availability": 99.9});
    let sla = user.post("/slas", sla).await.id();
    let report = format!("/slas/{sla}/report?from=2026-11-21T12:00:00Z");
    let pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let encrypted =
        format!("{pem}-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n");
    let broken_key = format!("{pem}-----BEGIN PRIVATE KEY-----\n*\n-----END PRIVATE KEY-----\n");
    let certificate = |fields: Value| {
        let mut body = json!({"name": "C", "kind": "client"});
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        body
    };
    let rows: Rows<'_> = vec![
        (
            POST,
            "/users",
            json!({"login": "a", "name": "A", "role": "ADMIN", "password": "********"}),
            400,
            "`password` is masked, but no value is stored",
        ),
        (
            POST,
            "/users",
            json!({"login": "a b", "name": "A", "role": "ADMIN", "password": "long enough"}),
            400,
            "a login has 1 to 255 characters, without spaces, colons and control characters",
        ),
        (POST, "/certificates", certificate(json!({})), 400, "`pem` or `pkcs12` is required"),
        (
            POST,
            "/certificates",
            certificate(json!({"pem": "x", "pkcs12": "eA=="})),
            400,
            "`pkcs12` does not go with `pem`",
        ),
        (
            POST,
            "/certificates",
            certificate(json!({"pem": "text"})),
            400,
            "`pem`: it contains no certificate",
        ),
        (
            POST,
            "/certificates",
            certificate(json!({"pem": pem})),
            400,
            "`pem`: 1 of its 1 certificates cannot be read",
        ),
        (
            POST,
            "/certificates",
            certificate(json!({"pem": pem.repeat(21)})),
            400,
            "`pem`: 21 of its 21 certificates cannot be read",
        ),
        (
            POST,
            "/certificates",
            certificate(json!({"pem": encrypted})),
            400,
            "`pem`: its private key is encrypted; send it without encryption, or as PKCS#12",
        ),
        (
            POST,
            "/certificates",
            certificate(json!({"pem": broken_key})),
            400,
            "`pem`: base64 decode error: InvalidCharacter(42)",
        ),
        (
            POST,
            "/certificates",
            certificate(json!({"pkcs12": "eA==", "password": "p"})),
            400,
            "`pkcs12`: it is not PKCS#12, or `password` is wrong",
        ),
        (
            POST,
            &alerts,
            json!({"type": "error", "threshold": 1}),
            400,
            "`type` must be one of `static`, `dynamic`, not `error`",
        ),
        (GET, &report, Value::Null, 400, "`from` must be before `thru`, and not in the future"),
        (
            POST,
            "/recipients",
            json!({"name": "A", "recipient": "nobody"}),
            400,
            "`recipient` must be a mail address for `method_id` 12",
        ),
    ];
    check(&user, rows).await;
}

#[tokio::test]
async fn accounts() {
    let app = App::start().await;
    let host = app.host();
    let name = json!({"name": "Shop"});
    host.post("/customers", name.clone()).await.id();
    let rows: Rows<'_> = vec![
        (POST, "/customers", name.clone(), 409, "An account with the name `Shop` already exists"),
        (
            POST,
            "/customers",
            json!({"name": "a\u{7}"}),
            400,
            "`name` must be a name without control characters and characters that change the direction of text, not `a `",
        ),
        (POST, "/customers", json!({"name": ""}), 400, "`name` must not be empty"),
    ];
    check(&host, rows).await;
    let refused = app.login(Role::Admin).await.post("/customers", name).await.refused(403);
    assert_eq!(refused, ["Accounts are managed on the server's host, with `vigie customer`"]);
}

/// Errors of the services that no call of this file can cause.
#[tokio::test]
async fn errors_of_services() {
    let io = || "/data/vigie.db: input/output error".to_owned();
    let rows = [
        (ServiceError::InvalidCredentials, 400, "invalid_request - User authentication failed."),
        (ServiceError::UserLocked, 400, "invalid_request - User authentication failed."),
        (ServiceError::NotFound, 404, "Record not found"),
        (ServiceError::RateLimited(30), 429, "Too many attempts; try again in 30 s"),
        (ServiceError::Unavailable("the server is shutting down".into()), 503, "the server is shutting down"),
        (StoreError::DiskFull(io()).into(), 503, "The store is not available; try again later"),
        (StoreError::Locked(io()).into(), 503, "The store is not available; try again later"),
        (StoreError::Closed.into(), 503, "The store is not available; try again later"),
        (StoreError::Unusable(io()).into(), 500, "The store cannot be read; see the server log"),
        (
            StoreError::QueryTimeout.into(),
            503,
            "The query timed out; request a shorter period or fewer monitors",
        ),
    ];
    for (error, status, message) in rows {
        let text = format!("{error:?}");
        let response = ApiError::from(error).into_response();
        assert_eq!(response.status().as_u16(), status, "{text}");
        let retry_after = response.headers().get("retry-after").cloned();
        assert_eq!(retry_after.is_some(), status == 429, "{text}");
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body, json!({"errors": [{"code": status, "message": message}]}), "{text}");
    }
}
