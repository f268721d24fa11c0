//! One attempt at a browser monitor: starts a browser, runs the script and closes the browser.

use crate::sync::Mutex;
use std::convert::Infallible;
use std::time::Duration;

use fantoccini::Client;
use tokio::time::Instant;

use super::network_log_reader::NetworkLogReader;
use super::options::{BrowserScriptOptions, initial_variables};
use super::script_browser::ScriptBrowser;
use super::script_runner::ScriptRunner;
use super::step_recorder::StepRecorder;
use super::{content_view_evaluation, page_results};
use crate::browser::{
    BidiListener, BrowserPool, BrowserProcess, BrowserSession, NetworkLog, OpenBrowser, SessionOptions,
    bidi_url,
};
use crate::domain::{BrowserFacts, Failure, FailureKind, Observation, Phase, StepResult};
use crate::forward_proxy::ForwardProxy;
use crate::probe::cancellation::cancelled_failure;
use crate::probe::probe_trait::ProbeContext;

/// Limit for closing a browser and its session.
pub(super) const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);
/// Limit for recording the page that an action failed on, after the script's own time is over.
pub(super) const FAILED_PAGE_TIMEOUT: Duration = Duration::from_secs(30);
/// Limit for noticing that the browser exited after its driver reported it. Firefox exits by itself when one of its
/// tabs crashed, which takes seconds on a busy host.
const EXIT_DETECTION_TIMEOUT: Duration = Duration::from_secs(5);
/// Limit for connecting to the browser's event stream.
const BIDI_CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

pub(super) async fn run_attempt(
    options: &BrowserScriptOptions,
    pool: &BrowserPool,
    cx: ProbeContext<'_>,
) -> Observation {
    let started = Instant::now();
    let mut observation = Observation::default();
    let session_options = match options.session_options_for_attempt(pool) {
        Ok(session_options) => session_options,
        Err(failure) => {
            observation.record_failure(failure);
            observation.duration = started.elapsed();
            return observation;
        }
    };
    let bound_proxy = match pool.proxy_config(&session_options, options.device.blocked_hosts.clone()) {
        Ok(proxy_config) => ForwardProxy::bind(proxy_config).await,
        Err(failure) => Err(failure),
    };
    let script_result = match bound_proxy {
        Ok(forward_proxy) => tokio::select! {
            biased;
            script_result = run_in_browser(options, &session_options, pool, cx, &forward_proxy, started, &mut observation) => script_result,
            never = forward_proxy.serve(cx.net) => match never {},
            () = cx.cancel.cancelled() => Err(cancelled_failure(Phase::RunScript)),
        },
        Err(failure) => Err(failure),
    };
    if let Err(failure) = script_result {
        observation.record_failure(failure);
    }
    observation.duration = started.elapsed();
    observation
}

