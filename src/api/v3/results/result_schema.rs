//! Schema of a result for the OpenAPI document. It lists every key that can occur; a test compares it with
//! serialized results.

use serde_json::{Value, json};

use super::schema_parts::{failure_schema, phases_schema};
use super::{browser_schema, details_schema};
use crate::api::v3::response_schemas::{
    boolean_schema, duration_us_schema, hex_id_schema, integer_schema, list_schema, named_object_schema,
    object_schema, outcome_schema, string_schema, timestamp_schema,
};
use crate::domain::{CheckTrigger, MissedReason, MonitorType, Severity};

/// Returns the schema of the list of results.
pub(super) fn result_list_schema() -> Value {
    list_schema("ResultList", result_schema())
}

/// Returns the schema of one result (behaviour.md 9).
pub(super) fn result_schema() -> Value {
    named_object_schema(
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
            "trigger",
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
            "check_id": hex_id_schema("The id of the result"),
            "run_id": hex_id_schema("The run, over all its locations"),
            "monitor_id": integer_schema("The monitor"),
            "monitor_name": string_schema("Its name when the check ran"),
            "revision": integer_schema("Revision of the monitor that ran"),
            "type": {"type": "string", "enum": MonitorType::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>()},
            "location_id": integer_schema("Where the check ran"),
            "planned_at": timestamp_schema("When the run was due; of a first check, when the change was made"),
            "trigger": {"type": "string", "enum": CheckTrigger::ALL.map(CheckTrigger::name),
                "description": "`schedule`; `first` after the monitor was created or what it checks was changed, outside of reports; `on_demand` in tests on demand"},
            "started_at": timestamp_schema("When the first attempt started; for a missed run, when the miss was detected"),
            "outcome": outcome_schema(),
            "status": integer_schema("Status code"),
            "warning_status": integer_schema("Status code of the warning"),
            "status_text": string_schema("Text of the status code"),
            "reasons": {"type": "array", "items": {"type": "string"}, "description": "Why, the deciding reason first"},
            "total_us": duration_us_schema("How long all attempts took together; of a full page, without its objects"),
            "address": string_schema("Address and port of the peer of the last attempt"),
            "attempts": {"type": "array", "items": attempt_schema()},
            "facts": facts_schema(),
            "steps": details_schema::steps_schema(),
            "exchanges": details_schema::exchanges_schema("HTTP exchanges outside of steps, of a failed attempt; left out in lists"),
            "page": details_schema::full_page_schema(),
            "browser": browser_schema::browser_schema(),
            "views": browser_schema::content_views_schema(),
            "trace_id": string_schema("Trace id of its requests, in hexadecimal (`trace_requests`)"),
            "captures": {"type": "array", "items": capture_schema()},
            "verification": object_schema(&["status", "at"], json!({
                "status": integer_schema("Verdict of the verifying location: 70 to 73, or 79 when no location could verify"),
                "location_id": integer_schema("The verifying location"),
                "found": integer_schema("Status code of its own check"),
                "at": timestamp_schema("When the verification completed"),
            })),
            "suppressed_by": {"type": "array", "items": integer_schema("A monitor"),
                "description": "Monitors that it depends on and that are down, so that this error opens no outage"},
            "missed": missed_schema(),
        }),
    )
}

fn attempt_schema() -> Value {
    named_object_schema(
        "ResultAttempt",
        &["number", "started_at", "total_us", "phases"],
        json!({
            "number": integer_schema("1, or 2 for the retry"),
            "started_at": timestamp_schema("When it started"),
            "total_us": duration_us_schema("How long it took"),
            "phases": phases_schema(),
            "failure": failure_schema(),
            "warnings": {"type": "array", "items": object_schema(&["kind", "detail"], json!({
                "kind": {"type": "string",
                    "enum": ["redirect_not_followed", "certificate_expiring", "tls_weakness", "fell_back", "page_object", "security_finding", "note"]},
                "detail": {"type": "string"},
                "part": integer_schema("Status code of what it is about, such as an object of a page"),
            }))},
        }),
    )
}

