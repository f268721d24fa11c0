//! The fields of a browser monitor (interface.md 2.2, fields.md 3), typed and checked.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use url::{ParseError, Url};

use super::capture_rule::CaptureRule;
use super::content_view_evaluation::ContentView;
use super::text_condition::MAX_QUOTED_CHARS;
use super::time_budget::ScriptLimits;
use crate::browser::{BrowserKind, BrowserPool, DeviceProfile, Emulation, SessionOptions};
use crate::domain::TraceId;
use crate::domain::{Failure, FailureKind, Phase, Timestamp, truncate};
use crate::evaluate::PatternCache;
use crate::evaluate::template::{EscapeContext, Template, Variables};
use crate::probe::build_context::ProbeBuildContext;
use crate::probe::full_page_rule::FullPageRule;
use crate::probe::invalid_probe::describe_invalid_setting;
use crate::probe::{connect_settings, keyword_search};
use crate::protocol::http::site_of_url;
use crate::schema::typed::browser::{BrowserSettings, BrowserType, KeywordAction};
use crate::schema::{InvalidFieldValue, MonitorDocument};
use crate::script::DEFAULT_MAX_STEPS;
use crate::script::language::{ActionKind, Script};

/// Which user experience metrics are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UserExperience {
    /// Nothing (`user_experience_enabled` false).
    Off,
    /// Those of the page and its frames.
    PageAndFrames,
    /// Those of the page alone (`user_experience_base_page_only`).
    PageOnly,
}

impl UserExperience {
    const fn from_settings(settings: &BrowserSettings<'_>) -> Self {
        match (settings.user_experience_enabled, settings.user_experience_base_page_only) {
            (false, _) => Self::Off,
            (true, false) => Self::PageAndFrames,
            (true, true) => Self::PageOnly,
        }
    }

    /// Returns the argument of `inspect.js`.
    pub(super) fn to_argument(self) -> Value {
        match self {
            Self::Off => Value::Null,
            Self::PageAndFrames => json!("all"),
            Self::PageOnly => json!("page"),
        }
    }
}

/// The settings of a browser monitor.
#[derive(Debug)]
pub(super) struct BrowserScriptOptions {
    pub(super) script: Script,
    /// The base of relative addresses.
    base_url_template: Option<Template>,
    pub(super) session_options: SessionOptions,
    /// The browser that the monitor chooses; `None` for any that the location has.
    chosen_browser: Option<BrowserKind>,
    /// `transaction_trace`.
    sends_trace_id: bool,
    /// The device to emulate (`subtype`).
    pub(super) device: DeviceProfile,
    /// Variables set from outside; they override those of the script.
    pub(super) preset_variables: Arc<BTreeMap<String, String>>,
    pub(super) script_limits: ScriptLimits,
    /// `continue_playback_on_timeout`.
    pub(super) continue_on_timeout: bool,
    /// The keyword of the monitor, and whether to wait for it.
    pub(super) keyword_search: Option<(Box<keyword_search::KeywordSearch>, bool)>,
    /// Compiled patterns of the account.
    pub(super) patterns: Arc<PatternCache>,
    pub(super) user_experience: UserExperience,
    pub(super) capture_rule: CaptureRule,
    /// The full page rule, if the monitor has full page checks.
    pub(super) full_page_rule: Option<FullPageRule>,
    /// Whether a change of the last page is reported.
    pub(super) detect_content_change: bool,
    pub(super) content_views: Vec<ContentView>,
    /// `third_party_document_errors`.
    pub(super) third_party_document_errors: bool,
    /// Host of the first URL that the script opens, for the concurrency limit per target.
    pub(super) target_host: Option<String>,
}

