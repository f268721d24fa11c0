//! What somebody can do who holds a token, a session or a screen of a user, but not the password.

use serde_json::{Value, json};

use super::server_with_other_account;
use crate::daemon::process::Daemon;

const PASSWORD: &str = "correct horse";

fn add_user(server: &Daemon, account: i64, login: &str, role: &str) -> String {
    let user = json!({"login": login, "role": role, "password": PASSWORD});
    let (status, response) = server.call_in(account, "POST", "/users", &user);
    assert_eq!(status, 200, "{response}");
    response["id"].as_str().unwrap().to_owned()
}

fn log_in(server: &Daemon, login: &str) -> String {
    let credentials = json!({"username": login, "password": PASSWORD});
    let (status, response) = server.call("POST", "/access-tokens", &credentials);
    assert_eq!(status, 200, "{response}");
    response["access_token"].as_str().unwrap().to_owned()
}

/// Makes a token for a program; returns the status and the token.
fn program_token(server: &Daemon, token: &str, scopes: &[&str]) -> (u16, String) {
    let request = json!({"name": "Robot", "scopes": scopes, "expires_in": 600});
    let (status, response) = server.call_with_token(token, "POST", "/access-tokens", &request);
    assert!(status != 200 || response["expires_in"] == 600, "{response}");
    (status, response["access_token"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn a_stolen_token_does_not_change_the_password_of_its_user() {
    let (server, _) = server_with_other_account();
    for role in ["ADMIN", "REPORTONLY"] {
        let login = format!("anna-{role}");
        let id = add_user(&server, 1, &login, role);
        let token = log_in(&server, &login);
        let change =
            |fields: Value| server.call_with_token(&token, "PATCH", &format!("/users/{id}"), &fields);
        let (status, refused) = change(json!({"password": "another password"}));
        assert_eq!(status, 400, "{refused}");
        assert!(refused.to_string().contains("`current_password` is required"), "{refused}");
        for guess in 0..5 {
            let guess = format!("guess number {guess}");
            let fields = json!({"password": "another password", "current_password": guess});
            assert_eq!(change(fields).0, 400);
        }
        let fields = json!({"password": "another password", "current_password": PASSWORD});
        assert_eq!(change(fields.clone()).0, 429, "guesses are not slowed down");
        let last = (0..100).map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(50));
            change(fields.clone()).0
        });
        assert_eq!(last.into_iter().find(|status| *status != 429), Some(200));
        assert_eq!(change(json!({"name": "x"})).0, 401, "the token outlives the password");
    }
}

#[test]
fn a_token_for_a_program_may_only_what_its_scopes_say() {
    let (server, _) = server_with_other_account();
    add_user(&server, 1, "anna", "ADMIN");
    let login = log_in(&server, "anna");
    let website = json!({"billing_plancode": "basic", "name": "Shop", "url": "http://192.0.2.1/"});
    let user = json!({"login": "bert", "role": "READONLY", "password": PASSWORD});
    let bearer = |token: &str| format!("Authorization: Bearer {token}\r\nX-Forwarded-For: 192.0.2.7\r\n");
    for (scopes, expected) in [
        (&["read"][..], [200, 403, 403, 401, 200]),
        (&["operate"], [200, 200, 403, 401, 200]),
        (&["admin"], [200, 200, 200, 401, 200]),
        (&["metrics"], [403, 403, 403, 200, 403]),
        (&["read", "metrics"], [200, 403, 403, 200, 200]),
    ] {
        let (status, token) = program_token(&server, &login, scopes);
        assert_eq!(status, 200, "{scopes:?}");
        let call = |method, path: &str, body: &Value| server.call_with_token(&token, method, path, body).0;
        let found = [
            call("GET", "/monitors", &Value::Null),
            call("POST", "/monitors/website", &website),
            call("POST", "/users", &user),
            server.get_with_headers("/metrics", &bearer(&token)).0,
            server.get_with_headers("/", &bearer(&token)).0,
        ];
        assert_eq!(found, expected, "{scopes:?}");
        // It makes no tokens, ends none of others, and does not change its user.
        assert_eq!(program_token(&server, &token, scopes).0, 403, "{scopes:?}");
        let is_admin = scopes.contains(&"admin");
        let (_, tokens) = server.call_with_token(&login, "GET", "/access-tokens", &Value::Null);
        let newest = tokens["results"][0]["id"].to_string();
        assert_eq!(call("DELETE", &format!("/access-tokens/{newest}"), &Value::Null), 403, "{scopes:?}");
        if !is_admin {
            let (_, users) = server.call("GET", "/users", &Value::Null);
            let users = users["results"].as_array().unwrap();
            let anna = users.iter().find(|user| user["login"] == "anna").unwrap()["id"].to_string();
            assert_eq!(call("PATCH", &format!("/users/{anna}"), &json!({"name": "x"})), 403, "{scopes:?}");
        }
    }
}