/// Returns the schema of the facts of all protocols together; a result has those of its type.
fn facts_schema() -> Value {
    let string_list = || json!({"type": "array", "items": {"type": "string"}});
    let mut facts = named_object_schema(
        "ResultFacts",
        &[],
        json!({
            "http_status": integer_schema("Status code of the last response"),
            "http_version": string_schema("`HTTP/1.0`, `HTTP/1.1` or `HTTP/2`"),
            "http_reason": string_schema("Reason phrase of HTTP/1"),
            "body_wire_bytes": integer_schema("Bytes of the body as they came, before decompression"),
            "body_bytes": integer_schema("Bytes of the body after decompression"),
            "changed": boolean_schema("Whether size or text of the page differ from the last passing run at the location"),
            "text_sha256": string_schema("SHA-256 of the visible text of the page, for monitors that detect changes"),
            "text_sha256_before": string_schema("The same of the last passing run at the location, if it differs"),
            "content_type": string_schema("Media type and charset as declared"),
            "redirects": {"type": "array", "items": object_schema(&["url", "http_status", "phases"], json!({
                "url": string_schema("The requested URL"),
                "http_status": integer_schema("The 3xx status of its response"),
                "address": string_schema("The peer"),
                "phases": phases_schema(),
            }))},
            "url": string_schema("The URL of the last response"),
            "tls_version": string_schema("`TLSv1.3` or `TLSv1.2`; `TLSv1.1`, `TLSv1.0` or `SSLv3` where a monitor pins it"),
            "tls_cipher": string_schema("IANA name of the cipher suite"),
            "certificates": {"type": "array", "items": certificate_schema()},
            "question": string_schema("The queried name"),
            "record_type": string_schema("The record type queried last"),
            "rcode": string_schema("RFC 6895 name of the response code"),
            "answers": string_list(),
            "transport": {"type": "string", "enum": ["udp", "tcp", "tls", "https"]},
            "authoritative": {"type": "boolean"},
            "authenticated": {"type": "boolean", "description": "Whether the server validated the reply by DNSSEC (AD)"},
            "signed": {"type": "boolean", "description": "Whether the reply has signatures"},
            "recursion_available": {"type": "boolean", "description": "Whether the server offers recursion (RA)"},
            "truncated": {"type": "boolean", "description": "Whether the reply was truncated"},
            "answer_bytes": integer_schema("Bytes of the last message of the name server"),
            "ttl": integer_schema("Time to live of the reply, in seconds"),
            "sent": integer_schema("Echo requests sent"),
            "received": integer_schema("Echo replies received in time"),
            "loss_percent": {"type": "number", "minimum": 0, "maximum": 100},
            "rtt_min_us": duration_us_schema("Shortest round trip"),
            "rtt_avg_us": duration_us_schema("Mean round trip"),
            "rtt_max_us": duration_us_schema("Longest round trip"),
            "rtt_stddev_us": duration_us_schema("Standard deviation of the round trips"),
            "socket": {"type": "string", "enum": ["dgram", "raw"]},
            "icmp_errors": string_list(),
            "resolved": string_list(),
        }),
    );
    if let (Some(fact_schemas), Value::Object(protocol_facts)) =
        (facts["properties"].as_object_mut(), session_fact_schemas())
    {
        fact_schemas.extend(protocol_facts);
    }
    if let (Some(fact_schemas), Value::Object(scan_facts)) =
        (facts["properties"].as_object_mut(), security_scan_fact_schemas())
    {
        fact_schemas.extend(scan_facts);
    }
    facts
}

