//! Makes monitors out of bodies.

use std::sync::Arc;

use super::context::MonitorContext;
use super::save::{save_all, saved};
use super::step::Step;
use super::validation::ValidationContext;
use crate::domain::MonitorType;
use crate::schema::intake::Form;
use crate::schema::{Origin, accept};
use crate::service::caller::{Caller, Refusal, Saved};
use crate::syntax::source::Node;

/// Makes a monitor of `kind`.
///
/// # Errors
/// [`Refusal::Forbidden`] for a role that may not edit, [`Refusal::Faults`] with every fault of `body`,
/// [`Refusal::Unavailable`] when nothing is planned any more, and as the store's.
pub async fn create(
    context: &MonitorContext,
    caller: &Caller,
    kind: MonitorType,
    form: Form,
    body: &Node,
) -> Result<Saved, Refusal> {
    let _turn = context.beside().await;
    let scene = ValidationContext::new(context, caller).await?;
    let accepted = accept::create(kind, form, body, &scene.around())?;
    let document = Arc::new(accepted.document);
    let step = Step::New { action: "create", origin: Origin::Api, document };
    let made = save_all(context, caller, vec![step]).await?;
    saved(&made, accepted.warnings)
}
