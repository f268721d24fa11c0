//! The attempts of a check with their phases, one group for each hop of a redirect.

use std::net::SocketAddr;

use super::phases::{phase_label, phases_sum_us};
use crate::domain::{Attempt, CheckResult, HttpFacts, Phase, Phases, WarningKind};

/// One attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct AttemptView<'a> {
    /// 1, or 2 for the retry.
    pub number: u8,
    /// Whether the check has several attempts, which are then shown with headings.
    pub has_other_attempts: bool,
    /// Label of the phase that it failed in; `None` when it passed.
    pub failed_phase: Option<String>,
    /// How long it took.
    pub total_us: u64,
    /// Its phases: one entry, or one for each hop.
    pub hops: Vec<HopView<'a>>,
    /// Warnings, except those about page objects, which the check lists as reasons.
    pub warnings: Vec<&'a str>,
}

/// The phases of one hop, or of an attempt without redirects.
#[derive(Clone, Debug, PartialEq)]
pub struct HopView<'a> {
    /// Its heading; `None` without redirects.
    pub heading: Option<HopHeading<'a>>,
    /// Time from the start of the attempt to the start of the hop.
    pub offset_us: u64,
    /// Its phases.
    pub phases: Phases,
}

/// Heading of a hop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HopHeading<'a> {
    /// Its position, from 1.
    pub number: usize,
    /// The requested URL.
    pub url: &'a str,
    /// Status code of the redirect; `None` for the last hop, whose response is among the facts.
    pub http_status: Option<u16>,
    /// Address of the server that redirected; `None` for the last hop.
    pub server_address: Option<SocketAddr>,
}

/// Returns the attempts of `result`. A single one without phases and warnings is left out.
#[must_use]
pub fn attempt_views(result: &CheckResult) -> Vec<AttemptView<'_>> {
    let last_index = result.attempts.len().saturating_sub(1);
    let is_one_of_several = result.attempts.len() > 1;
    let is_shown = |attempt: &Attempt| {
        is_one_of_several || attempt.phases != Phases::default() || !attempt.warnings.is_empty()
    };
    let to_view = |(index, attempt)| {
        // Facts, including redirects, are stored for the last attempt only.
        let http =
            result.facts.http.as_deref().filter(|http| index == last_index && !http.redirects.is_empty());
        attempt_view(attempt, is_one_of_several, http)
    };
    result.attempts.iter().enumerate().filter(|(_, attempt)| is_shown(attempt)).map(to_view).collect()
}

fn attempt_view<'a>(
    attempt: &'a Attempt,
    is_one_of_several: bool,
    http: Option<&'a HttpFacts>,
) -> AttemptView<'a> {
    let single_hop = || vec![HopView { heading: None, offset_us: 0, phases: attempt.phases }];
    let own_warnings =
        attempt.warnings.iter().filter(|warning| warning.kind != WarningKind::PageObjectProblem);
    AttemptView {
        number: attempt.number,
        has_other_attempts: is_one_of_several,
        failed_phase: attempt.failure.as_ref().map(|failure| phase_label(failure.phase)),
        total_us: attempt.duration_us,
        hops: http.map_or_else(single_hop, |http| hop_views(http, &attempt.phases)),
        warnings: own_warnings.map(|warning| warning.detail.as_str()).collect(),
    }
}

pub(super) fn hop_views<'a>(http: &'a HttpFacts, phases: &Phases) -> Vec<HopView<'a>> {
    let (mut remaining_phases, mut offset_us) = (*phases, 0);
    let mut hops = Vec::new();
    for (index, hop) in http.redirects.iter().enumerate() {
        let (http_status, address) = (Some(hop.http_status), hop.address);
        let heading = HopHeading { number: index + 1, url: &hop.url, http_status, server_address: address };
        hops.push(HopView { heading: Some(heading), offset_us, phases: hop.phases });
        offset_us += phases_sum_us(&hop.phases);
        remaining_phases = subtract_phases(&remaining_phases, &hop.phases);
    }
    let number = http.redirects.len() + 1;
    let heading = HopHeading { number, url: &http.url, http_status: None, server_address: None };
    hops.push(HopView { heading: Some(heading), offset_us, phases: remaining_phases });
    hops
}

/// Subtracts the phases of one hop from `phases`, the sums over all hops.
fn subtract_phases(phases: &Phases, hop: &Phases) -> Phases {
    let mut remaining = Phases::default();
    for phase in Phase::ALL {
        if let Some(total) = phases.duration(phase) {
            let hop_duration = hop.duration(phase);
            if hop_duration != Some(total) {
                remaining.set(phase, total.saturating_sub(hop_duration.unwrap_or_default()));
            }
        }
    }
    remaining
}
