//! Changes and removes one monitor.

use std::sync::Arc;

use super::create::saved;
use super::save::Step;
use super::{Fleet, IfMatch};
use crate::control::{Caller, Refusal, Saved};
use crate::model::intake::Form;
use crate::model::source::Node;
use crate::model::{MonitorId, MonitorType, Right, accept};

impl Fleet {
    /// Changes one; `kind`, when given, has to be its type (else 404). Without a change of a value its version
    /// stays.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::Forbidden`] for a file's monitor, [`Refusal::Stale`] when it is not
    /// the version of `if_match`, [`Refusal::Faults`] with every fault of `body`, and as the store's.
    pub async fn patch(
        &self,
        caller: &Caller,
        id: MonitorId,
        kind: Option<MonitorType>,
        form: Form,
        body: &Node,
        if_match: IfMatch,
    ) -> Result<Saved, Refusal> {
        let _turn = self.alone().await;
        let scene = self.scene(caller).await?;
        if kind.is_some_and(|kind| self.own(caller, id).is_ok_and(|there| there.kind() != kind)) {
            return Err(Refusal::NotFound);
        }
        let old = self.changeable(caller, id, if_match)?;
        let accepted = accept::patch(&old.document, form, body, &scene.around())?;
        let (document, trail) = (Arc::new(accepted.document), (*old.trail).clone());
        let step = Step::Next { action: "change", old: Box::new(old), document, trail, origin: None };
        let made = self.save_all(caller, vec![step]).await?;
        saved(&made, accepted.warnings)
    }

    /// Removes one; its results follow retention.
    ///
    /// # Errors
    /// As [`Fleet::patch`].
    pub async fn delete(&self, caller: &Caller, id: MonitorId, if_match: IfMatch) -> Result<(), Refusal> {
        caller.require(Right::Edit)?;
        let _turn = self.alone().await;
        let old = self.changeable(caller, id, if_match)?;
        self.save_all(caller, vec![Step::Gone { old: Box::new(old) }]).await?;
        Ok(())
    }
}
