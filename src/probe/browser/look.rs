//! What is learned of a page once it is there: its answer, its times, whether it is a page at all.

use std::time::Duration;

use serde::Deserialize;
use tokio::time::Instant;
use url::Url;

use super::ask;
use super::options::Experience;
use super::play::{Player, Stopped};
use crate::browser::Trouble;
use crate::domain::{Failure, FailureKind, PageTiming, Phase, Phases, micros};

/// How long a page may take to tell of itself where the step can do without.
const GLANCE: Duration = Duration::from_secs(5);

/// The body of the function that tells.
const LOOK: &str = include_str!("look.js");

/// What `look.js` tells.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Seen {
    url: String,
    title: String,
    status: u16,
    /// `performance.timeOrigin`, as text: tells documents apart.
    origin: String,
    times: Times,
    paint: Paint,
    largest: Option<f64>,
    shift: Option<f64>,
    viewport: (u32, u32),
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Times {
    domain_lookup_start: f64,
    domain_lookup_end: f64,
    connect_start: f64,
    secure_connection_start: f64,
    connect_end: f64,
    request_start: f64,
    response_start: f64,
    response_end: f64,
    dom_content_loaded_event_end: f64,
    load_event_end: f64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
struct Paint {
    first_paint: Option<f64>,
    first_contentful_paint: Option<f64>,
}

impl Seen {
    /// What was measured. Marks that the browser does not know are 0 there.
    fn timing(&self, experience: bool) -> PageTiming {
        let times = &self.times;
        let mut phases = Phases::default();
        let mut span = |phase, from: f64, to: f64| {
            if to > from && from >= 0.0 {
                phases.set(phase, millis(to - from));
            }
        };
        let tls = times.secure_connection_start;
        span(Phase::Resolve, times.domain_lookup_start, times.domain_lookup_end);
        span(Phase::Connect, times.connect_start, if tls > 0.0 { tls } else { times.connect_end });
        span(Phase::Tls, if tls > 0.0 { tls } else { times.connect_end }, times.connect_end);
        span(Phase::FirstByte, times.request_start, times.response_start);
        span(Phase::Transfer, times.response_start, times.response_end);
        span(Phase::FirstPaint, 0.0, self.paint.first_paint.unwrap_or_default());
        span(Phase::DomLoad, 0.0, times.dom_content_loaded_event_end);
        span(Phase::PageLoad, 0.0, times.load_event_end);
        let shown = |time: Option<f64>| time.filter(|_| experience).map(|time| micros(millis(time)));
        PageTiming {
            phases,
            first_contentful_paint_us: shown(self.paint.first_contentful_paint),
            largest_contentful_paint_us: shown(self.largest),
            layout_shift: self.shift.filter(|_| experience),
        }
    }
}

fn millis(time: f64) -> Duration {
    Duration::try_from_secs_f64(time / 1000.0).unwrap_or_default()
}

impl Player<'_> {
    /// Looks at the page that was gone to, which may tell of itself until `latest`: its answer must be no error
    /// (status 7), and it must be the site's own.
    pub(super) async fn is_good_page(&mut self, latest: Instant) -> Result<(), Stopped> {
        let seen = self.look(Experience::Unwanted, latest.max(Instant::now() + GLANCE)).await;
        let seen = seen.map_err(|trouble| self.stopped(trouble, self.page_bound))?;
        if error_page(&seen.url).is_none() && bare(&seen.url) != bare(&self.went_to) {
            self.is_there(false).await?;
        }
        Ok(self.judged(&seen).await?)
    }

    /// A browser that shows another page than it was sent to was redirected, or stayed where it was: what it got was
    /// no page. One that was given up because it was `late` says nothing by its end.
    pub(super) async fn is_there(&self, late: bool) -> Result<(), Failure> {
        self.hear(ask::soon()).await;
        let journal = self.journal();
        let Some(document) = journal.last_document() else { return Ok(()) };
        let is_attachment = document.response_headers.iter().any(|(name, value)| {
            name.eq_ignore_ascii_case("content-disposition") && value.trim_start().starts_with("attachment")
        });
        let why = match document.http_status {
            204 | 205 => "it has no content",
            _ if is_attachment || !late && (document.cancelled || document.error.is_some()) => {
                "it is a download, and those are refused"
            }
            _ => return Ok(()),
        };
        let detail = format!("`{}`: {why}", shown(&document.url));
        Err(Failure::new(Phase::Play, FailureKind::NoPage, detail))
    }

    /// What an act that failed means where the page is none of the site's any more, or the driver fell silent.
    pub(super) async fn explained(&mut self, failure: Failure) -> Failure {
        use FailureKind as Kind;
        let of = |kind, detail: String| Failure::new(Phase::Play, kind, detail);
        if self.session.is_stuck() {
            let late = [Kind::BrowserEventTimedOut, Kind::PageTooSlow, Kind::TransactionTimedOut];
            if late.contains(&failure.kind) && !self.session.is_alive().await {
                let detail = format!("{}; the driver says nothing any more", failure.detail);
                return of(Kind::BrowserTimedOut, detail);
            }
            return failure;
        }
        let of_page = [
            Kind::ElementMissing,
            Kind::ElementWeak,
            Kind::AssertionFailed,
            Kind::VariableMissing,
            Kind::BrowserEventMissing,
            Kind::LocationChangeMissing,
            Kind::PageUpdateMissing,
        ];
        if !of_page.contains(&failure.kind) {
            return failure;
        }
        match self.look_at_top(Experience::Unwanted, Instant::now() + GLANCE).await {
            Ok(seen) => self.judged(&seen).await.err().unwrap_or(failure),
            Err(Trouble::Gone(why)) => of(Kind::BrowserFailed, why),
            Err(_) => failure,
        }
    }

    /// An error page does not say what it stands for: it is the document that was asked for last. Answers the browser's
    /// word for why that came to nothing.
    async fn look_for_errand(&mut self) -> Option<String> {
        self.hear(ask::soon()).await;
        let document =
            self.journal().last_document().map(|document| (document.url.clone(), document.error.clone()));
        let (url, error) = document?;
        self.went_to = url;
        error.map(|error| error.strip_prefix("net::").map(str::to_owned).unwrap_or(error))
    }

    /// What is kept of a step at its end; the page must be good then too. A dialog that is open hides it.
    pub(super) async fn end_of_step(&mut self, at: usize) -> Result<(), Failure> {
        let experience = self.options.experience;
        let time = self.budget.time(None, None);
        let latest = time.latest.max(Instant::now() + GLANCE);
        let seen = match self.look_at_top(experience, latest).await {
            Ok(seen) => seen,
            Err(Trouble::Dialog(text)) => {
                let next = self.script.steps.get(at + 1).and_then(|step| step.acts.first());
                if next.is_some_and(super::play::is_answer) {
                    return Ok(());
                }
                return Err(self.refused_dialog("the end of the step", &text).await);
            }
            Err(trouble) => {
                return match self.stopped(trouble, time.ending) {
                    Stopped::Failed(failure) => Err(failure),
                    Stopped::Dialog(_) => Ok(()),
                };
            }
        };
        let (new, timing) = (seen.origin != self.document, seen.timing(experience != Experience::Unwanted));
        self.document.clone_from(&seen.origin);
        self.viewport.get_or_insert(seen.viewport);
        if new {
            self.result().phases = timing.phases;
        }
        self.note(&seen, new, timing);
        let good = self.judged(&seen).await;
        let documents = self.gather().await;
        good.and(documents)
    }

    /// What is learned of the page that an act failed on, as far as the browser still answers.
    pub(super) async fn evidence(&mut self, failure: &Failure) {
        let is_lost = matches!(failure.kind, FailureKind::BrowserFailed | FailureKind::BrowserTimedOut);
        if is_lost || self.session.is_stuck() {
            return;
        }
        if let Ok(seen) = self.look_at_top(Experience::Unwanted, Instant::now() + GLANCE).await {
            self.note(&seen, seen.origin != self.document, seen.timing(false));
        }
        // The act decides.
        let _ = self.gather().await;
    }

    /// Keeps in the step what was seen of the page, with its `timing` when it is `new` to the step.
    fn note(&mut self, seen: &Seen, new: bool, timing: PageTiming) {
        let masks = self.masks();
        let played = self.played();
        played.url = masks.masked(&shown(&seen.url)).into_owned();
        played.title = masks.masked(&seen.title).into_owned();
        if new {
            played.http_status = seen.status;
            played.timing = Some(timing);
        }
    }

    async fn look_at_top(&self, experience: Experience, until: Instant) -> Result<Seen, Trouble> {
        if !self.frames.is_empty() {
            self.session.enter_frame(serde_json::Value::Null, until).await?;
        }
        let seen = self.look(experience, until).await;
        for frame in &self.frames {
            // A frame that is gone is told by the act that looks for something in it.
            if self.session.enter_frame(frame.clone(), ask::soon()).await.is_err() {
                break;
            }
        }
        seen
    }

    async fn look(&self, experience: Experience, until: Instant) -> Result<Seen, Trouble> {
        loop {
            match self.session.run(LOOK, vec![experience.asked()], until).await {
                Ok(serde_json::Value::Null) => match self.session.dialog(until).await? {
                    Some(text) => return Err(Trouble::Dialog(text)),
                    None if Instant::now() < until => ask::pause().await,
                    None => return Err(Trouble::Late),
                },
                Ok(answer) => {
                    return serde_json::from_value(answer).map_err(|error| {
                        Trouble::Refused(format!("the page tells nonsense of itself: {error}"))
                    });
                }
                Err(Trouble::Unloaded | Trouble::Stale) if Instant::now() < until => ask::pause().await,
                Err(trouble) => return Err(trouble),
            }
        }
    }

    async fn judged(&mut self, seen: &Seen) -> Result<(), Failure> {
        match error_page(&seen.url) {
            Some(CRASHED) => {
                return Err(Failure::new(Phase::Play, FailureKind::BrowserFailed, "the tab crashed"));
            }
            Some(word) => {
                let told = self.look_for_errand().await;
                return Err(self.error_page(told.as_deref().unwrap_or(word)));
            }
            None => {}
        }
        if seen.status >= 400 {
            // What our own proxy refused has a status of its own.
            if let Some(failure) = self.seen_on_the_way(&seen.url) {
                return Err(failure);
            }
            let detail = format!("`{}` answered with {}", shown(&seen.url), seen.status);
            return Err(Failure::new(Phase::Play, FailureKind::HttpStatus, detail));
        }
        Ok(())
    }

    /// Why our own proxy could not reach the host of `url`.
    pub(super) fn seen_on_the_way(&self, url: &str) -> Option<Failure> {
        let url = Url::parse(url).ok()?;
        let failure = self.forward.failure_of(url.host_str()?, url.port_or_known_default()?)?;
        Some(Failure { phase: Phase::Play, ..failure })
    }

    /// The failure of a page that the browser shows in place of the site's: what our own proxy saw on the way
    /// to it, else what the browser says.
    pub(super) fn error_page(&self, word: &str) -> Failure {
        if let Some(failure) = self.seen_on_the_way(&self.went_to) {
            return failure;
        }
        Failure::new(Phase::Play, kind_of(word), format!("`{}`: {word}", shown(&self.went_to)))
    }
}

