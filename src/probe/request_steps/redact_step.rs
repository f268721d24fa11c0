//! Redacts the secrets of an attempt in everything that is kept of a step.

use std::borrow::Cow;

use super::step_in_progress::StepInProgress;
use crate::domain::{CapturedFile, Excerpt, HttpExchange};
use crate::redaction::named_values::redact_named_values;
use crate::redaction::redactor::Redactor;

/// Redacts what `redactor` knows in everything that is kept of `step`.
pub(super) fn redact_step(step: &mut StepInProgress, redactor: &Redactor) {
    let redact_secrets = |text: &mut String| {
        if let Cow::Owned(redacted) = redactor.redact(text) {
            *text = redacted;
        }
    };
    // URLs and bodies: also values whose parameter names mark them as secret.
    let redact_secrets_and_named_values = |text: &mut String| {
        if let Cow::Owned(redacted) = redact_named_values(text) {
            *text = redacted;
        }
        redact_secrets(text);
    };
    step.result.failures.iter_mut().for_each(|failure| redact_secrets(&mut failure.detail));
    for test in &mut step.result.tests {
        redact_secrets(&mut test.name);
        test.reason.iter_mut().for_each(redact_secrets);
    }
    step.result.variable_names.iter_mut().for_each(redact_secrets);
    step.redirect_warning.iter_mut().for_each(redact_secrets);
    step.http_facts.iter_mut().for_each(|facts| redact_secrets_and_named_values(&mut facts.url));
    step.chain_trace.redirects.iter_mut().for_each(|hop| redact_secrets_and_named_values(&mut hop.url));
    for HttpExchange {
        url, request_headers, request_body, response_headers, response_body, failure, ..
    } in &mut step.result.exchanges
    {
        redact_secrets_and_named_values(url);
        request_headers.map_values(|text| redactor.redact(text));
        response_headers.map_values(|text| redactor.redact(text));
        let bodies = request_body.iter_mut().chain(response_body);
        bodies.for_each(|Excerpt { text, .. }| redact_secrets_and_named_values(text));
        if let Some(failure) = failure {
            redact_secrets(&mut failure.detail);
        }
    }
    for capture in &mut step.captures {
        let Some(text) = capture.content.as_deref().and_then(|content| std::str::from_utf8(content).ok())
        else {
            continue;
        };
        let mut redacted = text.to_owned();
        redact_secrets_and_named_values(&mut redacted);
        if redacted != text {
            *capture = CapturedFile::new(&capture.name, &*capture.media_type, redacted.as_bytes());
        }
    }
}
