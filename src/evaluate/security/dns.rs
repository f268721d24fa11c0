//! Judges the DNS records of a name: CAA, DNSSEC, SPF, DMARC, aliases without a target.

use super::finding_collector::FindingCollector;
use super::finding_table::{
    CAA_MISSING, CNAME_DANGLING, DMARC_INVALID, DMARC_MISSING, DMARC_NONE, DNSSEC_MISSING, SPF_LOOKUPS,
    SPF_MISSING, SPF_MULTIPLE, SPF_OPEN,
};
use crate::domain::Severity;

/// Maximum number of lookups that an SPF record may need (RFC 7208 4.6.4).
pub const MAX_SPF_LOOKUPS: usize = 10;

/// What the resolver said about a name. `None` for what could not be asked.
#[derive(Clone, Debug, Default)]
pub struct DnsScan {
    /// The name that is scanned.
    pub name: String,
    /// Its registrable domain, which has SPF and DMARC.
    pub domain: String,
    /// Whether the name or a parent, up to the registrable domain, has a CAA record.
    pub has_caa: Option<bool>,
    /// Whether the zone is signed: its parent has a DS record, or the resolver vouches for the response (AD).
    pub has_dnssec: Option<bool>,
    /// The TXT records of the domain that begin with `v=spf1`.
    pub spf_records: Option<Vec<String>>,
    /// Lookups that evaluating the SPF record takes, as far as they were followed.
    pub spf_lookups: usize,
    /// The TXT records of `_dmarc.` and the domain that begin with `v=DMARC1`.
    pub dmarc_records: Option<Vec<String>>,
    /// The target of an alias of the name that does not exist.
    pub dangling_target: Option<String>,
}

/// Judges the records of a name.
pub fn judge_dns(scan: &DnsScan, findings: &mut FindingCollector) {
    let domain = &scan.domain;
    if scan.has_caa == Some(false) {
        findings.add(&CAA_MISSING, format!("`{}` has no CAA record up to `{domain}`", scan.name));
    }
    if scan.has_dnssec == Some(false) {
        findings.add(&DNSSEC_MISSING, format!("`{domain}` has no DS record"));
    }
    if let Some(records) = &scan.spf_records {
        judge_spf(domain, records, scan.spf_lookups, findings);
    }
    if let Some(records) = &scan.dmarc_records {
        judge_dmarc(domain, records, findings);
    }
    if let Some(target) = &scan.dangling_target {
        findings.add_about(
            &CNAME_DANGLING,
            &scan.name,
            format!("`{}` is an alias of `{target}`, which does not exist", scan.name),
        );
    }
}

fn judge_spf(domain: &str, records: &[String], lookups: usize, findings: &mut FindingCollector) {
    let record = match records {
        [] => {
            return findings
                .add(&SPF_MISSING, format!("`{domain}` has no TXT record that begins with `v=spf1`"));
        }
        [record] => record,
        records => return findings.add(&SPF_MULTIPLE, format!("`{domain}` has {} of them", records.len())),
    };
    let terms: Vec<String> = record.split_ascii_whitespace().skip(1).map(str::to_ascii_lowercase).collect();
    let all = terms.iter().find(|term| term.trim_start_matches(['+', '-', '~', '?']) == "all");
    let severity = match all.map(String::as_str) {
        Some("+all" | "all") => Some(Severity::High),
        Some("?all") => Some(Severity::Low),
        None if !terms.iter().any(|term| term.starts_with("redirect=")) => Some(Severity::Low),
        _ => None,
    };
    if let Some(severity) = severity {
        findings.add_with_severity(&SPF_OPEN, severity, None, format!("`{record}`"));
    }
    if lookups > MAX_SPF_LOOKUPS {
        findings.add(&SPF_LOOKUPS, format!("`{domain}` needs at least {lookups} lookups"));
    }
}

fn judge_dmarc(domain: &str, records: &[String], findings: &mut FindingCollector) {
    let record = match records {
        [] => {
            return findings
                .add(&DMARC_MISSING, format!("`_dmarc.{domain}` has no record that begins with `v=DMARC1`"));
        }
        [record] => record,
        records => {
            return findings.add(&DMARC_INVALID, format!("`_dmarc.{domain}` has {} records", records.len()));
        }
    };
    let policy = record.split(';').find_map(|tag| {
        let (name, value) = tag.split_once('=')?;
        name.trim().eq_ignore_ascii_case("p").then(|| value.trim().to_ascii_lowercase())
    });
    match policy.as_deref() {
        Some("none") => findings.add(&DMARC_NONE, format!("`{record}`")),
        Some("quarantine" | "reject") => {}
        _ => findings.add(&DMARC_INVALID, format!("`{record}`")),
    }
}