impl BrowserScriptOptions {
    /// # Errors
    /// Returns the failure that every check of this monitor then has: 96 for an invalid script, 94 for too many
    /// steps.
    pub(super) fn from_document(
        document: &MonitorDocument,
        context: &ProbeBuildContext,
    ) -> Result<Self, Failure> {
        let fields: BrowserSettings<'_> =
            document.deserialize().map_err(|error| invalid_settings_failure(&error))?;
        let url = fields.url.filter(|url| !url.is_empty());
        let script = parse_script(&fields, url)?;
        let base = script.base_url.as_deref().or(url).map(|base| Template::new(base, EscapeContext::Url));
        let first_opened_url =
            script.steps.iter().flat_map(|step| &step.actions).find_map(|action| match &action.kind {
                ActionKind::Open { url } => Some(url.as_str()),
                _ => None,
            });
        let initial_variables =
            initial_variables(&script, &context.preset_variables, Timestamp::from_seconds(0), 0);
        let render_url = |template: &Template| Url::parse(&template.render(&initial_variables).ok()?).ok();
        let base_url = base.as_ref().and_then(render_url);
        let first_url = first_opened_url.and_then(|url| {
            let url = Template::new(url, EscapeContext::Url).render(&initial_variables).ok()?;
            Url::options().base_url(base_url.as_ref()).parse(&url).ok()
        });
        let monitor = document.settings();
        let page_load_limit = Duration::from_secs(u64::from(monitor.schedule.timeout_seconds).max(1));
        let step_default = monitor.step_timeout_seconds.map(|seconds| Duration::from_secs(seconds.into()));
        let keyword = keyword_search::build_keyword_search(document, context).map_err(|error| {
            let reason = format!("`{}`: {}", error.path, error.reason);
            Failure::new(Phase::Prepare, FailureKind::Internal, reason)
        })?;
        let device = find_device_profile(fields.subtype.unwrap_or_default(), context)?;
        let wait_for_match = fields.keyword_action == KeywordAction::WaitUntilFound;
        let options = session_options(document).map_err(|error| invalid_settings_failure(&error))?;
        Ok(Self {
            session_options: SessionOptions {
                headful: context.script_debug.headful,
                emulation: device.emulation.clone(),
                ..options
            },
            chosen_browser: fields.browser.map(browser_kind),
            sends_trace_id: fields.transaction_trace,
            device,
            preset_variables: Arc::clone(&context.preset_variables),
            script_limits: ScriptLimits { page_load: page_load_limit, step_default },
            continue_on_timeout: fields.continue_playback_on_timeout,
            keyword_search: keyword.map(|search| (search, wait_for_match)),
            patterns: context.patterns(),
            user_experience: UserExperience::from_settings(&fields),
            capture_rule: CaptureRule::new(fields.capture, context.script_debug.screenshot_every_action),
            full_page_rule: FullPageRule::from_settings(monitor.full_page),
            detect_content_change: monitor
                .full_page
                .is_some_and(|full_page| full_page.notify_on_content_change),
            content_views: fields.content_views.iter().map(ContentView::new).collect(),
            third_party_document_errors: fields.third_party_document_errors,
            target_host: first_url.or(base_url).and_then(|url| url.host_str().map(str::to_owned)),
            base_url_template: base,
            script,
        })
    }

    /// Returns the session options of one attempt, with the browser of `pool` to use. Each attempt has its own trace id
    /// (`transaction_trace`).
    ///
    /// # Errors
    /// Fails with [`FailureKind::BrowserNotInstalled`] (status 95) when the chosen browser, or any, is missing.
    pub(super) fn session_options_for_attempt(&self, pool: &BrowserPool) -> Result<SessionOptions, Failure> {
        let browser_kind = pool.choose_browser(self.chosen_browser)?;
        let trace = self.sends_trace_id.then(|| TraceId::from_bits(crate::probe::random::random_u128()));
        Ok(SessionOptions { browser_kind, trace_id: trace, ..self.session_options.clone() })
    }

    /// Returns the site (registrable domain) under test: that of the script's base URL, or without one that of `url`,
    /// the first page that it opens.
    pub(super) fn site_under_test(&self, url: &str, variables: &Variables) -> Option<String> {
        match self.base_url(variables) {
            Ok(Some(base)) => site_of_url(&base),
            // An invalid base is reported by the first address that is relative to it.
            _ => site_of_url(&Url::parse(url).ok()?),
        }
    }

    /// Resolves the `url` of an `open` action to an absolute URL.
    pub(super) fn resolve_url(&self, url: &str, variables: &Variables) -> Result<String, Failure> {
        let parsed = match Url::parse(url) {
            Err(ParseError::RelativeUrlWithoutBase) => {
                Url::options().base_url(self.base_url(variables)?.as_ref()).parse(url)
            }
            parsed => parsed,
        };
        let reason = match parsed {
            Ok(url) if matches!(url.scheme(), "http" | "https" | "about") => return Ok(url.into()),
            Ok(url) => format!("addresses with scheme `{}` are not allowed", url.scheme()),
            Err(error) => error.to_string(),
        };
        Err(invalid_script_failure(
            Phase::RunScript,
            format!("`{}`: {reason}", truncate(url, MAX_QUOTED_CHARS)),
        ))
    }

