//! Schema of a result for the OpenAPI document. It lists every key that can occur; a test compares it with
//! serialized results.

use serde_json::{Value, json};

use super::schema_parts::{failure_schema, phases_schema};
use super::{browser_schema, details_schema};
use crate::api::v3::json_schema::{
    boolean, hex_id, integer, list_schema, micros, named_object, object_schema, outcome, text, timestamp,
};
use crate::domain::{MissedReason, MonitorType};

/// Returns the schema of the list of results.
pub(super) fn result_list_schema() -> Value {
    list_schema("ResultList", result_schema())
}

/// Returns the schema of one result (behaviour.md 9).
pub(super) fn result_schema() -> Value {
    named_object(
        "Result",
        &[
            "check_id",
            "run_id",
            "monitor_id",
            "monitor_name",
            "revision",
            "type",
            "location_id",
            "planned_at",
            "started_at",
            "outcome",
            "status",
            "status_text",
            "reasons",
            "total_us",
            "attempts",
            "facts",
        ],
        json!({
            "check_id": hex_id("The id of the result"),
            "run_id": hex_id("The run, over all its locations"),
            "monitor_id": integer("The monitor"),
            "monitor_name": text("Its name when the check ran"),
            "revision": integer("Revision of the monitor that ran"),
            "type": {"type": "string", "enum": MonitorType::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>()},
            "location_id": integer("Where the check ran"),
            "planned_at": timestamp("When the run was due"),
            "started_at": timestamp("When the first attempt started; for a missed run, when the miss was detected"),
            "outcome": outcome(),
            "status": integer("Status code"),
            "warning_status": integer("Status code of the warning"),
            "status_text": text("Text of the status code"),
            "reasons": {"type": "array", "items": {"type": "string"}, "description": "Why, the deciding reason first"},
            "total_us": micros("How long all attempts took together; of a full page, without its objects"),
            "address": text("Address and port of the peer of the last attempt"),
            "attempts": {"type": "array", "items": attempt()},
            "facts": facts(),
            "steps": details_schema::steps_schema(),
            "exchanges": details_schema::exchanges_schema("HTTP exchanges outside of steps, of a failed attempt; left out in lists"),
            "page": details_schema::page_schema(),
            "browser": browser_schema::browser_schema(),
            "views": browser_schema::content_views_schema(),
            "captures": {"type": "array", "items": capture()},
            "verification": object_schema(&["status", "at"], json!({
                "status": integer("Verdict of the verifying location: 70 to 73, or 79 when no location could verify"),
                "location_id": integer("The verifying location"),
                "found": integer("Status code of its own check"),
                "at": timestamp("When the verification completed"),
            })),
            "missed": missed(),
        }),
    )
}

fn attempt() -> Value {
    named_object(
        "ResultAttempt",
        &["number", "started_at", "total_us", "phases"],
        json!({
            "number": integer("1, or 2 for the retry"),
            "started_at": timestamp("When it started"),
            "total_us": micros("How long it took"),
            "phases": phases_schema(),
            "failure": failure_schema(),
            "warnings": {"type": "array", "items": object_schema(&["kind", "detail"], json!({
                "kind": {"type": "string",
                    "enum": ["redirect_not_followed", "certificate_expiring", "fell_back", "page_object", "note"]},
                "detail": {"type": "string"},
                "part": integer("Status code of what it is about, such as an object of a page"),
            }))},
        }),
    )
}

