//! Attachments of mail: the traceroute, and on the recipient's request screenshots and the target's response.

use std::sync::Arc;

use crate::domain::{Capture, CheckId, NotificationMethod, Recipient};
use crate::store::ResultStore;

/// Maximum size of all attachments of one message together, in bytes.
const MAX_BYTES: u64 = 8 * 1024 * 1024;
/// Name of a stored traceroute.
const TRACEROUTE: &str = "traceroute.txt";

/// Returns the files of `check` for `recipient`. Files that cannot be read are left out: the message matters more.
pub(super) async fn attachments_for(
    results: Option<&Arc<dyn ResultStore>>,
    check: Option<CheckId>,
    recipient: &Recipient,
) -> Vec<Capture> {
    let (Some(results), Some(check)) = (results, check) else { return Vec::new() };
    if !matches!(recipient.method, NotificationMethod::MailText | NotificationMethod::MailHtml) {
        return Vec::new();
    }
    let Ok(Some(result)) = results.result(check).await else { return Vec::new() };
    let mut left = MAX_BYTES;
    let mut files = Vec::new();
    for capture in result.captures.iter().filter(|file| is_wanted_by(recipient, file)) {
        if capture.bytes > left {
            continue;
        }
        match results.capture(check, capture.name.clone()).await {
            Ok(Some(file)) => {
                left -= capture.bytes.min(left);
                files.push(file);
            }
            Ok(None) => {}
            Err(error) => tracing::warn!(error = %error, "failed to attach a file to a mail"),
        }
    }
    files
}

/// Returns the text of the traceroute among `files`, to be shown in the mail itself.
pub(super) fn traceroute_text(files: &[Capture]) -> Option<String> {
    let content = files.iter().find(|file| file.name == TRACEROUTE)?.content.as_deref()?;
    Some(String::from_utf8_lossy(content).into_owned())
}

fn is_wanted_by(recipient: &Recipient, file: &Capture) -> bool {
    file.name == TRACEROUTE
        || recipient.attach_screen_capture && file.mimetype.starts_with("image/")
        || recipient.attach_server_response && file.name.starts_with("response-")
}
