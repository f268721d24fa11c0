//! The fields of a monitor of type `api`, with its project parsed and checked.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use http::HeaderValue;
use url::Url;

use crate::domain::{CapturedFile, Failure, FailureKind, Phase};
use crate::evaluate::PatternCache;
use crate::net::{AddressFamily, TlsOptions};
use crate::probe::build_context::ProbeBuildContext;
use crate::probe::invalid_probe::describe_invalid_setting;
use crate::project::model::{CaseIndex, Project, StepAction};
use crate::project::{UnsupportedItem, case_step_count, unsupported};
use crate::protocol::http::client::ConnectOptions;
use crate::schema::MonitorDocument;
use crate::schema::typed::browser::{CaptureLevel, CaptureSettings};
use crate::schema::typed::project::ProjectSettings;

/// Maximum length of the list of what is unsupported, in characters.
const MAX_DETAIL_CHARS: usize = 2000;
/// Maximum number of captured files of a run.
const MAX_CAPTURES: usize = 50;
/// How many of them are for steps that fail.
const FAILURE_CAPTURES: usize = 10;

/// The settings of a monitor.
pub(super) struct ProjectOptions {
    pub(super) project: Arc<Project>,
    /// The case that is run.
    pub(super) case: CaseIndex,
    pub(super) connect_options: ConnectOptions,
    pub(super) user_agent: HeaderValue,
    pub(super) max_body_bytes: u64,
    /// Compiled patterns of the account.
    pub(super) patterns: Arc<PatternCache>,
    pub(super) captures: CaptureRule,
    /// Values of properties of the project for this check (`vigie check --set`).
    pub(super) preset_properties: Arc<BTreeMap<String, String>>,
    /// The host of the first request, unless its endpoint has expansions.
    pub(super) target_host: Option<Box<str>>,
}

/// Which responses are captured, and what of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct CaptureRule {
    /// Whether those of steps that pass are captured too.
    pub(super) every_step: bool,
    headers: bool,
    bodies: bool,
}

impl CaptureRule {
    const fn new(capture: CaptureSettings) -> Self {
        let is_enabled = !matches!(capture.level, CaptureLevel::Disabled);
        let every_step = !matches!(capture.level, CaptureLevel::Disabled | CaptureLevel::ErrorOnly);
        Self { every_step, headers: is_enabled && capture.headers, bodies: is_enabled && capture.sources }
    }

    /// Removes those of the captures of a step that are not wanted, or are too many. They stand behind `before` of earlier
    /// steps.
    pub(super) fn apply(self, captures: &mut Vec<CapturedFile>, before: usize, has_failed: bool) {
        let mut own = captures.split_off(before);
        own.retain(
            |capture| if capture.name.starts_with("response-head") { self.headers } else { self.bodies },
        );
        let max_captures = if has_failed { MAX_CAPTURES } else { MAX_CAPTURES - FAILURE_CAPTURES };
        own.truncate(max_captures.saturating_sub(before));
        captures.append(&mut own);
    }
}

impl ProjectOptions {
    /// Reads the fields of `document`.
    ///
    /// # Errors
    /// Fails with [`FailureKind::NotConfigured`] when projects are switched off, with
    /// [`FailureKind::ProjectNotStarted`] when the case cannot be run, with [`FailureKind::TooManySteps`] when it has
    /// more steps than are allowed, and with [`FailureKind::Internal`] when a field cannot be used.
    pub(super) fn from_document(
        document: &MonitorDocument,
        context: &ProbeBuildContext,
    ) -> Result<Self, Failure> {
        let failure = |kind, detail: String| Failure::new(Phase::Prepare, kind, detail);
        if !context.projects_enabled {
            let detail = "projects are switched off at this location (`projects.enabled`)";
            return Err(failure(FailureKind::NotConfigured, detail.to_owned()));
        }
        let fields: ProjectSettings<'_> = document
            .deserialize()
            .map_err(|error| failure(FailureKind::Internal, describe_invalid_setting(&error)))?;
        let project = Project::parse(fields.script)
            .map_err(|error| failure(FailureKind::ProjectNotStarted, error.to_string()))?;
        let items = unsupported(&project, fields.test_suite, fields.test_case);
        if !items.is_empty() {
            return Err(failure(FailureKind::ProjectNotStarted, describe_items(&items)));
        }
        let case = project
            .find_case(fields.test_suite, fields.test_case)
            .map_err(|reason| failure(FailureKind::ProjectNotStarted, reason))?;
        let step_count = case_step_count(&project, fields.test_suite, fields.test_case);
        if i64::try_from(step_count).is_ok_and(|count| count > fields.transaction_steps_allowed) {
            let max_steps = fields.transaction_steps_allowed;
            let detail =
                format!("the case has {step_count} steps, more than the {max_steps} that are allowed");
            return Err(failure(FailureKind::TooManySteps, detail));
        }
        let user_agent = HeaderValue::from_str(&context.user_agent).map_err(|_| {
            failure(FailureKind::Internal, "`user_agent` cannot be used: it is not a header value".to_owned())
        })?;
        Ok(Self {
            target_host: first_host(&project, case),
            project: Arc::new(project),
            case,
            connect_options: ConnectOptions {
                address_family: AddressFamily::Any,
                pinned_host: None,
                proxy_id: None,
                tls_options: TlsOptions::default(),
            },
            user_agent,
            max_body_bytes: context.max_body_bytes,
            patterns: context.patterns(),
            preset_properties: Arc::clone(&context.preset_variables),
            captures: CaptureRule::new(fields.capture),
        })
    }
}

/// Returns the host of the first request of the case, unless its endpoint has expansions.
fn first_host(project: &Project, case: CaseIndex) -> Option<Box<str>> {
    let steps = project.case(case).steps.iter().filter(|step| !step.disabled);
    let request = steps.filter_map(|step| match &step.action {
        StepAction::Request(request) => Some(request),
        _ => None,
    });
    let endpoint = &request.into_iter().next()?.endpoint;
    let url = Url::parse(endpoint).ok().filter(|_| !endpoint.contains("${"))?;
    url.host_str().map(Box::from)
}

/// Describes what cannot be run, in a bounded text.
fn describe_items(items: &[UnsupportedItem]) -> String {
    let (mut detail, mut remaining) = (String::new(), items.len());
    for item in items {
        let text = item.to_string();
        if detail.chars().count() + text.chars().count() > MAX_DETAIL_CHARS {
            break;
        }
        let separator = if detail.is_empty() { "" } else { "; " };
        detail.push_str(separator);
        detail.push_str(&text);
        remaining -= 1;
    }
    if remaining > 0 {
        let _ = write!(detail, "; and {remaining} more");
    }
    detail
}
