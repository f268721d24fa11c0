//! The probe of browser scripts.

use std::sync::Arc;
use std::time::Duration;

use super::options::Options;
use super::{attempt, time_budget};
use crate::browser::{BrowserPool, QUEUE_TIMEOUT};
use crate::probe::contract::{AttemptFuture, Probe, ProbeContext};
use crate::probe::invalid_probe::InvalidProbe;
use crate::probe::settings::ProbeSettings;
use crate::schema::MonitorDocument;

/// Builds the probe of a browser monitor. A script that cannot be played gives a probe whose checks say so.
#[must_use]
pub fn build(document: &MonitorDocument, settings: &ProbeSettings) -> Arc<dyn Probe> {
    match Options::from_document(document, settings) {
        Ok(options) => Arc::new(BrowserScriptProbe { options, pool: Arc::clone(&settings.browser_pool) }),
        Err(failure) => Arc::new(InvalidProbe::from(failure)),
    }
}

struct BrowserScriptProbe {
    options: Options,
    pool: Arc<BrowserPool>,
}

impl Probe for BrowserScriptProbe {
    fn attempt<'a>(&'a self, cx: ProbeContext<'a>) -> AttemptFuture<'a> {
        Box::pin(attempt::run_attempt(&self.options, &self.pool, cx))
    }

    fn target(&self) -> Option<&str> {
        self.options.target.as_deref()
    }

    fn time_limit(&self, _: Duration) -> Duration {
        QUEUE_TIMEOUT
            + self.pool.start_timeout()
            + self.options.limits.script_limit(&self.options.script)
            + time_budget::CAPTURE_ALLOWANCE
            + attempt::EVIDENCE_TIMEOUT
            + attempt::CLOSE_TIMEOUT
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use regex::Regex;

    use super::{QUEUE_TIMEOUT, attempt, time_budget};
    use crate::schema::Monitor;

    /// A run is open at least as long as its attempts may take.
    #[test]
    fn what_is_around_a_playback_has_its_time_in_the_plan() {
        // As long as `browser.start_seconds` may be.
        let around = QUEUE_TIMEOUT
            + Duration::from_mins(2)
            + time_budget::CAPTURE_ALLOWANCE
            + attempt::EVIDENCE_TIMEOUT
            + attempt::CLOSE_TIMEOUT;
        assert!(around <= Monitor::BROWSER_OVERHEAD, "{around:?}");
    }

    /// Internet Explorer, which an end point elsewhere may have, parses ECMAScript 5 alone.
    #[test]
    fn scripts_for_pages_are_written_in_ecmascript_5() {
        let scripts = [
            ("look.js", include_str!("inspect.js")),
            ("page.js", include_str!("dom.js")),
            ("pick.js", include_str!("select_option.js")),
        ];
        let aside = Regex::new(r"'[^']*'|// .*").unwrap();
        let newer = Regex::new(concat!(
            r"=>|`|\.\.\.|\?\?|\?\.|\*\*|\b(const|let|class|of|async|await|Set|Map|Symbol)\b|catch \{",
            r"|new Event\b|\.(includes|find|from|assign|replaceAll)\("
        ));
        let newer = newer.unwrap();
        for (name, script) in scripts {
            for (at, line) in script.lines().enumerate() {
                let found = newer.find(&aside.replace_all(line, "''")).map(|found| found.as_str().to_owned());
                assert_eq!(found, None, "{name}:{}: {line}", at + 1);
            }
        }
    }
}
