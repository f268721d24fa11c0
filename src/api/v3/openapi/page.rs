//! The API reference: one HTML document rendered on the server, without scripts.

use std::fmt::Write as _;

use serde_json::Value;

use super::html::{escape, render_path, render_table, render_with_code};
use super::{document, parameters, responses, search};
use crate::api::operation::{BodySpec, Operation, ResponseSpec};
use crate::domain::MonitorType;
use crate::schema::field::{Access, Field, FieldType};
use crate::schema::json_schema::{create_example, describe_type, patch_example, sub_objects};
use crate::schema::table::{FieldTable, shared};

/// Renders the page of `operations`, or of what matches `search` among them; empty for all.
pub(super) fn render_page(operations: &[Operation], search: &str) -> String {
    let mut tables = collect_tables(operations);
    let found: Vec<Operation>;
    let operations = if search.is_empty() {
        operations
    } else {
        tables.retain(|table| search::table_matches(table, search));
        found = operations
            .iter()
            .filter(|operation| search::operation_matches(operation, search))
            .cloned()
            .collect();
        &found
    };
    let tags = document::tag_names(operations);
    let search_form = search::render_form(search, operations.len(), tables.len());
    let version = env!("CARGO_PKG_VERSION");
    let mut contents_html = String::new();
    let mut main_html = render_heading();
    main_html.push_str(&search_form);
    if search.is_empty() {
        main_html.push_str(&render_intro());
    }
    for tag in tags {
        let tag_operations: Vec<&Operation> =
            operations.iter().filter(|operation| operation.tag == tag).collect();
        let title = tag_title(tag);
        let title = escape(&title);
        let _ = write!(
            contents_html,
            "<details><summary>{title}</summary><a class=\"to\" href=\"#{tag}\">all of it</a>"
        );
        let _ = writeln!(main_html, "<h2 id=\"{tag}\">{title}</h2>");
        for operation in tag_operations {
            let _ = write!(
                contents_html,
                "<a class=\"to\" href=\"#{}\">{}</a>",
                operation.operation_id,
                render_with_code(operation.summary)
            );
            main_html.push_str(&render_operation(operation));
        }
        contents_html.push_str("</details>\n");
    }
    contents_html
        .push_str("<details><summary>Objects</summary><a class=\"to\" href=\"#objects\">all of them</a>");
    main_html.push_str("<h2 id=\"objects\">Objects</h2>\n");
    main_html.push_str(FIELD_LEGEND);
    if tables.iter().any(|table| is_monitor_table(table)) {
        contents_html.push_str("<a class=\"to\" href=\"#monitor\">every monitor</a>");
        main_html.push_str(&render_shared_fields());
    }
    for table in tables {
        let name = escape(table.name);
        let _ = write!(contents_html, "<a class=\"to\" href=\"#o-{name}\">{name}</a>");
        main_html.push_str(&render_object_section(table));
    }
    contents_html.push_str("</details>\n");
    if !search.is_empty() {
        // What is not among the matches is on the whole page.
        for anchor in ["href=\"#o-", "href=\"#monitor"] {
            main_html = main_html.replace(anchor, &anchor.replace('#', "/api/v3/docs#"));
        }
    }
    format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Version 3 API · Vigie</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/style.css">
<link rel="stylesheet" href="/api/v3/docs.css">
</head>
<body class="docs">
<header><a class="brand" href="/"><img src="/icon.svg" alt="" width="26" height="26">Vigie</a></header>
<div class="columns">
<nav class="contents" aria-label="Contents">
{contents_html}</nav>
<main>
{main_html}</main>
</div>
<footer>Vigie {version} · <a href="/api/v3/openapi.json">OpenAPI 3.1 document</a> · <a href="/">monitors</a></footer>
</body>
</html>
"#
    )
}

const FIELD_LEGEND: &str = "<p class=\"soft\"><span class=\"mark\">required</span> on create · \
    <span class=\"mark quiet\">read-only</span> set by Vigie, ignored in bodies · \
    <span class=\"mark quiet\">secret</span> shown as <code>********</code> · \
    <span class=\"mark quiet\">x</span> extension of Vigie, beyond the interface that it implements</p>\n";

