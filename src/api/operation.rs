//! Describes a call of version 3: path, permission, request and response. Routes, authorization and the OpenAPI
//! document derive from it.

use std::fmt;

use axum::http::Method;
use axum::routing::MethodFilter;

use crate::domain::Permission;
use crate::schema::table::FieldTable;

/// Description of one call.
#[derive(Clone, Debug)]
pub struct Operation {
    /// HTTP method.
    pub method: OperationMethod,
    /// Path below the base, such as `/monitors/{id}`.
    pub path: &'static str,
    /// Stable `operationId`, such as `getMonitor`.
    pub operation_id: &'static str,
    /// Group in the document: `monitors`, `blackouts`, …
    pub tag: &'static str,
    /// One-line summary without a full stop.
    pub summary: &'static str,
    /// Permission that the caller's role must have; `None` for calls without a login.
    pub required_permission: Option<Permission>,
    /// Whether the call, which requires no login, does something else with one.
    pub accepts_login: bool,
    /// Path parameters; those not named here are ids.
    pub path_params: Vec<Param>,
    /// Query parameters.
    pub query_params: Vec<Param>,
    /// Request body.
    pub request_body: BodySpec,
    /// Whether the body may be omitted.
    pub is_body_optional: bool,
    /// Response on success.
    pub response: ResponseSpec,
    /// Statuses in addition to the usual ones, each with its condition. The usual ones are 400; 401 and 403 with a
    /// login; 404 with path parameters; 413 and 415 with a body; 412 with `If-Match`; 500, 503 and 504.
    pub additional_statuses: Vec<(u16, &'static str)>,
    /// Whether `If-Match` is honoured.
    pub honours_if_match: bool,
}

/// A method that an operation can have (RFC 9110, section 9; PATCH: RFC 5789).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationMethod {
    /// Returns something; also serves HEAD.
    Get,
    /// Creates or starts something.
    Post,
    /// Changes some fields.
    Patch,
    /// Removes something.
    Delete,
}

impl OperationMethod {
    /// Returns the name as it appears in a request.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// Returns the filter by which a router matches it.
    #[must_use]
    pub const fn to_method_filter(self) -> MethodFilter {
        match self {
            Self::Get => MethodFilter::GET,
            Self::Post => MethodFilter::POST,
            Self::Patch => MethodFilter::PATCH,
            Self::Delete => MethodFilter::DELETE,
        }
    }
}

impl fmt::Display for OperationMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<OperationMethod> for Method {
    fn from(method: OperationMethod) -> Self {
        match method {
            OperationMethod::Get => Self::GET,
            OperationMethod::Post => Self::POST,
            OperationMethod::Patch => Self::PATCH,
            OperationMethod::Delete => Self::DELETE,
        }
    }
}

/// A query or path parameter.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Name in the query or path.
    pub name: &'static str,
    /// Accepted values.
    pub param_type: ParamType,
    /// One-line description without a full stop.
    pub description: &'static str,
    /// Whether it is required.
    pub is_required: bool,
}

/// `select` of calls that return objects: which of their fields (behaviour.md 1).
pub(super) const SELECT_PARAM: Param = Param::new(
    "select",
    ParamType::Text,
    "Names of the fields to return, separated by commas; all when absent",
);

/// Accepted values of a parameter.
#[derive(Clone, Copy, Debug)]
pub enum ParamType {
    /// Any string.
    Text,
    /// A whole number with this minimum.
    Int(i64),
    /// A whole number or a comma-separated list of them.
    IdList,
    /// One of these names.
    Choice(&'static [&'static str]),
    /// One of these names or a comma-separated list of them.
    ChoiceList(&'static [&'static str]),
    /// A time: RFC 3339, or without zone in the time zone of the account.
    Time,
    /// A name and a value of a custom property, such as `team:a`; may be given several times.
    PropertyValues,
    /// A string that matches this regular expression (ECMA 262).
    Pattern(&'static str),
}

