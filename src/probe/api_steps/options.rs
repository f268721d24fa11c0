//! The fields of an API monitor (fields.md 2), typed and checked.

use std::collections::BTreeMap;
use std::sync::Arc;

use http::HeaderValue;

use super::step_plan::StepPlan;
use crate::evaluate::PatternCache;
use crate::probe::build_context::ProbeBuildContext;
use crate::probe::connect_settings;
use crate::probe::invalid_probe::describe_invalid_setting;
use crate::protocol::http::client::ConnectOptions;
use crate::schema::typed::api_steps::{ApiStepSettings, SingleRequestMethod, WebsiteApiSettings};

use crate::schema::{InvalidFieldValue, MonitorDocument};

/// The settings of an API monitor.
pub(super) struct ApiStepsOptions {
    /// The steps, in order.
    pub(super) step_plans: Arc<[StepPlan]>,
    pub(super) connect_options: ConnectOptions,
    pub(super) user_agent: HeaderValue,
    pub(super) max_body_bytes: u64,
    /// Compiled patterns of the account.
    pub(super) patterns: Arc<PatternCache>,
    /// Values of variables before the first step (`vigie check --set`); steps may replace them.
    pub(super) preset_variables: Arc<BTreeMap<String, String>>,
    /// Whether requests carry a trace (`trace_requests`).
    pub(super) trace_requests: bool,
    /// The host of the first step, unless its URL has placeholders.
    pub(super) target_host: Option<Box<str>>,
}

impl ApiStepsOptions {
    pub(super) fn from_document(
        document: &MonitorDocument,
        context: &ProbeBuildContext,
    ) -> Result<Self, String> {
        let user_agent = HeaderValue::from_str(&context.user_agent)
            .map_err(|_| "`user_agent` cannot be used: it is not a header value".to_owned())?;
        let fields: WebsiteApiSettings<'_> =
            document.deserialize().map_err(|error| describe_invalid_setting(&error))?;
        let trace_requests = fields.trace_requests;
        let steps = parse_steps(fields)?;
        Ok(Self {
            target_host: steps.first().and_then(StepPlan::fixed_host),
            step_plans: steps.into(),
            trace_requests,
            connect_options: connect_options(document).map_err(|error| describe_invalid_setting(&error))?,
            user_agent,
            max_body_bytes: context.max_body_bytes,
            patterns: context.patterns(),
            preset_variables: Arc::clone(&context.preset_variables),
        })
    }
}

fn connect_options(document: &MonitorDocument) -> Result<ConnectOptions, InvalidFieldValue> {
    Ok(ConnectOptions {
        address_family: connect_settings::address_family(document)?,
        pinned_host: None,
        proxy_id: connect_settings::proxy_id(document)?,
        tls_options: connect_settings::tls_options(document)?,
    })
}

/// Returns the steps ordered by `step_number`, or by list position for those without one.
fn parse_steps(settings: WebsiteApiSettings<'_>) -> Result<Vec<StepPlan>, String> {
    let step_settings = settings.api_steps.unwrap_or_default();
    if step_settings.is_empty() {
        // The same step that `convert-api` creates.
        let url = settings.url.ok_or("`url` cannot be used: it is missing")?;
        let method = settings.http_method.unwrap_or(SingleRequestMethod::Get);
        let assertions = settings.assertions.unwrap_or_default();
        return Ok(vec![StepPlan::new(1, &ApiStepSettings::from_single_request(url, method, assertions))?]);
    }
    let step_number = |index: usize, configured_number: Option<u32>| {
        configured_number.unwrap_or(u32::try_from(index + 1).unwrap_or(u32::MAX))
    };
    let plans = step_settings
        .iter()
        .enumerate()
        .map(|(index, step)| StepPlan::new(step_number(index, step.step_number), step));
    let mut plans: Vec<StepPlan> = plans.collect::<Result<_, _>>()?;
    plans.sort_by_key(|plan| plan.number);
    Ok(plans)
}
