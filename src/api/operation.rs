//! What one call of version 3 is: its path, who may make it, what goes in and comes out. Routes, permissions
//! and the OpenAPI document derive from it.

use std::fmt;

use axum::http::Method;
use axum::routing::MethodFilter;

use crate::domain::Permission;
use crate::schema::table::FieldTable;

/// One call.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Its method.
    pub method: Verb,
    /// Its path below the base, such as `/monitors/{id}`.
    pub path: &'static str,
    /// Stable name, such as `getMonitor`.
    pub id: &'static str,
    /// Group in the document: `monitors`, `blackouts`, …
    pub tag: &'static str,
    /// One line without a full stop.
    pub summary: &'static str,
    /// What the caller's role must permit; `None` for calls without a login.
    pub right: Option<Permission>,
    /// Parameters of the path; those not named here are ids.
    pub path_params: Vec<Param>,
    /// Query parameters.
    pub query: Vec<Param>,
    /// What goes in.
    pub body: BodySpec,
    /// Whether the body may be left out.
    pub is_body_optional: bool,
    /// What comes out when it succeeds.
    pub response: ResponseSpec,
    /// Statuses beside the usual ones: (status, when). Usual are: 400 when something goes in or there are
    /// query parameters, 401 and 403 with a login, 404 for paths with an id, 413 and 415 with a body, 412 where
    /// `If-Match` is taken, 500, 503, 504.
    pub extra_statuses: Vec<(u16, &'static str)>,
    /// Whether `If-Match` is honoured.
    pub if_match: bool,
}

/// A method that an operation can have (RFC 9110, section 9; PATCH: RFC 5789).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Shows something; answers HEAD too.
    Get,
    /// Makes or starts something.
    Post,
    /// Changes some fields.
    Patch,
    /// Removes something.
    Delete,
}

impl Verb {
    /// As it stands in a request.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// What a router matches it by.
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

/// A query parameter.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub kind: ParamKind,
    /// One line without a full stop.
    pub about: &'static str,
    /// Whether it has to be there.
    pub required: bool,
}

/// What a query parameter takes.
#[derive(Clone, Copy, Debug)]
pub enum ParamKind {
    /// Any text.
    Text,
    /// A whole number from this on.
    Int(i64),
    /// A whole number or a comma list of them.
    Ids,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// One of these words or a comma list of them.
    Choices(&'static [&'static str]),
    /// A time: RFC 3339, or without zone in that of the account.
    Time,
    /// A text that fits this regular expression (ECMA 262).
    Pattern(&'static str),
}

/// What goes in.
#[derive(Clone, Copy, Debug)]
pub enum BodySpec {
    /// Nothing.
    None,
    /// All required fields of this table.
    Create(&'static FieldTable),
    /// Any fields of this table.
    Patch(&'static FieldTable),
    /// What this JSON schema describes.
    Schema(fn() -> serde_json::Value),
}

/// What comes out when it succeeds.
#[derive(Clone, Debug)]
pub enum ResponseSpec {
    /// 200 `{"id":"…"}`, with warnings when there are any; further fields of this table when one is named.
    Saved(Option<&'static FieldTable>),
    /// 200 and an object of this table.
    One(&'static FieldTable),
    /// 200 and an object of one of these tables.
    OneOf(Vec<&'static FieldTable>),
    /// 200 and a list (behaviour.md 1 "Lists") of objects of one of these tables.
    List(Vec<&'static FieldTable>),
    /// 200 and what this JSON schema describes. Each object in it that has a `title` becomes a component of
    /// that name.
    Schema(serde_json::Value),
    /// 200 and a file.
    File,
    /// 204, nothing.
    Empty,
}

impl Operation {
    /// A call without parameters or a body, which answers nothing.
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

    /// Open to roles with `right`; `None` for calls without a login.
    #[must_use]
    pub fn with_right(mut self, right: Option<Permission>) -> Self {
        self.right = right;
        self
    }

    /// With this parameter of the path, which is no id: `{name}` that holds a word, `{id}` of a result.
    #[must_use]
    pub fn with_path_param(mut self, param: Param) -> Self {
        self.path_params.push(param.required());
        self
    }

    /// With these query parameters.
    #[must_use]
    pub fn with_query(mut self, query: &[Param]) -> Self {
        self.query.extend_from_slice(query);
        self
    }

    /// With `limit` and `offset`.
    #[must_use]
    pub fn with_paging(self) -> Self {
        self.with_query(&[
            Param::new("limit", ParamKind::Int(0), "Entries at most; all when absent"),
            Param::new("offset", ParamKind::Int(0), "Entries to leave out at the start"),
        ])
    }

    /// With this body.
    #[must_use]
    pub fn with_body(mut self, body: BodySpec) -> Self {
        self.body = body;
        self
    }

    /// Its body may be left out.
    #[must_use]
    pub fn with_optional_body(mut self) -> Self {
        self.is_body_optional = true;
        self
    }

    /// With this answer.
    #[must_use]
    pub fn with_response(mut self, answer: ResponseSpec) -> Self {
        self.response = answer;
        self
    }

    /// With a further status.
    #[must_use]
    pub fn with_status(mut self, status: u16, when: &'static str) -> Self {
        self.extra_statuses.push((status, when));
        self
    }

    /// Honours `If-Match`.
    #[must_use]
    pub fn with_if_match(mut self) -> Self {
        self.if_match = true;
        self
    }

    /// Whether it shows one object, of which callers may choose fields (`select`).
    #[must_use]
    pub fn returns_one(&self) -> bool {
        self.method == Verb::Get
            && match self.response {
                ResponseSpec::One(_) | ResponseSpec::OneOf(_) => true,
                // Of the others those that are found by their number: reports are no objects with fields.
                ResponseSpec::Schema(_) => self.path.ends_with('}'),
                ResponseSpec::Saved(_) | ResponseSpec::List(_) | ResponseSpec::File | ResponseSpec::Empty => {
                    false
                }
            }
    }

    /// The names of its query parameters, as reading a query wants them.
    #[must_use]
    pub fn query_names(&self) -> Vec<&'static str> {
        self.query.iter().map(|param| param.name).collect()
    }
}

impl Param {
    /// A parameter that may be left out.
    #[must_use]
    pub const fn new(name: &'static str, kind: ParamKind, about: &'static str) -> Self {
        Self { name, kind, about, required: false }
    }

    /// It has to be there.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }
}
