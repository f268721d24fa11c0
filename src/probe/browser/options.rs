//! The fields of a browser monitor (interface.md 2.2, fields.md 3), typed and checked.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use url::Url;

use super::budget::Limits;
use super::capture::CaptureRule;
use super::views::View;
use crate::browser::{BrowserKind, Device, Guise, Wish};
use crate::judge::keyword::KeywordRule;
use crate::model::script::STEPS_ALLOWED;
use crate::model::script::dialect::{Action, Script};
use crate::model::{Document, Failure, FailureKind, Phase};
use crate::net::{Family, TraceId};
use crate::page::site_of;
use crate::probe::full_page::FullPageRule;
use crate::probe::{ProbeSettings, search, way};

/// What is measured of how people experience a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Experience {
    /// Nothing (`user_experience_enabled` false).
    Unwanted,
    /// Of the page and its frames.
    All,
    /// Of the page alone (`user_experience_base_page_only`).
    BasePage,
}

impl Experience {
    fn of(document: &Document) -> Self {
        match (document.flag("user_experience_enabled"), document.flag("user_experience_base_page_only")) {
            (false, _) => Self::Unwanted,
            (true, false) => Self::All,
            (true, true) => Self::BasePage,
        }
    }

    /// As `look.js` takes it.
    pub(super) fn asked(self) -> Value {
        match self {
            Self::Unwanted => Value::Null,
            Self::All => json!("all"),
            Self::BasePage => json!("page"),
        }
    }
}

/// What a browser monitor asks for.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) script: Script,
    /// What relative addresses stand on.
    base: Option<Url>,
    pub(super) wish: Wish,
    /// `transaction_trace`.
    traces: bool,
    /// The device that it pretends to be (`subtype`).
    pub(super) device: Device,
    /// Variables that are given from outside; they beat those of the script.
    pub(super) given: Arc<BTreeMap<String, String>>,
    pub(super) limits: Limits,
    /// `continue_playback_on_timeout`.
    pub(super) goes_on: bool,
    /// The keyword of the monitor, and whether it is waited for.
    pub(super) keyword: Option<(Box<KeywordRule>, bool)>,
    pub(super) experience: Experience,
    pub(super) capture: CaptureRule,
    /// Where it wants full pages.
    pub(super) full_page: Option<FullPageRule>,
    /// Whether a change of the last page is told.
    pub(super) tells_change: bool,
    pub(super) views: Vec<View>,
    /// `third_party_document_errors`.
    pub(super) third_party_documents: bool,
    /// The host of the first address, for the limit per target.
    pub(super) target: Option<String>,
}

impl Options {
    /// # Errors
    /// What every check of such a monitor ends with: 96 for a script that is none, 94 for one with too many steps.
    pub(super) fn of(document: &Document, settings: &ProbeSettings) -> Result<Self, Failure> {
        let url = document.text("url").filter(|url| !url.is_empty());
        let script = script(document, url)?;
        let base = script.base.as_deref().or(url).and_then(|base| Url::parse(base).ok());
        let opened = script.steps.iter().flat_map(|step| &step.acts).find_map(|act| match &act.action {
            Action::Open { url } => Some(url.as_str()),
            _ => None,
        });
        let first = opened.and_then(|url| Url::options().base_url(base.as_ref()).parse(url).ok());
        let seconds = |field| u64::try_from(document.number(field)).unwrap_or_default();
        let page = Duration::from_secs(seconds("timeout").max(1));
        let step = Some(Duration::from_secs(seconds("step_timeout"))).filter(|step| !step.is_zero());
        let keyword = search::rule(document).map_err(|why| {
            Failure::new(Phase::Prepare, FailureKind::Internal, format!("`keyword_string`: {why}"))
        })?;
        let device = device(document, settings)?;
        let waits = document.text("keyword_action") == Some("Continue waiting");
        Ok(Self {
            wish: Wish {
                headful: settings.authoring.headful,
                guise: device.guise.clone(),
                ..wish(document)?
            },
            traces: document.flag("transaction_trace"),
            device,
            given: Arc::clone(&settings.variables),
            limits: Limits { page, step },
            goes_on: document.flag("continue_playback_on_timeout"),
            keyword: keyword.map(|rule| (rule, waits)),
            experience: Experience::of(document),
            capture: CaptureRule::of(document, settings.authoring.pictures),
            full_page: FullPageRule::of(document),
            tells_change: document.flag("notify_on_content_change"),
            views: View::all(document),
            third_party_documents: document.flag("third_party_document_errors"),
            target: first.or_else(|| base.clone()).and_then(|url| url.host_str().map(str::to_owned)),
            base,
            script,
        })
    }

