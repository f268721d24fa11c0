//! Masks the secrets in everything that a check observed.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

use super::redactor::Redactor;
use super::urls::{redact_credentials, redact_url_credentials};
use crate::domain::{
    ActionResult, BrowserFacts, BrowserStep, CapturedFile, Certificate, CheckDetails, ConsoleEntry,
    ContentViewResult, DnsFacts, Excerpt, Facts, Failure, FtpFacts, HeaderList, HostFacts, HttpExchange,
    HttpFacts, MailFacts, Observation, PageLoad, PageObject, PageObjectChange, PingFacts, RedirectHop,
    RoundTripFacts, SecurityFinding, SecurityScanFacts, StepResult, StepTest, TlsFacts, Warning,
};

impl Redactor {
    /// Masks the secrets in `observation`: known ones, logins in URLs, and values whose names mark them as credentials.
    /// Every text in it is covered. The patterns name each field, so that a new one has to be considered.
    pub fn redact_observation(&self, observation: &mut Observation) {
        let Observation {
            duration: _,
            phases: _,
            address: _,
            failure,
            warnings,
            facts,
            details,
            captures,
            may_need_weak_suites: _,
        } = observation;
        self.redact_failures(failure);
        for Warning { kind: _, detail, cause_status: _ } in warnings {
            self.redact_text(detail);
        }
        self.redact_facts(facts);
        let CheckDetails { steps, exchanges, page_load, browser, content_views, trace_id: _ } = details;
        for step in steps.iter_mut() {
            self.redact_step(step);
        }
        for exchange in exchanges.iter_mut() {
            self.redact_exchange(exchange);
        }
        if let Some(page_load) = page_load {
            self.redact_page_load(page_load);
        }
        if let Some(browser) = browser {
            self.redact_browser_facts(browser);
        }
        for ContentViewResult {
            id: _,
            name: _,
            status: _,
            notify_on_error: _,
            duration_us: _,
            object_count: _,
            decoded_bytes: _,
            failures,
        } in content_views
        {
            self.redact_failures(failures);
        }
        for capture in captures.iter_mut() {
            self.redact_capture(capture);
        }
    }

    /// Masks known secrets, and credentials in URLs; for texts that people read.
    pub fn redact_text(&self, text: &mut String) {
        self.redact_in_place(text);
        if let Cow::Owned(redacted) = redact_url_credentials(text) {
            *text = redacted;
        }
    }

