//! The probe of FTP servers.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::test_file::TestFile;
use crate::domain::{Failure, FailureKind, FtpFacts, MonitorType, Observation, Phase, Warning, WarningKind};
use crate::net::{Deadline, TlsOptions};
use crate::probe::build_context::ProbeBuildContext;
use crate::probe::connect_settings::tls_options;
use crate::probe::invalid_probe::InvalidProbe;
use crate::probe::probe_trait::{AttemptFuture, Probe, ProbeContext};
use crate::probe::service_target::{ServiceEndpoint, build_session_observation, parse_service_endpoint};
use crate::protocol::LineSession;
use crate::protocol::ftp::{FtpClient, FtpCredentials, OpeningDialogue, SessionRecorder};
use crate::schema::table::ftp::FTP_SCHEMES;
use crate::schema::typed::connection::{AddressSettings, PortSettings};
use crate::schema::typed::ftp::FtpSettings;
use crate::schema::{InvalidFieldValue, MonitorDocument};

/// Ports without and with implicit TLS.
const DEFAULT_PORTS: (u16, u16) = (21, 990);

/// Limit for QUIT. The check is complete by then.
const QUIT_TIMEOUT: Duration = Duration::from_secs(2);

/// Time reserved to delete the uploaded file when the check fails, at most a fifth of the timeout.
const CLEANUP_RESERVE: Duration = Duration::from_secs(2);

#[derive(Debug)]
struct FtpProbe {
    service: ServiceEndpoint,
    tls_options: Option<TlsOptions>,
    user: Option<Box<str>>,
    password: Box<str>,
    tests_upload: bool,
}

/// Builds the probe of a validated `ftp` or `ftp-ssl` monitor.
pub(in crate::probe) fn build(document: &MonitorDocument, _: &ProbeBuildContext) -> Arc<dyn Probe> {
    match FtpProbe::new(document) {
        Ok(probe) => Arc::new(probe),
        Err(error) => Arc::new(InvalidProbe::from(error)),
    }
}

impl FtpProbe {
    fn new(document: &MonitorDocument) -> Result<Self, InvalidFieldValue> {
        let settings: FtpSettings<'_> = document.deserialize()?;
        let (port, address_settings): (_, AddressSettings<'_>) =
            (document.deserialize::<PortSettings>()?.port, document.deserialize()?);
        let service = parse_service_endpoint(
            settings.hostname,
            port,
            Some(&address_settings),
            FTP_SCHEMES,
            DEFAULT_PORTS,
        );
        // `ftps://` in the host name enables TLS, whatever the monitor type.
        let tls = match document.monitor_type() {
            MonitorType::FtpSsl => Some(tls_options(document)?),
            _ => service.implicit_tls.then(TlsOptions::default),
        };
        let user = Some(settings.ftp_username).filter(|user| !user.is_empty());
        let password = settings.ftp_password.filter(|password| !password.is_empty());
        // Anonymous servers ask for a mail address, and any text will do (RFC 1635).
        let default_password = if user.is_none() { "anonymous@" } else { "" };
        Ok(Self {
            tls_options: tls,
            service,
            user: user.map(Into::into),
            password: password.unwrap_or(default_password).into(),
            tests_upload: settings.enable_ftp_upload,
        })
    }
}

impl Probe for FtpProbe {
    fn attempt<'a>(&'a self, cx: ProbeContext<'a>) -> AttemptFuture<'a> {
        Box::pin(self.run(cx))
    }

    fn target_host(&self) -> Option<&str> {
        Some(&self.service.endpoint.host)
    }
}

impl FtpProbe {
    async fn run(&self, cx: ProbeContext<'_>) -> Observation {
        let started = Instant::now();
        let mut session = LineSession::new(cx.net, cx.deadline);
        let (mut facts, mut warnings) = (None, Vec::new());
        let attempt_result = self.execute(cx, &mut session, &mut facts, &mut warnings).await;
        let mut observation = build_session_observation(started, session, attempt_result);
        observation.facts.ftp = facts.map(Box::new);
        if observation.failure.is_none() {
            observation.warnings = warnings;
        }
        observation
    }

    /// Runs the attempt. `facts` are set from the greeting on.
    async fn execute(
        &self,
        cx: ProbeContext<'_>,
        session: &mut LineSession<'_>,
        facts: &mut Option<FtpFacts>,
        warnings: &mut Vec<Warning>,
    ) -> Result<(), Failure> {
        self.reject_control_chars()?;
        let endpoint = &self.service.endpoint;
        let host = &endpoint.host;
        if let Some(options) = &self.tls_options {
            // Finds missing certificates of this location before any connection is made.
            drop(cx.net.tls_client(host, options, true)?);
        }
        session.connect(endpoint).await?;
        let options = self.tls_options.clone().unwrap_or_default();
        let is_implicit_tls = self.service.implicit_tls;
        if is_implicit_tls {
            session.upgrade_to_tls(host, &options).await?;
        }
        let mut opening = OpeningDialogue::new(self.tls_options.is_some() && !is_implicit_tls);
        let setup_result = session.run_protocol(&mut opening, host, &options).await;
        *facts = opening.banner().map(|banner| FtpFacts { ftp_banner: banner.into(), ..FtpFacts::default() });
        setup_result.map_err(|failure| self.with_tls_hint(failure, facts.is_some()))?;
        let facts = facts.get_or_insert_default();
        let is_encrypted = session.is_tls();
        let recorder = SessionRecorder::from_session(session, &self.password);
        let must_log_in = !opening.is_logged_in();
        let session_result = self.run_session(cx, session, &recorder, must_log_in, facts, warnings).await;
        facts.ftp_sent_password_in_cleartext =
            self.user.is_some() && !is_encrypted && recorder.was_password_sent();
        recorder.restore_to(session);
        session_result
    }

