//! A result as people without a login may see it, who have a link to it.

use crate::domain::{
    CheckDetails, CheckResult, Facts, HeaderList, HttpExchange, HttpFacts, StepResult, TRACEROUTE_FILE_NAME,
    TlsFacts,
};

/// Removes all that may be secret although it is masked as far as Vigie knows it: heads and bodies of requests and
/// responses, messages of the console of a browser, what the target said of itself, and captures other than pictures and
/// the path to the target. Of the account, the ids of other monitors are removed.
#[must_use]
pub fn without_secrets(result: CheckResult) -> CheckResult {
    let is_shown = |name: &str| name == TRACEROUTE_FILE_NAME;
    let mut captures = result.captures;
    captures.retain(|capture| capture.is_image() || is_shown(&capture.name));
    CheckResult {
        address: None,
        facts: facts_without_secrets(result.facts),
        details: details_without_secrets(result.details),
        captures,
        suppressed_by: Vec::new(),
        ..result
    }
}

/// Keeps what the waterfall shows of the document and its redirects, and the certificates.
fn facts_without_secrets(facts: Facts) -> Facts {
    let keep_hops = |http: Box<HttpFacts>| {
        Box::new(HttpFacts {
            http_status: http.http_status,
            body_bytes: http.body_bytes,
            redirects: http.redirects,
            url: http.url,
            ..HttpFacts::default()
        })
    };
    let keep_certificates =
        |tls: Box<TlsFacts>| Box::new(TlsFacts { certificates: tls.certificates, ..TlsFacts::default() });
    Facts { http: facts.http.map(keep_hops), tls: facts.tls.map(keep_certificates), ..Facts::default() }
}

fn details_without_secrets(mut details: CheckDetails) -> CheckDetails {
    details.trace_id = None;
    if let Some(browser) = &mut details.browser {
        browser.trace_id = None;
        browser.user_agent.clear();
    }
    details.exchanges.iter_mut().for_each(remove_content);
    details.steps.iter_mut().for_each(remove_step_secrets);
    details
}

fn remove_step_secrets(step: &mut StepResult) {
    step.exchanges.iter_mut().for_each(remove_content);
    step.variable_names.clear();
    // Scripts make names and reasons of what the response held.
    for (number, test) in (1_u32..).zip(&mut step.tests) {
        test.name = format!("test {number}");
        test.reason = None;
    }
    if let Some(browser_step) = &mut step.browser_step {
        browser_step.console.clear();
    }
}

fn remove_content(exchange: &mut HttpExchange) {
    exchange.address = None;
    exchange.request_headers = HeaderList::default();
    exchange.request_body = None;
    exchange.response_headers = HeaderList::default();
    exchange.response_body = None;
}
