//! Judges what a security scan saw, by one table of findings.

mod certificates;
mod cookies;
mod dns;
mod exposed_files;
mod finding_changes;
mod finding_collector;
mod finding_table;
mod grade;
mod headers;
mod page;
mod ports;
mod scanned_response;
mod tls;
mod usual_ports;

pub use certificates::{judge_certificates, judge_trust};
pub use cookies::judge_cookies;
pub use dns::{DnsScan, MAX_SPF_LOOKUPS, judge_dns, spf_references};
pub use exposed_files::{EXPOSED_FILES, ExposedFile, judge_exposed_file};
pub use finding_changes::{FindingChanges, open_question};
pub use finding_collector::{FindingCollector, MAX_FINDINGS};
pub use finding_table::{FINDINGS, FindingDefinition, ScanArea, TLS_NOT_SPOKEN, find_definition};
pub use grade::{GRADE_RULES, grade};
pub use headers::{judge_cors, judge_headers};
pub use page::{
    LISTED_DIRECTORIES, judge_http_side, judge_https_redirect, judge_listing, judge_mixed_content,
    judge_security_txt,
};
pub use ports::{MAX_PLAUSIBLE_PORTS, PortScan, judge_greeting, judge_ports, ports_to_scan};
pub use scanned_response::ScannedResponse;
pub use tls::judge_tls;
pub use usual_ports::{USUAL_PORTS, UsualPort};