/// Returns the names whose SPF records `record` includes or redirects to, and the number of its own terms that need a
/// lookup.
#[must_use]
pub fn spf_references(record: &str) -> (Vec<String>, usize) {
    let (mut names, mut lookups) = (Vec::new(), 0);
    for term in record.split_ascii_whitespace().skip(1) {
        let term = term.trim_start_matches(['+', '-', '~', '?']).to_ascii_lowercase();
        let (mechanism, argument) = term.split_once([':', '=', '/']).unwrap_or((&term, ""));
        match mechanism {
            "include" | "redirect" => {
                lookups += 1;
                // Macros depend on the sender.
                if !argument.contains('%') && !argument.is_empty() {
                    names.push(argument.to_owned());
                }
            }
            "a" | "mx" | "ptr" | "exists" => lookups += 1,
            _ => {}
        }
    }
    (names, lookups)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sound() -> DnsScan {
        DnsScan {
            name: "www.a.test".into(),
            domain: "a.test".into(),
            has_caa: Some(true),
            has_dnssec: Some(true),
            spf_records: Some(vec!["v=spf1 include:b.test -all".into()]),
            spf_lookups: 1,
            dmarc_records: Some(vec!["v=DMARC1; p=reject; rua=mailto:a@a.test".into()]),
            dangling_target: None,
        }
    }

    fn found(change: impl FnOnce(&mut DnsScan)) -> Vec<(String, Severity)> {
        let (mut scan, mut findings) = (sound(), FindingCollector::default());
        change(&mut scan);
        judge_dns(&scan, &mut findings);
        findings.into_findings().0.into_iter().map(|finding| (finding.label(), finding.severity)).collect()
    }

    #[test]
    fn each_record_flips_its_finding() {
        let spf = |record: &str| found(|scan| scan.spf_records = Some(vec![record.into()]));
        let dmarc = |record: &str| found(|scan| scan.dmarc_records = Some(vec![record.into()]));
        assert_eq!(found(|_| {}), []);
        assert_eq!(found(|scan| scan.has_caa = Some(false)), [("caa-missing".into(), Severity::Low)]);
        assert_eq!(found(|scan| scan.has_dnssec = Some(false)), [("dnssec-missing".into(), Severity::Low)]);
        assert_eq!(found(|scan| scan.spf_records = Some(vec![])), [("spf-missing".into(), Severity::Low)]);
        assert_eq!(
            found(|scan| scan.spf_records = Some(vec![String::new(), String::new()])),
            [("spf-multiple".into(), Severity::Medium)]
        );
        assert_eq!(spf("v=spf1 +all"), [("spf-open".into(), Severity::High)]);
        assert_eq!(spf("v=spf1 a all"), [("spf-open".into(), Severity::High)]);
        assert_eq!(spf("v=spf1 ?all"), [("spf-open".into(), Severity::Low)]);
        assert_eq!(spf("v=spf1 a"), [("spf-open".into(), Severity::Low)]);
        assert_eq!((spf("v=spf1 ~all"), spf("v=spf1 redirect=b.test")), (vec![], vec![]));
        assert_eq!(found(|scan| scan.spf_lookups = 11), [("spf-too-many-lookups".into(), Severity::Medium)]);
        assert_eq!(
            found(|scan| scan.dmarc_records = Some(vec![])),
            [("dmarc-missing".into(), Severity::Low)]
        );
        assert_eq!(dmarc("v=DMARC1; p=none"), [("dmarc-none".into(), Severity::Low)]);
        assert_eq!(dmarc("v=DMARC1; rua=mailto:a@a.test"), [("dmarc-invalid".into(), Severity::Medium)]);
        assert_eq!(
            found(|scan| scan.dangling_target = Some("gone.test".into())),
            [("cname-dangling (www.a.test)".into(), Severity::High)]
        );
    }

    #[test]
    fn what_could_not_be_asked_is_no_finding() {
        let unknown = |scan: &mut DnsScan| {
            *scan = DnsScan { name: "a.test".into(), domain: "a.test".into(), ..DnsScan::default() }
        };
        assert_eq!(found(unknown), []);
    }

    #[test]
    fn terms_that_need_lookups_are_counted() {
        let record = "v=spf1 ip4:192.0.2.0/24 a mx:b.test a/24 -include:C.test include:%{i}.x.test exists:%{i}.y.test redirect=d.test -all";
        assert_eq!(spf_references(record), (vec!["c.test".to_owned(), "d.test".to_owned()], 7));
    }
}