fn render_heading() -> String {
    "<h1>Version 3 API <small>base <code>/api/v3</code> · <a href=\"/api/v3/openapi.json\">OpenAPI 3.1 document</a></small></h1>\n"
        .to_owned()
}

fn render_intro() -> String {
    let login_command = "curl -s -H 'Content-Type: application/json' \\\n  \
                 -d '{\"username\":\"anna\",\"password\":\"…\"}' http://localhost:7979/api/v3/access-tokens";
    let list_command =
        "curl -s -H \"Authorization: Bearer $TOKEN\" http://localhost:7979/api/v3/monitors?limit=10";
    let notes = [
        "Bodies are JSON, with `Content-Type: application/json`. Read-only fields may be present in a body and are \
         ignored there; unknown fields are rejected.",
        "A bad request lists every error: `{\"errors\":[{\"code\":400,\"message\":\"…\"}]}`.",
        "Lists take `limit` and `offset`; without them they return everything.",
        "PATCH changes only the fields it contains; a list replaces the whole list, `null` removes a value.",
        "One object comes with an `ETag`; sent back as `If-Match`, it prevents two users from overwriting each other's changes.",
        "Secrets are shown as `********`; sending that back leaves the value as it is.",
    ];
    let notes: String = notes
        .iter()
        .flat_map(|note| ["<li>".to_owned(), render_with_code(note), "</li>\n".to_owned()])
        .collect();
    format!(
        "<div class=\"notice\"><p>Log in, then send the token with every call. It is valid for an hour.</p>\
         <pre>{}\n{}</pre><ul>\n{notes}</ul></div>\n",
        escape(login_command),
        escape(list_command)
    )
}

/// Converts `site-status` to `Site status`.
fn tag_title(tag: &str) -> String {
    let mut chars = tag.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}", chars.as_str().replace('-', " "))
}

/// Renders one call as a foldable section, headed by method, path and summary.
fn render_operation(operation: &Operation) -> String {
    let method = operation.method.as_str();
    let mut out = format!(
        "<details class=\"call\" id=\"{}\"><summary><b class=\"method m-{}\">{method}</b> <code>{}</code> <span>{}</span></summary>\n",
        operation.operation_id,
        method.to_ascii_lowercase(),
        render_path(operation.path),
        render_with_code(operation.summary)
    );
    let _ = writeln!(
        out,
        "<p class=\"soft\">{}</p>",
        render_with_code(&document::describe_access(operation.required_permission))
    );
    out.push_str(&render_parameters(operation));
    out.push_str(&render_request_body(operation.request_body));
    out.push_str(&render_responses(operation));
    out.push_str("</details>\n");
    out
}

fn render_parameters(operation: &Operation) -> String {
    let mut rows = Vec::new();
    for name in parameters::path_param_names(operation.path) {
        let param = operation.path_params.iter().find(|param| param.name == name);
        let (value, description) = match param {
            Some(param) => (parameters::describe_accepted_values(param.param_type), param.description),
            None => ("an id".to_owned(), "Its id"),
        };
        rows.push(parameter_row(&format!("`{name}`"), "path", &value, description));
    }
    for param in &operation.query_params {
        let location = if param.is_required { "query, required" } else { "query" };
        rows.push(parameter_row(
            &format!("`{}`", param.name),
            location,
            &parameters::describe_accepted_values(param.param_type),
            param.description,
        ));
    }
    if operation.honours_if_match {
        rows.push(parameter_row("`If-Match`", "header", "an `ETag`", "Change only this revision"));
    }
    if rows.is_empty() {
        return String::new();
    }
    format!("<h3>Parameters</h3>\n{}", render_table(&["Name", "In", "Value", "What"], &rows))
}

fn parameter_row(name: &str, location: &str, value: &str, description: &str) -> Vec<String> {
    [name, location, value, description].map(render_with_code).to_vec()
}

