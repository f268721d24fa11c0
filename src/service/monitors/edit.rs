//! Changes and removes one monitor.

use std::sync::Arc;

use super::access::{IfMatch, changeable, own};
use super::context::MonitorContext;
use super::save::{save_all, saved};
use super::step::Step;
use super::validation::ValidationContext;
use crate::catalog::AccountFacts;
use crate::domain::{LocationId, MonitorId, MonitorType, Permission};
use crate::schema::intake::Form;
use crate::schema::{Document, Monitor, Secrets, accept};
use crate::service::caller::{Caller, Refusal, Saved};
use crate::syntax::source::Node;

/// Changes one; `kind`, when given, has to be its type (else 404). Without a change of a value its version
/// stays.
///
/// # Errors
/// [`Refusal::NotFound`], [`Refusal::Forbidden`] for a file's monitor, [`Refusal::Stale`] when it is not
/// the version of `if_match`, [`Refusal::Faults`] with every fault of `body`, and as the store's.
pub async fn patch(
    context: &MonitorContext,
    caller: &Caller,
    id: MonitorId,
    kind: Option<MonitorType>,
    form: Form,
    body: &Node,
    if_match: IfMatch,
) -> Result<Saved, Refusal> {
    let _turn = context.alone().await;
    let scene = ValidationContext::new(context, caller).await?;
    if kind.is_some_and(|kind| own(&context.parts.roster, caller, id).is_ok_and(|there| there.kind() != kind))
    {
        return Err(Refusal::NotFound);
    }
    let old = changeable(&context.parts.roster, caller, id, if_match)?;
    let accepted = accept::patch(&old.document, form, body, &scene.around())?;
    let document = Arc::new(without_echo(&old, accepted.document, body, scene.facts())?);
    let trail = (*old.trail).clone();
    let step = Step::Next { action: "change", old: Box::new(old), document, trail, origin: None };
    let made = save_all(context, caller, vec![step]).await?;
    saved(&made, accepted.warnings)
}

/// Removes one; its results follow retention.
///
/// # Errors
/// As [`patch`].
pub async fn delete(
    context: &MonitorContext,
    caller: &Caller,
    id: MonitorId,
    if_match: IfMatch,
) -> Result<(), Refusal> {
    caller.require(Permission::Edit)?;
    let _turn = context.alone().await;
    let old = changeable(&context.parts.roster, caller, id, if_match)?;
    save_all(context, caller, vec![Step::Gone { old: Box::new(old) }]).await?;
    Ok(())
}

/// `document` without what only came back as it was shown: a monitor without its own locations is shown with
/// those of its account, which it goes on to follow. `monitor_uses_own_locations` in the body tells an object
/// that was read before from a wish.
fn without_echo(
    old: &Monitor,
    document: Document,
    body: &Node,
    facts: &AccountFacts,
) -> Result<Document, Refusal> {
    if body.get("monitor_uses_own_locations").is_none() {
        return Ok(document);
    }
    let home = facts.pool(old).first().copied().map(LocationId);
    let defaults = facts.default_locations.iter().copied().map(LocationId);
    let same_home =
        !old.document.is_set("home_location") && document.settings().schedule.home_location == home;
    let same_pool = !old.document.is_set("locations") && document.locations().into_iter().eq(defaults);
    if !same_home && !same_pool {
        return Ok(document);
    }
    let mut values = document.stored(Secrets::Revealed);
    for (name, same) in [("home_location", same_home), ("locations", same_pool)] {
        if same {
            values.shift_remove(name);
        }
    }
    Document::new(document.kind(), values).map_err(Refusal::from)
}
