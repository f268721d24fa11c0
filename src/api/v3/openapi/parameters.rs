//! Parameters of paths and queries, and `If-Match`.

use serde_json::{Value, json};

use crate::api::operation::{Operation, Param, ParamType};

/// Pattern of a time with zone (RFC 3339) or without one.
const TIME_PATTERN: &str =
    "^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?([Zz]|[+-][0-9]{2}:?[0-9]{2})?$";

/// Returns every parameter of `operation`.
pub(super) fn describe_parameters(operation: &Operation) -> Vec<Value> {
    let path_params = path_param_names(operation.path).map(|name| {
        if let Some(param) = find_param(&operation.path_params, name) {
            return describe_parameter("path", *param);
        }
        let description = if name == "id" { "Its id" } else { "An id" };
        let schema = json!({"type": "integer", "minimum": 1, "maximum": i64::MAX});
        json!({"name": name, "in": "path", "required": true, "description": description, "schema": schema})
    });
    let query_params = operation.query_params.iter().map(|param| describe_parameter("query", *param));
    let if_match = operation.honours_if_match.then(|| json!({"$ref": "#/components/parameters/IfMatch"}));
    path_params.chain(query_params).chain(if_match).collect()
}

/// Describes the `If-Match` header, for the components.
pub(super) fn if_match_component() -> Value {
    json!({
        "name": "If-Match",
        "in": "header",
        "description": "The `ETag` of the object as read. If the object has changed since, the call fails with 412. \
                        Without it, or with `*`, the current revision is changed",
        "schema": {"type": "string"},
    })
}

/// Returns the names of the parameters in `path`.
pub(super) fn path_param_names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

fn find_param<'a>(params: &'a [Param], name: &str) -> Option<&'a Param> {
    params.iter().find(|param| param.name == name)
}

fn describe_parameter(location: &str, param: Param) -> Value {
    let required = param.is_required || location == "path";
    json!({
        "name": param.name,
        "in": location,
        "required": required,
        "description": param.description,
        "schema": param_schema(param.param_type),
    })
}

fn param_schema(param_type: ParamType) -> Value {
    match param_type {
        ParamType::Text => json!({"type": "string"}),
        ParamType::Int(min) => json!({"type": "integer", "minimum": min, "maximum": i64::MAX}),
        ParamType::IdList => json!({"type": "string", "pattern": list_pattern("[0-9]{1,18}")}),
        ParamType::Choice(names) => json!({"type": "string", "enum": names}),
        ParamType::ChoiceList(names) => json!({"type": "string", "pattern": list_pattern(&names.join("|"))}),
        ParamType::Time => json!({"type": "string", "pattern": TIME_PATTERN, "format": "moment"}),
        ParamType::PropertyValues => {
            json!({"type": "array", "maxItems": 20, "items": {"type": "string", "pattern": "^[^:]+:"}})
        }
        ParamType::Pattern(pattern) => json!({"type": "string", "pattern": pattern}),
    }
}

/// Returns the pattern of one or several values separated by commas.
fn list_pattern(item_pattern: &str) -> String {
    format!("^ *({item_pattern}) *(, *({item_pattern}) *)*$")
}

/// Describes for people which values `param_type` accepts.
pub(super) fn describe_accepted_values(param_type: ParamType) -> String {
    let quote_names =
        |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match param_type {
        ParamType::Text => "text".to_owned(),
        ParamType::Int(min) => format!("a whole number from {min}"),
        ParamType::IdList => "an id or a comma list of ids".to_owned(),
        ParamType::Choice(names) => format!("one of {}", quote_names(names)),
        ParamType::ChoiceList(names) => format!("one or several of {}", quote_names(names)),
        ParamType::Time => "a time such as `2026-11-20T12:00:00Z`, or `2026-11-20 12:00:00`".to_owned(),
        ParamType::PropertyValues => {
            "a name and a value, such as `team:a`; several are all required".to_owned()
        }
        ParamType::Pattern(pattern) => format!("text that fits `{pattern}`"),
    }
}
