//! A Firefox extension for what preferences cannot do: it adds header fields to every request and cancels downloads.
//! Geckodriver installs it for one session.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fantoccini::Client;
use fantoccini::error::CmdError;
use fantoccini::wd::WebDriverCompatibleCommand;
use http::Method;
use serde_json::{Value, json};
use url::{ParseError, Url};

/// The extension's script; `FIELDS` is replaced by the header fields.
const BACKGROUND_SCRIPT: &str = "\
const fields = FIELDS;
const names = fields.map(field => field.name.toLowerCase());
browser.webRequest.onBeforeSendHeaders.addListener(
  request => ({ requestHeaders:
    request.requestHeaders.filter(field => !names.includes(field.name.toLowerCase())).concat(fields) }),
  { urls: ['<all_urls>'] }, ['blocking', 'requestHeaders']);
browser.downloads.onCreated.addListener(item => browser.downloads.cancel(item.id));
";

/// Installs the extension.
///
/// # Errors
/// Fails with the driver's error.
pub(super) async fn install_addon(client: &Client, headers: &[(String, String)]) -> Result<(), CmdError> {
    let fields: Vec<Value> =
        headers.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
    let script = BACKGROUND_SCRIPT.replacen("FIELDS", &json!(fields).to_string(), 1);
    let manifest = json!({
        "manifest_version": 2,
        "name": "Vigie",
        "version": "1.0",
        "browser_specific_settings": { "gecko": { "id": "check@vigie.localhost" } },
        "permissions": ["webRequest", "webRequestBlocking", "downloads", "<all_urls>"],
        "background": { "scripts": ["background.js"] },
    });
    let files = [("manifest.json", manifest.to_string()), ("background.js", script)];
    client.issue_cmd(InstallAddon { addon_base64: STANDARD.encode(zip_archive(&files)) }).await.map(drop)
}

struct InstallAddon {
    /// The ZIP archive of the extension.
    addon_base64: String,
}

impl std::fmt::Debug for InstallAddon {
    /// Hides the header fields, which may be secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Install")
    }
}

impl WebDriverCompatibleCommand for InstallAddon {
    fn endpoint(&self, base_url: &Url, session_id: Option<&str>) -> Result<Url, ParseError> {
        base_url.join(&format!("session/{}/moz/addon/install", session_id.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(json!({ "addon": self.addon_base64, "temporary": true }).to_string()))
    }
}

/// Returns a ZIP archive of some small `files`, uncompressed (APPNOTE.TXT 4.3).
fn zip_archive(files: &[(&str, String)]) -> Vec<u8> {
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for (name, text) in files {
        let offset = to_u32(archive.len());
        // Version, flags, method (stored), time and date of 1980, checksum, size twice, lengths of the names.
        let mut shared_header = vec![20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0];
        shared_header.extend(crc32(text.as_bytes()).to_le_bytes());
        shared_header.extend(to_u32(text.len()).to_le_bytes());
        shared_header.extend(to_u32(text.len()).to_le_bytes());
        shared_header.extend(to_u32(name.len()).to_le_bytes().iter().take(2));
        shared_header.extend([0, 0]);
        archive.extend(b"PK\x03\x04");
        archive.extend(&shared_header);
        archive.extend(name.bytes());
        archive.extend(text.bytes());
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&shared_header);
        // No comment, first disk, no attributes.
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.bytes());
    }
    let (offset, size) = (to_u32(archive.len()), to_u32(directory.len()));
    let count = to_u32(files.len()).to_le_bytes();
    archive.extend(directory);
    archive.extend(b"PK\x05\x06\x00\x00\x00\x00");
    archive.extend([count[0], count[1], count[0], count[1]]);
    archive.extend(size.to_le_bytes());
    archive.extend(offset.to_le_bytes());
    archive.extend([0, 0]);
    archive
}

/// Converts a length; those of the extension are small.
fn to_u32(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// Returns the checksum of ZIP (ISO 3309), computed bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    let next_crc = |crc: u32, _| if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 };
    !bytes.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), next_crc))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_the_standard() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32(b""), 0);
    }

    #[test]
    fn the_archive_lists_the_offsets_of_its_files() {
        let archive = zip_archive(&[("a.txt", "hello".to_owned()), ("bc", String::new())]);
        let end = archive.len() - 22;
        assert_eq!(&archive[end..end + 4], b"PK\x05\x06");
        assert_eq!(archive[end + 8..end + 12], [2, 0, 2, 0]);
        let directory = u32::from_le_bytes(archive[end + 16..end + 20].try_into().unwrap()) as usize;
        let size = u32::from_le_bytes(archive[end + 12..end + 16].try_into().unwrap()) as usize;
        assert_eq!((&archive[directory..directory + 4], directory + size), (b"PK\x01\x02".as_slice(), end));
        assert_eq!(&archive[directory + 46..directory + 51], b"a.txt");
        let second = directory + 46 + 5;
        let offset = u32::from_le_bytes(archive[second + 42..second + 46].try_into().unwrap()) as usize;
        assert_eq!(&archive[offset..offset + 4], b"PK\x03\x04");
        assert_eq!(&archive[offset + 30..offset + 32], b"bc");
    }
}