/// Returns the schema of the facts of sessions with mail and FTP servers, and of what hosts report.
fn session_fact_schemas() -> Value {
    json!({
        "report_age_us": duration_us_schema("Time since the last report or push"),
        "host_agent_version": string_schema("Version of the agent of the host"),
        "host_values": {"type": "array", "items": object_schema(&["series", "value", "level"], json!({
            "series": string_schema("The metric with its labels"),
            "value": {"type": "number"},
            "warning": {"type": "number", "description": "Bound of a warning"},
            "error": {"type": "number", "description": "Bound of an error"},
            "level": {"type": "string", "enum": ["ok", "warning", "error"]},
        }))},
        "push_message": string_schema("Text of the sender of the last push"),
        "push_duration_us": duration_us_schema("Duration that came with the last push"),
        "push_exit_code": {"type": "integer", "description": "Exit code that came with the last push"},
        "push_running_us": duration_us_schema("Since when a job runs whose end was not pushed yet"),
        "mail_banner": string_schema("First line of the greeting of a mail server"),
        "mail_offers": {"type": "array", "items": {"type": "string"},
            "description": "Its capabilities (EHLO, CAPA, CAPABILITY) at the end of the session"},
        "mail_auth": string_schema("Login mechanism: `plain`, `login`, `cram-md5`, `xoauth2`, `apop`, `user`"),
        "password_in_clear": boolean_schema("Whether a password went out without TLS"),
        "mailbox_messages": integer_schema("Messages in the mailbox"),
        "mailbox_bytes": integer_schema("Bytes in the mailbox"),
        "message_id": string_schema("Message-ID of the round-trip message"),
        "mailbox_polls": integer_schema("How often the mailbox was polled"),
        "mailbox_locked": integer_schema("How often another client had locked the mailbox"),
        "swept": integer_schema("Own messages of earlier checks, older than a day, that were deleted"),
        "trip_send_us": duration_us_schema("From the connection to the SMTP server until it accepted the message"),
        "trip_transit_us": duration_us_schema("From then until the message was found in the mailbox"),
        "trip_fetch_us": duration_us_schema("Reading and deleting it"),
        "ftp_banner": string_schema("First line of the greeting of an FTP server"),
        "ftp_passive": {"type": "string", "enum": ["EPSV", "PASV"]},
        "ftp_data_address": string_schema("Peer of the last data connection"),
        "ftp_listed": integer_schema("Entries of the list"),
        "ftp_uploaded_bytes": integer_schema("Bytes of the file that was uploaded and downloaded unchanged"),
        "ftp_session_reused": boolean_schema("Whether data connections resumed the TLS session"),
        "ftp_password_in_clear": boolean_schema("Whether a password went out without TLS"),
    })
}

/// Returns the schema of the facts of a security scan.
fn security_scan_fact_schemas() -> Value {
    let severities = Severity::ALL.map(Severity::name);
    let string_list =
        |description: &str| json!({"type": "array", "items": {"type": "string"}, "description": description});
    let finding_schema = named_object_schema(
        "ResultFinding",
        &["id", "severity", "title", "evidence", "remedy", "reference"],
        json!({
            "id": string_schema("Id in the table of findings"),
            "severity": {"type": "string", "enum": severities},
            "title": string_schema("What is wrong, in a few words"),
            "subject": string_schema("Port, path, cookie or header field that it is about"),
            "evidence": string_schema("What the scan saw"),
            "remedy": string_schema("What to do about it"),
            "reference": string_schema("URL of the standard or guide behind it"),
        }),
    );
    let counts = |name: &&str| ((*name).to_owned(), integer_schema("Findings of this severity"));
    let counts: serde_json::Map<String, Value> = severities.iter().map(counts).collect();
    json!({
        "grade": {"type": "string", "enum": ["A+", "A", "B", "C", "D", "F"], "description": "Grade of a security scan"},
        "findings": {"type": "array", "items": finding_schema, "description": "What it found, the worst first"},
        "finding_counts": object_schema(&severities, Value::Object(counts)),
        "open_ports": {"type": "array", "items": integer_schema("A port that accepted a connection")},
        "offered_tls_versions": string_list("TLS versions that the server accepts"),
        "offered_tls_ciphers": string_list("Cipher suites that it accepts"),
        "offered_tls_groups": string_list("Groups for the key exchange that it accepts"),
        "open_questions": string_list("What the scan could not find out, and why"),
    })
}

fn certificate_schema() -> Value {
    named_object_schema(
        "ResultCertificate",
        &["subject", "issuer", "not_before", "not_after", "sha256"],
        json!({
            "subject": string_schema("Distinguished name"),
            "issuer": string_schema("Distinguished name of the issuer"),
            "names": {"type": "array", "items": {"type": "string"}, "description": "Names that it covers"},
            "not_before": timestamp_schema("Start of its validity"),
            "not_after": timestamp_schema("End of its validity"),
            "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        }),
    )
}

fn capture_schema() -> Value {
    named_object_schema(
        "ResultCapture",
        &["name", "mimetype", "bytes"],
        json!({
            "name": string_schema("Name of the file, for `/results/{id}/captures/{name}`"),
            "mimetype": string_schema("Its media type"),
            "bytes": integer_schema("Bytes of its content"),
        }),
    )
}

fn missed_schema() -> Value {
    named_object_schema(
        "ResultMissed",
        &["reason", "slots", "last_planned_at"],
        json!({
            "reason": {"type": "string", "enum": MissedReason::ALL.map(MissedReason::name)},
            "slots": integer_schema("How many consecutive runs were missed"),
            "last_planned_at": timestamp_schema("When the last of them was due"),
        }),
    )
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
