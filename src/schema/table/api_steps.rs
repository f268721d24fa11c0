//! `website-api` and `website-ssl-api`: a sequence of requests (interface.md 2.3, fields.md 2).

use super::super::field::{DefaultValue, Field, FieldTable, FieldType, LegacyEncoding};
use super::shared::{
    ADDRESS_FAMILY_FIELDS, CLIENT_CERTIFICATE_FIELDS, DEPENDENCY_FIELDS, IDENTITY_FIELDS, PROXY_FIELDS,
    READ_ONLY_FIELDS, REVOCATION_FIELDS, SCHEDULE_FIELDS, SHORT_INTERVAL_FIELDS, TLS_VERSION_FIELDS,
    TRUST_FIELDS,
};
use super::sub_objects::ASSERTION;
use super::web::{HEADER_ITEM, MAX_BODY_CHARS, MAX_URL_CHARS, TRACE_REQUESTS};
use crate::syntax::text_format::TextFormat;

static API_STEP_ITEM: FieldType = FieldType::Object(&API_STEP);
static ASSERTION_ITEM: FieldType = FieldType::Object(&ASSERTION);
static VARIABLE_ITEM: FieldType = FieldType::Object(&VARIABLE);

/// `head` of an API Step.
pub static STEP_HEAD: FieldTable = FieldTable::new(
    "Head",
    "Headers and login of a step",
    &[&[
        Field::list("headers", &HEADER_ITEM, 100, "Headers of the request"),
        Field::text("http_basic_auth_username", 255, "User name for Basic authentication"),
        Field::text("http_basic_auth_password", 255, "Password for Basic authentication").secret(),
        Field::flag("preemptive_authentication", false, "Send the login before the server asks for it"),
        Field::text("bearer_token", 8192, "Token for Bearer authentication").secret().vigie_extension(),
    ]],
);

/// `post` of an API Step.
pub static STEP_BODY: FieldTable = FieldTable::new(
    "Post",
    "Body of a step",
    &[&[
        Field::text_with_format("content_type", 255, TextFormat::HeaderValue, "Type of the body")
            .with_default(DefaultValue::Text("application/x-www-form-urlencoded")),
        Field::text(
            "body",
            MAX_BODY_CHARS,
            "The body; of multipart the parts as they go out, boundaries included",
        )
        .with_default(DefaultValue::Text("")),
    ]],
);

/// Sources of a variable (behaviour.md 4).
pub const VARIABLE_SOURCES: &[&str] = &["JSON Response", "XML Response", "Header", "Response"];

/// A variable that a step sets.
pub static VARIABLE: FieldTable = FieldTable::new(
    "Variable",
    "A value of a response that later steps use as `{{name}}`, in URL, headers, login, body and values of assertions; \
     without any step there are `{{$timestamp}}`, `{{$timestamp_ms}}`, `{{$isoTimestamp}}`, `{{$uuid}}` and `{{$randomInt}}`",
    &[&[
        Field::text_with_format("name", 255, TextFormat::Identifier, "Its name, unique in the monitor")
            .required(),
        Field::text(
            "property",
            1024,
            "JSONPath, XPath, name of a header, or regular expression with a group",
        )
        .required(),
        Field::new(
            "source",
            FieldType::TextEnum(VARIABLE_SOURCES),
            "Where it is found; if left out by the content type, else by how `property` begins: `$`, `/`, any other a regular expression",
        ),
    ]],
);

/// An API step.
pub static API_STEP: FieldTable = FieldTable::new(
    "ApiStep",
    "One request and what has to hold for its response",
    &[&[
        Field::text_with_format("url", MAX_URL_CHARS, TextFormat::HttpUrlTemplate, "Requested URL")
            .required(),
        Field::choice("http_method", &["GET", "POST", "HEAD", "CUSTOM"], "Method of the request")
            .legacy(LegacyEncoding::Coded(super::web::METHOD_CODES)),
        Field::text_with_format(
            "custom_method",
            64,
            TextFormat::Token,
            "The method when `http_method` is CUSTOM",
        ),
        Field::object("head", &STEP_HEAD, "Headers and login").with_default(DefaultValue::ObjectOfDefaults),
        Field::name("step_name", 255, "What people call it").required(),
        Field::int("step_number", 1, 50, "Its place in the order; without it that in the list"),
        Field::object("post", &STEP_BODY, "The body"),
        Field::list("assertions", &ASSERTION_ITEM, 100, "What has to hold"),
        Field::list("variables", &VARIABLE_ITEM, 100, "What later steps use"),
        Field::flag("follow_redirects", true, "Follow redirects, at most 10").vigie_extension(),
    ]],
);

/// Codes of the methods in the legacy API (behaviour.md 2).
const STEP_METHOD_CODES: &[(&str, &str)] = &[("g", "GET"), ("p", "POST"), ("h", "HEAD")];

static API_STEP_FIELDS: &[Field] = &[
    Field::new(
        "api_steps",
        FieldType::List { item_type: &API_STEP_ITEM, min: 1, max: 50 },
        "The requests, in order",
    ),
    Field::text_with_format(
        "url",
        MAX_URL_CHARS,
        TextFormat::HttpUrl,
        "The one request, instead of `api_steps`",
    ),
    Field::new("http_method", FieldType::TextEnum(&["GET", "POST", "HEAD"]), "Method of the one request")
        .legacy(LegacyEncoding::Coded(STEP_METHOD_CODES)),
    Field::new(
        "assertions",
        FieldType::List { item_type: &ASSERTION_ITEM, min: 0, max: 100 },
        "What has to hold for it",
    ),
    TRACE_REQUESTS,
];

static API_STEPS_FIELD_GROUPS: &[&[Field]] = &[
    IDENTITY_FIELDS,
    API_STEP_FIELDS,
    SCHEDULE_FIELDS,
    SHORT_INTERVAL_FIELDS,
    CLIENT_CERTIFICATE_FIELDS,
    TLS_VERSION_FIELDS,
    TRUST_FIELDS,
    REVOCATION_FIELDS,
    ADDRESS_FAMILY_FIELDS,
    PROXY_FIELDS,
    DEPENDENCY_FIELDS,
    READ_ONLY_FIELDS,
];

/// `website-api`.
pub static WEBSITE_API: FieldTable =
    FieldTable::new("website-api", "HTTP requests one after another", API_STEPS_FIELD_GROUPS);

/// `website-ssl-api`.
pub static WEBSITE_SSL_API: FieldTable =
    FieldTable::new("website-ssl-api", "HTTPS requests one after another", API_STEPS_FIELD_GROUPS);
