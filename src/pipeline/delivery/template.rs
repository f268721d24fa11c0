//! Templates of messages, out of their records.

use serde_json::{Map, Value};

use crate::domain::{Method, NoticeKind};
use crate::notify::Template;

/// The template that these fields are.
pub(crate) fn template(fields: &Map<String, Value>) -> Template {
    let text = |field: &str| fields.get(field).and_then(Value::as_str).unwrap_or_default();
    Template {
        kind: NoticeKind::of_word(text("kind")),
        method: fields.get("method_id").and_then(Value::as_i64).and_then(Method::of_id),
        subject: text("subject").to_owned(),
        text: text("text").to_owned(),
        html: text("html").to_owned(),
    }
}