/// What the browser's word for a failed load means.
pub(super) fn kind_of(word: &str) -> FailureKind {
    match word {
        "ERR_NAME_NOT_RESOLVED" | "dnsNotFound" => FailureKind::NameNotFound,
        "ERR_CONNECTION_REFUSED" | "connectionFailure" | "proxyConnectFailure" => FailureKind::ConnectRefused,
        "ERR_CONNECTION_TIMED_OUT" | "ERR_TIMED_OUT" | "netTimeout" => FailureKind::TimedOut,
        "ERR_EMPTY_RESPONSE" | "ERR_SOCKET_NOT_CONNECTED" => FailureKind::NoResponse,
        "ERR_CONNECTION_RESET" | "ERR_CONNECTION_CLOSED" | "netReset" => FailureKind::ResponseReset,
        "ERR_CERT_DATE_INVALID" => FailureKind::CertificateExpired,
        "ERR_CERT_COMMON_NAME_INVALID" => FailureKind::CertificateName,
        "ERR_CERT_AUTHORITY_INVALID" => FailureKind::CertificateIssuer,
        "ERR_TOO_MANY_REDIRECTS" | "redirectLoop" => FailureKind::RedirectLoop,
        "ERR_INVALID_HTTP_RESPONSE" | "ERR_INVALID_RESPONSE" => FailureKind::ResponseInvalid,
        word if word.starts_with("ERR_CERT") || word == "nssBadCert" => FailureKind::CertificateInvalid,
        word if word.starts_with("ERR_SSL") || word == "nssFailure2" => FailureKind::TlsHandshake,
        _ => FailureKind::PageUnloadable,
    }
}

/// What Firefox shows in place of a page that crashed.
const CRASHED: &str = "about:tabcrashed";

/// `url` as a server gets it.
fn bare(url: &str) -> &str {
    url.split('#').next().unwrap_or(url)
}

/// Whether `url` is that of an error page of the browser's own.
fn error_page(url: &str) -> Option<&str> {
    let internal = ["chrome-error://", "about:neterror", "about:certerror", "about:blocked", CRASHED];
    internal.into_iter().find(|start| url.starts_with(start))
}

/// `url` without credentials, as it is kept.
pub(super) fn shown(url: &str) -> String {
    let Ok(mut parsed) = Url::parse(url) else { return url.chars().take(2000).collect() };
    // Neither can fail where there is a login.
    let _ = parsed.set_username("");
    let _ = parsed.set_password(None);
    parsed.as_str().chars().take(2000).collect()
}