    /// Adds a hint when no greeting came: a server of implicit TLS sends none before TLS.
    fn with_tls_hint(&self, failure: Failure, has_greeting: bool) -> Failure {
        let no_greeting = failure.kind == FailureKind::TimedOut && !has_greeting;
        if !no_greeting || self.tls_options.is_none() || self.service.implicit_tls {
            return failure;
        }
        let hint = "a server that begins with TLS waits like this; for one, write `ftps://` before its name";
        Failure { detail: format!("{}; {hint}", failure.detail), ..failure }
    }

    async fn run_session(
        &self,
        cx: ProbeContext<'_>,
        session: &mut LineSession<'_>,
        recorder: &SessionRecorder,
        must_log_in: bool,
        facts: &mut FtpFacts,
        warnings: &mut Vec<Warning>,
    ) -> Result<(), Failure> {
        let mut client = FtpClient::from_session(cx.net, cx.deadline, session, recorder.clone()).await?;
        let commands_result = self.run_commands(cx, &mut client, must_log_in, facts).await;
        if let Some(note) = client.pasv_fallback_note.take() {
            warnings.push(Warning::new(WarningKind::CapabilityDowngrade, note));
        }
        facts.ftp_passive_command = client.passive_command().map(Into::into);
        facts.ftp_data_address = client.data_address();
        facts.ftp_listed_entries = client.entry_count;
        facts.ftp_tls_session_resumed = client.tls_resumed();
        commands_result?;
        client.set_deadline(earlier_deadline(cx.deadline, QUIT_TIMEOUT));
        if let Err(failure) = client.quit().await {
            let detail = format!("QUIT failed: {failure}");
            warnings.push(Warning::new(WarningKind::Informational, detail));
        }
        Ok(())
    }

    async fn run_commands(
        &self,
        cx: ProbeContext<'_>,
        client: &mut FtpClient<'_>,
        must_log_in: bool,
        facts: &mut FtpFacts,
    ) -> Result<(), Failure> {
        if must_log_in {
            let user = self.user.as_deref().unwrap_or("anonymous");
            client.login(FtpCredentials { user, password: &self.password }).await?;
        }
        client.list().await?;
        if !self.tests_upload {
            return Ok(());
        }
        let test_file = TestFile::generate()?;
        client.set_deadline(deadline_before_cleanup(cx.deadline));
        let transfer_result = test_file.upload_and_compare(client).await;
        client.set_deadline(cx.deadline);
        let delete_result =
            if client.was_upload_accepted { client.delete(&test_file.name).await } else { Ok(()) };
        let leftover_file_detail =
            |failure: &Failure| format!("the file `{}` may have been left there: {failure}", test_file.name);
        match (transfer_result, delete_result) {
            (Ok(()), Ok(())) => facts.ftp_uploaded_bytes = Some(test_file.content.len() as u64),
            (Ok(()), Err(failure)) => {
                facts.ftp_uploaded_bytes = Some(test_file.content.len() as u64);
                return Err(Failure { detail: leftover_file_detail(&failure), ..failure });
            }
            (Err(failure), Ok(())) => return Err(failure),
            (Err(failure), Err(delete_failure)) => {
                let details = [failure.detail.clone(), leftover_file_detail(&delete_failure)];
                let details: Vec<String> = details.into_iter().filter(|detail| !detail.is_empty()).collect();
                return Err(Failure { detail: details.join("; "), ..failure });
            }
        }
        Ok(())
    }

    /// Rejects control characters: a line break would split one command into two.
    fn reject_control_chars(&self) -> Result<(), Failure> {
        let has_control_chars = |text: &str| text.chars().any(char::is_control);
        let user = self.user.as_deref().unwrap_or_default();
        for (field, text) in [("ftp_username", user), ("ftp_password", &*self.password)] {
            if has_control_chars(text) {
                let detail =
                    format!("`{field}` contains a control character, which is not allowed in FTP commands");
                return Err(Failure::new(Phase::Prepare, FailureKind::NotConfigured, detail));
            }
        }
        Ok(())
    }
}

/// Returns the deadline `timeout` from now, or `deadline` when that is earlier.
fn earlier_deadline(deadline: Deadline, timeout: Duration) -> Deadline {
    let timeout_deadline = Deadline::within(timeout);
    if timeout_deadline.at < deadline.at { timeout_deadline } else { deadline }
}

/// Returns `deadline` reduced by the time reserved for cleanup.
fn deadline_before_cleanup(deadline: Deadline) -> Deadline {
    let reserve = CLEANUP_RESERVE.min(deadline.timeout / 5);
    let at = deadline.at.checked_sub(reserve).unwrap_or(deadline.at);
    Deadline { at, timeout: deadline.timeout.saturating_sub(reserve) }
}
