//! Copies a monitor (interface.md 2.5, Monitor clone).

use std::sync::Arc;

use serde_json::{Value, json};

use super::Fleet;
use super::create::saved;
use super::many::fields;
use super::save::Step;
use crate::control::{Caller, Refusal, Saved};
use crate::model::intake::Form;
use crate::model::source::Node;
use crate::model::table::account::MONITOR_CLONE;
use crate::model::{MonitorId, Origin, accept};

/// Characters of a name (interface.md 8).
const MOST_NAME: usize = 255;

impl Fleet {
    /// Copies one under another name, `Copy of …` when the body has none. All but its id, its trail, its rest
    /// and its blackouts is copied, secrets too; the copy of a file's monitor is none of the file's. It is
    /// judged as if it were new, so that what is gone meanwhile, such as a location, is told.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::Forbidden`] for a role that may not edit, [`Refusal::Faults`], and as
    /// the store's.
    pub async fn copy(&self, caller: &Caller, id: MonitorId, body: &Node) -> Result<Saved, Refusal> {
        let _turn = self.beside().await;
        let scene = self.scene(caller).await?;
        let old = self.own(caller, id)?;
        let fields = fields(&MONITOR_CLONE, body)?;
        let name = match fields.get("name").and_then(Value::as_str) {
            Some(name) => name.to_owned(),
            None => format!("Copy of {}", old.name()).chars().take(MOST_NAME).collect(),
        };
        let named = Node::from(json!({"name": name}));
        let accepted = accept::patch(&old.document, Form::V3, &named, &scene.around())?;
        let document = Arc::new(accepted.document);
        let made =
            self.save_all(caller, vec![Step::New { action: "clone", origin: Origin::Api, document }]).await?;
        saved(&made, accepted.warnings)
    }
}