fn render_request_body(body: BodySpec) -> String {
    let (text, example) = match body {
        BodySpec::None => return String::new(),
        BodySpec::Create(table) => {
            (format!("{}, with its required fields", table_link(table)), create_example(table))
        }
        BodySpec::CreateOneOf(tables) => {
            let links: Vec<_> = tables.iter().map(|table| table_link(table)).collect();
            let example = tables.first().map(|table| create_example(table)).unwrap_or_default();
            (format!("{}, with its required fields", links.join(" or ")), example)
        }
        BodySpec::Patch(table) => (format!("Any fields of {}", table_link(table)), patch_example(table)),
        BodySpec::JsonSchema(schema) => ("As described by this JSON schema".to_owned(), schema()),
    };
    let example = serde_json::to_string_pretty(&example).unwrap_or_default();
    format!("<h3>Body</h3>\n<p>{text}</p>\n<pre>{}</pre>\n", escape(&example))
}

fn render_responses(operation: &Operation) -> String {
    let mut rows = vec![vec![status_badge(operation.response.status()), render_success_response(operation)]];
    let failures = responses::failure_statuses(operation);
    rows.extend(
        failures.into_iter().map(|(status, when)| vec![status_badge(status), render_with_code(when)]),
    );
    let html = format!("<h3>Responses</h3>\n{}", render_table(&["Status", "When"], &rows));
    let ResponseSpec::JsonSchema(schema) = &operation.response else { return html };
    format!("{html}<h3>Response fields</h3>\n{}", render_response_fields(schema))
}

/// Renders the fields of a response described by a JSON schema; for a list, those of its items.
fn render_response_fields(schema: &Value) -> String {
    let item_schema = &schema["properties"]["results"]["items"];
    let object_schema = if item_schema["properties"].is_object() { item_schema } else { schema };
    let describe_value = |property: &Value| match (&property["enum"], &property["type"]) {
        (Value::Array(names), _) => {
            let names: Vec<_> = names.iter().map(|name| format!("`{}`", json_as_text(name))).collect();
            format!("one of {}", names.join(", "))
        }
        (_, Value::Array(kinds)) => kinds.iter().map(json_as_text).collect::<Vec<_>>().join(" or "),
        (_, kind) => json_as_text(kind),
    };
    let to_row = |(name, property): (&String, &Value)| {
        let description = property["description"].as_str().unwrap_or_default();
        vec![
            format!("<code>{}</code>", escape(name)),
            render_with_code(&describe_value(property)),
            render_with_code(description),
        ]
    };
    let rows: Vec<_> = object_schema["properties"].as_object().into_iter().flatten().map(to_row).collect();
    if rows.is_empty() { String::new() } else { render_table(&["Field", "Value", "What"], &rows) }
}

fn json_as_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned).replace("null", "nothing")
}

fn render_success_response(operation: &Operation) -> String {
    let table_links = |tables: &[&'static FieldTable]| match tables {
        tables if tables.len() > 3 && tables.iter().all(|table| is_monitor_table(table)) => {
            "<a href=\"#monitor\">monitor</a> with the fields of its type".to_owned()
        }
        tables => tables.iter().map(|table| table_link(table)).collect::<Vec<_>>().join(" or "),
    };
    match &operation.response {
        ResponseSpec::Object(table) | ResponseSpec::Created(table) => table_link(table),
        ResponseSpec::ObjectOneOf(tables) => table_links(tables),
        ResponseSpec::List(tables) => format!("A list of {}", table_links(tables)),
        ResponseSpec::SavedId { create_response_fields } => {
            let additional_fields = create_response_fields
                .map(|table| format!(", with {}", render_with_code(table.description)))
                .unwrap_or_default();
            format!(
                "{}{additional_fields}",
                render_with_code("`{\"id\":\"…\"}`, with `warnings` when there are any")
            )
        }
        other => render_with_code(other.description()),
    }
}

fn status_badge(status: u16) -> String {
    let severity = if status < 300 {
        "ok"
    } else if status < 500 {
        "warning"
    } else {
        "error"
    };
    format!("<span class=\"pill s-{severity}\">{status}</span>")
}

fn table_link(table: &FieldTable) -> String {
    let name = escape(table.name);
    format!("<a href=\"#o-{name}\">{name}</a>")
}

fn is_monitor_table(table: &FieldTable) -> bool {
    MonitorType::from_name(table.name).is_some()
}

