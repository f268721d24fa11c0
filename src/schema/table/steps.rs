//! `website-api` and `website-ssl-api`: requests one after another (interface.md 2.3, fields.md 2).

use super::super::field::{Field, Kind, Legacy, Preset, Table};
use super::parts::ASSERTION;
use super::shared::{CLIENT_CERTIFICATE, IDENTITY, IPV6, PROXY, REPORTED, RUNNING, SSL_VERSION, TRUST};
use super::web::{HEADERS, MAX_BODY, MAX_URL};
use crate::syntax::format::TextFormat;

static STEPS: Kind = Kind::Object(&API_STEP);
static ASSERTIONS: Kind = Kind::Object(&ASSERTION);
static VARIABLES: Kind = Kind::Object(&VARIABLE);

/// `head` of an API Step.
pub static HEAD: Table = Table::new(
    "Head",
    "Headers and login of a step",
    &[&[
        Field::list("headers", &HEADERS, 100, "Headers of the request"),
        Field::text("http_basic_auth_username", 255, "User name for Basic authentication"),
        Field::text("http_basic_auth_password", 255, "Password for Basic authentication").secret(),
        Field::flag("preemptive_authentication", false, "Send the login before the server asks for it"),
        Field::text("bearer_token", 8192, "Token for Bearer authentication").secret().extension(),
    ]],
);

/// `post` of an API Step.
pub static POST: Table = Table::new(
    "Post",
    "Body of a step",
    &[&[
        Field::formatted("content_type", 255, TextFormat::HeaderValue, "Type of the body")
            .or(Preset::Text("application/x-www-form-urlencoded")),
        Field::text("body", MAX_BODY, "The body; of multipart the parts as they go out, boundaries included")
            .or(Preset::Text("")),
    ]],
);

/// Where a variable may come from (behaviour.md 4).
pub const VARIABLE_SOURCES: &[&str] = &["JSON Response", "XML Response", "Header", "Response"];

/// A variable that a step fills.
pub static VARIABLE: Table = Table::new(
    "Variable",
    "A value of a response that later steps use as `{{name}}`, in URL, headers, login, body and values of assertions; \
     without any step there are `{{$timestamp}}`, `{{$timestamp_ms}}`, `{{$isoTimestamp}}`, `{{$uuid}}` and `{{$randomInt}}`",
    &[&[
        Field::formatted("name", 255, TextFormat::Identifier, "Its name, unique in the monitor").required(),
        Field::text(
            "property",
            1024,
            "JSONPath, XPath, name of a header, or regular expression with a group",
        )
        .required(),
        Field::new(
            "source",
            Kind::TextOf(VARIABLE_SOURCES),
            "Where it is found; if left out by the content type, else by how `property` begins: `$`, `/`, any other a regular expression",
        ),
    ]],
);

/// API Step.
pub static API_STEP: Table = Table::new(
    "ApiStep",
    "One request and what has to hold for its response",
    &[&[
        Field::formatted("url", MAX_URL, TextFormat::HttpUrlTemplate, "What is asked for").required(),
        Field::choice("http_method", &["GET", "POST", "HEAD", "CUSTOM"], "Method of the request"),
        Field::formatted("custom_method", 64, TextFormat::Token, "The method when `http_method` is CUSTOM"),
        Field::object("head", &HEAD, "Headers and login").or(Preset::Object),
        Field::text("step_name", 255, "What people call it").required(),
        Field::int("step_number", 1, 50, "Its place in the order; without it that in the list"),
        Field::object("post", &POST, "The body"),
        Field::list("assertions", &ASSERTIONS, 100, "What has to hold"),
        Field::list("variables", &VARIABLES, 100, "What later steps use"),
        Field::flag("follow_redirects", true, "Follow redirects, at most 10").extension(),
    ]],
);

static REQUESTS: &[Field] = &[
    Field::new("api_steps", Kind::List { of: &STEPS, min: 1, max: 50 }, "The requests, in order"),
    Field::formatted("url", MAX_URL, TextFormat::HttpUrl, "The one request, instead of `api_steps`"),
    Field::new("http_method", Kind::TextOf(&["GET", "POST", "HEAD"]), "Method of the one request")
        .legacy(Legacy::Coded(super::web::METHOD_CODES)),
    Field::new("assertions", Kind::List { of: &ASSERTIONS, min: 0, max: 100 }, "What has to hold for it"),
];

static GROUPS: &[&[Field]] =
    &[IDENTITY, REQUESTS, RUNNING, CLIENT_CERTIFICATE, SSL_VERSION, TRUST, IPV6, PROXY, REPORTED];

/// `website-api`.
pub static WEBSITE_API: Table = Table::new("website-api", "HTTP requests one after another", GROUPS);

/// `website-ssl-api`.
pub static WEBSITE_SSL_API: Table = Table::new("website-ssl-api", "HTTPS requests one after another", GROUPS);
