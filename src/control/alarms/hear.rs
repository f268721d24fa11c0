//! What alerting needs of a result.

use crate::alert::{CertificateNews, Heard, PageNews};
use crate::model::{CheckResult, Outcome};

use super::watched::{Rules, Watched};

impl Watched {
    /// What `result` says; notes the size of its page.
    pub(super) fn heard(&mut self, result: &CheckResult, rules: &Rules) -> Heard {
        Heard {
            planned_at: result.planned_at,
            location: result.location_id,
            check_id: result.check_id,
            outcome: result.outcome,
            status: result.status,
            slots: result.slots(),
            last_planned_at: result.missed.map_or(result.planned_at, |missed| missed.last_planned_at),
            step: result.failing_step().map(|step| step.number),
            page: if rules.policy.notify_on_content_change { self.page_news(result) } else { None },
            certificate: certificate_news(result, rules),
        }
    }

    /// A change of the page since the last good run at this location (behaviour.md 4, content change).
    fn page_news(&mut self, result: &CheckResult) -> Option<PageNews> {
        let now = page_bytes(result)?;
        let place = self.pages.iter_mut().find(|(location, _)| *location == result.location_id);
        let Some((_, before)) = place else {
            self.pages.push((result.location_id, Some(now)));
            return None;
        };
        before.replace(now).filter(|before| *before != now).map(|before| PageNews { before, now })
    }
}

/// Decoded bytes of the page, of a good run. A redirect that was not followed is no page.
pub(super) fn page_bytes(result: &CheckResult) -> Option<u64> {
    let page = result.facts.http.as_ref()?;
    let good = matches!(result.outcome, Outcome::Ok | Outcome::Warning);
    (good && !(300..400).contains(&page.http_status)).then_some(page.body_bytes)
}

fn certificate_news(result: &CheckResult, rules: &Rules) -> Option<CertificateNews> {
    let certificate = rules.expiry.told(result.facts.tls.as_deref()?, result.started_at)?;
    Some(CertificateNews { subject: certificate.subject.clone(), not_after: certificate.not_after })
}
