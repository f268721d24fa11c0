//! The fields of an API monitor (fields.md 2), typed and checked.

use std::collections::BTreeMap;
use std::sync::Arc;

use http::HeaderValue;

use super::plan::Plan;
use crate::probe::settings::ProbeSettings;
use crate::probe::unusable::detail;
use crate::probe::way;
use crate::protocol::http::client::Way;
use crate::schema::typed::api_steps::{ApiStepSettings, ApiStepsSettings};
use crate::schema::typed::website::HttpMethod;
use crate::schema::{Document, InvalidSettings};

/// What an API monitor asks for.
pub(super) struct Options {
    /// The steps, in their order.
    pub(super) steps: Arc<[Plan]>,
    pub(super) way: Way,
    pub(super) agent: HeaderValue,
    pub(super) body_bytes: u64,
    /// What stands before the first step.
    pub(super) variables: Arc<BTreeMap<String, String>>,
    /// The host of the first step, where it is written down.
    pub(super) target: Option<Box<str>>,
}

impl Options {
    pub(super) fn of(document: &Document, settings: &ProbeSettings) -> Result<Self, String> {
        let agent = HeaderValue::from_str(&settings.user_agent)
            .map_err(|_| "`user_agent` cannot be used: it is no header value".to_owned())?;
        let wanted: ApiStepsSettings<'_> = document.read().map_err(|error| detail(&error))?;
        let steps = steps(wanted)?;
        Ok(Self {
            target: steps.first().and_then(Plan::host),
            steps: steps.into(),
            way: way(document).map_err(|error| detail(&error))?,
            agent,
            body_bytes: settings.body_bytes,
            variables: Arc::clone(&settings.variables),
        })
    }
}

fn way(document: &Document) -> Result<Way, InvalidSettings> {
    Ok(Way {
        family: way::family(document)?,
        pinned: None,
        proxy: way::proxy(document)?,
        tls: way::tls(document)?,
    })
}

/// The steps by `step_number`, or by their place in the list where they have none.
fn steps(wanted: ApiStepsSettings<'_>) -> Result<Vec<Plan>, String> {
    let listed = wanted.api_steps.unwrap_or_default();
    if listed.is_empty() {
        // The same step as convert-api makes of it.
        let url = wanted.url.ok_or("`url` cannot be used: it is missing")?;
        let method = wanted.http_method.unwrap_or(HttpMethod::Get);
        let assertions = wanted.assertions.unwrap_or_default();
        return Ok(vec![Plan::new(1, &ApiStepSettings::of_one(url, method, assertions))?]);
    }
    let number = |index: usize, own: Option<u32>| own.unwrap_or(u32::try_from(index + 1).unwrap_or(u32::MAX));
    let plans =
        listed.iter().enumerate().map(|(index, step)| Plan::new(number(index, step.step_number), step));
    let mut plans: Vec<Plan> = plans.collect::<Result<_, _>>()?;
    plans.sort_by_key(|plan| plan.number);
    Ok(plans)
}
