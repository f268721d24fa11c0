//! What a check learned of its target, a line or two per protocol.

use std::fmt::Write;

use super::units::{grouped, plain};
use super::{Style, days_between, duration};
use crate::model::{
    Certificate, CheckResult, DnsFacts, FtpFacts, HttpFacts, PingFacts, Timestamp, TlsFacts, peer,
};

/// All facts of `result`, after an empty line; nothing when there are none.
pub(super) fn lines(out: &mut String, result: &CheckResult, style: Style) {
    let mut facts = Lines { text: String::new(), style };
    facts.address(result);
    if let Some(http) = &result.facts.http {
        facts.http(http);
    }
    if let Some(tls) = &result.facts.tls {
        facts.tls(tls, result.started_at);
    }
    if let Some(dns) = &result.facts.dns {
        facts.dns(dns);
    }
    if let Some(ping) = &result.facts.ping {
        facts.ping(ping);
    }
    if let Some(ftp) = &result.facts.ftp {
        facts.ftp(ftp);
    }
    if !facts.text.is_empty() {
        out.push('\n');
        out.push_str(&facts.text);
    }
}

struct Lines {
    text: String,
    style: Style,
}

impl Lines {
    fn line(&mut self, label: &str, value: &str) {
        let label = self.style.dim(&format!("{label:<11}"));
        let _ = writeln!(self.text, "  {label} {}", plain(value));
    }

    fn address(&mut self, result: &CheckResult) {
        let used = result.address.map(peer);
        let others: Vec<String> = (result.facts.resolved.iter())
            .filter(|ip| result.address.is_none_or(|address| address.ip() != **ip))
            .map(ToString::to_string)
            .collect();
        let others = if others.is_empty() { None } else { Some(format!("also {}", others.join(", "))) };
        let parts: Vec<String> = used.into_iter().chain(others).collect();
        if !parts.is_empty() {
            self.line("address", &parts.join(", "));
        }
    }

    fn http(&mut self, http: &HttpFacts) {
        let reason = http.http_reason.as_deref().map_or(String::new(), |reason| format!(" {reason}"));
        let mut value =
            format!("{} {}{reason}, {} bytes", http.http_version, http.http_status, grouped(http.body_bytes));
        if http.body_wire_bytes != http.body_bytes {
            let _ = write!(value, " ({} over the wire)", grouped(http.body_wire_bytes));
        }
        if let Some(kind) = &http.content_type {
            let _ = write!(value, ", {kind}");
        }
        self.line("response", &value);
    }

    fn tls(&mut self, tls: &TlsFacts, at: Timestamp) {
        let parts: Vec<&str> =
            [&tls.tls_version, &tls.tls_cipher].into_iter().flatten().map(String::as_str).collect();
        if !parts.is_empty() {
            self.line("tls", &parts.join(", "));
        }
        for (index, certificate) in tls.certificates.iter().enumerate() {
            self.certificate(if index == 0 { "certificate" } else { "issuer" }, certificate, at);
        }
    }

    fn certificate(&mut self, label: &str, certificate: &Certificate, at: Timestamp) {
        let day = certificate.not_after.to_string().chars().take(10).collect::<String>();
        let life = match days_between(at, certificate.not_after) {
            1 => format!("1 day left (until {day})"),
            left @ 0.. => format!("{left} days left (until {day})"),
            _ => format!("expired on {day}"),
        };
        self.line(label, &format!("{}, {life}", certificate.subject));
        if label == "certificate" {
            self.line("", &format!("issued by {}", certificate.issuer));
            if !certificate.names.is_empty() {
                self.line("", &format!("for {}", certificate.names.join(", ")));
            }
        }
    }

    fn dns(&mut self, dns: &DnsFacts) {
        let authority = if dns.authoritative { ", authoritative" } else { "" };
        let rcode = if dns.rcode.is_empty() { "no answer" } else { &dns.rcode };
        let value =
            format!("{} {}: {rcode} over {}{authority}", dns.record_type, dns.question, dns.transport);
        self.line("question", &value);
        for (index, answer) in dns.answers.iter().enumerate() {
            self.line(if index == 0 { "answers" } else { "" }, answer);
        }
    }

    fn ping(&mut self, ping: &PingFacts) {
        let value = format!(
            "{} of {} came back, {} % lost ({} socket)",
            ping.received, ping.sent, ping.loss_percent, ping.socket
        );
        self.line("echoes", &value);
        let figures: Vec<String> = [
            ("min", ping.rtt_min_us),
            ("avg", ping.rtt_avg_us),
            ("max", ping.rtt_max_us),
            ("stddev", ping.rtt_stddev_us),
        ]
        .into_iter()
        .filter_map(|(name, value)| value.map(|micros| format!("{name} {}", round_trip(micros))))
        .collect();
        if !figures.is_empty() {
            self.line("round trip", &figures.join(", "));
        }
    }

    fn ftp(&mut self, ftp: &FtpFacts) {
        if !ftp.ftp_banner.is_empty() {
            self.line("greeting", &ftp.ftp_banner);
        }
        if let (Some(command), Some(address)) = (&ftp.ftp_passive, ftp.ftp_data_address) {
            let session = match ftp.ftp_session_reused {
                Some(true) => ", TLS session taken up again",
                Some(false) => ", new TLS session",
                None => "",
            };
            self.line("data", &format!("by {command}, last to {address}{session}"));
        }
        let listed = ftp.ftp_listed.map(|count| format!("{} entries listed", grouped(count)));
        let file = ftp.ftp_uploaded_bytes.map(|bytes| format!("{} bytes there and back", grouped(bytes)));
        let work: Vec<String> = listed.into_iter().chain(file).collect();
        if !work.is_empty() {
            self.line("files", &work.join(", "));
        }
        if ftp.ftp_password_in_clear {
            self.line("login", "the password went without TLS");
        }
    }
}

/// Round trips on a local network are shorter than a tenth of a millisecond.
fn round_trip(micros: u64) -> String {
    if micros < 10_000 { format!("{:.3} ms", micros as f64 / 1e3) } else { duration(micros) }
}
