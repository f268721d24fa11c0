//! Message templates from their records.

use serde_json::{Map, Value};

use crate::notify::AccountTemplate;
use crate::schema::InvalidFieldValue;
use crate::schema::typed::record::{TemplateSettings, parse_record_fields};

/// Reads a template from record fields.
///
/// # Errors
/// Fails when a field has an invalid value.
pub(crate) fn template_from_fields(
    fields: &Map<String, Value>,
) -> Result<AccountTemplate, InvalidFieldValue> {
    let settings: TemplateSettings<'_> = parse_record_fields(fields)?;
    Ok(AccountTemplate {
        kind: settings.kind,
        method: settings.method,
        subject: settings.subject.to_owned(),
        text: settings.text.to_owned(),
        html: settings.html.to_owned(),
    })
}