/// Returns the schema of the facts of all protocols together; a result has those of its type.
fn facts() -> Value {
    let texts = || json!({"type": "array", "items": {"type": "string"}});
    let mut facts = named_object(
        "ResultFacts",
        &[],
        json!({
            "http_status": integer("Status code of the last response"),
            "http_version": text("`HTTP/1.0`, `HTTP/1.1` or `HTTP/2`"),
            "http_reason": text("Reason phrase of HTTP/1"),
            "body_wire_bytes": integer("Bytes of the body as they came, before decompression"),
            "body_bytes": integer("Bytes of the body after decompression"),
            "changed": boolean("Whether size or text of the page differ from the last passing run at the location"),
            "text_sha256": text("SHA-256 of the visible text of the page, for monitors that detect changes"),
            "text_sha256_before": text("The same of the last passing run at the location, if it differs"),
            "content_type": text("Media type and charset as declared"),
            "redirects": {"type": "array", "items": object_schema(&["url", "http_status", "phases"], json!({
                "url": text("The requested URL"),
                "http_status": integer("The 3xx status of its response"),
                "address": text("The peer"),
                "phases": phases_schema(),
            }))},
            "url": text("The URL of the last response"),
            "tls_version": text("`TLSv1.3` or `TLSv1.2`; `TLSv1.1`, `TLSv1.0` or `SSLv3` where a monitor pins it"),
            "tls_cipher": text("IANA name of the cipher suite"),
            "certificates": {"type": "array", "items": certificate()},
            "question": text("The queried name"),
            "record_type": text("The record type queried last"),
            "rcode": text("RFC 6895 name of the response code"),
            "answers": texts(),
            "transport": {"type": "string", "enum": ["udp", "tcp", "tls", "https"]},
            "authoritative": {"type": "boolean"},
            "authenticated": {"type": "boolean", "description": "Whether the server validated the reply by DNSSEC (AD)"},
            "signed": {"type": "boolean", "description": "Whether the reply has signatures"},
            "recursion_available": {"type": "boolean", "description": "Whether the server offers recursion (RA)"},
            "truncated": {"type": "boolean", "description": "Whether the reply was truncated"},
            "answer_bytes": integer("Bytes of the last message of the name server"),
            "ttl": integer("Time to live of the reply, in seconds"),
            "sent": integer("Echo requests sent"),
            "received": integer("Echo replies received in time"),
            "loss_percent": {"type": "number", "minimum": 0, "maximum": 100},
            "rtt_min_us": micros("Shortest round trip"),
            "rtt_avg_us": micros("Mean round trip"),
            "rtt_max_us": micros("Longest round trip"),
            "rtt_stddev_us": micros("Standard deviation of the round trips"),
            "socket": {"type": "string", "enum": ["dgram", "raw"]},
            "icmp_errors": texts(),
            "resolved": texts(),
        }),
    );
    if let (Some(all), Value::Object(more)) = (facts["properties"].as_object_mut(), sessions()) {
        all.extend(more);
    }
    facts
}

/// Returns the schema of the facts of sessions with mail and FTP servers.
fn sessions() -> Value {
    json!({
        "mail_banner": text("First line of the greeting of a mail server"),
        "mail_offers": {"type": "array", "items": {"type": "string"},
            "description": "Its capabilities (EHLO, CAPA, CAPABILITY) at the end of the session"},
        "mail_auth": text("Login mechanism: `plain`, `login`, `cram-md5`, `xoauth2`, `apop`, `user`"),
        "password_in_clear": boolean("Whether a password went out without TLS"),
        "mailbox_messages": integer("Messages in the mailbox"),
        "mailbox_bytes": integer("Bytes in the mailbox"),
        "message_id": text("Message-ID of the round-trip message"),
        "mailbox_polls": integer("How often the mailbox was polled"),
        "mailbox_locked": integer("How often another client had locked the mailbox"),
        "swept": integer("Own messages of earlier checks, older than a day, that were deleted"),
        "trip_send_us": micros("From the connection to the SMTP server until it accepted the message"),
        "trip_transit_us": micros("From then until the message was found in the mailbox"),
        "trip_fetch_us": micros("Reading and deleting it"),
        "ftp_banner": text("First line of the greeting of an FTP server"),
        "ftp_passive": {"type": "string", "enum": ["EPSV", "PASV"]},
        "ftp_data_address": text("Peer of the last data connection"),
        "ftp_listed": integer("Entries of the list"),
        "ftp_uploaded_bytes": integer("Bytes of the file that was uploaded and downloaded unchanged"),
        "ftp_session_reused": boolean("Whether data connections resumed the TLS session"),
        "ftp_password_in_clear": boolean("Whether a password went out without TLS"),
    })
}

fn certificate() -> Value {
    named_object(
        "ResultCertificate",
        &["subject", "issuer", "not_before", "not_after", "sha256"],
        json!({
            "subject": text("Distinguished name"),
            "issuer": text("Distinguished name of the issuer"),
            "names": {"type": "array", "items": {"type": "string"}, "description": "Names that it covers"},
            "not_before": timestamp("Start of its validity"),
            "not_after": timestamp("End of its validity"),
            "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        }),
    )
}

fn capture() -> Value {
    named_object(
        "ResultCapture",
        &["name", "mimetype", "bytes"],
        json!({
            "name": text("Name of the file, for `/results/{id}/captures/{name}`"),
            "mimetype": text("Its media type"),
            "bytes": integer("Bytes of its content"),
        }),
    )
}

fn missed() -> Value {
    named_object(
        "ResultMissed",
        &["reason", "slots", "last_planned_at"],
        json!({
            "reason": {"type": "string", "enum": MissedReason::ALL.map(MissedReason::name)},
            "slots": integer("How many consecutive runs were missed"),
            "last_planned_at": timestamp("When the last of them was due"),
        }),
    )
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
