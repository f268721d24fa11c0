//! Secrets that stand in a form when it is shown again. They don't go back to the browser as they are.

use super::input_names::{clear_name, find_field, sealed_name};
use super::text_from_values::FormTexts;
use crate::schema::field::Field;
use crate::service::Caller;
use crate::service::monitors::{MonitorService, open_typed_secret, seal_typed_secret};

/// Puts the secrets that were typed earlier into their inputs, unless another one was typed there.
pub(super) fn open_typed_secrets(
    service: &MonitorService,
    caller: &Caller,
    fields: &[&'static Field],
    texts: &mut FormTexts,
) {
    let suffix = sealed_name("");
    let paths: Vec<String> =
        texts.keys().filter_map(|name| name.strip_suffix(&suffix)).map(str::to_owned).collect();
    for path in paths {
        let Some(sealed) = texts.remove(&sealed_name(&path)) else { continue };
        // Only there are they not shown.
        if !find_field(fields, &path).is_some_and(|field| field.secret) {
            continue;
        }
        let is_kept =
            texts.get(&path).is_none_or(String::is_empty) && !texts.contains_key(&clear_name(&path));
        if let Some(secret) = open_typed_secret(service, caller, &sealed).filter(|_| is_kept) {
            texts.insert(path, secret.as_str().to_owned());
        }
    }
}

/// Replaces the secrets in inputs of `fields` by what [`open_typed_secrets`] opens.
pub(super) fn seal_typed_secrets(
    service: &MonitorService,
    caller: &Caller,
    fields: &[&'static Field],
    texts: &mut FormTexts,
) {
    let is_secret = |name: &&String| find_field(fields, name).is_some_and(|field| field.secret);
    let paths: Vec<String> = texts.keys().filter(is_secret).cloned().collect();
    for path in paths {
        if let Some(secret) = texts.remove(&path).filter(|secret| !secret.is_empty()) {
            texts.insert(sealed_name(&path), seal_typed_secret(service, caller, &secret));
        }
    }
}
