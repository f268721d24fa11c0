//! What a person sends with a form: the texts of its inputs, and the button that sent them.

use super::form_action::FormAction;
use super::input_names::ACTION_NAME;
use super::nested_values::{TOO_MANY_ITEMS, has_too_many_items};
use super::text_from_values::FormTexts;
use super::typed_secrets::open_typed_secrets;
use crate::schema::field::Field;
use crate::service::monitors::MonitorService;
use crate::service::{Caller, ServiceError};
use crate::web::actions::OwnForm;
use crate::web::viewer::Viewer;

/// What a person sends with a form.
pub(super) struct Submission {
    /// The person.
    pub(super) viewer: Viewer,
    /// The texts of the inputs, with the secrets that were typed earlier.
    pub(super) texts: FormTexts,
    /// What the button does.
    pub(super) action: FormAction,
    /// The revision that the person saw; empty for something new.
    pub(super) revision: String,
    /// The address of this server, as the browser knows it, without a path.
    pub(super) server: String,
}

impl Submission {
    /// Reads `form`, whose inputs are those of `fields`.
    ///
    /// # Errors
    /// [`ServiceError::Conflict`] for lists that claim more entries than a form may have.
    pub(super) fn read(
        service: &MonitorService,
        caller: &Caller,
        fields: &[&'static Field],
        form: OwnForm,
    ) -> Result<Self, ServiceError> {
        let OwnForm { viewer, fields: mut texts, server } = form;
        if has_too_many_items(&texts) {
            return Err(ServiceError::Conflict(TOO_MANY_ITEMS.to_owned()));
        }
        open_typed_secrets(service, caller, fields, &mut texts);
        let action = FormAction::parse(texts.remove(ACTION_NAME).as_deref());
        let revision = texts.get("revision").cloned().unwrap_or_default();
        Ok(Self { viewer, texts, action, revision, server })
    }
}
