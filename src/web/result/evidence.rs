//! What a check learned about its target: facts, the chain of certificates, the path to it, and what differs from the
//! last result that passed.

use std::fmt::Write;

use super::context::ResultContext;
use super::path::render_path;
use crate::domain::{Certificate, CheckResult, Timestamp};
use crate::service::result_view::{CERTIFICATE_LABELS, comparison_rows, days_between, fact_lines};
use crate::texts::Locale;
use crate::web::html::escape;

/// Renders all of it; empty without any. Writing into a string cannot fail, here and below.
pub(super) fn render_evidence(result: &CheckResult, context: &ResultContext, t: Locale) -> String {
    let mut out = String::new();
    if let Some(good) = &context.last_passed {
        render_comparison(&mut out, good, result, t);
    }
    // Without a login, nobody learns what the target said of itself.
    if !context.is_shared() {
        render_facts(&mut out, result);
    }
    if let Some(tls) = &result.facts.tls {
        render_certificates(&mut out, &tls.certificates, result.started_at, t);
    }
    if let Some(text) = &context.traceroute {
        render_path(&mut out, text);
    }
    out
}

fn render_comparison(out: &mut String, good: &CheckResult, now: &CheckResult, t: Locale) {
    let _ = write!(
        out,
        r#"<h2>Compared with the last result that passed <small><a href="/results/{}">{}</a></small></h2><div class="scroll"><table class="rows"><thead><tr><th>What</th><th>Then</th><th>Now</th></tr></thead><tbody>"#,
        good.check_id,
        t.zoned_time(good.planned_at)
    );
    for row in comparison_rows(good, now) {
        let _ = write!(
            out,
            r#"<tr><td>{}</td><td class="reason" data-h="then">{}</td><td class="reason" data-h="now">{}</td></tr>"#,
            row.label,
            escape(&row.good),
            escape(&row.now)
        );
    }
    out.push_str("</tbody></table></div>");
}

fn render_facts(out: &mut String, result: &CheckResult) {
    // The names of a certificate follow it on lines without a label.
    let mut is_of_certificate = false;
    let mut rows = String::new();
    for line in fact_lines(result) {
        is_of_certificate =
            CERTIFICATE_LABELS.contains(&line.label) || is_of_certificate && line.label.is_empty();
        if !is_of_certificate {
            let _ = write!(
                rows,
                "<tr><th>{}</th><td class=\"reason\">{}</td></tr>",
                line.label,
                escape(&line.value)
            );
        }
    }
    if !rows.is_empty() {
        let _ = write!(
            out,
            r#"<h2>Facts</h2><div class="scroll"><table class="pairs"><tbody>{rows}</tbody></table></div>"#
        );
    }
}

fn render_certificates(out: &mut String, certificates: &[Certificate], checked_at: Timestamp, t: Locale) {
    if certificates.is_empty() {
        return;
    }
    out.push_str(r#"<h2>Certificates</h2><div class="scroll"><table class="rows"><thead><tr><th>Subject</th><th>For</th><th>Issuer</th><th>Valid from</th><th>Valid until</th><th class="n">Days left</th></tr></thead><tbody>"#);
    for certificate in certificates {
        let _ = write!(
            out,
            r#"<tr><td class="reason" title="SHA-256 {}">{}</td><td class="reason">{}</td><td class="reason" data-h="issuer">{}</td><td data-h="from">{}</td><td data-h="until">{}</td><td class="n" data-h="days left">{}</td></tr>"#,
            escape(&certificate.sha256),
            escape(&certificate.subject),
            escape(&certificate.subject_alt_names.join(", ")),
            escape(&certificate.issuer),
            t.time(certificate.not_before),
            t.time(certificate.not_after),
            days_between(checked_at, certificate.not_after)
        );
    }
    out.push_str("</tbody></table></div>");
}
