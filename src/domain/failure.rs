//! Failures: their kind, their phase, and who is at fault.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::phase::Phase;
use super::status::Status;

/// Who has to act on a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fault {
    /// The monitored service.
    Target,
    /// The network path to the target; counts as a failure of the target, since its users are affected too.
    Network,
    /// Vigie or its host; makes the outcome unknown, never an error.
    #[serde(rename = "ours")]
    Vigie,
}

macro_rules! failure_kinds {
    ($($variant:ident = $label:literal, $fault:ident, $status:ident, $doc:literal;)+) => {
        /// Every way in which an attempt can fail. The label is stable: metrics, API and alerts use it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FailureKind { $(#[doc = $doc] $variant),+ }

        impl FailureKind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Returns the stable label of this kind.
            #[must_use]
            pub const fn label(self) -> &'static str {
                match self { $(Self::$variant => $label),+ }
            }

            /// Returns who has to act.
            #[must_use]
            pub const fn fault(self) -> Fault {
                match self { $(Self::$variant => Fault::$fault),+ }
            }

            /// Returns the status code of behaviour.md 3.
            #[must_use]
            pub const fn status(self) -> Status {
                match self { $(Self::$variant => Status::$status),+ }
            }

            /// Returns one sentence for people, without a full stop.
            #[must_use]
            pub const fn describe(self) -> &'static str {
                match self { $(Self::$variant => $doc),+ }
            }
        }
    };
}