/// Returns every table that a call takes or returns, with the tables nested in it, each once.
fn collect_tables(operations: &[Operation]) -> Vec<&'static FieldTable> {
    fn add_table(table: &'static FieldTable, tables: &mut Vec<&'static FieldTable>) {
        if !tables.iter().any(|known| known.name == table.name) {
            tables.push(table);
            for sub_table in sub_objects(table) {
                add_table(sub_table, tables);
            }
        }
    }
    let mut tables = Vec::new();
    for operation in operations {
        match operation.request_body {
            BodySpec::Create(table) | BodySpec::Patch(table) => add_table(table, &mut tables),
            BodySpec::CreateOneOf(request_tables) => {
                for table in request_tables {
                    add_table(table, &mut tables);
                }
            }
            BodySpec::None | BodySpec::JsonSchema(_) => {}
        }
        for table in operation.response.field_tables() {
            add_table(table, &mut tables);
        }
    }
    // Monitor types come first; the others keep their order.
    tables.sort_by_key(|table| !is_monitor_table(table));
    tables
}

/// Renders the fields that every type has, once instead of with each type.
fn render_shared_fields() -> String {
    let fields = [shared::IDENTITY_FIELDS, shared::SCHEDULE_FIELDS, shared::READ_ONLY_FIELDS];
    let rows: Vec<_> = fields.into_iter().flatten().map(field_row).collect();
    render_object(
        "monitor",
        "Every monitor",
        "Fields of every type",
        &render_table(FIELD_COLUMN_NAMES, &rows),
    )
}

const FIELD_COLUMN_NAMES: &[&str] = &["Field", "Value", "Default", "What"];

fn render_object_section(table: &'static FieldTable) -> String {
    // Types that override a shared field describe it differently.
    let is_shared = |field: &&&'static Field| {
        let shared_groups = [shared::IDENTITY_FIELDS, shared::SCHEDULE_FIELDS, shared::READ_ONLY_FIELDS];
        let is_same_field =
            |shared: &Field| (shared.name, shared.description) == (field.name, field.description);
        is_monitor_table(table)
            && shared_groups
                .into_iter()
                .flatten()
                .any(|shared| is_same_field(shared) && shared.default == field.default)
    };
    let rows: Vec<_> =
        table.fields().iter().filter(|field| !is_shared(field)).map(|field| field_row(field)).collect();
    let (name, description) = (escape(table.name), render_with_code(table.description));
    let shared_link = if is_monitor_table(table) {
        "<a href=\"#monitor\">The fields of every monitor</a>, and:"
    } else {
        ""
    };
    let content = format!("<p>{shared_link}</p>\n{}", render_table(FIELD_COLUMN_NAMES, &rows));
    render_object(&format!("o-{name}"), &name, &description, &content)
}

/// Renders a folded object. Browsers unfold it when a link leads to its content.
fn render_object(id: &str, name: &str, description: &str, content: &str) -> String {
    format!(
        "<details class=\"call\"><summary><code>{name}</code> <span>{description}</span></summary>\n\
         <div id=\"{id}\">{content}</div></details>\n"
    )
}

fn field_row(field: &Field) -> Vec<String> {
    let mut name = format!("<code>{}</code>", escape(field.name));
    let badge = |badge_text: &str, class_suffix: &str| {
        format!(" <span class=\"mark{class_suffix}\">{badge_text}</span>")
    };
    if field.required && field.access == Access::ReadWrite {
        name.push_str(&badge("required", ""));
    }
    if field.access != Access::ReadWrite {
        name.push_str(&badge("read-only", " quiet"));
    }
    if field.secret {
        name.push_str(&badge("secret", " quiet"));
    }
    if field.extension {
        name.push_str(&badge("x", " quiet"));
    }
    let value = match field.field_type {
        FieldType::Object(table) => table_link(table),
        FieldType::List { item_type: FieldType::Object(table), max, .. } => {
            format!("list of {}, at most {max}", table_link(table))
        }
        ref kind => render_with_code(&describe_type(kind)),
    };
    let default = match field.default_value() {
        Some(Value::Object(_)) => "its defaults".to_owned(),
        Some(default) => format!("<code>{}</code>", escape(&default.to_string())),
        None => String::new(),
    };
    vec![name, value, default, render_with_code(field.description)]
}
