//! The keyword rule of a monitor, and the search for it.

use std::sync::Arc;

use super::blocking_pool::{INLINE_SEARCH_BYTES, run_blocking};
use super::build_context::ProbeBuildContext;
use crate::domain::{Failure, FailureKind, Phase};
use crate::evaluate::keyword::{CompiledKeyword, KeywordRule};
use crate::evaluate::{PatternCache, SearchBudget, charset, pattern_failure};
use crate::net::Deadline;
use crate::schema::typed::keyword::KeywordSettings;
use crate::schema::{InvalidFieldValue, MonitorDocument};
use crate::syntax::pattern::PatternError;

/// A keyword rule, and the patterns of its account. The rule is compiled when a page is searched.
#[derive(Clone, Debug)]
pub(super) struct KeywordSearch {
    rule: KeywordRule,
    patterns: Arc<PatternCache>,
}

/// Builds the search for `keyword_string`; `None` when the monitor has no keyword.
///
/// # Errors
/// Fails when its settings are invalid.
pub(super) fn build_keyword_search(
    document: &MonitorDocument,
    context: &ProbeBuildContext,
) -> Result<Option<Box<KeywordSearch>>, InvalidFieldValue> {
    let settings: KeywordSettings<'_> = document.deserialize()?;
    Ok(settings.rule().map(|rule| Box::new(KeywordSearch::new(rule, context.patterns()))))
}

impl KeywordSearch {
    pub(super) const fn new(rule: KeywordRule, patterns: Arc<PatternCache>) -> Self {
        Self { rule, patterns }
    }

    /// Compiles the rule.
    ///
    /// # Errors
    /// [`PatternError`] when the keyword is not a valid regular expression, or too large.
    pub(super) fn compile(self) -> Result<CompiledKeyword, PatternError> {
        self.rule.compile_with(&self.patterns)
    }
}

/// Searches a body for the keyword of `keyword_search`. A long body is searched on a blocking thread, until
/// `deadline` at most: a few expressions take seconds per page. The target has responded by then, so exceeding the
/// deadline is Vigie's error.
pub(super) async fn search_keyword(
    keyword_search: KeywordSearch,
    body: Arc<Vec<u8>>,
    content_type: Option<String>,
    deadline: Deadline,
) -> Result<(), Failure> {
    let is_long = body.len() > INLINE_SEARCH_BYTES;
    let internal_failure = |detail: String| Err(Failure::new(Phase::Validate, FailureKind::Internal, detail));
    let search = move || {
        let text = charset::decode_body(&body, content_type.as_deref());
        let keyword = match keyword_search.compile() {
            Ok(keyword) => keyword,
            Err(error) => return Err(pattern_failure(Phase::Validate, "`keyword_string`", &error)),
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
