//! Makes monitors out of bodies.

use std::sync::Arc;

use super::fleet::Fleet;
use super::save::Step;
use crate::domain::MonitorType;
use crate::schema::intake::Form;
use crate::schema::{Monitor, Origin, accept};
use crate::service::caller::{Caller, Refusal, Saved};
use crate::syntax::source::Node;

impl Fleet {
    /// Makes a monitor of `kind`.
    ///
    /// # Errors
    /// [`Refusal::Forbidden`] for a role that may not edit, [`Refusal::Faults`] with every fault of `body`,
    /// [`Refusal::Unavailable`] when nothing is planned any more, and as the store's.
    pub async fn create(
        &self,
        caller: &Caller,
        kind: MonitorType,
        form: Form,
        body: &Node,
    ) -> Result<Saved, Refusal> {
        let _turn = self.beside().await;
        let scene = self.scene(caller).await?;
        let accepted = accept::create(kind, form, body, &scene.around())?;
        let document = Arc::new(accepted.document);
        let step = Step::New { action: "create", origin: Origin::Api, document };
        let made = self.save_all(caller, vec![step]).await?;
        saved(&made, accepted.warnings)
    }
}

/// What is answered to a change of one monitor.
pub(super) fn saved(monitors: &[Monitor], warnings: Vec<String>) -> Result<Saved, Refusal> {
    let monitor = monitors.first().ok_or(Refusal::NotFound)?;
    Ok(Saved { id: monitor.id.0, revision: monitor.revision.0, warnings, ..Saved::default() })
}