    /// What an attempt wants of its browser: each has a trace of its own (`transaction_trace`).
    pub(super) fn wish_of_attempt(&self) -> Wish {
        let trace = self.traces.then(|| TraceId::of(crate::probe::random()));
        Wish { trace, ..self.wish.clone() }
    }

    /// The site that the script is about, once it opens `url`: that of its base, or else of the first page.
    pub(super) fn site(&self, url: &str) -> Option<String> {
        match &self.base {
            Some(base) => site_of(base),
            None => site_of(&Url::parse(url).ok()?),
        }
    }

    /// The whole address that `open` means with `url`.
    pub(super) fn address(&self, url: &str) -> Result<String, Failure> {
        let parsed = Url::options().base_url(self.base.as_ref()).parse(url);
        let why = match parsed {
            Ok(url) if matches!(url.scheme(), "http" | "https" | "about") => return Ok(url.into()),
            Ok(url) => format!("addresses of kind `{}` are not opened", url.scheme()),
            Err(error) => error.to_string(),
        };
        let detail = format!("`{}`: {why}", url.chars().take(200).collect::<String>());
        Err(Failure::new(Phase::Play, FailureKind::ScriptInvalid, detail))
    }
}

fn script(document: &Document, url: Option<&str>) -> Result<Script, Failure> {
    let invalid = |why: String| Failure::new(Phase::Prepare, FailureKind::ScriptInvalid, why);
    let Some(text) = document.text("script").filter(|text| !text.is_empty()) else {
        let url = url.ok_or_else(|| invalid("there is neither a script nor a URL".to_owned()))?;
        return Ok(Script::opening(url));
    };
    let script = Script::read(text).map_err(|faults| {
        let told: Vec<String> = faults.iter().take(3).map(ToString::to_string).collect();
        invalid(told.join("; "))
    })?;
    let allowed = match document.number("transaction_steps_allowed") {
        0 => STEPS_ALLOWED,
        allowed => allowed,
    };
    if i64::try_from(script.steps.len()).unwrap_or(i64::MAX) > allowed {
        let detail = format!("it has {}, and {allowed} are allowed", script.steps.len());
        return Err(Failure::new(Phase::Prepare, FailureKind::TooManySteps, detail));
    }
    Ok(script)
}

/// The device of `subtype`; of 0 a screen on a desk, which has no name.
fn device(document: &Document, settings: &ProbeSettings) -> Result<Device, Failure> {
    let subtype = document.number("subtype");
    if subtype == 0 {
        return Ok(Device::default());
    }
    settings.devices.get(&subtype).cloned().ok_or_else(|| {
        let detail = format!("`subtype` {subtype}: `mobile.profiles` of the settings has no such profile");
        Failure::new(Phase::Prepare, FailureKind::NotConfigured, detail)
    })
}

fn wish(document: &Document) -> Result<Wish, Failure> {
    let unusable = |why: String| Failure::new(Phase::Prepare, FailureKind::Internal, why);
    let name = document.text("browser_type").unwrap_or_else(|| BrowserKind::default().name());
    let tls = way::tls(document);
    Ok(Wish {
        kind: BrowserKind::of_name(name).ok_or_else(|| unusable(format!("`{name}` is no browser")))?,
        headful: false,
        guise: Guise::default(),
        family: way::family(document).unwrap_or(Family::V4Only),
        proxy: way::proxy(document),
        verify: tls.verify,
        ca: tls.ca,
        client_certificate: tls.client_certificate,
        trace: None,
    })
}