#[test]
fn a_token_never_may_more_than_the_role_of_its_maker() {
    let (server, other) = server_with_other_account();
    for (role, allowed) in [
        ("ADMIN", &["read", "operate", "admin", "metrics"][..]),
        ("CO-ADMIN", &["read", "operate", "admin", "metrics"]),
        ("POWER-USER", &["read", "operate", "metrics"]),
        ("READONLY", &["read", "metrics"]),
        ("REPORTONLY", &["read"]),
    ] {
        let user = format!("one-{role}");
        add_user(&server, 1, &user, role);
        let login = log_in(&server, &user);
        for scope in ["read", "operate", "admin", "metrics"] {
            let expected = if allowed.contains(&scope) { 200 } else { 403 };
            assert_eq!(program_token(&server, &login, &[scope]).0, expected, "{role} {scope}");
        }
    }
    // An admin token of a CO-ADMIN is no ADMIN.
    let (_, token) = program_token(&server, &log_in(&server, "one-CO-ADMIN"), &["admin"]);
    let boss = json!({"login": "boss", "role": "ADMIN", "password": PASSWORD});
    assert_eq!(server.call_with_token(&token, "POST", "/users", &boss).0, 403);
    // The metrics of the server are about all accounts, those of monitors about one.
    add_user(&server, other, "clara", "ADMIN");
    let (status, token) = program_token(&server, &log_in(&server, "clara"), &["metrics"]);
    assert_eq!(status, 200);
    let bearer = format!("Authorization: Bearer {token}\r\n");
    for (path, expected) in [("/metrics", 401), ("/metrics/monitors", 200)] {
        assert_eq!(server.get_with_headers(path, &bearer).0, expected, "{path}");
    }
    assert_eq!(program_token(&server, &server.token(), &["read"]).0, 403, "the host token has no user");
}

#[test]
fn users_see_and_end_their_own_tokens_alone() {
    let (server, other) = server_with_other_account();
    add_user(&server, 1, "anna", "ADMIN");
    add_user(&server, other, "bert", "ADMIN");
    let (anna, bert) = (log_in(&server, "anna"), log_in(&server, "bert"));
    let (_, robot) = program_token(&server, &anna, &["read"]);
    let list = |token: &str| {
        let (status, tokens) = server.call_with_token(token, "GET", "/access-tokens", &Value::Null);
        assert_eq!(status, 200, "{tokens}");
        assert!(!tokens.to_string().contains(token), "{tokens}");
        tokens["results"].as_array().unwrap().clone()
    };
    let tokens = list(&anna);
    assert_eq!((tokens.len(), list(&bert).len()), (2, 1));
    let of_robot = tokens.iter().find(|token| token["name"] == "Robot").unwrap();
    assert_eq!((&of_robot["scopes"], &of_robot["kind"]), (&json!(["read"]), &json!("access")), "{of_robot}");
    assert_eq!(of_robot["address"], "127.0.0.1");
    for field in ["created_at", "expires_at", "last_used_at"] {
        assert!(of_robot[field].as_str().unwrap().ends_with('Z'), "{of_robot}");
    }
    let path = format!("/access-tokens/{}", of_robot["id"]);
    assert_eq!(server.call_with_token(&bert, "DELETE", &path, &Value::Null).0, 404);
    assert_eq!(server.call_with_token(&robot, "GET", "/monitors", &Value::Null).0, 200);
    assert_eq!(server.call_with_token(&anna, "DELETE", &path, &Value::Null).0, 204);
    assert_eq!(server.call_with_token(&robot, "GET", "/monitors", &Value::Null).0, 401);
    assert_eq!(server.call_with_token(&anna, "DELETE", &path, &Value::Null).0, 404);
}
