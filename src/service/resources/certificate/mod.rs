//! Client certificates and authorities: PEM or PKCS#12 in, facts out, never the key (behaviour.md 1). The
//! whole PEM text is sealed as the record's private part.

mod facts;
mod parse;
mod pkcs12;

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use zeroize::Zeroizing;

use super::ResourceParts;
use super::draft::{Draft, conflict, refused, whole};
use super::rules::{Bench, users_of};
use crate::catalog::moment::utc;
use crate::domain::{CustomerId, Record, RecordKind};
use crate::schema::table::records::CERTIFICATE;
use crate::service::caller::Refusal;
use crate::store::{Page, RecordFilter, StoreError, seal_context};
use crate::syntax::source::Node;
use crate::syntax::{FieldFault, Rule};
use parse::{Given, Parsed};

/// Time that opening a PKCS#12 may take: whoever made it says how much work it is.
const OPENING: Duration = Duration::from_secs(10);

/// Those that may be opened at once. One that takes too long works on behind the answer, and keeps its place.
static OPENINGS: Semaphore = Semaphore::const_new(2);

/// A certificate with what is never shown: for those who speak TLS.
#[derive(Clone)]
pub struct OpenCertificate {
    /// Its number.
    pub id: i64,
    /// What people call it.
    pub name: String,
    /// Whether it is a client certificate with its key, or an authority.
    pub client: bool,
    /// Certificates, and the key of a client, as PEM.
    pub pem: Arc<Zeroizing<Vec<u8>>>,
}

/// The client certificate in `packed`, opened with `password`: its chain and its key, as PEM. The text of an
/// error says what is wrong, without a full stop.
pub fn open_pkcs12(packed: &[u8], password: &str) -> Result<Zeroizing<Vec<u8>>, String> {
    let given = Given::Pkcs12 { packed: packed.to_vec(), password: Zeroizing::new(password.to_owned()) };
    parse::parse(&given, true).map(|parsed| parsed.pem)
}

/// Takes all certificates that there are.
pub type Watcher = Arc<dyn Fn(Vec<OpenCertificate>) + Send + Sync>;

/// All of all accounts, opened. One that cannot be opened is told in the log and left out.
pub(super) async fn all(parts: &ResourceParts) -> Result<Vec<OpenCertificate>, StoreError> {
    let filter = RecordFilter::of(RecordKind::Certificate);
    let found = parts.ledger.records(filter, Page { limit: u32::MAX, offset: 0 }).await?;
    Ok(found.rows.iter().filter_map(|record| open(parts, record)).collect())
}

fn open(parts: &ResourceParts, record: &Record) -> Option<OpenCertificate> {
    let sealed = record.private.as_deref().unwrap_or_default();
    match parts.vault.open(&context(record.customer), sealed) {
        Ok(pem) => Some(OpenCertificate {
            id: record.id,
            name: record.text("name").to_owned(),
            client: record.text("kind") == "client",
            pem: Arc::new(pem),
        }),
        Err(error) => {
            tracing::error!(certificate_id = record.id, error = %error, "a certificate cannot be opened");
            None
        }
    }
}

fn context(customer: CustomerId) -> String {
    seal_context(RecordKind::Certificate.name(), customer)
}

pub(super) async fn create(bench: &Bench<'_>, body: &Node) -> Result<Draft, Refusal> {
    let mut fields = whole(&CERTIFICATE, body)?;
    let client = fields.get("kind").and_then(Value::as_str) == Some("client");
    let mut secret = |name: &str| match fields.shift_remove(name) {
        Some(Value::String(text)) => Some(Zeroizing::new(text)),
        _ => None,
    };
    let (pem, pkcs12, password) = (secret("pem"), secret("pkcs12"), secret("password"));
    let field = if pem.is_some() { "pem" } else { "pkcs12" };
    let given = match (pem, pkcs12) {
        (Some(_), None) if password.is_some() => {
            let message = "`password` goes with `pkcs12` only; a key in `pem` must not be encrypted";
            return Err(refused(conflict(body, "password", message)));
        }
        (Some(pem), None) => Given::Pem(pem),
        (None, Some(text)) => {
            let text: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
            // The field table has looked at it already.
            let packed = STANDARD.decode(text).unwrap_or_default();
            Given::Pkcs12 { packed, password: password.unwrap_or_default() }
        }
        (Some(_), Some(_)) => {
            return Err(refused(conflict(body, "pkcs12", "`pkcs12` does not go with `pem`")));
        }
        (None, None) => {
            let message = "`pem` or `pkcs12` is required";
            return Err(refused(FieldFault::new(Rule::Missing, "pem", body.place, message)));
        }
    };
    let fault = |reason: String| {
        let fault =
            FieldFault::new(Rule::Format, field, body.place_of(field), format!("`{field}`: {reason}"));
        refused(fault.given(crate::syntax::MASK))
    };
    let format = given.format();
    let parsed = parsed(given, client).await?.map_err(fault)?;
    let facts = facts::of(&parsed.leaf).map_err(fault)?;
    fields.insert("format".to_owned(), json!(format));
    fields.insert("certificates".to_owned(), json!(parsed.count));
    let mut draft = Draft::new(fields);
    draft.warnings = facts::warnings(&facts, client, bench.now);
    for (name, value) in [
        ("subject", json!(facts.subject)),
        ("issuer", json!(facts.issuer)),
        ("not_before", json!(utc(facts.not_before))),
        ("not_after", json!(utc(facts.not_after))),
        ("names", json!(facts.names)),
        ("fingerprint", json!(facts.fingerprint)),
        ("key_type", json!(facts.key_type)),
    ] {
        draft.fields.insert(name.to_owned(), value);
    }
    draft.private = Some(bench.parts.vault.seal(&context(bench.caller.customer), &parsed.pem));
    Ok(draft)
}

/// Off the runtime: a PKCS#12 is opened with work that its password is stretched by.
async fn parsed(given: Given, client: bool) -> Result<Result<Parsed, String>, Refusal> {
    let reading = async {
        let place = OPENINGS.acquire().await;
        let read = tokio::task::spawn_blocking(move || {
            let _place = place;
            parse::parse(&given, client)
        });
        read.await
    };
    match tokio::time::timeout(OPENING, reading).await {
        Ok(Ok(parsed)) => Ok(parsed),
        Ok(Err(_)) => Ok(Err("it cannot be read".to_owned())),
        Err(_) => Ok(Err(format!("opening it takes more than {} s", OPENING.as_secs()))),
    }
}

/// One that a monitor names stays.
pub(super) fn remove(bench: &Bench<'_>, old: &Record) -> Result<(), Refusal> {
    let names = |document: &crate::schema::Document| {
        ["ssl_cert_id", "ca_cert_id"].iter().any(|field| document.number(field) == old.id)
    };
    match users_of(bench.parts, Some(old.customer), names) {
        Some(users) => Err(Refusal::Conflict(format!("{users} this certificate; take it from them first"))),
        None => Ok(()),
    }
}
