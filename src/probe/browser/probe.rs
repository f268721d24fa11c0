//! The probe of browser scripts.

use std::sync::Arc;
use std::time::Duration;

use super::options::Options;
use super::{budget, run};
use crate::browser::{House, QUEUE};
use crate::probe::contract::{Attempting, Context, Probe};
use crate::probe::settings::ProbeSettings;
use crate::probe::unusable::Unusable;
use crate::schema::Document;

/// Builds the probe of a browser monitor. A script that cannot be played gives a probe whose checks say so.
#[must_use]
pub fn build(document: &Document, settings: &ProbeSettings) -> Arc<dyn Probe> {
    match Options::of(document, settings) {
        Ok(options) => Arc::new(Scripted { options, house: Arc::clone(&settings.browser) }),
        Err(failure) => Arc::new(Unusable::from(failure)),
    }
}

struct Scripted {
    options: Options,
    house: Arc<House>,
}

impl Probe for Scripted {
    fn attempt<'a>(&'a self, cx: Context<'a>) -> Attempting<'a> {
        Box::pin(run::attempt(&self.options, &self.house, cx))
    }

    fn target(&self) -> Option<&str> {
        self.options.target.as_deref()
    }

    fn limit(&self, _: Duration) -> Duration {
        QUEUE
            + self.house.start_limit()
            + self.options.limits.of_script(&self.options.script)
            + budget::SPARE
            + run::EVIDENCE
            + run::FAREWELL
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use regex::Regex;

    use super::{QUEUE, budget, run};
    use crate::schema::Monitor;

    /// A run is open at least as long as its attempts may take.
    #[test]
    fn what_is_around_a_playback_has_its_time_in_the_plan() {
        // As long as `browser.start_seconds` may be.
        let around = QUEUE + Duration::from_mins(2) + budget::SPARE + run::EVIDENCE + run::FAREWELL;
        assert!(around <= Monitor::AROUND, "{around:?}");
    }

    /// Internet Explorer, which an end point elsewhere may have, parses ECMAScript 5 alone.
    #[test]
    fn scripts_for_pages_are_written_in_ecmascript_5() {
        let scripts = [
            ("look.js", include_str!("look.js")),
            ("page.js", include_str!("page.js")),
            ("pick.js", include_str!("pick.js")),
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
