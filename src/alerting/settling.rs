//! Settling the runs of a monitor in their order, and what is told of each.

use std::time::Duration;

use super::audience::{audience, is_silenced};
use super::effect::{Effect, News};
use super::heard::Heard;
use super::outage::{Failing, Outage, is_worth_a_trace, witnessed};
use super::run::{Ask, Over, Run};
use super::terms::Terms;
use super::watch::Drought;
use super::watch::{Health, Watch};
use crate::domain::{LocationId, NotificationKind, Outcome, RecipientId, Timestamp, Verification};
use crate::evaluate::settle::{LocationOutcome, SettlePolicy, Settlement, settle};

/// An outage that begins within so many runs after the end of another one is flapping.
const FLAPPING_RUNS: u32 = 5;

/// A certificate is told of once in this time, and so is the same size of a page.
const DAY: Duration = Duration::from_hours(24);

/// Who is told, by the templates of which group.
type Audience = Vec<(RecipientId, Option<i64>)>;

impl Watch {
    /// Settles what can be settled.
    pub(super) fn proceed(&mut self, terms: &Terms<'_>) -> Vec<Effect> {
        let mut effects = Vec::new();
        while self.is_next_over() {
            let run = self.runs.remove(0);
            if let Some(run) = self.decide(run, terms, &mut effects) {
                self.runs.insert(0, run);
                break;
            }
        }
        effects
    }

    /// Whether the oldest run is over, and no run before it is still expected.
    fn is_next_over(&self) -> bool {
        self.runs.first().is_some_and(|run| {
            let expected = self.next.is_some_and(|next| next.planned_at < run.planned_at);
            run.over.is_some() && run.waiting().is_none() && !expected
        })
    }

    /// Settles `run`; gives it back when it has to wait for a second location.
    fn decide(&mut self, mut run: Run, terms: &Terms<'_>, effects: &mut Vec<Effect>) -> Option<Run> {
        run.sort();
        let parts = run.parts();
        let policy = terms.policy;
        let rule = SettlePolicy { location_mode: policy.mode, home: policy.home, quorum: policy.quorum };
        let answer = run.ask.as_ref().and_then(|ask| ask.answer.clone());
        let ruling = settle(&parts, &rule, answer.as_ref().map(|answer| answer.status));
        let late = run.over == Some(Over::Late);
        if let (Settlement::NeedsVerification { cause }, None, false) = (ruling, &answer, late) {
            let ask = ask(&run, &parts, cause, terms);
            effects.push(ask.effect(run.planned_at));
            run.ask = Some(ask);
            return Some(run);
        }
        let slots = run.stands_for(self.settled, terms);
        self.settled = Some(run.planned_at);
        self.expect_after(run.planned_at, terms);
        away(&run, terms, effects);
        let verification = confirm(&run, ruling, answer, terms, effects);
        if !late {
            self.pay_debts(terms, effects);
        }
        match ruling {
            Settlement::NoData => self.dry(&run, slots, terms, effects),
            Settlement::Blackout => self.health = Health::BlackedOut,
            _ => self.judge(&run, ruling, verification, terms, effects),
        }
        None
    }

    /// What was said of the target. A run that was settled too late to be news changes nothing but the state.
    fn judge(
        &mut self,
        run: &Run,
        ruling: Settlement,
        verification: Option<Verification>,
        terms: &Terms<'_>,
        effects: &mut Vec<Effect>,
    ) {
        self.drought = Drought::default();
        self.health = if matches!(ruling, Settlement::Passed { .. }) { Health::Up } else { Health::Failing };
        if run.over == Some(Over::Late) {
            return;
        }
        match ruling {
            Settlement::Failed { cause, .. } => {
                self.fail(run, &run.heard[cause], verification, terms, effects)
            }
            Settlement::Passed { cause } | Settlement::Tolerated { cause } => {
                self.recover(run, &run.heard[cause], terms, effects);
            }
            Settlement::NoData | Settlement::Blackout | Settlement::NeedsVerification { .. } => {}
        }
        self.tell_of_page(run, terms, effects);
        self.tell_of_certificate(run, terms, effects);
    }