/// Request body of a call.
#[derive(Clone, Copy, Debug)]
pub enum BodySpec {
    /// No body.
    None,
    /// An object with all required fields of this table.
    Create(&'static FieldTable),
    /// An object with all required fields of one of these tables.
    CreateOneOf(&'static [&'static FieldTable]),
    /// An object with any fields of this table.
    Patch(&'static FieldTable),
    /// A body that this JSON schema describes.
    JsonSchema(fn() -> serde_json::Value),
}

/// Response of a successful call.
#[derive(Clone, Debug)]
pub enum ResponseSpec {
    /// 200 `{"id":"…"}` with warnings if any.
    SavedId {
        /// Fields that no other response contains, such as a generated password.
        create_response_fields: Option<&'static FieldTable>,
    },
    /// 200 and an object of this table.
    Object(&'static FieldTable),
    /// 201 and a new object of this table.
    Created(&'static FieldTable),
    /// 200 and an object of one of these tables.
    ObjectOneOf(Vec<&'static FieldTable>),
    /// 200 and a list (behaviour.md 1 "Lists") of objects of one of these tables.
    List(Vec<&'static FieldTable>),
    /// 200 and a body that this JSON schema describes. Each object in it that has a `title` becomes a component of
    /// that name.
    JsonSchema(serde_json::Value),
    /// 200 and a file.
    File,
    /// 204 without a body.
    NoContent,
}

impl Operation {
    /// Creates a call without parameters or body, with an empty response.
    #[must_use]
    pub fn new(
        method: OperationMethod,
        path: &'static str,
        operation_id: &'static str,
        tag: &'static str,
        summary: &'static str,
    ) -> Self {
        Self {
            method,
            path,
            operation_id,
            tag,
            summary,
            required_permission: Some(Permission::View),
            accepts_login: false,
            path_params: Vec::new(),
            query_params: Vec::new(),
            request_body: BodySpec::None,
            is_body_optional: false,
            response: ResponseSpec::NoContent,
            additional_statuses: Vec::new(),
            honours_if_match: false,
        }
    }

    /// Requires `required_permission`; `None` for calls without a login.
    #[must_use]
    pub fn with_permission(mut self, required_permission: Option<Permission>) -> Self {
        self.required_permission = required_permission;
        self
    }

    /// Requires no login, but accepts one, which makes the call do something else.
    #[must_use]
    pub fn with_optional_login(mut self) -> Self {
        (self.required_permission, self.accepts_login) = (None, true);
        self
    }

    /// Adds a path parameter that is not a numeric id, such as a `{name}` or the `{id}` of a result.
    #[must_use]
    pub fn with_path_param(mut self, param: Param) -> Self {
        self.path_params.push(param.required());
        self
    }

    /// Adds query parameters.
    #[must_use]
    pub fn with_query_params(mut self, params: &[Param]) -> Self {
        self.query_params.extend_from_slice(params);
        self
    }

    /// Makes the call a list: adds `limit`, `offset` and `select`.
    #[must_use]
    pub fn with_paging(self) -> Self {
        self.with_query_params(&[
            Param::new("limit", ParamType::Int(0), "Most entries to return; all when absent"),
            Param::new("offset", ParamType::Int(0), "Entries to skip at the start"),
            SELECT_PARAM,
        ])
    }

    /// Sets the body.
    #[must_use]
    pub fn with_body(mut self, body: BodySpec) -> Self {
        self.request_body = body;
        self
    }

    /// Makes the body optional.
    #[must_use]
    pub fn with_optional_body(mut self) -> Self {
        self.is_body_optional = true;
        self
    }

    /// Sets the response.
    #[must_use]
    pub fn with_response(mut self, response: ResponseSpec) -> Self {
        self.response = response;
        self
    }

    /// Adds a status beside the usual ones.
    #[must_use]
    pub fn with_additional_status(mut self, status: u16, condition: &'static str) -> Self {
        self.additional_statuses.push((status, condition));
        self
    }

    /// Makes the call honour `If-Match`.
    #[must_use]
    pub fn with_if_match(mut self) -> Self {
        self.honours_if_match = true;
        self
    }

    /// Whether it returns one object whose fields callers can select (`select`).
    #[must_use]
    pub fn returns_single_object(&self) -> bool {
        self.method == OperationMethod::Get
            && match self.response {
                ResponseSpec::Object(_) | ResponseSpec::ObjectOneOf(_) => true,
                // Only paths that end in an id: reports have no fields to select.
                ResponseSpec::JsonSchema(_) => self.path.ends_with('}'),
                ResponseSpec::SavedId { .. }
                | ResponseSpec::Created(_)
                | ResponseSpec::List(_)
                | ResponseSpec::File
                | ResponseSpec::NoContent => false,
            }
    }

    /// Returns the names of its query parameters, as the query reader needs them.
    #[must_use]
    pub fn query_param_names(&self) -> Vec<&'static str> {
        self.query_params.iter().map(|param| param.name).collect()
    }
}

impl Param {
    /// Creates an optional parameter.
    #[must_use]
    pub const fn new(name: &'static str, param_type: ParamType, description: &'static str) -> Self {
        Self { name, param_type, description, is_required: false }
    }

    /// Makes the parameter required.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.is_required = true;
        self
    }
}
