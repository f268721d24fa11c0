//! The probe of FTP servers.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::file::File;
use crate::domain::{Failure, FailureKind, FtpFacts, MonitorType, Observation, Phase, Warning, WarningKind};
use crate::net::{Deadline, TlsOptions};
use crate::probe::contract::{Attempting, Context, Probe};
use crate::probe::settings::ProbeSettings;
use crate::probe::target::{Service, concluded, service};
use crate::probe::unusable::Unusable;
use crate::probe::way::tls;
use crate::protocol::Session;
use crate::protocol::ftp::{Client, Login, Opening, Watch};
use crate::schema::table::ftp::FTP_SCHEMES;
use crate::schema::typed::connection::PortSettings;
use crate::schema::typed::ftp::FtpSettings;
use crate::schema::{Document, InvalidSettings};

/// Ports without and with implicit TLS.
const PORTS: (u16, u16) = (21, 990);

/// Time that a server gets for its farewell; the check has what it wanted by then.
const FAREWELL: Duration = Duration::from_secs(2);

/// Time that is kept back to delete a file when the check fails, at most a fifth of the timeout.
const TIDYING: Duration = Duration::from_secs(2);

#[derive(Debug)]
struct FtpProbe {
    service: Service,
    tls: Option<TlsOptions>,
    user: Option<Box<str>>,
    password: Box<str>,
    uploads: bool,
}

/// The probe of a checked `ftp` or `ftp-ssl` monitor.
pub(in crate::probe) fn build(document: &Document, _: &ProbeSettings) -> Arc<dyn Probe> {
    match FtpProbe::new(document) {
        Ok(probe) => Arc::new(probe),
        Err(error) => Arc::new(Unusable::from(error)),
    }
}

impl FtpProbe {
    fn new(document: &Document) -> Result<Self, InvalidSettings> {
        let settings: FtpSettings<'_> = document.read()?;
        let (port, address) = (document.read::<PortSettings>()?.port, document.read()?);
        let service = service(settings.hostname, port, Some(&address), FTP_SCHEMES, PORTS);
        // Somebody who writes `ftps://` means it, whatever the type.
        let tls = match document.kind() {
            MonitorType::FtpSsl => Some(tls(document)?),
            _ => service.implicit_tls.then(TlsOptions::default),
        };
        let user = Some(settings.ftp_username).filter(|user| !user.is_empty());
        let password = settings.ftp_password.filter(|password| !password.is_empty());
        // What anonymous servers ask for is a mail address, and any text will do (RFC 1635).
        let default = if user.is_none() { "anonymous@" } else { "" };
        Ok(Self {
            tls,
            service,
            user: user.map(Into::into),
            password: password.unwrap_or(default).into(),
            uploads: settings.enable_ftp_upload,
        })
    }
}

impl Probe for FtpProbe {
    fn attempt<'a>(&'a self, cx: Context<'a>) -> Attempting<'a> {
        Box::pin(self.run(cx))
    }

    fn target(&self) -> Option<&str> {
        Some(&self.service.endpoint.host)
    }
}

impl FtpProbe {
    async fn run(&self, cx: Context<'_>) -> Observation {
        let started = Instant::now();
        let mut session = Session::new(cx.net, cx.deadline);
        let (mut facts, mut warnings) = (None, Vec::new());
        let outcome = self.go(cx, &mut session, &mut facts, &mut warnings).await;
        let mut seen = concluded(started, session, outcome);
        seen.facts.ftp = facts.map(Box::new);
        if seen.failure.is_none() {
            seen.warnings = warnings;
        }
        seen
    }

    /// Facts are there from the greeting on.
    async fn go(
        &self,
        cx: Context<'_>,
        session: &mut Session<'_>,
        facts: &mut Option<FtpFacts>,
        warnings: &mut Vec<Warning>,
    ) -> Result<(), Failure> {
        self.check_login()?;
        let endpoint = &self.service.endpoint;
        let host = &endpoint.host;
        if let Some(options) = &self.tls {
            // What this location cannot do does not depend on the target.
            drop(cx.net.tls_session(host, options, true)?);
        }
        session.connect(endpoint).await?;
        let options = self.tls.clone().unwrap_or_default();
        let implicit = self.service.implicit_tls;
        if implicit {
            session.secure(host, &options).await?;
        }
        let mut opening = Opening::new(self.tls.is_some() && !implicit);
        let opened = session.run(&mut opening, host, &options).await;
        *facts = opening.banner().map(|banner| FtpFacts { ftp_banner: banner.into(), ..FtpFacts::default() });
        opened.map_err(|failure| self.hinted(failure, facts.is_some()))?;
        let facts = facts.get_or_insert_default();
        let secure = session.is_secure();
        let watch = Watch::over(session, &self.password);
        let outcome = self.converse(cx, session, &watch, facts, warnings).await;
        facts.ftp_password_in_clear = self.user.is_some() && !secure && watch.password_went();
        watch.settle(session);
        outcome
    }

