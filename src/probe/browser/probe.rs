//! The probe of browser scripts.

use std::sync::Arc;
use std::time::Duration;

use super::options::BrowserScriptOptions;
use super::{attempt, time_budget};
use crate::browser::{BrowserPool, FREE_BROWSER_TIMEOUT};
use crate::probe::build_context::ProbeBuildContext;
use crate::probe::invalid_probe::InvalidProbe;
use crate::probe::probe_trait::{AttemptFuture, Probe, ProbeContext};
use crate::schema::MonitorDocument;

/// Builds the probe of a browser monitor. An invalid script gives a probe whose attempts all fail with that error.
#[must_use]
pub fn build(document: &MonitorDocument, context: &ProbeBuildContext) -> Arc<dyn Probe> {
    match BrowserScriptOptions::from_document(document, context) {
        Ok(options) => Arc::new(BrowserScriptProbe { options, pool: Arc::clone(&context.browser_pool) }),
        Err(failure) => Arc::new(InvalidProbe::from(failure)),
    }
}

struct BrowserScriptProbe {
    options: BrowserScriptOptions,
    pool: Arc<BrowserPool>,
}

impl Probe for BrowserScriptProbe {
    fn attempt<'a>(&'a self, cx: ProbeContext<'a>) -> AttemptFuture<'a> {
        Box::pin(attempt::run_attempt(&self.options, &self.pool, cx))
    }

    fn target_host(&self) -> Option<&str> {
        self.options.target_host.as_deref()
    }

    fn time_limit(&self, _: Duration) -> Duration {
        FREE_BROWSER_TIMEOUT
            + self.pool.start_timeout()
            + self.options.script_limits.script_limit(&self.options.script)
            + time_budget::CAPTURE_ALLOWANCE
            + attempt::FAILED_PAGE_TIMEOUT
            + attempt::CLOSE_TIMEOUT
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use regex::Regex;

    use super::{FREE_BROWSER_TIMEOUT, attempt, time_budget};
    use crate::schema::Monitor;

    /// A run stays open at least as long as its attempts may take.
    #[test]
    fn the_browser_overhead_covers_every_limit_outside_the_script() {
        // The maximum of `browser.start_seconds`.
        let overhead = FREE_BROWSER_TIMEOUT
            + Duration::from_mins(2)
            + time_budget::CAPTURE_ALLOWANCE
            + attempt::FAILED_PAGE_TIMEOUT
            + attempt::CLOSE_TIMEOUT;
        assert!(overhead <= Monitor::BROWSER_OVERHEAD, "{overhead:?}");
    }

    /// Internet Explorer, which a remote WebDriver end point may provide, parses ECMAScript 5 only.
    #[test]
    fn scripts_for_pages_are_written_in_ecmascript_5() {
        let scripts = [
            ("inspect.js", include_str!("inspect.js")),
            ("dom.js", include_str!("dom.js")),
            ("select_option.js", include_str!("select_option.js")),
        ];
        let strings_and_comments = Regex::new(r"'[^']*'|// .*").unwrap();
        let newer_syntax = Regex::new(concat!(
            r"=>|`|\.\.\.|\?\?|\?\.|\*\*|\b(const|let|class|of|async|await|Set|Map|Symbol)\b|catch \{",
            r"|new Event\b|\.(includes|find|from|assign|replaceAll)\("
        ));
        let newer_syntax = newer_syntax.unwrap();
        for (name, script) in scripts {
            for (index, line) in script.lines().enumerate() {
                let found = newer_syntax
                    .find(&strings_and_comments.replace_all(line, "''"))
                    .map(|found| found.as_str().to_owned());
                assert_eq!(found, None, "{name}:{}: {line}", index + 1);
            }
        }
    }
}
