//! What a check learned about its target: facts, the chain of certificates, the path to it, and what differs from the
//! last result that passed.

use std::fmt::Write;

use super::context::ResultContext;
use super::path::render_path;
use crate::domain::{Certificate, CheckResult, Timestamp};
use crate::service::result_view::{CERTIFICATE_LABELS, comparison_rows, days_between, fact_lines};
use crate::texts::{Locale, key};
use crate::web::html::{escape, render_table_head};

/// Renders all of it; empty without any. Writing into a string cannot fail, here and below.
pub(super) fn render_evidence(result: &CheckResult, context: &ResultContext, t: Locale) -> String {
    let mut out = String::new();
    if let Some(good) = &context.last_passed {
        render_comparison(&mut out, good, result, t);
    }
    // Without a login, nobody learns what the target said of itself.
    if !context.is_shared() {
        render_facts(&mut out, result, t);
    }
    if let Some(tls) = &result.facts.tls {
        render_certificates(&mut out, &tls.certificates, result.started_at, t);
    }
    if let Some(text) = &context.traceroute {
        render_path(&mut out, text, t);
    }
    out
}

fn render_comparison(out: &mut String, good: &CheckResult, now: &CheckResult, t: Locale) {
    let _ = write!(
        out,
        r#"<h2>{} <small><a href="/results/{}">{}</a></small></h2>{}"#,
        t.text("Compared with the last result that passed"),
        good.check_id,
        t.zoned_time(good.planned_at),
        render_table_head(&[("", key("What")), ("", key("Then")), ("", key("Now"))], t)
    );
    for row in comparison_rows(good, now, t) {
        let _ = write!(
            out,
            r#"<tr><td>{}</td><td class="reason" data-h="{}">{}</td><td class="reason" data-h="{}">{}</td></tr>"#,
            t.text(&row.label),
            t.text("then"),
            escape(&row.good),
            t.text("now"),
            escape(&row.now)
        );
    }
    out.push_str("</tbody></table></div>");
}

fn render_facts(out: &mut String, result: &CheckResult, t: Locale) {
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
                t.text(line.label),
                escape(&line.value)
            );
        }
    }
    if !rows.is_empty() {
        let _ = write!(
            out,
            r#"<h2>{}</h2><div class="scroll"><table class="pairs"><tbody>{rows}</tbody></table></div>"#,
            t.text("Facts")
        );
    }
}

fn render_certificates(out: &mut String, certificates: &[Certificate], checked_at: Timestamp, t: Locale) {
    if certificates.is_empty() {
        return;
    }
    let heads = [
        ("", key("Subject")),
        ("", key("For")),
        ("", key("Issuer")),
        ("", key("Valid from")),
        ("", key("Valid until")),
        ("n", key("Days left")),
    ];
    let _ = write!(out, "<h2>{}</h2>{}", t.text("Certificates"), render_table_head(&heads, t));
    for certificate in certificates {
        let _ = write!(
            out,
            r#"<tr><td class="reason" title="SHA-256 {}">{}</td><td class="reason">{}</td><td class="reason" data-h="{}">{}</td><td data-h="{}">{}</td><td data-h="{}">{}</td><td class="n" data-h="{}">{}</td></tr>"#,
            escape(&certificate.sha256),
            escape(&certificate.subject),
            escape(&certificate.subject_alt_names.join(", ")),
            t.text("issuer"),
            escape(&certificate.issuer),
            t.text("valid from"),
            t.time(certificate.not_before),
            t.text("valid until"),
            t.time(certificate.not_after),
            t.text("days left"),
            days_between(checked_at, certificate.not_after)
        );
    }
    out.push_str("</tbody></table></div>");
}