failure_kinds! {
    NameNotFound = "name_not_found", Target, UNRESOLVED, "the name does not exist";
    NameWithoutAddress = "name_without_address", Target, UNRESOLVED, "the name has no address of a requested family";
    ResolverError = "resolver_refused", Target, UNRESOLVED, "the resolver answered with an error for this name";
    NameLookupUnanswered = "name_unanswered", Target, UNRESOLVED, "the resolver replies for other names but not for this one";
    ResolverUnresponsive = "resolver_silent", Vigie, INTERNAL, "the location's own resolver does not reply";
    EgressDenied = "egress_denied", Vigie, CANNOT_RUN, "the egress policy of this location denies the address";
    ConnectRefused = "connect_refused", Target, CONNECT_FAILED, "the target refused the connection";
    ConnectReset = "connect_reset", Target, CONNECT_FAILED, "the target reset the connection while it was being established";
    Unreachable = "unreachable", Network, CONNECT_FAILED, "the network or host cannot be reached";
    TimedOut = "timed_out", Target, TIMED_OUT, "the timeout passed";
    NoSocketLeft = "no_socket", Vigie, INTERNAL, "this host has no socket or file descriptor left";
    NoSourceAddress = "no_source_address", Vigie, INTERNAL, "this host has no source address or port for the connection";
    NoRoute = "no_route", Vigie, INTERNAL, "this host has no route of its own to the address";
    NoPermission = "no_permission", Vigie, CANNOT_RUN, "this host does not permit what the check needs";
    TlsHandshakeFailed = "tls_handshake", Target, INVALID_RESPONSE, "the TLS handshake failed";
    TlsVersionUnsupported = "tls_unsupported", Vigie, CANNOT_RUN, "this build does not support the requested TLS version";
    CertificateExpired = "certificate_expired", Target, VALIDATION_FAILED, "the certificate has expired";
    CertificateNotYetValid = "certificate_not_yet_valid", Target, INVALID_RESPONSE, "the certificate is not valid yet";
    CertificateNameMismatch = "certificate_name", Target, INVALID_RESPONSE, "the certificate is for another name";
    CertificateIssuerUnknown = "certificate_issuer", Target, INVALID_RESPONSE, "the certificate has an unknown issuer";
    CertificateRevoked = "certificate_revoked", Target, INVALID_RESPONSE, "the certificate is revoked";
    CertificateInvalid = "certificate_invalid", Target, INVALID_RESPONSE, "the certificate cannot be used";
    NoResponse = "no_response", Target, NO_RESPONSE, "the target closed the connection without data";
    ResponseReset = "response_reset", Target, NO_RESPONSE, "the target reset the connection before it responded";
    ResponseTruncated = "response_truncated", Target, INVALID_RESPONSE, "the response ended before it was complete";
    ResponseInvalid = "response_invalid", Target, INVALID_RESPONSE, "the response violates the protocol";
    ResponseTooLarge = "response_too_large", Target, INVALID_RESPONSE, "the response exceeds the size limit";
    EncodingInvalid = "encoding_invalid", Target, INVALID_RESPONSE, "the body cannot be decoded";
    RedirectInvalid = "redirect_invalid", Target, INVALID_RESPONSE, "the redirect cannot be followed";
    RedirectLoop = "redirect_loop", Target, INVALID_RESPONSE, "there are too many redirects";
    HttpErrorStatus = "http_status", Target, HTTP_ERROR, "the HTTP status is an error";
    Http302Forbidden = "http_302", Target, HTTP_ERROR, "the monitor counts a 302 as an error";
    LoginRejected = "login_refused", Target, VALIDATION_FAILED, "the login was refused";
    TlsNotOffered = "tls_not_offered", Target, VALIDATION_FAILED, "the monitor requires TLS and the target offers none";
    FileDiffers = "file_differs", Target, VALIDATION_FAILED, "the downloaded file differs from the uploaded one";
    MailboxLocked = "mailbox_locked", Target, INVALID_RESPONSE, "the mailbox is in use by another session";
    KeywordMissing = "keyword_missing", Target, VALIDATION_FAILED, "the keyword was not found";
    ForbiddenKeywordFound = "keyword_found", Target, VALIDATION_FAILED, "the keyword was found but must not be there";
    AssertionFailed = "assertion_failed", Target, VALIDATION_FAILED, "an assertion does not hold";
    UnexpectedReply = "dialogue_unexpected", Target, INVALID_RESPONSE, "the target replied differently than expected";
    DnsErrorRcode = "dns_rcode", Target, INVALID_RESPONSE, "the name server answered with an error";
    DnsNoRecords = "dns_no_records", Target, INVALID_RESPONSE, "the name server answered without records";
    DnsLameServer = "dns_lame", Target, INVALID_RESPONSE, "the name server is not authoritative for the name and offers no recursion";
    DnsAliasLoop = "dns_loop", Target, INVALID_RESPONSE, "the aliases of the name form a loop";
    DnsTruncated = "dns_truncated", Target, INVALID_RESPONSE, "the name server truncated its reply although there was room for all of it";
    DnsNotAuthenticated = "dns_unproven", Target, VALIDATION_FAILED, "the name server does not vouch for its reply by DNSSEC";
    DnsRecordsDiffer = "dns_answer_wrong", Target, VALIDATION_FAILED, "the name server gave other records than expected";
    PingLossTooHigh = "ping_lost", Target, PING_FAILED, "too many echo requests were lost";
    HostValueBeyondBound = "host_value", Target, HOST_ERROR, "a value of the host is beyond its bound";
    PushedDown = "pushed_down", Target, HOST_ERROR, "the last push says that it failed";
    HostReportMissing = "host_silent", Target, HOST_REPORT_MISSING, "no report or push arrived in time";
    HostUnreachable = "host_unreachable", Target, HOST_PING_FAILED, "no report arrived in time, and the host does not answer a ping";
    VariableNotSet = "variable_unknown", Target, VALIDATION_FAILED, "a variable that is used was not set";
    VariableNotExtracted = "variable_missing", Target, VALIDATION_FAILED, "a variable could not be extracted from the response";
    VariableInvalid = "variable_invalid", Target, VALIDATION_FAILED, "the value of a variable is not allowed where it is used";
    SecurityFindings = "security_findings", Target, VALIDATION_FAILED, "the security scan has findings that count as errors";
    PageObjectFailed = "page_object", Target, OBJECT_FAILED, "an object of the page could not be loaded";
    PageObjectResized = "page_object_resized", Target, OBJECT_SIZE_CHANGED, "the size of an object of the page changed";
    PageObjectMissing = "page_object_missing", Target, OBJECT_MISSING, "an object of the page is missing";
    PageObjectNew = "page_object_new", Target, OBJECT_NEW, "an object of the page is new";
    NoPageObjects = "page_object_none", Target, NO_OBJECTS, "the page has no objects";
    FullPageTimedOut = "full_page_timed_out", Target, FULL_PAGE_TIMED_OUT, "the objects of the page were not all loaded in time";
    StepTimedOut = "browser_event_timed_out", Target, EVENT_TIMED_OUT, "the step exceeded its time limit";
    TransactionTimedOut = "transaction_timed_out", Target, TRANSACTION_TIMED_OUT, "the script exceeded its time limit";
    PageTooSlow = "page_too_slow", Target, PAGE_TOO_SLOW, "the page was not loaded in time";
    ExpectedEventMissing = "browser_event_missing", Target, EVENT_MISSING, "the expected event did not occur";
    LocationChangeMissing = "location_change_missing", Target, LOCATION_CHANGE_MISSING, "the address of the page did not become the expected one";
    PageUpdateMissing = "page_update_missing", Target, PAGE_UPDATE_MISSING, "the page did not change as expected";
    NetworkNotIdle = "network_not_quiet", Target, NETWORK_NOT_IDLE, "the network did not become quiet";
    ElementAmbiguous = "element_weak", Target, ELEMENT_AMBIGUOUS, "no locator matches one element alone";
    ElementMissing = "element_missing", Target, ELEMENT_MISSING, "no locator matches an element";
    TooManyActionsSkipped = "events_skipped", Target, EVENTS_SKIPPED, "too many optional actions were skipped";
    UnexpectedDialog = "dialog_unexpected", Target, DIALOG_UNEXPECTED, "the page opened a dialog that the script has no action for";
    TooManySteps = "too_many_steps", Target, TOO_MANY_STEPS, "the script has more steps than are allowed";
    ScriptInvalid = "script_invalid", Target, SCRIPT_INVALID, "the script cannot be parsed";
    ScriptFailed = "script_failed", Target, VALIDATION_FAILED, "JavaScript of the script threw an error";
    NavigationFailed = "page_unloadable", Target, CONNECT_FAILED, "the browser shows an error page of its own";
    ResponseNotAPage = "no_page", Target, INVALID_RESPONSE, "the response is not a page";
    ProjectFailed = "project_failed", Target, API_PROJECT_FAILED, "the collection or project failed";
    ProjectStepFailed = "project_step", Target, API_PROJECT_FAILED, "a step of the collection or project failed";
    ProjectNotStarted = "project_not_started", Vigie, API_PROJECT_NOT_STARTED, "the collection or project cannot be run";
    BrowserTimedOut = "browser_timed_out", Vigie, BROWSER_TIMED_OUT, "the browser or its driver does not respond";
    BrowserFailed = "browser_failed", Vigie, BROWSER_FAILED, "the browser or its driver ended or refused a command";
    BrowserOutOfMemory = "browser_too_large", Vigie, BROWSER_FAILED, "the browser exceeded its memory limit and was killed";
    BrowserNotInstalled = "browser_missing", Vigie, CANNOT_RUN, "this location has no such browser or driver";
    ProbeUnsupported = "unsupported", Vigie, CANNOT_RUN, "this build has no probe for the type or option";
    TargetUnsupported = "target_unsupported", Vigie, CANNOT_RUN, "this build speaks nothing of what the target offers";
    NotConfigured = "not_configured", Vigie, CANNOT_RUN, "this location lacks something that the monitor requires";
    PatternTooLarge = "pattern_too_large", Vigie, CANNOT_RUN, "a regular expression of the monitor exceeds its limit";
    Cancelled = "cancelled", Vigie, INTERNAL, "the check was cancelled";
    Panicked = "panicked", Vigie, INTERNAL, "the check hit a bug in Vigie";
    Internal = "internal", Vigie, INTERNAL, "something went wrong inside Vigie";
}

