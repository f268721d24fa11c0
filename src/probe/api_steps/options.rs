//! The fields of an API monitor (fields.md 2), typed and checked.

use std::collections::BTreeMap;
use std::sync::Arc;

use http::HeaderValue;
use serde_json::{Value, json};

use super::plan::Plan;
use crate::probe::settings::ProbeSettings;
use crate::probe::way;
use crate::protocol::http::client::Way;
use crate::schema::Document;

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
        let family = way::family(document).ok_or("`ipv6_enabled` cannot be used: it is no choice")?;
        let steps = steps(document)?;
        Ok(Self {
            target: steps.first().and_then(Plan::host),
            steps: steps.into(),
            way: Way { family, pinned: None, proxy: way::proxy(document), tls: way::tls(document) },
            agent,
            body_bytes: settings.body_bytes,
            variables: Arc::clone(&settings.variables),
        })
    }
}

/// The steps by `step_number`, or by their place in the list where they have none.
fn steps(document: &Document) -> Result<Vec<Plan>, String> {
    let listed = document.list("api_steps");
    if listed.is_empty() {
        // The same step as convert-api makes of it.
        let step = json!({
            "url": document.text("url"),
            "http_method": document.text("http_method"),
            "step_name": "Step 1",
            "assertions": document.list("assertions"),
        });
        return Ok(vec![Plan::of(1, &step)?]);
    }
    let number = |index: usize, step: &Value| {
        let own = step.get("step_number").and_then(Value::as_u64).and_then(|own| u32::try_from(own).ok());
        own.unwrap_or(u32::try_from(index + 1).unwrap_or(u32::MAX))
    };
    let plans = listed.iter().enumerate().map(|(index, step)| Plan::of(number(index, step), step));
    let mut plans: Vec<Plan> = plans.collect::<Result<_, _>>()?;
    plans.sort_by_key(|plan| plan.number);
    Ok(plans)
}
