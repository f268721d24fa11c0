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
            "check_id": hex_id("The number of the result"),
            "run_id": hex_id("The run, over all its locations"),
            "monitor_id": integer("The monitor"),
            "monitor_name": text("Its name when the check ran"),
            "revision": integer("Its version that ran"),
            "type": {"type": "string", "enum": MonitorType::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>()},
            "location_id": integer("Where the check ran"),
            "planned_at": timestamp("When the run was due"),
            "started_at": timestamp("When the first attempt began; of a missed run, when that was found out"),
            "outcome": outcome(),
            "status": integer("Status code"),
            "warning_status": integer("Status code of the reservation of a warning"),
            "status_text": text("The status code in words"),
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
                "status": integer("What a second location said of the failure: 70 to 73, or 79 when there was none"),
                "location_id": integer("Who was asked"),
                "found": integer("Status code of its own check"),
                "at": timestamp("When the answer came"),
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
            "started_at": timestamp("When it began"),
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
            "http_status": integer("Status code of the last answer"),
            "http_version": text("`HTTP/1.0`, `HTTP/1.1` or `HTTP/2`"),
            "http_reason": text("Reason phrase of HTTP/1"),
            "body_wire_bytes": integer("Bytes of the body as they came, before decompression"),
            "body_bytes": integer("Bytes of the body after decompression"),
            "changed": boolean("Whether the page differs from that of the last good run at the location, in size or in its text"),
            "text_sha256": text("SHA-256 of the visible text of the page, of monitors that tell a change of it"),
            "text_sha256_before": text("That of the last good run at the location, where it differs"),
            "content_type": text("Media type and charset as the server said"),
            "redirects": {"type": "array", "items": object_schema(&["url", "http_status", "phases"], json!({
                "url": text("The URL that was asked"),
                "http_status": integer("The 3xx that it answered with"),
                "address": text("The peer"),
                "phases": phases_schema(),
            }))},
            "url": text("The URL that was answered last"),
            "tls_version": text("`TLSv1.3` or `TLSv1.2`; `TLSv1.1`, `TLSv1.0` or `SSLv3` where a monitor pins it"),
            "tls_cipher": text("IANA name of the cipher suite"),
            "certificates": {"type": "array", "items": certificate()},
            "question": text("The name that was asked for"),
            "record_type": text("The type of record that was asked for last"),
            "rcode": text("RFC 6895 name of the response code"),
            "answers": texts(),
            "transport": {"type": "string", "enum": ["udp", "tcp", "tls", "https"]},
            "authoritative": {"type": "boolean"},
            "authenticated": {"type": "boolean", "description": "Whether the server vouches for the answer by DNSSEC"},
            "signed": {"type": "boolean", "description": "Whether signatures came with the answer"},
            "recursion_available": {"type": "boolean", "description": "Whether the server asks others"},
            "truncated": {"type": "boolean", "description": "Whether the answer was cut"},
            "answer_bytes": integer("Bytes of the last message of the name server"),
            "ttl": integer("Seconds that the answer may be kept"),
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
            "description": "What it offers (EHLO, CAPA, CAPABILITY), as it stood at the end of the session"},
        "mail_auth": text("How the login was done: `plain`, `login`, `cram-md5`, `xoauth2`, `apop`, `user`"),
        "password_in_clear": boolean("Whether a password went out without TLS"),
        "mailbox_messages": integer("Messages in the mailbox"),
        "mailbox_bytes": integer("Bytes in the mailbox"),
        "message_id": text("Message-ID of the message that went round"),
        "mailbox_polls": integer("Times that the mailbox was looked at"),
        "mailbox_locked": integer("Times that the mailbox was locked by somebody else"),
        "swept": integer("Own messages of earlier checks, older than a day, that were deleted"),
        "trip_send_us": micros("From the connection to the SMTP server until it took the message"),
        "trip_transit_us": micros("From then until the message was seen in the mailbox"),
        "trip_fetch_us": micros("Reading and deleting it"),
        "ftp_banner": text("First line of the greeting of an FTP server"),
        "ftp_passive": {"type": "string", "enum": ["EPSV", "PASV"]},
        "ftp_data_address": text("Peer of the last data connection"),
        "ftp_listed": integer("Entries of the list"),
        "ftp_uploaded_bytes": integer("Bytes of the file that went there and came back the same"),
        "ftp_session_reused": boolean("Whether data connections took the TLS session up again"),
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
            "names": {"type": "array", "items": {"type": "string"}, "description": "Names that it is good for"},
            "not_before": timestamp("First instant of its life"),
            "not_after": timestamp("Last instant of its life"),
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
            "slots": integer("How many runs did not happen, one after the other"),
            "last_planned_at": timestamp("When the last of them was due"),
        }),
    )
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