impl Serialize for FailureKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.label())
    }
}

impl<'de> Deserialize<'de> for FailureKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::ALL
            .iter()
            .copied()
            .find(|kind| kind.label() == text)
            .ok_or_else(|| serde::de::Error::custom(format!("`{text}` is not a failure kind")))
    }
}

/// Why an attempt failed. `detail` is one line for people; it never holds a secret or a body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Phase in which the attempt failed.
    pub phase: Phase,
    /// Kind of failure.
    pub kind: FailureKind,
    /// Who has to act; usually `kind.fault()`.
    pub fault: Fault,
    /// Particulars: address, header, rule, message of the peer or the system.
    pub detail: String,
    /// Status code of the page object or step that failed, for [`FailureKind::PageObjectFailed`] and
    /// [`FailureKind::ProjectStepFailed`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "part")]
    pub object_status: Option<Status>,
}

impl Failure {
    /// Creates a failure of `kind` in `phase`, with the fault that the kind implies.
    pub fn new(phase: Phase, kind: FailureKind, detail: impl Into<String>) -> Self {
        Self { phase, kind, fault: kind.fault(), detail: detail.into(), object_status: None }
    }

    /// Converts the failure of a page object to a `70XX` failure of the page (behaviour.md 3).
    #[must_use]
    pub fn into_page_object_failure(self, url: &str) -> Self {
        let object_status = Some(self.status());
        Self {
            kind: FailureKind::PageObjectFailed,
            detail: format!("`{url}`: {self}"),
            object_status,
            ..self
        }
    }