    /// A failing run: an outage begins or goes on.
    fn fail(
        &mut self,
        run: &Run,
        cause: &Heard,
        verification: Option<Verification>,
        terms: &Terms<'_>,
        effects: &mut Vec<Effect>,
    ) {
        let news = News { cause: Some(cause.clone()), verification, ..news(run) };
        let errors = run.heard.iter().filter(|heard| heard.outcome == Outcome::Error);
        let failing = Failing { news: &news, cause, locations: errors.map(|heard| heard.location).collect() };
        let flapping = self.flaps(run.planned_at, terms);
        let outage = self.outage.get_or_insert_with(|| Outage::begin(&failing, flapping, terms));
        let begins = outage.is_new();
        effects.push(outage.extend(&failing));
        let audience = outage.tell(cause, terms);
        let policy = terms.policy;
        let traced = begins && policy.traceroute && policy.notify_on_error && is_worth_a_trace(cause.status);
        if traced {
            effects.push(Effect::Trace {
                planned_at: run.planned_at,
                location: cause.location,
                check: cause.check_id,
                audience: audience.clone(),
            });
        }
        let news = News { awaits_trace: traced, ..outage.describe(&news) };
        tell(audience, &news, effects);
        self.ended = None;
    }

    /// A run that is none: the outage ends.
    fn recover(&mut self, run: &Run, cause: &Heard, terms: &Terms<'_>, effects: &mut Vec<Effect>) {
        if !self.flaps(run.planned_at, terms) {
            self.ended = None;
        }
        let Some(mut outage) = self.outage.take() else { return };
        self.ended = Some(run.planned_at);
        effects.push(outage.end(run.planned_at, true));
        let mut owed = outage.owes(run.planned_at, cause);
        effects.extend(owed.pay(&run.heard, &run.silent(), terms));
        if !owed.is_paid() {
            self.owed.push(owed);
        }
    }

    /// Tells of outages that ended while their listeners were silenced.
    fn pay_debts(&mut self, terms: &Terms<'_>, effects: &mut Vec<Effect>) {
        for owed in &mut self.owed {
            effects.extend(owed.pay_late(terms));
        }
        self.owed.retain(|owed| !owed.is_paid());
    }

    /// Whether an outage that begins at `planned_at` follows the last one closely.
    fn flaps(&self, planned_at: Timestamp, terms: &Terms<'_>) -> bool {
        let near = terms.policy.plan.slots.interval() * FLAPPING_RUNS;
        self.ended.is_some_and(|ended| planned_at <= ended + near && ended <= planned_at)
    }

    /// A run that says nothing of the target. A stretch of them is told once to each; not by the report of a
    /// standstill that begins it, for that is late news.
    fn dry(&mut self, run: &Run, slots: u32, terms: &Terms<'_>, effects: &mut Vec<Effect>) {
        self.health = Health::Unknown;
        let policy = terms.policy;
        let begins = self.drought.runs == 0;
        self.drought.runs = self.drought.runs.saturating_add(slots);
        let since = *self.drought.since.get_or_insert(run.planned_at);
        let kind = NotificationKind::NoData;
        // Runs that are missed while one takes longer than the interval are no lack of data.
        let long = run.planned_at + policy.plan.slots.interval() >= since + policy.plan.max_check_duration;
        if policy.no_data_runs == 0
            || !long
            || self.drought.runs < policy.no_data_runs
            || !policy.notify_on_error
            || run.over == Some(Over::Late)
            || begins && slots > 1
            || is_silenced(terms, kind, run.planned_at)
        {
            return;
        }
        let unknown = run.heard.iter().find(|heard| heard.outcome == Outcome::Unknown);
        let cause = unknown.or_else(|| run.heard.first());
        let mut audience = audience(terms, kind, cause);
        audience.retain(|(id, _)| !self.drought.told.contains(id));
        self.drought.told.extend(audience.iter().map(|(id, _)| *id));
        let news = News {
            kind,
            since: Some(since),
            cause: cause.cloned(),
            errcount: self.drought.runs,
            ..news(run)
        };
        tell(audience, &news, effects);
    }

