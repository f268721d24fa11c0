//! Uploaded certificates: parsed, validated and sealed.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use zeroize::Zeroizing;

use super::decrypted_certificate::certificate_seal_context;
use super::parse::{CertificateInput, ParsedCertificate};
use crate::catalog::v3_time_format::format_utc_time;
use crate::domain::ConfigRecord;
use crate::schema::table::records::CERTIFICATE;
use crate::service::caller::ServiceError;
use crate::service::records::record_context::RecordContext;
use crate::service::records::record_draft::{
    RecordDraft, field_conflict_error, fields_with_defaults, invalid_request_error,
};
use crate::service::records::usage::monitor_usage_text;
use crate::syntax::node::Node;
use crate::syntax::{ValidationError, ValidationErrorKind};

/// Longest time to parse an upload: the creator of a PKCS#12 archive chooses the number of iterations.
const PARSE_TIMEOUT: Duration = Duration::from_secs(10);

/// Limits concurrent parsing. After a timeout, parsing continues in the background and keeps its permit.
static PARSE_PERMITS: Semaphore = Semaphore::const_new(2);

/// Opens the client certificate in `archive` with `password`; returns its chain and key as PEM. The error is a message
/// without a full stop.
pub fn pkcs12_to_pem(archive: &[u8], password: &str) -> Result<Zeroizing<Vec<u8>>, String> {
    let input =
        CertificateInput::Pkcs12 { bytes: archive.to_vec(), password: Zeroizing::new(password.to_owned()) };
    super::parse::parse(&input, true).map(|parsed| parsed.pem)
}

pub(in crate::service::records) async fn creation_draft(
    cx: &RecordContext<'_>,
    body: &Node,
) -> Result<RecordDraft, ServiceError> {
    let mut fields = fields_with_defaults(&CERTIFICATE, body)?;
    let is_client = fields.get("kind").and_then(Value::as_str) == Some("client");
    let mut take_secret_field = |name: &str| match fields.shift_remove(name) {
        Some(Value::String(text)) => Some(Zeroizing::new(text)),
        _ => None,
    };
    let (pem, pkcs12, password) =
        (take_secret_field("pem"), take_secret_field("pkcs12"), take_secret_field("password"));
    let source_field = if pem.is_some() { "pem" } else { "pkcs12" };
    let input = match (pem, pkcs12) {
        (Some(_), None) if password.is_some() => {
            let message = "`password` goes with `pkcs12` only; a key in `pem` must not be encrypted";
            return Err(invalid_request_error(field_conflict_error(body, "password", message)));
        }
        (Some(pem), None) => CertificateInput::Pem(pem),
        (None, Some(text)) => {
            let text: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
            // The field table has validated the encoding already.
            let archive = STANDARD.decode(text).unwrap_or_default();
            CertificateInput::Pkcs12 { bytes: archive, password: password.unwrap_or_default() }
        }
        (Some(_), Some(_)) => {
            return Err(invalid_request_error(field_conflict_error(
                body,
                "pkcs12",
                "`pkcs12` does not go with `pem`",
            )));
        }
        (None, None) => {
            let message = "`pem` or `pkcs12` is required";
            return Err(invalid_request_error(ValidationError::new(
                ValidationErrorKind::MissingField,
                "pem",
                body.position,
                message,
            )));
        }
    };
    let to_error = |reason: String| {
        let error = ValidationError::new(
            ValidationErrorKind::Format,
            source_field,
            body.position_of(source_field),
            format!("`{source_field}`: {reason}"),
        );
        invalid_request_error(error.with_value(crate::syntax::MASK))
    };
    let format = input.format();
    let parsed = parse_blocking(input, is_client).await?.map_err(to_error)?;
    let description = super::certificate_description::from_der(&parsed.leaf_der).map_err(to_error)?;
    fields.insert("format".to_owned(), json!(format));
    fields.insert("certificates".to_owned(), json!(parsed.certificate_count));
    let mut draft = RecordDraft::new(fields);
    draft.warnings = super::certificate_description::warnings(&description, is_client, cx.now);
    for (name, value) in [
        ("subject", json!(description.subject)),
        ("issuer", json!(description.issuer)),
        ("not_before", json!(format_utc_time(description.not_before))),
        ("not_after", json!(format_utc_time(description.not_after))),
        ("names", json!(description.alternative_names)),
        ("fingerprint", json!(description.sha256_fingerprint)),
        ("key_type", json!(description.key_type)),
    ] {
        draft.fields.insert(name.to_owned(), value);
    }
    draft.private_data =
        Some(cx.dependencies.keyring.seal(&certificate_seal_context(cx.caller.customer), &parsed.pem));
    Ok(draft)
}

/// Parses on a blocking thread, for at most [`PARSE_TIMEOUT`]: PKCS#12 archives need expensive key derivation.
async fn parse_blocking(
    input: CertificateInput,
    is_client: bool,
) -> Result<Result<ParsedCertificate, String>, ServiceError> {
    let parsing = async {
        let permit = PARSE_PERMITS.acquire().await;
        let task = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            super::parse::parse(&input, is_client)
        });
        task.await
    };
    match tokio::time::timeout(PARSE_TIMEOUT, parsing).await {
        Ok(Ok(parsed)) => Ok(parsed),
        Ok(Err(_)) => Ok(Err("it cannot be read".to_owned())),
        Err(_) => Ok(Err(format!("opening it takes more than {} s", PARSE_TIMEOUT.as_secs()))),
    }
}

/// Refuses to remove a certificate that a monitor uses.
pub(in crate::service::records) fn check_removal(
    cx: &RecordContext<'_>,
    old: &ConfigRecord,
) -> Result<(), ServiceError> {
    let uses_certificate = |document: &crate::schema::MonitorDocument| {
        [document.client_certificate_id(), document.certificate_authority_id()].contains(&Some(old.id))
    };
    match monitor_usage_text(cx.dependencies, Some(old.customer), uses_certificate) {
        Some(usage_text) => {
            Err(ServiceError::Conflict(format!("{usage_text} this certificate; remove it from them first")))
        }
        None => Ok(()),
    }
}