    /// Somebody who asks a server of implicit TLS for its greeting waits in vain.
    fn hinted(&self, failure: Failure, greeted: bool) -> Failure {
        let waited = failure.kind == FailureKind::TimedOut && !greeted;
        if !waited || self.tls.is_none() || self.service.implicit_tls {
            return failure;
        }
        let hint = "a server that begins with TLS waits like this; for one, write `ftps://` before its name";
        Failure { detail: format!("{}; {hint}", failure.detail), ..failure }
    }

    async fn converse(
        &self,
        cx: Context<'_>,
        session: &mut Session<'_>,
        watch: &Watch,
        facts: &mut FtpFacts,
        warnings: &mut Vec<Warning>,
    ) -> Result<(), Failure> {
        let mut client = Client::over(cx.net, cx.deadline, session, watch.clone()).await?;
        let outcome = self.work(cx, &mut client, facts).await;
        facts.ftp_passive = client.passive().map(Into::into);
        facts.ftp_data_address = client.data_address();
        facts.ftp_listed = client.listed;
        facts.ftp_session_reused = client.reused();
        outcome?;
        client.until(soonest(cx.deadline, FAREWELL));
        if let Err(failure) = client.quit().await {
            let detail = format!("it did not take its leave: {failure}");
            warnings.push(Warning::new(WarningKind::Note, detail));
        }
        Ok(())
    }

    async fn work(
        &self,
        cx: Context<'_>,
        client: &mut Client<'_>,
        facts: &mut FtpFacts,
    ) -> Result<(), Failure> {
        let user = self.user.as_deref().unwrap_or("anonymous");
        client.login(Login { user, password: &self.password }).await?;
        client.list().await?;
        if !self.uploads {
            return Ok(());
        }
        let file = File::unique()?;
        client.until(earlier(cx.deadline));
        let carried = file.carry(client).await;
        client.until(cx.deadline);
        let deleted = if client.stored { client.delete(&file.name).await } else { Ok(()) };
        let left = |why: &Failure| format!("the file `{}` may have been left there: {why}", file.name);
        match (carried, deleted) {
            (Ok(()), Ok(())) => facts.ftp_uploaded_bytes = Some(file.content.len() as u64),
            (Ok(()), Err(failure)) => {
                facts.ftp_uploaded_bytes = Some(file.content.len() as u64);
                return Err(Failure { detail: left(&failure), ..failure });
            }
            (Err(failure), Ok(())) => return Err(failure),
            (Err(failure), Err(why)) => {
                let parts = [failure.detail.clone(), left(&why)];
                let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
                return Err(Failure { detail: parts.join("; "), ..failure });
            }
        }
        Ok(())
    }

    /// A line break would make two commands of one.
    fn check_login(&self) -> Result<(), Failure> {
        let bad = |text: &str| text.chars().any(char::is_control);
        let user = self.user.as_deref().unwrap_or_default();
        for (field, text) in [("ftp_username", user), ("ftp_password", &*self.password)] {
            if bad(text) {
                let detail = format!("`{field}` holds a control character, which no FTP command can carry");
                return Err(Failure::new(Phase::Prepare, FailureKind::NotConfigured, detail));
            }
        }
        Ok(())
    }
}

/// `within` from now, or `deadline` when that comes first.
fn soonest(deadline: Deadline, within: Duration) -> Deadline {
    let other = Deadline::within(within);
    if other.at < deadline.at { other } else { deadline }
}

/// Before `deadline` by the time that tidying up may take.
fn earlier(deadline: Deadline) -> Deadline {
    let kept = TIDYING.min(deadline.timeout / 5);
    let at = deadline.at.checked_sub(kept).unwrap_or(deadline.at);
    Deadline { at, timeout: deadline.timeout.saturating_sub(kept) }
}