    /// Returns the base of relative addresses, with the current values of `variables`.
    fn base_url(&self, variables: &Variables) -> Result<Option<Url>, Failure> {
        let Some(base) = &self.base_url_template else { return Ok(None) };
        let text = base.render(variables)?;
        let reason = match Url::parse(&text) {
            Ok(url) if matches!(url.scheme(), "http" | "https") => return Ok(Some(url)),
            Ok(_) => "it is not an http or https URL".to_owned(),
            Err(error) => error.to_string(),
        };
        Err(invalid_script_failure(
            Phase::RunScript,
            format!("`base` is `{}`: {reason}", truncate(&text, MAX_QUOTED_CHARS)),
        ))
    }
}

/// Returns the initial variables of `script`; those in `overrides` replace its own.
pub(super) fn initial_variables(
    script: &Script,
    overrides: &BTreeMap<String, String>,
    now: Timestamp,
    random: u128,
) -> Variables {
    let mut variables = Variables::new(now, random);
    for variable in &script.variables {
        variables.set(&variable.name, variable.value.clone());
        if variable.protected {
            variables.mark_secret(&variable.name);
        }
    }
    for (name, value) in overrides {
        variables.set(name, value.clone());
    }
    variables
}

fn invalid_script_failure(phase: Phase, reason: String) -> Failure {
    Failure::new(phase, FailureKind::ScriptInvalid, reason)
}

fn parse_script(settings: &BrowserSettings<'_>, url: Option<&str>) -> Result<Script, Failure> {
    let Some(text) = settings.script.filter(|text| !text.is_empty()) else {
        let url = url.ok_or_else(|| {
            invalid_script_failure(Phase::Prepare, "there is neither a script nor a URL".to_owned())
        })?;
        return Ok(Script::from_url(url));
    };
    let script = Script::parse(text).map_err(|errors| {
        let messages: Vec<String> = errors.iter().take(3).map(ToString::to_string).collect();
        invalid_script_failure(Phase::Prepare, messages.join("; "))
    })?;
    let allowed = match settings.transaction_steps_allowed {
        0 => DEFAULT_MAX_STEPS,
        allowed => allowed,
    };
    if i64::try_from(script.steps.len()).unwrap_or(i64::MAX) > allowed {
        let detail = format!("it has {} steps; {allowed} are allowed", script.steps.len());
        return Err(Failure::new(Phase::Prepare, FailureKind::TooManySteps, detail));
    }
    Ok(script)
}

/// Returns the device profile of `subtype`; 0 is a desktop screen, whose profile is the default.
fn find_device_profile(subtype: i64, context: &ProbeBuildContext) -> Result<DeviceProfile, Failure> {
    if subtype == 0 {
        return Ok(DeviceProfile::default());
    }
    context.device_profiles.get(&subtype).cloned().ok_or_else(|| {
        let detail =
            format!("`subtype` {subtype}: the settings have no profile of this number in `mobile.profiles`");
        Failure::new(Phase::Prepare, FailureKind::NotConfigured, detail)
    })
}

/// Returns the session options of `document`; the browser is chosen when it is opened.
fn session_options(document: &MonitorDocument) -> Result<SessionOptions, InvalidFieldValue> {
    let tls = connect_settings::tls_options_with_default_versions(document)?;
    Ok(SessionOptions {
        browser_kind: BrowserKind::default(),
        headful: false,
        emulation: Emulation::default(),
        address_family: connect_settings::address_family(document)?,
        upstream_proxy_id: connect_settings::proxy_id(document)?,
        verify_certificates: tls.verify_certificate,
        ca_id: tls.ca_id,
        client_certificate_id: tls.client_certificate_id,
        trace_id: None,
    })
}

const fn browser_kind(browser: BrowserType) -> BrowserKind {
    match browser {
        BrowserType::Firefox => BrowserKind::Firefox,
        BrowserType::Chrome => BrowserKind::Chrome,
        BrowserType::InternetExplorer => BrowserKind::InternetExplorer,
    }
}

fn invalid_settings_failure(error: &InvalidFieldValue) -> Failure {
    Failure::new(Phase::Prepare, FailureKind::Internal, describe_invalid_setting(error))
}
