//! What the page of a result shows beside the result itself.

use std::sync::Arc;

use crate::domain::{CheckResult, Location, Outcome, StoreError, TRACEROUTE_FILE_NAME};
use crate::service::LocationAudience;
use crate::web::page_state::PageState;

/// Who reads the page, and by that what it has beside the result.
pub(super) enum Reader {
    /// Somebody who may see the pages.
    Console {
        /// Token of the form that shares the result; `None` for somebody who may not share it.
        share_token: Option<String>,
    },
    /// Somebody with a link to it alone: no link leads to another page.
    Link,
    /// Somebody who asked for the check. The result is not part of the history, and has no address.
    OnDemand,
}

/// What the page of a result shows beside the result itself.
pub(super) struct ResultContext {
    pub(super) reader: Reader,
    /// Path below which the captures are; `None` hides them.
    pub(super) captures_path: Option<String>,
    pub(super) traceroute: Option<String>,
    pub(super) last_passed: Option<CheckResult>,
    pub(super) locations: Arc<[Location]>,
}

impl ResultContext {
    /// Returns the context of a page whose reader may see captures below `captures_path`, if any, and is of `audience`.
    pub(super) async fn load(
        state: &PageState,
        result: &CheckResult,
        reader: Reader,
        captures_path: Option<String>,
        audience: LocationAudience,
    ) -> Result<Self, StoreError> {
        let has_traceroute = result.captures.iter().any(|file| file.name == TRACEROUTE_FILE_NAME);
        let traceroute = if captures_path.is_some() && has_traceroute {
            state.monitor_reader.capture(result.check_id, TRACEROUTE_FILE_NAME.to_owned()).await?
        } else {
            None
        };
        let to_text = |content: &[u8]| String::from_utf8_lossy(content).into_owned();
        let has_failed = matches!(result.outcome, Outcome::Error | Outcome::Warning | Outcome::Unknown);
        let is_compared = has_failed && matches!(reader, Reader::Console { .. });
        Ok(Self {
            reader,
            captures_path,
            traceroute: traceroute.and_then(|file| file.content.as_deref().map(to_text)),
            last_passed: if is_compared {
                state.monitor_reader.last_passed_before(result).await?
            } else {
                None
            },
            locations: state.monitor_reader.locations_for(audience),
        })
    }

    /// Returns the context of a result that is not part of the history: it has no captures, and is compared with
    /// nothing.
    pub(super) fn on_demand(locations: Arc<[Location]>) -> Self {
        Self { reader: Reader::OnDemand, captures_path: None, traceroute: None, last_passed: None, locations }
    }

    /// Whether the reader has nothing but a link to the page.
    pub(super) fn is_shared(&self) -> bool {
        matches!(self.reader, Reader::Link)
    }

    /// Returns the token of the form that shares the result.
    pub(super) fn share_token(&self) -> Option<&str> {
        match &self.reader {
            Reader::Console { share_token } => share_token.as_deref(),
            Reader::Link | Reader::OnDemand => None,
        }
    }
}
