//! Makes a schema stand alone: its identity goes, and references are to places in it or are refused.

use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::error::JsonSchemaError;
use super::keywords::{REFUSED_KEYWORDS, subschemas};

/// The draft that `$schema` may name.
const DRAFT_URI: &str = "https://json-schema.org/draft/2020-12/schema";

/// Removes `$schema` and `$id` of the root and writes every reference as one within the schema.
///
/// # Errors
/// Another draft, a reference to something outside, an identity below the root, and keywords that are refused.
pub(super) fn make_local(schema: &mut Value) -> Result<(), JsonSchemaError> {
    let Value::Object(root) = schema else { return Ok(()) };
    if let Some(draft) = root.shift_remove("$schema")
        && draft.as_str().map(|uri| uri.trim_end_matches('#')) != Some(DRAFT_URI)
    {
        let message = format!("the draft {draft} is not supported, only `{DRAFT_URI}`");
        return Err(JsonSchemaError::new("/$schema", message));
    }
    let id = match root.shift_remove("$id") {
        None => None,
        Some(Value::String(id)) => Some(id.trim_end_matches('#').to_owned()),
        Some(other) => {
            return Err(JsonSchemaError::new("/$id", format!("must be a URI, not {other}")));
        }
    };
    for (pointer, reference) in local_references(schema, id.as_deref())? {
        if let Some(Value::Object(parent)) = schema.pointer_mut(&pointer) {
            parent.insert("$ref".to_owned(), Value::from(reference));
        }
    }
    Ok(())
}

/// Returns the pointer of every subschema with a reference, and the reference as a fragment.
fn local_references(schema: &Value, id: Option<&str>) -> Result<Vec<(String, String)>, JsonSchemaError> {
    let (mut pending, mut local) = (vec![(String::new(), schema)], Vec::new());
    let mut walked = std::collections::HashSet::new();
    while let Some((pointer, subschema)) = pending.pop() {
        let Value::Object(keywords) = subschema else { continue };
        if !walked.insert(pointer.clone()) {
            continue;
        }
        for (keyword, reason) in REFUSED_KEYWORDS {
            if keywords.contains_key(*keyword) {
                let message = format!("`{keyword}` is not supported: {reason}");
                return Err(JsonSchemaError::new(&format!("{pointer}/{keyword}"), message));
            }
        }
        for keyword in ["$id", "$schema"] {
            if keywords.contains_key(keyword) {
                let message = format!("`{keyword}` is supported at the root alone");
                return Err(JsonSchemaError::new(&format!("{pointer}/{keyword}"), message));
            }
        }
        if let Some(Value::String(reference)) = keywords.get("$ref") {
            let place = format!("{pointer}/$ref");
            let fragment = local_fragment(reference, id).ok_or_else(|| {
                let message = format!(
                    "`{reference}` is outside of the schema, and nothing is fetched; put it into `$defs`"
                );
                JsonSchemaError::new(&place, message)
            })?;
            // The target may be where no keyword has a subschema, as below `components` of an OpenAPI document.
            if let Some(target) = target_pointer(&fragment) {
                let found = schema.pointer(&target).ok_or_else(|| {
                    JsonSchemaError::new(&place, format!("there is nothing at `{reference}`"))
                })?;
                pending.push((target, found));
            }
            if *reference != fragment {
                local.push((pointer.clone(), fragment));
            }
        }
        pending.extend(subschemas(keywords, &pointer).into_iter().map(|inner| (inner.pointer, inner.schema)));
    }
    Ok(local)
}

/// Returns `reference` as a fragment of this schema, which is `id`; `None` when it is outside.
fn local_fragment(reference: &str, id: Option<&str>) -> Option<String> {
    let (base, fragment) = reference.split_once('#').unwrap_or((reference, ""));
    (base.is_empty() || Some(base) == id).then(|| format!("#{fragment}"))
}

/// Returns the JSON pointer of `fragment`, which begins with `#`; `None` when it names an anchor.
pub(super) fn target_pointer(fragment: &str) -> Option<String> {
    let pointer = percent_decode_str(fragment.strip_prefix('#')?).decode_utf8().ok()?;
    (pointer.is_empty() || pointer.starts_with('/')).then(|| pointer.into_owned())
}