    /// Converts the failure of a step to a `60XX` failure of the collection or project (behaviour.md 3).
    #[must_use]
    pub fn into_project_step_failure(self) -> Self {
        let object_status = Some(self.status());
        let detail = self.to_string();
        Self { kind: FailureKind::ProjectStepFailed, detail, object_status, ..self }
    }

    /// Returns the same failure attributed to `fault`, for example when the location itself has no connectivity.
    #[must_use]
    pub fn with_fault(mut self, fault: Fault) -> Self {
        self.fault = fault;
        self
    }

    /// Returns the status code: that of the kind, or 21 when a failure of the target is attributed to Vigie.
    #[must_use]
    pub fn status(&self) -> Status {
        match (self.fault, self.kind.fault()) {
            // Whoever has to act: the status of the object decides.
            _ if self.kind == FailureKind::PageObjectFailed => {
                self.object_status.map_or(self.kind.status(), Status::to_page_object_status)
            }
            _ if self.kind == FailureKind::ProjectStepFailed => {
                self.object_status.map_or(self.kind.status(), Status::to_project_step_status)
            }
            (Fault::Vigie, Fault::Target | Fault::Network) => Status::INTERNAL,
            _ => self.kind.status(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind.describe())?;
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_unique_and_own_faults_never_have_a_target_status() {
        let mut labels: Vec<_> = FailureKind::ALL.iter().map(|kind| kind.label()).collect();
        labels.sort_unstable();
        labels.dedup();
        assert_eq!(labels.len(), FailureKind::ALL.len());
        for kind in FailureKind::ALL.iter().filter(|kind| kind.fault() == Fault::Vigie) {
            assert!(
                matches!(
                    kind.status(),
                    Status::INTERNAL
                        | Status::CANNOT_RUN
                        | Status::API_PROJECT_NOT_STARTED
                        | Status::BROWSER_TIMED_OUT
                        | Status::BROWSER_FAILED
                ),
                "{kind:?}"
            );
        }
    }

    #[test]
    fn a_target_failure_attributed_to_vigie_is_internal() {
        let failure = Failure::new(Phase::Connect, FailureKind::Unreachable, "10.0.0.1:80");
        assert_eq!(failure.status(), Status::CONNECT_FAILED);
        assert_eq!(failure.with_fault(Fault::Vigie).status(), Status::INTERNAL);
    }
}
