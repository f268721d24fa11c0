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
    pub method: Verb,
    /// Path below the base, such as `/monitors/{id}`.
    pub path: &'static str,
    /// Stable `operationId`, such as `getMonitor`.
    pub id: &'static str,
    /// Group in the document: `monitors`, `blackouts`, …
    pub tag: &'static str,
    /// One-line summary without a full stop.
    pub summary: &'static str,
    /// Permission that the caller's role must have; `None` for calls without a login.
    pub right: Option<Permission>,
    /// Path parameters; those not named here are ids.
    pub path_params: Vec<Param>,
    /// Query parameters.
    pub query: Vec<Param>,
    /// Request body.
    pub body: BodySpec,
    /// Whether the body may be omitted.
    pub is_body_optional: bool,
    /// Response on success.
    pub response: ResponseSpec,
    /// Statuses in addition to the usual ones, each with its condition. The usual ones are 400; 401 and 403 with a
    /// login; 404 with path parameters; 413 and 415 with a body; 412 with `If-Match`; 500, 503 and 504.
    pub extra_statuses: Vec<(u16, &'static str)>,
    /// Whether `If-Match` is honoured.
    pub if_match: bool,
}

/// A method that an operation can have (RFC 9110, section 9; PATCH: RFC 5789).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Returns something; also serves HEAD.
    Get,
    /// Creates or starts something.
    Post,
    /// Changes some fields.
    Patch,
    /// Removes something.
    Delete,
}

impl Verb {
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

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<Verb> for Method {
    fn from(verb: Verb) -> Self {
        match verb {
            Verb::Get => Self::GET,
            Verb::Post => Self::POST,
            Verb::Patch => Self::PATCH,
            Verb::Delete => Self::DELETE,
        }
    }
}

/// A query or path parameter.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Name in the query or path.
    pub name: &'static str,
    /// Accepted values.
    pub kind: ParamKind,
    /// One-line description without a full stop.
    pub about: &'static str,
    /// Whether it is required.
    pub required: bool,
}

/// Accepted values of a parameter.
#[derive(Clone, Copy, Debug)]
pub enum ParamKind {
    /// Any string.
    Text,
    /// A whole number with this minimum.
    Int(i64),
    /// A whole number or a comma-separated list of them.
    Ids,
    /// One of these names.
    Choice(&'static [&'static str]),
    /// One of these names or a comma-separated list of them.
    Choices(&'static [&'static str]),
    /// A time: RFC 3339, or without zone in the time zone of the account.
    Time,
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
    /// An object with any fields of this table.
    Patch(&'static FieldTable),
    /// A body that this JSON schema describes.
    Schema(fn() -> serde_json::Value),
}

/// Response of a successful call.
#[derive(Clone, Debug)]
pub enum ResponseSpec {
    /// 200 `{"id":"…"}` with warnings if any, and the fields of the table, which no other response contains.
    Saved(Option<&'static FieldTable>),
    /// 200 and an object of this table.
    One(&'static FieldTable),
    /// 200 and an object of one of these tables.
    OneOf(Vec<&'static FieldTable>),
    /// 200 and a list (behaviour.md 1 "Lists") of objects of one of these tables.
    List(Vec<&'static FieldTable>),
    /// 200 and a body that this JSON schema describes. Each object in it that has a `title` becomes a component of
    /// that name.
    Schema(serde_json::Value),
    /// 200 and a file.
    File,
    /// 204 without a body.
    Empty,
}

impl Operation {
    /// Creates a call without parameters or body, with an empty response.
    #[must_use]
    pub fn new(
        method: Verb,
        path: &'static str,
        id: &'static str,
        tag: &'static str,
        about: &'static str,
    ) -> Self {
        Self {
            method,
            path,
            id,
            tag,
            summary: about,
            right: Some(Permission::View),
            path_params: Vec::new(),
            query: Vec::new(),
            body: BodySpec::None,
            is_body_optional: false,
            response: ResponseSpec::Empty,
            extra_statuses: Vec::new(),
            if_match: false,
        }
    }

    /// Requires `right`; `None` for calls without a login.
    #[must_use]
    pub fn with_right(mut self, right: Option<Permission>) -> Self {
        self.right = right;
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
    pub fn with_query(mut self, query: &[Param]) -> Self {
        self.query.extend_from_slice(query);
        self
    }

    /// Adds `limit` and `offset`.
    #[must_use]
    pub fn with_paging(self) -> Self {
        self.with_query(&[
            Param::new("limit", ParamKind::Int(0), "Most entries to return; all when absent"),
            Param::new("offset", ParamKind::Int(0), "Entries to skip at the start"),
        ])
    }

    /// Sets the body.
    #[must_use]
    pub fn with_body(mut self, body: BodySpec) -> Self {
        self.body = body;
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
    pub fn with_status(mut self, status: u16, when: &'static str) -> Self {
        self.extra_statuses.push((status, when));
        self
    }

    /// Makes the call honour `If-Match`.
    #[must_use]
    pub fn with_if_match(mut self) -> Self {
        self.if_match = true;
        self
    }

    /// Whether it returns one object whose fields callers can select (`select`).
    #[must_use]
    pub fn returns_one(&self) -> bool {
        self.method == Verb::Get
            && match self.response {
                ResponseSpec::One(_) | ResponseSpec::OneOf(_) => true,
                // Only paths that end in an id: reports have no fields to select.
                ResponseSpec::Schema(_) => self.path.ends_with('}'),
                ResponseSpec::Saved(_) | ResponseSpec::List(_) | ResponseSpec::File | ResponseSpec::Empty => {
                    false
                }
            }
    }

    /// Returns the names of its query parameters, as the query reader needs them.
    #[must_use]
    pub fn query_names(&self) -> Vec<&'static str> {
        self.query.iter().map(|param| param.name).collect()
    }
}

impl Param {
    /// Creates an optional parameter.
    #[must_use]
    pub const fn new(name: &'static str, kind: ParamKind, about: &'static str) -> Self {
        Self { name, kind, about, required: false }
    }

    /// Makes the parameter required.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }
}
