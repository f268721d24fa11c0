//! The keyword rule of a monitor, and the search for it.

use std::sync::Arc;

use super::blocking_pool::{INLINE_SEARCH_BYTES, run_blocking};
use crate::domain::{Failure, FailureKind, Phase};
use crate::evaluate::keyword::KeywordRule;
use crate::evaluate::{SearchBudget, charset};
use crate::net::Deadline;
use crate::schema::typed::keyword::KeywordSettings;
use crate::schema::{InvalidSettings, MonitorDocument};

/// Returns the rule of `keyword_string`, checked to compile. It is compiled again for each page: a compiled rule takes
/// tens of kilobytes, too much to keep for every monitor between runs.
///
/// # Errors
/// Fails when it does not compile.
pub(super) fn keyword_rule(document: &MonitorDocument) -> Result<Option<Box<KeywordRule>>, InvalidSettings> {
    let settings: KeywordSettings<'_> = document.deserialize()?;
    let Some(rule) = settings.rule() else { return Ok(None) };
    match rule.clone().compile() {
        Ok(_) => Ok(Some(Box::new(rule))),
        Err(error) => {
            Err(InvalidSettings::new("keyword_string", Some(settings.keyword_string), &error.to_string()))
        }
    }
}

/// Evaluates a body by `rule`. A long body is searched on a blocking thread, until `deadline` at most: a few
/// expressions take seconds per page. The target has responded by then, so exceeding the deadline is Vigie's error.
pub(super) async fn search_keyword(
    rule: Box<KeywordRule>,
    body: Arc<Vec<u8>>,
    content_type: Option<String>,
    deadline: Deadline,
) -> Result<(), Failure> {
    let is_long = body.len() > INLINE_SEARCH_BYTES;
    let internal_failure = |detail: String| Err(Failure::new(Phase::Validate, FailureKind::Internal, detail));
    let search = move || {
        let text = charset::decode_body(&body, content_type.as_deref());
        // Checked when the probe was built.
        let keyword = match rule.compile() {
            Ok(keyword) => keyword,
            Err(error) => return internal_failure(error.to_string()),
        };
        let budget = SearchBudget::with_remaining_time(|| deadline.remaining());
        let failure = keyword.evaluate_within(&text, &budget);
        if budget.is_exhausted() {
            return internal_failure(format!(
                "searching {} bytes for the keyword would take longer than the timeout; simplify `keyword_string`",
                text.len()
            ));
        }
        failure.map_or(Ok(()), Err)
    };
    if !is_long {
        return search();
    }
    run_blocking("the search for the keyword", deadline, search).await?
}
