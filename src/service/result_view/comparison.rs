//! What a result has that the last good one had not.

use super::fact_lines::{CERTIFICATE_LABELS, fact_lines};
use super::phases::phase_label;
use super::units::format_duration;
use crate::domain::{Certificate, CheckResult, Phase};
use crate::texts::Locale;

/// A value that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparisonRow {
    /// What it is.
    pub label: String,
    /// The value of the last good result; empty when it had none.
    pub good: String,
    /// The value of this result; empty when it has none.
    pub now: String,
}

/// Returns the durations, and the facts that differ between the result `good` and `now`.
#[must_use]
pub fn comparison_rows(good: &CheckResult, now: &CheckResult, t: Locale) -> Vec<ComparisonRow> {
    let mut rows = vec![ComparisonRow {
        label: "duration".to_owned(),
        good: t.decimal(format_duration(good.duration_us)),
        now: t.decimal(format_duration(now.duration_us)),
    }];
    let last_phases = |result: &CheckResult| result.attempts.last().map(|attempt| attempt.phases);
    for phase in Phase::ALL {
        let duration_of = |result: &CheckResult| last_phases(result)?.duration(phase);
        let (before, after) = (duration_of(good), duration_of(now));
        if before.is_some() || after.is_some() {
            let format = |duration: Option<std::time::Duration>| {
                let micros = duration.map(|duration| u64::try_from(duration.as_micros()).unwrap_or(u64::MAX));
                micros.map(|micros| t.decimal(format_duration(micros))).unwrap_or_default()
            };
            rows.push(ComparisonRow { label: phase_label(phase), good: format(before), now: format(after) });
        }
    }
    let (facts_before, facts_now) = (grouped_facts(good), grouped_facts(now));
    let has_same_certificates = certificate_hashes(good).eq(certificate_hashes(now));
    let mut labels: Vec<&'static str> = facts_now.iter().map(|(label, _)| *label).collect();
    labels.extend(
        facts_before
            .iter()
            .map(|(label, _)| *label)
            .filter(|label| !facts_now.iter().any(|(now, _)| now == label)),
    );
    labels.dedup();
    let value = |facts: &[(&'static str, Vec<String>)], label: &str| {
        let found = facts.iter().find(|(found, _)| *found == label);
        found.map(|(_, values)| values.join(", ")).unwrap_or_default()
    };
    for label in labels {
        let (before, after) = (value(&facts_before, label), value(&facts_now, label));
        // How long a certificate is still valid changes every day.
        let is_same_certificate = has_same_certificates && CERTIFICATE_LABELS.contains(&label);
        if before != after && !is_same_certificate {
            rows.push(ComparisonRow { label: label.to_owned(), good: before, now: after });
        }
    }
    rows
}

/// Returns the facts by their label; lines that continue another belong to it.
fn grouped_facts(result: &CheckResult) -> Vec<(&'static str, Vec<String>)> {
    let mut groups: Vec<(&'static str, Vec<String>)> = Vec::new();
    let mut last_group = 0;
    for line in fact_lines(result) {
        if !line.label.is_empty() {
            last_group = groups.iter().position(|(label, _)| *label == line.label).unwrap_or(groups.len());
        }
        match groups.get_mut(last_group) {
            Some((_, values)) => values.push(line.value),
            None => groups.push((line.label, vec![line.value])),
        }
    }
    groups
}

fn certificate_hashes(result: &CheckResult) -> impl Iterator<Item = &str> {
    let certificates: &[Certificate] =
        result.facts.tls.as_ref().map_or(&[], |tls| tls.certificates.as_slice());
    certificates.iter().map(|certificate| certificate.sha256.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::result_view::sample_result::sample_result;

    #[test]
    fn only_what_differs_is_listed_beside_the_durations() {
        let now = sample_result();
        let mut good = now.clone();
        good.duration_us = 1_000;
        let labels = |rows: Vec<ComparisonRow>| rows.into_iter().map(|row| row.label).collect::<Vec<_>>();
        let same = labels(comparison_rows(&good, &now, Locale::default()));
        assert_eq!(same, ["duration", "resolve", "connect", "first byte", "transfer"]);
        good.facts.http.as_mut().unwrap().http_status = 200;
        good.facts.resolved_addresses.clear();
        let rows = comparison_rows(&good, &now, Locale::default());
        let response = rows.iter().find(|row| row.label == "response").unwrap();
        assert!(response.good.contains("200") && response.now.contains("404"), "{rows:?}");
        assert!(rows.iter().any(|row| row.label == "address" && row.now.contains("127.0.0.2")), "{rows:?}");
    }
}