async fn run_in_browser(
    options: &BrowserScriptOptions,
    session_options: &SessionOptions,
    pool: &BrowserPool,
    cx: ProbeContext<'_>,
    forward_proxy: &ForwardProxy,
    started: Instant,
    observation: &mut Observation,
) -> Result<(), Failure> {
    let open_result = pool.open_browser(session_options, cx.net, forward_proxy, cx.deadline).await;
    observation.phases.set(Phase::Launch, started.elapsed());
    let OpenBrowser { driver_client: client, facts, mut browser_process, driver_address: driver } =
        open_result?;
    let event_listener = connect_event_listener(&client).await?;
    let session = BrowserSession::new(client, options.script_limits.page_load, driver);
    let script_started = Instant::now();
    let network_log = Mutex::default();
    let network_log_reader = NetworkLogReader::new(&network_log, session_options.browser_kind);
    let browser = ScriptBrowser::new(
        session,
        network_log_reader,
        pool,
        session_options,
        forward_proxy,
        &options.patterns,
    );
    let recorder = StepRecorder::new(cx.clock, started, cx.record_exchanges);
    let variables = initial_variables(
        &options.script,
        &options.preset_variables,
        cx.clock.now(),
        crate::probe::random::random_u128(),
    );
    let mut runner = ScriptRunner::new(options, variables, browser, recorder);
    let script_result = tokio::select! {
        biased;
        script_result = runner.run() => script_result,
        browser_failure = browser_process.wait_for_failure() => Err(browser_failure),
        never = collect_events(event_listener, &network_log) => match never {},
    };
    observation.phases.set(Phase::RunScript, script_started.elapsed());
    let script_result = match script_result {
        Err(failure) if failure.kind == FailureKind::BrowserFailed => {
            Err(cause_of_lost_browser(&mut browser_process, &mut runner.recorder, failure).await)
        }
        script_result => script_result,
    };
    if script_result.is_ok() && options.detect_content_change {
        runner.wait_until_driver_idle().await;
        let page_facts =
            page_results::last_page_facts(&runner.browser.session, runner.recorder.steps()).await;
        observation.facts.http = page_facts.map(Box::new);
    }
    // Ends the step in progress when the browser was lost.
    runner.recorder.finish_step(script_result.as_ref().err());
    let ScriptRunner { browser: ScriptBrowser { session, viewport, .. }, recorder, .. } = runner;
    let (steps, files) = recorder.into_parts();
    let script_result = evaluate_results(options, cx, steps, script_result, observation);
    observation.captures = files.into_retained(script_result.is_err());
    let close_deadline = Instant::now() + CLOSE_TIMEOUT / 2;
    // An error of the driver does not matter here: its process is killed next.
    let _ = session.close_session(close_deadline).await;
    let mut facts = BrowserFacts { peak_memory_bytes: browser_process.peak_memory_bytes(), ..facts };
    facts.viewport = viewport.unwrap_or(facts.viewport);
    facts.emulated_device.clone_from(&options.device.name);
    observation.details.browser = Some(Box::new(facts));
    browser_process.kill_and_remove().await;
    script_result
}

/// Returns why the browser was lost. The driver may report it first, but the process exit shows the cause.
async fn cause_of_lost_browser(
    process: &mut BrowserProcess,
    recorder: &mut StepRecorder<'_>,
    driver_failure: Failure,
) -> Failure {
    let Ok(cause) = tokio::time::timeout(EXIT_DETECTION_TIMEOUT, process.wait_for_failure()).await else {
        return driver_failure;
    };
    recorder.replace_failure(&driver_failure, &cause);
    cause
}

/// Adds the results of content views and page objects to the outcome of the script.
fn evaluate_results(
    options: &BrowserScriptOptions,
    cx: ProbeContext<'_>,
    steps: Vec<StepResult>,
    script_result: Result<(), Failure>,
    observation: &mut Observation,
) -> Result<(), Failure> {
    let (view_results, failure, warnings) =
        content_view_evaluation::evaluate_views(&options.content_views, &steps, script_result.as_ref().err());
    observation.details.content_views = view_results;
    observation.warnings.extend(warnings);
    let script_result = script_result.and(failure.map_or(Ok(()), Err));
    let full_page_rule =
        options.full_page_rule.filter(|rule| rule.is_due(cx.last_full_page_at, cx.clock.now()));
    if let Some(rule) = full_page_rule.filter(|_| script_result.is_ok()) {
        page_results::evaluate_full_page(&rule, &steps, options.script_limits.page_load, observation);
    }
    observation.details.steps = steps;
    script_result
}

/// Connects to Firefox's event stream, which must start before the script; Chromium's driver keeps a log instead.
async fn connect_event_listener(client: &Client) -> Result<Option<BidiListener>, Failure> {
    match bidi_url(client) {
        Some(address) => BidiListener::connect(address, BIDI_CONNECT_TIMEOUT).await.map(Some),
        None => Ok(None),
    }
}

async fn collect_events(listener: Option<BidiListener>, network_log: &Mutex<NetworkLog>) -> Infallible {
    if let Some(mut listener) = listener {
        while let Some(event) = listener.next().await {
            network_log.lock().on_bidi_event(&event);
        }
    }
    std::future::pending().await
}
