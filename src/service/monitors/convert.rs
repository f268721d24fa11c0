//! One-request API monitors become stepped ones (behaviour.md 1, convert-api).

use std::sync::Arc;

use serde_json::json;

use super::access::{IfMatch, changeable, own};
use super::context::MonitorContext;
use super::save::{save_all, saved};
use super::step::Step;
use super::validation::ValidationContext;
use crate::domain::{MonitorId, MonitorType};
use crate::schema::accept;
use crate::schema::intake::Form;
use crate::service::caller::{Caller, Refusal, Saved};
use crate::syntax::source::Node;

/// Turns the one-request form of an API monitor of type `kind` into step 1, which asks for and judges the
/// same.
///
/// # Errors
/// [`Refusal::NotFound`] when there is none of this type, [`Refusal::Conflict`] when it has steps already;
/// else as [`super::patch`].
pub async fn convert_api(
    context: &MonitorContext,
    caller: &Caller,
    id: MonitorId,
    kind: MonitorType,
    if_match: IfMatch,
) -> Result<Saved, Refusal> {
    let _turn = context.alone().await;
    let scene = ValidationContext::new(context, caller).await?;
    let is_stepped = matches!(kind, MonitorType::WebsiteApi | MonitorType::WebsiteSslApi);
    if !is_stepped || own(&context.parts.roster, caller, id)?.kind() != kind {
        return Err(Refusal::NotFound);
    }
    let old = changeable(&context.parts.roster, caller, id, if_match)?;
    let document = &old.document;
    let Some(url) = document.url().filter(|_| !document.has_api_steps()) else {
        return Err(Refusal::Conflict("This monitor has API steps already".to_owned()));
    };
    let step = json!({
        "url": url,
        "http_method": document.value("http_method").unwrap_or(&json!("GET")),
        "head": {},
        "step_name": "Step 1",
        "step_number": 1,
        "assertions": document.value("assertions").unwrap_or(&json!([])),
    });
    let body = json!({"api_steps": [step], "url": null, "http_method": null, "assertions": null});
    let accepted = accept::patch(document, Form::V3, &Node::from(body), &scene.around())?;
    let (document, trail) = (Arc::new(accepted.document), (*old.trail).clone());
    let step = Step::Next { action: "convert-api", old: Box::new(old), document, trail, origin: None };
    let made = save_all(context, caller, vec![step]).await?;
    saved(&made, accepted.warnings)
}
