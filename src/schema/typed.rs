//! Typed settings of a monitor: what `evaluate`, `script` and `schedule` decide by, built from its document.

use std::time::Duration;

use super::document::Document;
use super::monitor::Monitor;
use crate::domain::{LocationId, Mode, MonitorType};
use crate::evaluate::certificate::ExpiryRule;
use crate::evaluate::keyword::{KeywordRule, Matching};
use crate::evaluate::page::PageRule;
use crate::schedule::{RunPlan, Slots};
use crate::script::ScriptFacts;
use crate::script::dialect::Script;

impl Document {
    /// The rule of the seven `keyword_*` fields; `None` when `keyword_string` is empty.
    #[must_use]
    pub fn keyword_rule(&self) -> Option<KeywordRule> {
        let pattern = self.text("keyword_string").filter(|text| !text.is_empty())?;
        Some(KeywordRule {
            pattern: pattern.to_owned(),
            matching: match self.text("keyword_match_type") {
                Some("Regular Expression") => Matching::RegularExpression,
                _ => Matching::PlainText,
            },
            invert: self.flag("keyword_match_invert"),
            match_case: self.flag("keyword_match_case"),
            whole_word: self.flag("keyword_match_whole_word"),
            line_wrap: self.flag("keyword_allow_line_wrap"),
            normalize_spaces: self.flag("keyword_normalize_spaces"),
        })
    }

    /// What is compared between full pages; `None` when nothing is.
    #[must_use]
    pub fn page_rule(&self, tolerance_percent: u32) -> Option<PageRule> {
        let objects = self.flag("check_fullpage_missing_objects");
        let sizes = self.flag("check_fullpage_object_sizes");
        let is_error = self.flag("notify_on_fullpage_errors");
        (objects || sizes).then_some(PageRule { objects, sizes, tolerance_percent, is_error })
    }

    /// Which dates of certificates are judged; `days` is the account's or the installation's setting.
    #[must_use]
    pub fn expiry_rule(&self, days: u32) -> ExpiryRule {
        match self.text("check_ssl_expiration_dates") {
            Some("Expired") => ExpiryRule::Expired,
            Some("Expiring") => ExpiryRule::Expiring { days },
            _ => ExpiryRule::Disabled,
        }
    }

    /// What the APIs show of the script of a browser monitor, or of the one step that opens its `url`. `None` for
    /// other types, and for scripts that cannot be read.
    #[must_use]
    pub fn script_facts(&self) -> Option<ScriptFacts> {
        if self.kind() != MonitorType::BrowserScript {
            return None;
        }
        match self.text("script") {
            Some(text) => ScriptFacts::read(text).ok(),
            None => Some(ScriptFacts { steps: 1, events: 1, protected: Vec::new() }),
        }
    }

    /// The longest that a playback may take where a page load may take `page`, after fields.md 3 (`step_timeout`): as
    /// [`Script::longest`]. `None` without a script that can be played.
    #[must_use]
    pub(super) fn longest_playback(&self, page: Duration) -> Option<Duration> {
        let step = u64::try_from(self.number("step_timeout")).ok().filter(|&seconds| seconds > 0);
        let text = self.text("script").filter(|text| !text.is_empty());
        let read = |text| Script::read(text).ok();
        let script = text.map_or_else(|| Some(Script::opening("")), read)?;
        Some(script.longest(page, step.map(Duration::from_secs)))
    }
}

impl Monitor {
    /// The runs of this version over `pool`, its own locations or those of its account, in their order. A mode that is
    /// none of the five, as of handsets, is taken as Global Verify.
    #[must_use]
    pub fn run_plan(&self, pool: &[LocationId]) -> RunPlan {
        let document = &self.document;
        let mode = document.text("mode").and_then(Mode::of_name).unwrap_or(Mode::GlobalVerify);
        let rotates = document.flag("rotate_locations") && mode != Mode::Primary;
        let home = LocationId(document.number("home_location"));
        let mut pool = pool.to_vec();
        pool.sort_by_key(|location| *location != home);
        let per_run = match usize::try_from(document.number("monitor_location_count")) {
            // Each location would send a message of its own through the same mailbox (behaviour.md 4).
            _ if self.kind() == MonitorType::EmailRoundTrip => 1,
            Ok(count @ 1..) => count.min(pool.len()),
            _ => mode.own_count(pool.len(), rotates),
        };
        let attempts = if document.flag("retry_on_failure") { 2 } else { 1 };
        RunPlan {
            slots: Slots::new(self.id, self.interval(), self.offset()),
            pool,
            per_run: per_run.max(1),
            rotates,
            staggered: mode == Mode::RoundRobin,
            longest: self.longest_attempt() * attempts,
        }
    }
}
