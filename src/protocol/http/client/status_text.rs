//! Texts about the status of a response.

use url::Url;

use super::record::truncate_for_result;
use super::redirect::display_url;
use crate::protocol::http::exchange::ResponseHead;

/// Returns the status code and the reason phrase, quoted.
#[must_use]
pub fn describe_status(head: &ResponseHead) -> String {
    match &head.reason_phrase {
        Some(reason) => format!("`{} {}`", head.status.as_u16(), truncate_for_result(reason)),
        None => format!("`{}`", head.status.as_u16()),
    }
}

/// Returns the remark about a 3xx response from `url` that ends a chain of requests.
#[must_use]
pub fn unfollowed_redirect_note(head: &ResponseHead, url: &Url) -> String {
    let (status, url) = (describe_status(head), display_url(url));
    match head.status.as_u16() {
        // RFC 9110 15.4.5: an answer to a conditional request alone, without a body.
        304 => format!(
            "{status} from `{url}` holds no page: the target says that the copy of the client is current. Vigie keeps \
             no copies; a condition in the headers of the monitor (`If-None-Match`, `If-Modified-Since`) or a cache \
             before the target leads to this"
        ),
        300 | 305 | 306 => format!("{status} from `{url}` names no single page to go on with"),
        _ if !head.headers.contains_key(http::header::LOCATION) => {
            format!("{status} from `{url}` was not followed: it has no `Location`")
        }
        _ => format!("{status} from `{url}` was not followed"),
    }
}
