//! `website` and `website-ssl` (fields.md 2).

use super::super::field::{DefaultValue, Field, FieldTable, FieldType, LegacyEncoding};
use super::shared::{
    ADDRESS_FAMILY_FIELDS, CLIENT_CERTIFICATE_FIELDS, DEPENDENCY_FIELDS, FULL_PAGE_FIELDS, IDENTITY_FIELDS,
    KEYWORD_FIELDS, PORT_FIELDS, PROXY_FIELDS, READ_ONLY_FIELDS, REVOCATION_FIELDS, SCHEDULE_FIELDS,
    SHORT_INTERVAL_FIELDS, TLS_VERSION_FIELDS, TRUST_FIELDS,
};
use super::sub_objects::HEADER;
use crate::syntax::text_format::TextFormat;

/// Maximum length of a URL in characters (interface.md 8).
pub const MAX_URL_CHARS: usize = 65535;

/// Maximum length of a body in characters (fields.md 2).
pub const MAX_BODY_CHARS: usize = 65535;

/// Codes of the methods in the legacy API (behaviour.md 2).
pub const METHOD_CODES: &[(&str, &str)] = &[
    ("g", "GET"),
    ("p", "POST"),
    ("h", "HEAD"),
    ("t", "PUT"),
    ("a", "PATCH"),
    ("d", "DELETE"),
    ("o", "OPTIONS"),
];

/// `trace_requests`.
pub(super) const TRACE_REQUESTS: Field = Field::flag(
    "trace_requests",
    false,
    "Requests to the site of the URL carry a W3C traceparent; a field of that name in the headers takes its place",
)
.vigie_extension();

pub(super) static HEADER_ITEM: FieldType = FieldType::Object(&HEADER);

static REQUEST_FIELDS: &[Field] = &[
    Field::text_with_format("url", MAX_URL_CHARS, TextFormat::HttpUrl, "Requested URL").required(),
    Field::choice(
        "http_method",
        &["GET", "POST", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"],
        "Method of the request; PUT, PATCH, DELETE and OPTIONS are extensions",
    )
    .legacy(LegacyEncoding::Coded(METHOD_CODES)),
    Field::text("post_body", MAX_BODY_CHARS, "Body of a POST, PUT, PATCH or DELETE").vigie_extension(),
    Field::text_with_format("post_content_type", 255, TextFormat::HeaderValue, "Type of that body")
        .with_default(DefaultValue::Text("application/x-www-form-urlencoded"))
        .vigie_extension(),
    Field::list("http_headers", &HEADER_ITEM, 100, "Further headers of the request").vigie_extension(),
    Field::choice(
        "http_version",
        &["1.1", "1.0", "2", "3"],
        "Version of HTTP; 3 goes over QUIC, for `https` and without a proxy",
    ),
    Field::flag("resolve_dns", true, "Resolve the name afresh for each attempt"),
    Field::text_with_format(
        "ip_address",
        45,
        TextFormat::Ip,
        "Address to connect to when `resolve_dns` is false",
    ),
    Field::flag("http_follow_redirects", true, "Follow redirects, at most 10"),
    Field::flag("http_302_is_error", false, "A 302 anywhere in the chain is an error"),
    Field::flag("http_401_is_error", true, "A 401 is an error"),
    Field::text_with_format(
        "expected_statuses",
        255,
        TextFormat::HttpStatusCodes,
        "Status codes that pass, such as `200,204-206,3xx`; alone they decide: `http_302_is_error` and \
         `http_401_is_error` are not asked",
    )
    .vigie_extension(),
    Field::choice("http_caching", &["Disabled", "Enabled"], "Disabled asks caches to revalidate"),
    Field::choice(
        "check_ssl_expiration_dates",
        &["Disabled", "Expired", "Expiring"],
        "Whether an expired certificate is an error, and an expiring one a warning",
    ),
    Field::int(
        "certificate_days",
        1,
        3650,
        "Days before it expires at which a certificate is expiring; without it those of the account",
    )
    .vigie_extension(),
    TRACE_REQUESTS,
    Field::text("realm_userid", 255, "User name for HTTP authentication").secret(),
    Field::text("realm_password", 255, "Password for HTTP authentication").secret(),
];

static WEBSITE_FIELD_GROUPS: &[&[Field]] = &[
    IDENTITY_FIELDS,
    REQUEST_FIELDS,
    PORT_FIELDS,
    SCHEDULE_FIELDS,
    SHORT_INTERVAL_FIELDS,
    KEYWORD_FIELDS,
    FULL_PAGE_FIELDS,
    CLIENT_CERTIFICATE_FIELDS,
    TLS_VERSION_FIELDS,
    TRUST_FIELDS,
    REVOCATION_FIELDS,
    ADDRESS_FAMILY_FIELDS,
    PROXY_FIELDS,
    DEPENDENCY_FIELDS,
    READ_ONLY_FIELDS,
];

/// `website`.
pub static WEBSITE: FieldTable = FieldTable::new("website", "One HTTP request", WEBSITE_FIELD_GROUPS);

/// `website-ssl`.
pub static WEBSITE_SSL: FieldTable =
    FieldTable::new("website-ssl", "One HTTPS request", WEBSITE_FIELD_GROUPS);
