//! Tests the document and the page with operations of every shape.

use std::collections::BTreeSet;

use axum::body::Body as HttpBody;
use axum::http::{Request, header};
use serde_json::{Value, json};
use tower::ServiceExt;

use super::openapi_router;
use crate::api::operation::{BodySpec, Operation, OperationMethod, Param, ParamType, ResponseSpec};
use crate::api::v3::openapi::document::build_document;
use crate::api::v3::openapi::page;
use crate::domain::{MonitorType, Permission};
use crate::schema::table;
use crate::schema::table::requests;

fn operations() -> Vec<Operation> {
    let monitor_tables: Vec<_> = MonitorType::ALL.iter().map(|kind| table::for_type(*kind)).collect();
    let mut operations = vec![
        Operation::new(OperationMethod::Post, "/access-tokens", "logIn", "access-tokens", "Log in")
            .with_permission(None)
            .with_body(BodySpec::Create(&requests::LOGIN))
            .with_additional_status(429, "Too many attempts"),
        Operation::new(OperationMethod::Get, "/monitors", "listMonitors", "monitors", "Monitors")
            .with_query_params(&[Param::new("select", ParamType::Text, "Fields")])
            .with_paging()
            .with_response(ResponseSpec::List(monitor_tables.clone())),
        Operation::new(OperationMethod::Get, "/monitors/{id}", "getMonitor", "monitors", "One monitor")
            .with_response(ResponseSpec::ObjectOneOf(monitor_tables.clone())),
        Operation::new(OperationMethod::Delete, "/monitors/{id}", "deleteMonitor", "monitors", "Remove <one>")
            .with_permission(Some(Permission::Edit))
            .with_if_match(),
        Operation::new(OperationMethod::Get, "/results", "listResults", "results", "Results")
            .with_permission(Some(Permission::ViewReports))
            .with_query_params(&[
                Param::new("from", ParamType::Time, "From"),
                Param::new("monitor_id", ParamType::IdList, "Whose"),
            ])
            .with_response(ResponseSpec::JsonSchema(json!({"title": "Shown", "type": "object", "properties": {"a": {"title": "Part", "type": "object"}}}))),
        Operation::new(OperationMethod::Get, "/results/{id}/captures/{name}", "getCapture", "results", "A file")
            .with_path_param(Param::new("name", ParamType::Text, "Its name"))
            .with_response(ResponseSpec::File),
        Operation::new(OperationMethod::Post, "/blackouts", "createBlackout", "blackouts", "A blackout")
            .with_body(BodySpec::Create(&requests::BLACKOUT))
            .with_response(ResponseSpec::SavedId { create_response_fields: None }),
    ];
    for (index, table) in monitor_tables.into_iter().enumerate() {
        let path: &'static str = format!("/monitors/{}", table.name).leak();
        let operation_id: &'static str = format!("create{index}").leak();
        operations.push(
            Operation::new(OperationMethod::Post, path, operation_id, "monitors", "A monitor")
                .with_permission(Some(Permission::Edit))
                .with_body(BodySpec::Create(table))
                .with_response(ResponseSpec::SavedId { create_response_fields: None }),
        );
        let (path, operation_id) = (format!("{path}/{{id}}").leak(), format!("edit{index}").leak());
        let edit = Operation::new(OperationMethod::Patch, path, operation_id, "monitors", "Change a monitor")
            .with_if_match();
        operations.push(
            edit.with_body(BodySpec::Patch(table))
                .with_response(ResponseSpec::SavedId { create_response_fields: None }),
        );
    }
    operations
}

fn visit_entries<'v>(value: &'v Value, visit: &mut impl FnMut(&'v str, &'v Value)) {
    match value {
        Value::Object(entries) => entries.iter().for_each(|(name, value)| {
            visit(name, value);
            visit_entries(value, visit);
        }),
        Value::Array(items) => items.iter().for_each(|item| visit_entries(item, visit)),
        _ => {}
    }
}

#[test]
fn every_operation_appears_once_with_its_parameters_and_responses() {
    let operations = operations();
    let document = build_document(&operations);
    let mut ids = BTreeSet::new();
    for operation in &operations {
        let described = &document["paths"][operation.path][operation.method.as_str().to_lowercase()];
        assert_eq!(described["operationId"], operation.operation_id, "{}", operation.path);
        assert!(ids.insert(operation.operation_id));
        assert_eq!(described.get("security").is_some(), operation.required_permission.is_none());
        let params = described["parameters"].as_array().unwrap();
        let expected = operation.path.matches('{').count()
            + operation.query_params.len()
            + usize::from(operation.honours_if_match);
        assert_eq!(params.len(), expected, "{}", operation.operation_id);
        let responses = described["responses"].as_object().unwrap();
        let has_response = |status: &str| responses.contains_key(status);
        assert!(has_response("500") && has_response("504"), "{}", operation.operation_id);
        assert!(has_response("200") || has_response("204"), "{}", operation.operation_id);
        assert_eq!(has_response("401"), operation.required_permission.is_some());
        assert_eq!(has_response("404"), operation.path.contains('{'));
        assert_eq!(has_response("412"), operation.honours_if_match);
        assert_eq!(has_response("415"), described.get("requestBody").is_some());
    }
    assert!(
        document["paths"]["/access-tokens"]["post"]["responses"]["429"]["headers"]["Retry-After"].is_object()
    );
}