    /// Tells of a page that changed; once, though each location sees it at its own turn.
    fn tell_of_page(&mut self, run: &Run, terms: &Terms<'_>, effects: &mut Vec<Effect>) {
        let kind = NotificationKind::WebChange;
        self.page = self.page.filter(|(_, told)| is_fresh(*told, run.planned_at));
        let known = self.page.map(|(bytes, _)| bytes);
        let good = run.heard.iter().filter(|heard| heard.outcome != Outcome::Error);
        let mut changed = good.filter_map(|heard| heard.page.as_ref().map(|page| (heard, page)));
        let Some((cause, page)) = changed.find(|(_, page)| known != Some(page.now)) else { return };
        // A change of the objects is told where the monitor has them compared.
        if !terms.policy.notify_on_content_change && page.objects.is_none() {
            return;
        }
        self.page = Some((page.now, run.planned_at));
        if !is_silenced(terms, kind, run.planned_at) {
            let news = News { kind, cause: Some(cause.clone()), ..news(run) };
            tell(audience(terms, kind, Some(cause)), &news, effects);
        }
    }

    /// Tells of a certificate, once a day.
    fn tell_of_certificate(&mut self, run: &Run, terms: &Terms<'_>, effects: &mut Vec<Effect>) {
        let kind = NotificationKind::CertificateExpiration;
        self.certificate = self.certificate.filter(|told| is_fresh(*told, run.planned_at));
        let Some(cause) = run.heard.iter().find(|heard| heard.certificate.is_some()) else { return };
        if self.certificate.is_some()
            || !terms.policy.notify_on_expiry
            || is_silenced(terms, kind, run.planned_at)
        {
            return;
        }
        let audience = audience(terms, kind, Some(cause));
        if !audience.is_empty() {
            self.certificate = Some(run.planned_at);
        }
        let news = News { kind, cause: Some(cause.clone()), ..news(run) };
        tell(audience, &news, effects);
    }
}

/// Whether what was told at the run of `told` is still news of the same day at `planned_at`. A clock that was set
/// back since makes it none.
fn is_fresh(told: Timestamp, planned_at: Timestamp) -> bool {
    planned_at < told + DAY && told < planned_at + DAY
}

/// The question about the failure at `cause`.
fn ask(run: &Run, parts: &[LocationOutcome], cause: usize, terms: &Terms<'_>) -> Ask {
    let failed = parts.iter().filter(|part| part.outcome == Outcome::Error).map(|part| part.location);
    let heard = &run.heard[cause];
    let mut ask = Ask {
        check: heard.check_id,
        location: heard.location,
        failed: failed.collect(),
        answer: None,
        until: None,
    };
    ask.limit(terms);
    ask
}

/// Records the run as missed where nobody could check it.
fn away(run: &Run, terms: &Terms<'_>, effects: &mut Vec<Effect>) {
    let locations: Vec<LocationId> =
        run.silent().into_iter().filter(|location| terms.away.contains(location)).collect();
    if !locations.is_empty() {
        effects.push(Effect::Away { planned_at: run.planned_at, locations });
    }
}

/// Hands out what second locations said; answers what goes with the message.
fn confirm(
    run: &Run,
    ruling: Settlement,
    answer: Option<Verification>,
    terms: &Terms<'_>,
    effects: &mut Vec<Effect>,
) -> Option<Verification> {
    let planned_at = run.planned_at;
    if let (Some(ask), Some(answer)) = (&run.ask, &answer) {
        let answer = answer.clone();
        effects.push(Effect::Verified { planned_at, location: ask.location, answer });
    }
    let Settlement::Failed { cause, confirmed_by: Some(witness) } = ruling else { return answer };
    let (cause, witness) = (&run.heard[cause], &run.heard[witness]);
    let seen = witnessed(witness, terms.now);
    for (of, answer) in [(cause, seen.clone()), (witness, witnessed(cause, terms.now))] {
        effects.push(Effect::Verified { planned_at, location: of.location, answer });
    }
    Some(seen)
}

/// What is told of any run.
fn news(run: &Run) -> News {
    News {
        kind: NotificationKind::SiteError,
        planned_at: run.planned_at,
        episode: None,
        since: None,
        cause: None,
        heard: run.heard.clone(),
        silent: run.silent(),
        verification: None,
        errcount: 0,
        awaits_trace: false,
    }
}

fn tell(audience: Audience, news: &News, effects: &mut Vec<Effect>) {
    let tell = |(recipient, group)| Effect::Tell { recipient, group, news: news.clone() };
    effects.extend(audience.into_iter().map(tell));
}
