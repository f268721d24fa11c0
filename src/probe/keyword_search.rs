//! The keyword of a page: its rule, and the search for it.

use std::sync::Arc;

use super::blocking_pool::{INLINE_SEARCH_BYTES, run_blocking};
use crate::domain::{Failure, FailureKind, Phase};
use crate::evaluate::keyword::KeywordRule;
use crate::evaluate::{SearchBudget, charset};
use crate::net::Deadline;
use crate::schema::typed::keyword::KeywordSettings;
use crate::schema::{InvalidSettings, MonitorDocument};

/// The rule of `keyword_string`, known to compile. Compiled anew for each page: a compiled one takes tens of
/// kilobytes, too much to keep for every monitor between two runs.
///
/// # Errors
/// Why it does not compile.
pub(super) fn keyword_rule(document: &MonitorDocument) -> Result<Option<Box<KeywordRule>>, InvalidSettings> {
    let settings: KeywordSettings<'_> = document.to_typed()?;
    let Some(rule) = settings.rule() else { return Ok(None) };
    match rule.clone().compile() {
        Ok(_) => Ok(Some(Box::new(rule))),
        Err(error) => {
            Err(InvalidSettings::new("keyword_string", Some(settings.keyword_string), &error.to_string()))
        }
    }
}

/// Judges a body by `rule`. A long one is searched apart from the threads that wait for other targets, and
/// no longer than until `deadline`: a few expressions take seconds for a page. The target has delivered by
/// then, so that is no fault of its.
pub(super) async fn search_keyword(
    rule: Box<KeywordRule>,
    body: Arc<Vec<u8>>,
    content_type: Option<String>,
    deadline: Deadline,
) -> Result<(), Failure> {
    let is_long = body.len() > INLINE_SEARCH_BYTES;
    let internal = |words: String| Err(Failure::new(Phase::Validate, FailureKind::Internal, words));
    let judge = move || {
        let text = charset::decode(&body, content_type.as_deref());
        // That it compiles was seen when the probe was built.
        let keyword = match rule.compile() {
            Ok(keyword) => keyword,
            Err(error) => return internal(error.to_string()),
        };
        let budget = SearchBudget::with_remaining(|| deadline.remaining());
        let failure = keyword.evaluate_within(&text, &budget);
        if budget.is_exhausted() {
            return internal(format!(
                "searching {} bytes for the keyword would take longer than the timeout; simplify `keyword_string`",
                text.len()
            ));
        }
        failure.map_or(Ok(()), Err)
    };
    if !is_long {
        return judge();
    }
    run_blocking("the search for the keyword", deadline, judge).await?
}