    /// Masks known secrets, credentials in URLs, and values whose names mark them as credentials; for headers and
    /// bodies.
    fn redact_content<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.redact(text) {
            Cow::Borrowed(text) => redact_credentials(text),
            Cow::Owned(text) => Cow::Owned(redact_credentials(&text).into_owned()),
        }
    }

    fn redact_texts<'t>(&self, texts: impl IntoIterator<Item = &'t mut String>) {
        texts.into_iter().for_each(|text| self.redact_text(text));
    }

    fn redact_failures<'f>(&self, failures: impl IntoIterator<Item = &'f mut Failure>) {
        for Failure { phase: _, kind: _, fault: _, detail, object_status: _ } in failures {
            self.redact_text(detail);
        }
    }

    fn redact_facts(&self, facts: &mut Facts) {
        let Facts { http, tls, dns, ping, mail, round_trip, ftp, host, security, resolved_addresses: _ } =
            facts;
        if let Some(http) = http {
            let HttpFacts {
                http_status: _,
                http_version: _,
                http_reason,
                body_wire_bytes: _,
                body_bytes: _,
                content_changed: _,
                text_sha256: _,
                previous_text_sha256: _,
                content_type,
                redirects,
                url,
            } = &mut **http;
            self.redact_texts(http_reason.iter_mut().chain(content_type).chain([url]));
            for RedirectHop { url, http_status: _, address: _, phases: _ } in redirects {
                self.redact_text(url);
            }
        }
        if let Some(tls) = tls {
            let TlsFacts { tls_version: _, tls_cipher: _, certificates, tls_warnings: _ } = &mut **tls;
            for Certificate { subject, issuer, subject_alt_names, not_before: _, not_after: _, sha256: _ } in
                certificates
            {
                self.redact_texts([subject, issuer].into_iter().chain(subject_alt_names));
            }
        }
        if let Some(dns) = dns {
            let DnsFacts {
                query_name,
                record_type: _,
                rcode: _,
                answer_records,
                transport: _,
                authoritative: _,
                authenticated_data: _,
                signed: _,
                recursion_available: _,
                truncated: _,
                response_bytes: _,
                min_ttl_seconds: _,
            } = &mut **dns;
            self.redact_texts([query_name].into_iter().chain(answer_records));
        }
        if let Some(ping) = ping {
            let PingFacts {
                requests_sent: _,
                replies_received: _,
                loss_percent: _,
                rtt_min_us: _,
                rtt_avg_us: _,
                rtt_max_us: _,
                rtt_stddev_us: _,
                socket_type: _,
                icmp_errors,
            } = &mut **ping;
            self.redact_texts(icmp_errors);
        }
        if let Some(host) = host {
            let HostFacts {
                report_age_us: _,
                host_agent_version,
                host_values,
                push_message,
                push_duration_us: _,
                push_exit_code: _,
                push_running_us: _,
            } = &mut **host;
            self.redact_texts([host_agent_version, push_message]);
            self.redact_texts(host_values.iter_mut().map(|value| &mut value.series));
        }
        if let Some(mail) = mail {
            let MailFacts {
                mail_banner,
                mail_capabilities,
                mail_auth_method: _,
                sent_password_in_cleartext: _,
                mailbox_messages: _,
                mailbox_bytes: _,
            } = &mut **mail;
            self.redact_texts([mail_banner].into_iter().chain(mail_capabilities));
        }
        if let Some(round_trip) = round_trip {
            let RoundTripFacts {
                message_id,
                mailbox_polls: _,
                mailbox_locked_count: _,
                deleted_stale_messages: _,
                round_trip_send_us: _,
                round_trip_transit_us: _,
                round_trip_fetch_us: _,
            } = &mut **round_trip;
            self.redact_text(message_id);
        }
        if let Some(ftp) = ftp {
            let FtpFacts {
                ftp_banner,
                ftp_passive_command: _,
                ftp_data_address: _,
                ftp_listed_entries: _,
                ftp_uploaded_bytes: _,
                ftp_tls_session_resumed: _,
                ftp_sent_password_in_cleartext: _,
            } = &mut **ftp;
            self.redact_text(ftp_banner);
        }
        if let Some(security) = security {
            self.redact_security_scan(security);
        }
    }

    fn redact_security_scan(&self, facts: &mut SecurityScanFacts) {
        let SecurityScanFacts {
            grade: _,
            findings,
            finding_counts: _,
            open_ports: _,
            offered_tls_versions: _,
            offered_tls_ciphers: _,
            offered_tls_groups: _,
            open_questions,
        } = facts;
        for finding in findings {
            let SecurityFinding { id: _, severity: _, title: _, subject, evidence, remedy: _, reference: _ } =
                finding;
            self.redact_texts(subject.iter_mut().chain([evidence]));
        }
        self.redact_texts(open_questions);
    }

    fn redact_step(&self, step: &mut StepResult) {
        let StepResult {
            number: _,
            name,
            status: _,
            start_offset_us: _,
            duration_us: _,
            phases: _,
            failures,
            exchanges,
            tests,
            variable_names,
            browser_step,
        } = step;
        for name in variable_names {
            self.redact_text(name);
        }
        self.redact_text(name);
        self.redact_failures(failures);
        for StepTest { name, outcome: _, reason } in tests {
            self.redact_text(name);
            if let Some(reason) = reason {
                self.redact_text(reason);
            }
        }
        for exchange in exchanges.iter_mut() {
            self.redact_exchange(exchange);
        }
        let Some(browser_step) = browser_step else { return };
        let BrowserStep {
            url,
            title,
            http_status: _,
            actions,
            timing: _,
            objects,
            unlisted_objects: _,
            console,
        } = &mut **browser_step;
        self.redact_texts([url, title]);
        for ActionResult { number: _, action, status: _, duration_us: _, skipped: _ } in actions {
            self.redact_text(action);
        }
        for object in objects.iter_mut() {
            self.redact_page_object(object);
        }
        for ConsoleEntry { level: _, source: _, text, url, line: _ } in console {
            self.redact_texts([text, url]);
        }
    }

    fn redact_exchange(&self, exchange: &mut HttpExchange) {
        let HttpExchange {
            start_offset_us: _,
            method: _,
            url,
            address: _,
            phases: _,
            request_headers,
            request_body,
            http_status: _,
            http_version: _,
            http_reason,
            response_headers,
            response_body,
            body_wire_bytes: _,
            body_bytes: _,
            failure,
        } = exchange;
        self.redact_texts([url].into_iter().chain(http_reason));
        self.redact_headers(request_headers);
        self.redact_headers(response_headers);
        for Excerpt { media_type, text, body_bytes: _ } in request_body.iter_mut().chain(response_body) {
            self.redact_text(media_type);
            if let Cow::Owned(redacted) = self.redact_content(text) {
                *text = redacted;
            }
        }
        self.redact_failures(failure);
    }

    fn redact_headers(&self, headers: &mut HeaderList) {
        let redact = |text| self.redact_content(text);
        let is_changed = |(name, value)| {
            matches!(redact(value), Cow::Owned(_)) || matches!(self.redact(name), Cow::Owned(_))
        };
        if headers.iter().any(is_changed) {
            *headers = headers.iter().map(|(name, value)| (self.redact(name), redact(value))).collect();
        }
    }

    fn redact_page_load(&self, page_load: &mut PageLoad) {
        let PageLoad { duration_us: _, decoded_bytes: _, unlisted_objects: _, objects, changes } = page_load;
        for object in objects.iter_mut() {
            self.redact_page_object(object);
        }
        for PageObjectChange { status: _, url, previous_bytes: _, current_bytes: _ } in changes {
            self.redact_text(url);
        }
    }

    fn redact_page_object(&self, object: &mut PageObject) {
        let PageObject {
            url,
            kind: _,
            third_party: _,
            blocked: _,
            start_offset_us: _,
            duration_us: _,
            phases: _,
            http_status: _,
            http_version: _,
            media_type,
            body_wire_bytes: _,
            body_bytes: _,
            failure,
        } = object;
        self.redact_texts([url, media_type]);
        self.redact_failures(failure);
    }

    fn redact_browser_facts(&self, facts: &mut BrowserFacts) {
        let BrowserFacts {
            name: _,
            version: _,
            driver_name_and_version: _,
            user_agent,
            viewport: _,
            emulated_device: _,
            trace_id: _,
            peak_memory_bytes: _,
        } = facts;
        self.redact_text(user_agent);
    }

    fn redact_capture(&self, capture: &mut CapturedFile) {
        let Some(content) = &capture.content else { return };
        let redacted = self.redact_bytes(content).or_else(|| self.redact_utf_16(content));
        let text = std::str::from_utf8(redacted.as_deref().unwrap_or(content));
        let with_named_values_masked = text.ok().and_then(|text| match redact_credentials(text) {
            Cow::Owned(text) => Some(text.into_bytes()),
            Cow::Borrowed(_) => None,
        });
        if let Some(content) = with_named_values_masked.or(redacted) {
            *capture = CapturedFile::new(&capture.name, &*capture.media_type, &content);
        }
    }

    /// Masks known secrets in a UTF-16 file, in which a search for their UTF-8 bytes finds nothing. `None` when nothing
    /// was masked.
    fn redact_utf_16(&self, content: &[u8]) -> Option<Vec<u8>> {
        if self.is_empty() || !content.contains(&0) {
            return None;
        }
        let redact_as = |encoding: &'static Encoding, to_bytes: fn(u16) -> [u8; 2]| {
            let (text, _) = encoding.decode_without_bom_handling(content);
            match self.redact(&text) {
                Cow::Owned(text) => Some(text.encode_utf16().flat_map(to_bytes).collect()),
                Cow::Borrowed(_) => None,
            }
        };
        redact_as(UTF_16LE, u16::to_le_bytes).or_else(|| redact_as(UTF_16BE, u16::to_be_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{FailureKind, Phase};

    fn redacted_capture(content: &[u8]) -> Vec<u8> {
        let redactor = Redactor::from_secrets(["hünter2"].into_iter());
        let mut observation = Observation {
            captures: vec![CapturedFile::new("a", "image/png", content)],
            ..Observation::default()
        };
        redactor.redact_observation(&mut observation);
        let capture = observation.captures.remove(0);
        assert_eq!(capture.content_bytes, capture.content.as_ref().unwrap().len() as u64);
        capture.content.unwrap().to_vec()
    }

    #[test]
    fn secrets_in_files_of_any_type_are_masked() {
        let utf_16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        for (content, expected) in [
            ("a hünter2 b".as_bytes().to_vec(), b"a ******** b".to_vec()),
            (b"\xff h\xc3\xbcnter2".to_vec(), b"\xff ********".to_vec()),
            (utf_16("<b>hünter2</b>"), utf_16("<b>********</b>")),
            (b"?token=abc&x=y".to_vec(), b"?token=********&x=y".to_vec()),
            (b"\x89PNG\0\xff".to_vec(), b"\x89PNG\0\xff".to_vec()),
        ] {
            assert_eq!(redacted_capture(&content), expected);
        }
    }

    #[test]
    fn without_secrets_named_values_are_masked() {
        let failure = Failure::new(Phase::Connect, FailureKind::Internal, "from `http://a:b@c/?token=d`");
        let mut observation = Observation::from_failure(failure);
        Redactor::default().redact_observation(&mut observation);
        assert_eq!(observation.failure.unwrap().detail, "from `http://********@c/?token=********`");
    }
}
