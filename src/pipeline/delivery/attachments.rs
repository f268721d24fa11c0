//! Attachments of mail: the traceroute, and on the recipient's request screenshots and the target's response.

use std::sync::Arc;

use crate::domain::{CapturedFile, CheckId, NotificationMethod, Recipient, TRACEROUTE_FILE_NAME};
use crate::store::ResultStore;

/// Maximum size of all attachments of one message together, in bytes.
const MAX_ATTACHMENT_BYTES: u64 = 8 * 1024 * 1024;

/// Returns the files of `check_id` for `recipient`. Files that cannot be read are left out: the message matters more.
pub(super) async fn load_attachments(
    result_store: Option<&Arc<dyn ResultStore>>,
    check_id: Option<CheckId>,
    recipient: &Recipient,
) -> Vec<CapturedFile> {
    let (Some(result_store), Some(check_id)) = (result_store, check_id) else { return Vec::new() };
    if !matches!(recipient.method, NotificationMethod::MailText | NotificationMethod::MailHtml) {
        return Vec::new();
    }
    let Ok(Some(result)) = result_store.result(check_id).await else { return Vec::new() };
    let mut remaining_bytes = MAX_ATTACHMENT_BYTES;
    let mut files = Vec::new();
    for capture in result.captures.iter().filter(|file| is_attached_for(recipient, file)) {
        if capture.content_bytes > remaining_bytes {
            continue;
        }
        match result_store.capture(check_id, capture.name.clone()).await {
            Ok(Some(file)) => {
                remaining_bytes -= capture.content_bytes.min(remaining_bytes);
                files.push(file);
            }
            Ok(None) => {}
            Err(error) => tracing::warn!(error = %error, "failed to attach a file to a mail"),
        }
    }
    files
}

/// Returns the text of the traceroute among `files`, to be shown in the mail itself.
pub(super) fn traceroute_text(files: &[CapturedFile]) -> Option<String> {
    let content = files.iter().find(|file| file.name == TRACEROUTE_FILE_NAME)?.content.as_deref()?;
    Some(String::from_utf8_lossy(content).into_owned())
}

/// Whether `recipient` gets `file`: traceroutes always, other kinds on request.
fn is_attached_for(recipient: &Recipient, file: &CapturedFile) -> bool {
    file.name == TRACEROUTE_FILE_NAME
        || recipient.attach_screen_capture && file.media_type.starts_with("image/")
        || recipient.attach_server_response && file.name.starts_with("response-")
}
