//! The certificates that monitors refer to by id: private authorities, and client certificates as PEM or PKCS#12.

use std::collections::BTreeMap;
use std::path::Path;

use super::settings_reader::{PemCheck, SettingsReader};
use crate::domain::{AllowedAccounts, CustomerId};
use crate::net::{Pem, TrustConfig};
use crate::schema::reader::SecretSource;
use crate::service::pkcs12_to_pem;
use crate::syntax::ValidationErrorKind;
use crate::syntax::node::Node;

/// Maximum size of a PKCS#12 in bytes; the same as in the API.
const MAX_PKCS12_BYTES: u64 = 500_000;

/// Reads the files of `certificates` into `trust`.
pub(super) fn read_certificates_by_id(reader: &mut SettingsReader<'_>, trust: &mut TrustConfig) {
    for (index, entry) in reader.entries_reporting_duplicates("certificates") {
        let path = format!("certificates[{index}]");
        let id = entry.get("id").map_or(0, |id| id.to_json().as_i64().unwrap_or_default());
        trust.certificate_accounts.insert(id, read_allowed_accounts(&entry));
        let has = |name: &str| entry.get(name).is_some();
        match ["ca_file", "cert_file", "key_file", "pkcs12_file", "password_file"].map(has) {
            [true, false, false, false, false] => {
                let ca = read_pem_field(reader, &path, &entry, "ca_file", Pem::check_certificates);
                trust.named_authorities.extend(ca.map(|ca| (id, ca)));
            }
            [false, true, true, false, false] => {
                let certificate_and_key = read_certificate_and_key(reader, &path, &entry);
                trust
                    .client_certificates
                    .extend(certificate_and_key.map(|certificate_and_key| (id, certificate_and_key)));
            }
            [false, false, false, true, _] => {
                let client_certificate = read_pkcs12(reader, &path, &entry);
                trust
                    .client_certificates
                    .extend(client_certificate.map(|client_certificate| (id, client_certificate)));
            }
            _ => {
                let message = format!(
                    "`{path}` needs either `ca_file`, or `cert_file` and `key_file`, or `pkcs12_file`"
                );
                reader.add_error(ValidationErrorKind::Conflict, &path, entry.position, message);
            }
        }
    }
}

/// Returns the accounts that an entry of the settings names.
pub(super) fn read_allowed_accounts(entry: &Node) -> AllowedAccounts {
    let accounts = entry.get("accounts").map(Node::items).unwrap_or_default();
    accounts.iter().filter_map(|account| account.to_json().as_i64()).map(CustomerId).collect()
}

/// Returns names and formats of the client certificates, by id.
pub(super) fn read_certificate_names(reader: &SettingsReader<'_>) -> BTreeMap<i64, (String, &'static str)> {
    let id_name_and_format = |entry: &Node| {
        let format = match (entry.get("cert_file"), entry.get("pkcs12_file")) {
            (Some(_), _) => "PEM",
            (None, Some(_)) => "PKCS#12",
            (None, None) => return None,
        };
        Some((entry.get("id")?.to_json().as_i64()?, (entry.get("name")?.as_text()?.to_owned(), format)))
    };
    reader.node("certificates").items().iter().filter_map(id_name_and_format).collect()
}

fn read_pem_field(
    reader: &mut SettingsReader<'_>,
    path: &str,
    entry: &Node,
    name: &str,
    check: PemCheck,
) -> Option<Pem> {
    let node = entry.get(name)?;
    reader.read_pem(&format!("{path}.{name}"), node, check)
}

fn read_certificate_and_key(reader: &mut SettingsReader<'_>, path: &str, entry: &Node) -> Option<Pem> {
    let certificate = read_pem_field(reader, path, entry, "cert_file", Pem::check_certificates);
    let key = read_pem_field(reader, path, entry, "key_file", |_| Ok(()));
    let certificate_and_key = certificate?.with_key(&key?);
    reader
        .report_if_failed(path, entry.position, certificate_and_key.check_certificate_and_key())
        .then_some(certificate_and_key)
}

fn read_pkcs12(reader: &mut SettingsReader<'_>, path: &str, entry: &Node) -> Option<Pem> {
    let node = entry.get("pkcs12_file")?;
    let file_name = node.as_text()?.to_owned();
    let password = match entry.get("password_file") {
        None => String::new(),
        Some(node) => {
            let password_result =
                super::secrets::read_secret(Path::new(""), SecretSource::File(node.as_text()?));
            let field_path = format!("{path}.password_file");
            let report_error = |reason| {
                reader.add_error(
                    ValidationErrorKind::Conflict,
                    &field_path,
                    node.position,
                    format!("`{field_path}`: {reason}"),
                );
            };
            password_result.map_err(report_error).ok()?
        }
    };
    let pem_text =
        read_limited_file(Path::new(&file_name)).and_then(|pkcs12| pkcs12_to_pem(&pkcs12, &password));
    match pem_text {
        Ok(text) => Some(Pem { label: file_name, text: text.to_vec() }),
        Err(reason) => {
            let field_path = format!("{path}.pkcs12_file");
            reader.add_error(
                ValidationErrorKind::Conflict,
                &field_path,
                node.position,
                format!("`{field_path}`: `{file_name}`: {reason}"),
            );
            None
        }
    }
}

fn read_limited_file(path: &Path) -> Result<Vec<u8>, String> {
    let length = std::fs::metadata(path).map_err(|error| format!("it cannot be read: {error}"))?.len();
    if length > MAX_PKCS12_BYTES {
        return Err(format!("it has {length} bytes, {MAX_PKCS12_BYTES} are possible"));
    }
    std::fs::read(path).map_err(|error| format!("it cannot be read: {error}"))
}
