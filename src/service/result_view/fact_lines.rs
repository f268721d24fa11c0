//! The facts that a check collected about its target, a line or two per protocol.

use std::fmt::Write;

use super::fact_line::FactLine;
use super::security_lines::security_lines;
use super::units::{days_between, format_duration, format_grouped};
use crate::domain::format_number;
use crate::domain::{
    Certificate, CheckResult, DnsFacts, FtpFacts, HostFacts, HttpFacts, MailFacts, PingFacts, RoundTripFacts,
    Timestamp, TlsFacts, format_peer,
};

/// Labels of the facts about certificates; lines without a label that follow belong to them.
pub const CERTIFICATE_LABELS: [&str; 2] = ["certificate", "issuer"];

/// Returns all facts of `result`, in display order.
#[must_use]
pub fn fact_lines(result: &CheckResult) -> Vec<FactLine> {
    let mut lines = FactLineBuilder(Vec::new());
    lines.push_address(result);
    if let Some(http) = &result.facts.http {
        lines.push_http(http);
    }
    if let Some(tls) = &result.facts.tls {
        lines.push_tls(tls, result.started_at);
    }
    if let Some(dns) = &result.facts.dns {
        lines.push_dns(dns);
    }
    if let Some(ping) = &result.facts.ping {
        lines.push_ping(ping);
    }
    if let Some(mail) = &result.facts.mail {
        lines.push_mail(mail);
    }
    if let Some(trip) = &result.facts.round_trip {
        lines.push_round_trip_mail(trip);
    }
    if let Some(ftp) = &result.facts.ftp {
        lines.push_ftp(ftp);
    }
    if let Some(host) = &result.facts.host {
        lines.push_host(host);
    }
    if let Some(trace_id) = &result.details.trace_id {
        lines.push("trace", trace_id.as_str());
    }
    if let Some(scan) = &result.facts.security {
        lines.0.extend(security_lines(scan));
    }
    lines.0
}

struct FactLineBuilder(Vec<FactLine>);

impl FactLineBuilder {
    fn push(&mut self, label: &'static str, value: impl Into<String>) {
        self.0.push(FactLine { label, value: value.into() });
    }

    fn push_address(&mut self, result: &CheckResult) {
        let used_address = result.address.map(format_peer);
        let other_addresses: Vec<String> = (result.facts.resolved_addresses.iter())
            .filter(|ip| result.address.is_none_or(|address| address.ip() != **ip))
            .map(ToString::to_string)
            .collect();
        let other_addresses = if other_addresses.is_empty() {
            None
        } else {
            Some(format!("also {}", other_addresses.join(", ")))
        };
        let parts: Vec<String> = used_address.into_iter().chain(other_addresses).collect();
        if !parts.is_empty() {
            self.push("address", parts.join(", "));
        }
    }

    fn push_http(&mut self, http: &HttpFacts) {
        let reason = http.http_reason.as_deref().map_or(String::new(), |reason| format!(" {reason}"));
        let mut value = format!(
            "{} {}{reason}, {} bytes",
            http.http_version,
            http.http_status,
            format_grouped(http.body_bytes)
        );
        if http.body_wire_bytes != http.body_bytes {
            let _ = write!(value, " ({} over the wire)", format_grouped(http.body_wire_bytes));
        }
        if let Some(content_type) = &http.content_type {
            let _ = write!(value, ", {content_type}");
        }
        self.push("response", value);
    }

    fn push_tls(&mut self, tls: &TlsFacts, checked_at: Timestamp) {
        let parts: Vec<&str> =
            [&tls.tls_version, &tls.tls_cipher].into_iter().flatten().map(String::as_str).collect();
        if !parts.is_empty() {
            self.push("tls", parts.join(", "));
        }
        for (index, certificate) in tls.certificates.iter().enumerate() {
            self.push_certificate(if index == 0 { "certificate" } else { "issuer" }, certificate, checked_at);
        }
    }

    fn push_certificate(&mut self, label: &'static str, certificate: &Certificate, checked_at: Timestamp) {
        let day = certificate.not_after.to_string().chars().take(10).collect::<String>();
        let validity = match days_between(checked_at, certificate.not_after) {
            1 => format!("1 day left (until {day})"),
            days @ 0.. => format!("{days} days left (until {day})"),
            _ => format!("expired on {day}"),
        };
        self.push(label, format!("{}, {validity}", certificate.subject));
        if label == "certificate" {
            self.push("", format!("issued by {}", certificate.issuer));
            if !certificate.subject_alt_names.is_empty() {
                self.push("", format!("for {}", certificate.subject_alt_names.join(", ")));
            }
        }
    }

    fn push_dns(&mut self, dns: &DnsFacts) {
        let rcode = if dns.rcode.is_empty() { "no reply" } else { &dns.rcode };
        let mut value = format!("{} {}: {rcode} over {}", dns.record_type, dns.query_name, dns.transport);
        for (is_set, note) in [
            (dns.authoritative, "authoritative"),
            (dns.recursion_available, "recursive"),
            (dns.authenticated_data, "DNSSEC validated"),
            (dns.signed && !dns.authenticated_data, "signed, not validated"),
            (dns.truncated, "truncated"),
        ] {
            if is_set {
                let _ = write!(value, ", {note}");
            }
        }
        self.push("question", value);
        let size = dns.response_bytes.map(|bytes| format!("{} bytes", format_grouped(bytes)));
        let ttl = dns.min_ttl_seconds.map(|seconds| format!("TTL {} s", format_grouped(u64::from(seconds))));
        let parts: Vec<String> = size.into_iter().chain(ttl).collect();
        if !parts.is_empty() {
            self.push("message", parts.join(", "));
        }
        for (index, answer) in dns.answer_records.iter().enumerate() {
            self.push(if index == 0 { "answers" } else { "" }, answer);
        }
    }

