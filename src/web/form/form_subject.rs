//! What a form is about: a new monitor, or one that exists.

use super::conflict::conflict_error;
use super::fields_from_text::{StoredValues, body_from_texts};
use super::form_fields::settable_fields;
use super::text_from_values::{FormTexts, texts_from_values};
use crate::domain::{MonitorType, Revision};
use crate::schema::field::Field;
use crate::schema::reader::InputFormat;
use crate::schema::{Monitor, SecretMode, table};
use crate::service::monitors::{self, Draft, DraftOf, MonitorService};
use crate::service::{Caller, SavedObject, ServiceError};
use crate::syntax::ValidationError;
use crate::syntax::node::Node;
use crate::texts::Locale;

/// What a form is about.
pub(super) enum FormSubject {
    /// A new monitor.
    New(MonitorType),
    /// A monitor that exists.
    Existing(Box<Monitor>),
}

impl FormSubject {
    /// Returns the type of the monitor.
    pub(super) fn monitor_type(&self) -> MonitorType {
        match self {
            Self::New(monitor_type) => *monitor_type,
            Self::Existing(monitor) => monitor.monitor_type(),
        }
    }

    /// Returns the fields that have an input.
    pub(super) fn fields(&self) -> Vec<&'static Field> {
        settable_fields(self.monitor_type())
    }

    /// Returns what the form showed at first, without what it suggests.
    pub(super) fn shown_texts(&self) -> FormTexts {
        match self {
            Self::New(monitor_type) => {
                texts_from_values(&self.fields(), &table::for_type(*monitor_type).defaults())
            }
            Self::Existing(monitor) => {
                texts_from_values(&self.fields(), &monitor.document.to_json(SecretMode::Masked))
            }
        }
    }

    /// Returns the values that are stored.
    pub(super) fn stored_values(&self) -> StoredValues {
        match self {
            Self::New(_) => StoredValues::default(),
            Self::Existing(monitor) => StoredValues::of(&monitor.document),
        }
    }

    /// Returns the address that the form is sent to.
    pub(super) fn action(&self) -> String {
        match self {
            Self::New(monitor_type) => format!("/monitors/new?type={}", monitor_type.name()),
            Self::Existing(monitor) => format!("/monitors/{}/edit", monitor.id),
        }
    }

    /// Returns the path of the page above the form.
    pub(super) fn parent_path(&self) -> String {
        match self {
            Self::New(_) => "/".to_owned(),
            Self::Existing(monitor) => format!("/monitors/{}", monitor.id),
        }
    }

    /// Returns the path of the page of the check `test` of what the form holds.
    pub(super) fn check_path(&self, test: i64) -> String {
        match self {
            Self::New(_) => format!("/tests/{test}"),
            Self::Existing(monitor) => format!("/monitors/{}/tests/{test}", monitor.id),
        }
    }

    fn body(&self, texts: &FormTexts) -> Result<Node, Vec<ValidationError>> {
        let is_new = matches!(self, Self::New(_));
        body_from_texts(&self.fields(), texts, &self.shown_texts(), &self.stored_values(), is_new)
    }

    /// Validates what `texts` hold, without saving it. `revision` is what the person saw.
    pub(super) async fn draft(
        &self,
        service: &MonitorService,
        caller: &Caller,
        texts: &FormTexts,
        revision: &str,
    ) -> Result<Draft, ServiceError> {
        let draft_of = match self {
            Self::New(monitor_type) => DraftOf::New(*monitor_type),
            Self::Existing(monitor) => DraftOf::Change(monitor.id, Some(parse_revision(revision)?)),
        };
        monitors::draft(service, caller, draft_of, &self.body(texts)?).await
    }

    /// Saves what `texts` hold; returns the id of the monitor, and warnings.
    pub(super) async fn save(
        &self,
        service: &MonitorService,
        caller: &Caller,
        texts: &FormTexts,
        revision: &str,
    ) -> Result<SavedObject, ServiceError> {
        let body = self.body(texts)?;
        match self {
            Self::New(monitor_type) => {
                let created = monitors::create(service, caller, *monitor_type, InputFormat::V3, &body);
                created.await
            }
            Self::Existing(monitor) => {
                let (expected_type, expected) =
                    (Some(monitor.monitor_type()), Some(parse_revision(revision)?));
                let format = InputFormat::V3;
                let saved =
                    monitors::patch(service, caller, monitor.id, expected_type, format, &body, expected);
                saved.await
            }
        }
    }

    /// Returns the error of a form whose monitor was changed since it was opened; names what saving it would overwrite.
    pub(super) fn conflict_error(&self, texts: &FormTexts, t: Locale) -> ValidationError {
        conflict_error(&self.fields(), texts, &self.shown_texts(), &self.stored_values(), t)
    }
}

/// Reads the revision that the person saw: without it, the change of somebody else would be lost.
fn parse_revision(text: &str) -> Result<Revision, ServiceError> {
    text.parse().map(Revision).map_err(|_| ServiceError::PreconditionFailed)
}
