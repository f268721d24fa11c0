//! Every operation with every role: a role without the right gets 403, a role with it never does, and no call gets a
//! server error.

use serde_json::json;
use vigie::api::{OperationMethod, v3};
use vigie::domain::Role;

use crate::support::app::App;

#[tokio::test]
async fn each_role_may_call_what_its_rights_allow() {
    let app = App::start().await;
    let operations = v3::operations(app.state.clone());
    assert!(operations.len() > 50, "only {} operations", operations.len());
    let mut errors = Vec::new();
    for role in Role::ALL {
        for operation in &operations {
            // Calls of an admin may change users, so each call has its own user.
            let user = app.login(role).await;
            let path = operation.path.replace("{id}", "999999").replace("{name}", "none");
            let reply = match operation.method {
                OperationMethod::Get | OperationMethod::Delete => {
                    user.send(operation.method.into(), &path, &[], "").await
                }
                _ => user.json(operation.method.into(), &path, &[], &json!({})).await,
            };
            let status = reply.status.as_u16();
            // Some calls are reserved for the admin of the host; their error says so.
            let reserved = status == 403
                && ["with `vigie customer`", "with `vigie open`"]
                    .iter()
                    .any(|hint| reply.text.contains(hint));
            let is_allowed =
                operation.required_permission.is_none_or(|right| role.allows(right)) && !reserved;
            // An agent of a host has a token of its own, in place of a login.
            let is_expected = if operation.path == "/hosts/{id}/reports" {
                status == 401
            } else if is_allowed {
                status < 500 && status != 401 && status != 403
            } else {
                status == 403
            };
            if !is_expected {
                errors.push(format!("{role} {} {path}: {status} {}", operation.method, reply.text));
            }
        }
    }
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

#[tokio::test]
async fn without_a_token_only_login_and_document_are_allowed() {
    let app = App::start().await;
    for operation in v3::operations(app.state.clone()) {
        let path = operation.path.replace("{id}", "1").replace("{name}", "none");
        let reply = app.anonymous().json(operation.method.into(), &path, &[], &json!({})).await;
        match operation.required_permission {
            Some(_) => assert_eq!(reply.status, 401, "{} {path}", operation.method),
            None if operation.path == "/hosts/{id}/reports" => assert_eq!(reply.status, 401),
            None => assert_ne!(reply.status, 401, "{} {path}", operation.method),
        }
    }
}

#[tokio::test]
async fn operation_ids_are_unique() {
    let app = App::start().await;
    let operations = v3::operations(app.state.clone());
    let mut ids: Vec<_> = operations.iter().map(|operation| operation.operation_id).collect();
    ids.sort_unstable();
    let all = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), all);
}

#[tokio::test]
async fn lists_accept_only_the_documented_parameters() {
    let app = App::start().await;
    let admin = app.login(Role::Admin).await;
    let operations = v3::operations(app.state.clone());
    let lists = operations.iter().filter(|one| one.method == OperationMethod::Get && !one.path.contains('{'));
    let mut tried = 0;
    for operation in lists.filter(|one| one.query_param_names().iter().any(|name| *name != "select")) {
        let unknown = admin.get(&format!("{}?no_such_parameter=1", operation.path)).await;
        assert_eq!(unknown.status, 400, "{}: {}", operation.path, unknown.text);
        assert!(unknown.text.contains("`no_such_parameter`"), "{}: {}", operation.path, unknown.text);
        for name in operation.query_param_names() {
            let reply = admin.get(&format!("{}?{name}=%00", operation.path)).await;
            let error = format!("`{name}` is not a parameter");
            assert!(!reply.text.contains(&error), "{}: {}", operation.path, reply.text);
            tried += 1;
        }
    }
    assert!(tried > 30, "only {tried} parameters");
}