#[test]
fn every_reference_resolves_and_every_schema_is_used() {
    let document = build_document(&operations());
    let mut used = BTreeSet::new();
    visit_entries(&document, &mut |name, value| {
        if name == "$ref" {
            let pointer = value.as_str().unwrap().strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{pointer}");
            used.insert(pointer.to_owned());
        }
    });
    for name in document["components"]["schemas"].as_object().unwrap().keys() {
        assert!(used.contains(&format!("/components/schemas/{name}")), "{name} is used nowhere");
    }
    assert!(used.len() > 100, "{}", used.len());
}

#[test]
fn titled_responses_become_components_and_optional_bodies_are_not_required() {
    let mut operations = operations();
    let body = |document: &Value| document["paths"]["/blackouts"]["post"]["requestBody"]["required"].clone();
    let before = build_document(&operations);
    let content = &before["paths"]["/results"]["get"]["responses"]["200"]["content"]["application/json"];
    assert_eq!(content["schema"], json!({"$ref": "#/components/schemas/Shown"}));
    let schemas = &before["components"]["schemas"];
    assert_eq!(schemas["Shown"]["properties"]["a"], json!({"$ref": "#/components/schemas/Part"}));
    assert_eq!(schemas["Part"]["type"], "object");
    assert_eq!(body(&before), true);
    for operation in operations.iter_mut().filter(|operation| operation.path == "/blackouts") {
        operation.is_body_optional = true;
    }
    assert_eq!(body(&build_document(&operations)), false);
}

#[test]
fn objects_of_lists_are_complete_or_reduced_by_select() {
    let item = json!({"title": "Item", "type": "object", "properties": {"a": {}}, "required": ["a"]});
    let schema = crate::api::v3::response_schemas::list_schema("ItemList", item);
    let operation = Operation::new(OperationMethod::Get, "/items", "listItems", "results", "Items")
        .with_paging()
        .with_response(ResponseSpec::JsonSchema(schema));
    let document = build_document(&[operation]);
    let content = &document["paths"]["/items"]["get"]["responses"]["200"]["content"]["application/json"];
    assert_eq!(content["schema"], json!({"$ref": "#/components/schemas/ItemList"}));
    let items = &document["components"]["schemas"]["ItemList"]["properties"]["results"]["items"];
    assert_eq!(items["anyOf"][0], json!({"$ref": "#/components/schemas/Item"}));
    assert!(items["anyOf"][1].get("required").is_none(), "{items}");
}

#[test]
fn examples_contain_no_secret() {
    let document = build_document(&operations());
    visit_entries(&document, &mut |name, value| {
        if name == "example"
            && let Some(entries) = value.as_object()
        {
            for (field, value) in entries {
                if field.contains("password") || field.contains("key") {
                    assert_eq!(value, "not-a-real-one", "{field}");
                }
            }
        }
    });
}

#[test]
fn the_page_has_an_anchor_for_every_link_and_loads_nothing_external() {
    let operations = operations();
    let page = page::render_page(&operations, "");
    for operation in &operations {
        assert!(page.contains(&format!("id=\"{}\"", operation.operation_id)), "{}", operation.operation_id);
    }
    let mut links = 0;
    for link in page.split("href=\"#").skip(1) {
        let target = link.split('"').next().unwrap();
        assert!(page.contains(&format!("id=\"{target}\"")), "{target}");
        links += 1;
    }
    assert!(links > 150, "{links}");
    assert!(!page.contains("<script") && !page.contains("style=") && !page.contains("http://www"));
    assert!(page.contains("Remove &lt;one&gt;"), "text is escaped");
}

#[test]
fn a_search_shows_what_contains_it_and_its_links_lead_somewhere() {
    let operations = operations();
    let page = page::render_page(&operations, "blackout");
    assert!(page.contains("id=\"createBlackout\"") && page.contains("id=\"o-Blackout\""), "{page}");
    assert!(!page.contains("id=\"createUser\"") && !page.contains("id=\"o-User\""));
    for link in page.split("href=\"#").skip(1) {
        let target = link.split('"').next().unwrap();
        assert!(page.contains(&format!("id=\"{target}\"")), "{target}");
    }
    assert!(page::render_page(&operations, "no such thing").contains("0 calls and 0 objects"));
}

#[tokio::test]
async fn documents_have_an_etag_and_matching_requests_get_304() {
    let router = openapi_router(&operations());
    let get = |path: &str, tag: Option<&str>| {
        let mut request = Request::get(path);
        if let Some(tag) = tag {
            request = request.header(header::IF_NONE_MATCH, tag);
        }
        router.clone().oneshot(request.body(HttpBody::empty()).unwrap())
    };
    let paths_with_content_types = [
        ("/openapi.json", "application/json"),
        ("/", "text/html; charset=utf-8"),
        ("/docs", "text/html; charset=utf-8"),
        ("/docs.css", "text/css; charset=utf-8"),
    ];
    for (path, content_type) in paths_with_content_types {
        let first = get(path, None).await.unwrap();
        assert_eq!(
            (first.status().as_u16(), &first.headers()["content-type"]),
            (200, &content_type.parse().unwrap())
        );
        let tag = first.headers()["etag"].to_str().unwrap().to_owned();
        for cached_tag in [tag.clone(), format!("W/{tag}"), format!("\"x\", {tag}"), "*".to_owned()] {
            assert_eq!(get(path, Some(&cached_tag)).await.unwrap().status(), 304, "{path} {cached_tag}");
        }
        assert_eq!(get(path, Some("\"other\"")).await.unwrap().status(), 200);
    }
}
