//! The DNS records of the target's name, from the name servers of the location.

use std::collections::BTreeSet;

use hickory_proto::rr::RecordType;

use super::scan::Scan;
use crate::evaluate::security::{DnsScan, MAX_SPF_LOOKUPS, ScanArea, judge_dns, spf_references};
use crate::net::RecordLookup;

/// Maximum number of aliases that are followed.
const MAX_ALIASES: usize = 8;

impl Scan<'_> {
    /// Asks for the records of `name`, and judges them.
    pub(super) async fn scan_dns(&mut self, name: &str) {
        let domain = psl::domain_str(name).unwrap_or(name).to_owned();
        let mut scan = DnsScan { name: name.to_owned(), domain: domain.clone(), ..DnsScan::default() };
        scan.dangling_target = self.find_dangling_target(name).await;
        scan.has_caa = self.find_caa(name, &domain).await;
        scan.has_dnssec = self.records(&domain, RecordType::DS).await.map(|records| !records.is_empty());
        let is_spf = |text: &String| {
            text.split_ascii_whitespace().next().is_some_and(|first| first.eq_ignore_ascii_case("v=spf1"))
        };
        let texts = self.records(&domain, RecordType::TXT).await;
        scan.spf_records = texts.map(|texts| texts.into_iter().filter(is_spf).collect());
        if let Some([record]) = scan.spf_records.as_deref() {
            scan.spf_lookups = self.count_spf_lookups(record).await;
        }
        let texts = self.records(&format!("_dmarc.{domain}"), RecordType::TXT).await;
        let is_dmarc = |text: &String| text.trim_start().to_ascii_lowercase().starts_with("v=dmarc1");
        scan.dmarc_records = texts.map(|texts| texts.into_iter().filter(is_dmarc).collect());
        judge_dns(&scan, &mut self.findings);
    }

    /// Returns the target of an alias of `name` that does not exist.
    pub(super) async fn find_dangling_target(&mut self, name: &str) -> Option<String> {
        let mut target = name.to_owned();
        for _ in 0..MAX_ALIASES {
            match self.records(&target, RecordType::CNAME).await?.into_iter().next() {
                Some(next) => target = next,
                None => break,
            }
        }
        if target == name {
            return None;
        }
        let lookup = self.lookup(&target, RecordType::A).await?;
        (lookup == RecordLookup::NameNotFound).then_some(target)
    }

    /// Whether the name or one of its parents up to the domain has a CAA record (RFC 8659 3).
    async fn find_caa(&mut self, name: &str, domain: &str) -> Option<bool> {
        let mut current = name;
        loop {
            if !self.records(current, RecordType::CAA).await?.is_empty() {
                return Some(true);
            }
            if current.eq_ignore_ascii_case(domain) {
                return Some(false);
            }
            let Some((_, parent)) = current.split_once('.') else { return Some(false) };
            current = parent;
        }
    }

    /// Returns the lookups that `record` needs, following `include` and `redirect` until there are too many.
    async fn count_spf_lookups(&mut self, record: &str) -> usize {
        let (mut pending, mut lookups) = spf_references(record);
        let mut seen = BTreeSet::new();
        while let Some(name) = pending.pop().filter(|_| lookups <= MAX_SPF_LOOKUPS) {
            if !seen.insert(name.clone()) {
                continue;
            }
            let Some(texts) = self.records(&name, RecordType::TXT).await else { break };
            for text in texts.iter().filter(|text| text.starts_with("v=spf1")).take(1) {
                let (names, count) = spf_references(text);
                pending.extend(names);
                lookups += count;
            }
        }
        lookups
    }

    async fn records(&mut self, name: &str, record_type: RecordType) -> Option<Vec<String>> {
        Some(self.lookup(name, record_type).await?.into_records())
    }

    async fn lookup(&mut self, name: &str, record_type: RecordType) -> Option<RecordLookup> {
        match self.cx.net.lookup_records(name, record_type, self.connection_deadline()).await {
            Ok(lookup) => Some(lookup),
            Err(reason) => {
                self.add_question(ScanArea::Dns, &reason);
                None
            }
        }
    }
}