    fn push_mail(&mut self, mail: &MailFacts) {
        if !mail.mail_banner.is_empty() {
            self.push("greeting", &mail.mail_banner);
        }
        if !mail.mail_capabilities.is_empty() {
            self.push("offers", mail.mail_capabilities.join(", "));
        }
        if let Some(auth_method) = &mail.mail_auth_method {
            let clear_text_note =
                if mail.sent_password_in_cleartext { "; the password was sent without TLS" } else { "" };
            self.push("login", format!("by {auth_method}{clear_text_note}"));
        }
        if let Some(messages) = mail.mailbox_messages {
            let bytes = mail.mailbox_bytes.map(|bytes| format!(", {} bytes", format_grouped(bytes)));
            let bytes = bytes.unwrap_or_default();
            self.push("mailbox", format!("{} messages{bytes}", format_grouped(messages)));
        }
    }

    fn push_round_trip_mail(&mut self, trip: &RoundTripFacts) {
        self.push("message", &trip.message_id);
        let durations = [
            ("sent in", trip.round_trip_send_us),
            ("in transit", trip.round_trip_transit_us),
            ("fetched in", trip.round_trip_fetch_us),
        ];
        let durations: Vec<String> = (durations.into_iter())
            .filter_map(|(label, micros)| micros.map(|micros| format!("{label} {}", format_duration(micros))))
            .collect();
        if !durations.is_empty() {
            self.push("trip", durations.join(", "));
        }
        let mut polls = format!("polled {}", format_times(trip.mailbox_polls));
        if trip.mailbox_locked_count > 0 {
            let _ = write!(polls, ", found locked {}", format_times(trip.mailbox_locked_count));
        }
        if trip.deleted_stale_messages > 0 {
            let _ = write!(
                polls,
                ", {} leftover messages of earlier checks deleted",
                trip.deleted_stale_messages
            );
        }
        self.push("polls", polls);
    }

    fn push_ping(&mut self, ping: &PingFacts) {
        let value = format!(
            "{} of {} received, {} % lost ({} socket)",
            ping.replies_received, ping.requests_sent, ping.loss_percent, ping.socket_type
        );
        self.push("echoes", value);
        let round_trips: Vec<String> = [
            ("min", ping.rtt_min_us),
            ("avg", ping.rtt_avg_us),
            ("max", ping.rtt_max_us),
            ("stddev", ping.rtt_stddev_us),
        ]
        .into_iter()
        .filter_map(|(name, value)| value.map(|micros| format!("{name} {}", format_round_trip(micros))))
        .collect();
        if !round_trips.is_empty() {
            self.push("round trip", round_trips.join(", "));
        }
        for (index, error) in ping.icmp_errors.iter().enumerate() {
            self.push(if index == 0 { "errors" } else { "" }, error);
        }
    }

    fn push_host(&mut self, host: &HostFacts) {
        if !host.host_agent_version.is_empty() {
            self.push("agent", format!("version {}", host.host_agent_version));
        }
        let last_push = [
            host.push_exit_code.map(|code| format!("exit code {code}")),
            host.push_duration_us.map(format_round_trip),
            Some(host.push_message.clone()).filter(|message| !message.is_empty()),
        ];
        let last_push: Vec<String> = last_push.into_iter().flatten().collect();
        if !last_push.is_empty() {
            self.push("push", last_push.join(", "));
        }
        if let Some(running_us) = host.push_running_us {
            self.push("job", format!("runs for {} s", running_us / 1_000_000));
        }
        for (index, value) in host.host_values.iter().enumerate() {
            let bounds = [("warning", value.warning), ("error", value.error)]
                .into_iter()
                .filter_map(|(name, bound)| bound.map(|bound| format!("{name} {}", format_number(bound))));
            let bounds = bounds.collect::<Vec<_>>().join(", ");
            let text = format!("{} = {} ({bounds})", value.series, format_number(value.value));
            self.push(if index == 0 { "values" } else { "" }, text);
        }
    }

    fn push_ftp(&mut self, ftp: &FtpFacts) {
        if !ftp.ftp_banner.is_empty() {
            self.push("greeting", &ftp.ftp_banner);
        }
        if let (Some(command), Some(address)) = (&ftp.ftp_passive_command, ftp.ftp_data_address) {
            let session = match ftp.ftp_tls_session_resumed {
                Some(true) => ", TLS session resumed",
                Some(false) => ", new TLS session",
                None => "",
            };
            self.push("data", format!("by {command}, last to {address}{session}"));
        }
        let listed = ftp.ftp_listed_entries.map(|count| format!("{} entries listed", format_grouped(count)));
        let file = ftp
            .ftp_uploaded_bytes
            .map(|bytes| format!("{} bytes uploaded and downloaded", format_grouped(bytes)));
        let transfers: Vec<String> = listed.into_iter().chain(file).collect();
        if !transfers.is_empty() {
            self.push("files", transfers.join(", "));
        }
        if ftp.ftp_sent_password_in_cleartext {
            self.push("login", "the password was sent without TLS");
        }
    }
}

/// Formats a round trip, which on a local network is shorter than a tenth of a millisecond.
fn format_round_trip(micros: u64) -> String {
    if micros < 10_000 { format!("{:.3} ms", micros as f64 / 1e3) } else { format_duration(micros) }
}

fn format_times(count: u32) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}
