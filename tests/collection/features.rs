//! What newman does not show: dynamic values, secrets, data, cookies, limits and every field of the type.

use std::time::Duration;

use serde_json::{Value, json};
use vigie::domain::{FailureKind, Observation, StepTestOutcome};
use vigie::probe::ProbeBuildContext;

use super::check::{item, run, run_fields, run_with};
use super::echo;
use crate::probe_api::check::{failed, passed};

/// Returns the names of the tests that did not pass.
fn failed_tests(observation: &Observation) -> Vec<&str> {
    let tests = observation.details.steps.iter().flat_map(|step| &step.tests);
    tests.filter(|test| test.outcome == StepTestOutcome::Failed).map(|test| test.name.as_str()).collect()
}

#[tokio::test]
async fn dynamic_values_are_new_at_each_use() {
    let service = echo::start().await;
    let url = format!(
        "{}?a={{{{$guid}}}}&b={{{{$guid}}}}&t={{{{$timestamp}}}}&n={{{{$randomInt}}}}",
        service.url("/x")
    );
    passed(&run(json!([{"name": "a", "request": url}])).await);
    let target = service.last().target;
    let values: Vec<&str> =
        target.split(['&', '?']).skip(1).map(|pair| pair.split_once('=').unwrap().1).collect();
    assert_eq!((values[0].len(), values[1].len()), (36, 36));
    assert_ne!(values[0], values[1]);
    assert!(values[2].parse::<u64>().unwrap() > 1_700_000_000 && values[3].parse::<u64>().unwrap() <= 1000);
}

#[tokio::test]
async fn secrets_of_variables_and_logins_are_masked() {
    let service = echo::start().await;
    let url = service.url("/x/{{key}}?q={{key}}");
    let code = "pm.test('says ' + pm.environment.get('key'), () => { throw new Error(pm.environment.get('key')) });
                pm.environment.set('session_token', 'learnt-5ecret'); console.log(pm.environment.get('key'));";
    let items = json!([
        {"name": "a", "request": {"url": url, "header": [{"key": "X-Key", "value": "{{key}}"}],
                                  "auth": {"type": "basic", "basic": [{"key": "username", "value": "u"}, {"key": "password", "value": "pa55word"}]}},
         "event": [{"listen": "test", "script": {"exec": [code]}}]},
        {"name": "b", "request": service.url("/y/{{session_token}}")},
    ]);
    let environment =
        json!({"values": [{"key": "key", "type": "secret", "value": "v3ry-secret"}]}).to_string();
    let observation = run_with(items, json!({"environment": environment})).await;
    failed(&observation, FailureKind::ProjectStepFailed, 6005);
    let shown = format!("{observation:?}");
    for secret in ["v3ry-secret", "pa55word", "learnt-5ecret", "dTpwYTU1d29yZA"] {
        assert!(!shown.contains(secret), "{secret} in {shown}");
    }
    assert!(service.requests()[0].target.contains("v3ry-secret"));
    let console = observation.captures.iter().find(|capture| capture.name == "console.txt");
    assert_eq!(console.and_then(|file| file.content.as_deref()), Some(&b"log: ********\n"[..]));
}

#[tokio::test]
async fn rows_of_data_are_iterations() {
    let service = echo::start().await;
    let code = "pm.test('i' + pm.info.iteration, () => pm.expect(pm.info.iterationCount).to.eql(2))";
    let items = json!([item("a", &service.url("/{{name}}"), code)]);
    for data in ["name\nx\ny\n", "[{\"name\": \"x\"}, {\"name\": \"y\"}]"] {
        let observation = run_with(items.clone(), json!({"data": data})).await;
        passed(&observation);
        assert_eq!(observation.details.steps.len(), 2);
    }
    let targets: Vec<String> = service.requests().into_iter().map(|request| request.target).collect();
    assert_eq!(targets, ["/x", "/y", "/x", "/y"]);
}

#[tokio::test]
async fn globals_files_and_preset_variables_have_their_effect() {
    let service = echo::start().await;
    let items = json!([{"name": "a", "request": {"method": "POST", "url": service.url("/{{g}}/{{p}}"),
                                                 "body": {"mode": "file", "file": {"src": "/home/x/a.txt"}}}}]);
    let mut fields = json!({"script": json!({"info": {"name": "c"}, "item": items}).to_string(),
                            "globals": json!({"g": "global"}).to_string(),
                            "files": [{"name": "a.txt", "base64": "aGk="}]});
    let preset_variables = std::sync::Arc::new([("p".to_owned(), "preset".to_owned())].into());
    let mut context = ProbeBuildContext { preset_variables, ..ProbeBuildContext::default() };
    let run = |fields: &Value, context: &ProbeBuildContext| {
        let (fields, context) = (fields.as_object().unwrap().clone(), context.clone());
        async move { run_fields(fields, &context, Duration::from_secs(20)).await }
    };
    passed(&run(&fields, &context).await);
    assert_eq!((service.last().target.as_str(), service.last().body.as_str()), ("/global/preset", "hi"));
    fields["files"] = json!([]);
    let observation = run(&fields, &context).await;
    let failure = failed(&observation, FailureKind::ProjectStepFailed, 6005);
    assert!(failure.detail.contains("`/home/x/a.txt` is not among the `files`"), "{failure}");
    context.collections_enabled = false;
    let observation = run(&fields, &context).await;
    let failure = failed(&observation, FailureKind::NotConfigured, 95);
    assert!(failure.detail.contains("`collections.enabled`"), "{failure}");
}

#[tokio::test]
async fn cookies_are_read_and_written_by_scripts() {
    let service = echo::start().await;
    let code = format!(
        "const jar = pm.cookies.jar(); const url = '{}';
         await jar.set(url, 'own', 'v'); pm.test('set', async () => pm.expect(await jar.get(url, 'own')).to.eql('v'));
         pm.test('all', async () => pm.expect((await jar.getAll(url)).map((c) => c.name)).to.include.members(['own', 'sid']));
         jar.unset(url, 'sid', () => {{}});",
        service.url("/")
    );
    let items = json!([item("a", &service.url("/cookie"), &code), {"name": "b", "request": service.url("/b")},
                       item("c", &service.url("/c"), &format!("await pm.cookies.jar().clear('{}')", service.url("/"))),
                       {"name": "d", "request": service.url("/d")}]);
    let observation = run(items).await;
    passed(&observation);
    let cookies: Vec<Option<String>> =
        service.requests().iter().map(|request| request.header("Cookie").map(str::to_owned)).collect();
    assert_eq!(cookies, [None, Some("own=v".to_owned()), Some("own=v".to_owned()), None]);
}

#[tokio::test]
async fn a_loop_of_requests_ends() {
    let service = echo::start().await;
    let observation = run(json!([item("a", &service.url("/"), "pm.execution.setNextRequest('a')")])).await;
    let failure = failed(&observation, FailureKind::ProjectFailed, 60);
    let reason = "more than 500 requests; a loop of `setNextRequest` may have no end";
    assert!(failure.detail.contains(reason), "{failure}");
    assert_eq!(service.requests().len(), 500);
    let observation = run(json!([item("a", &service.url("/"), "pm.execution.setNextRequest('b')")])).await;
    let failure = failed(&observation, FailureKind::ProjectFailed, 60);
    assert!(failure.detail.contains("`setNextRequest` names `b`, which is no request"), "{failure}");
}

#[tokio::test]
async fn failures_of_requests_have_their_status_and_the_run_goes_on() {
    let service = echo::start().await;
    let items = json!([{"name": "Refused", "request": "http://127.0.0.1:1/"}, item("Next", &service.url("/"), "pm.test('ran', () => {})")]);
    let observation = run(items).await;
    let failure = failed(&observation, FailureKind::ProjectStepFailed, 6001);
    assert!(failure.detail.contains("step 1 `Refused`"), "{failure}");
    let statuses: Vec<u16> = observation.details.steps.iter().map(|step| step.status.0).collect();
    assert_eq!(statuses, [1, 0]);
    passed(&run(json!([{"name": "404 alone fails nothing", "request": service.url("/missing")}])).await);
    let observation = run(json!([{"name": "a", "request": "{{nope}}/x"}])).await;
    failed(&observation, FailureKind::ProjectStepFailed, 6051);
}

#[tokio::test]
async fn the_timeout_bounds_requests_and_scripts() {
    for code in ["while (true) {}", "await new Promise(() => {})", "setTimeout(() => {}, 3600e3)"] {
        let service = echo::start().await;
        let script = json!({"info": {"name": "c"}, "item": [item("a", &service.url("/"), code)]}).to_string();
        let started = std::time::Instant::now();
        let fields = json!({"script": script}).as_object().unwrap().clone();
        let observation = run_fields(fields, &ProbeBuildContext::default(), Duration::from_secs(1)).await;
        assert!(started.elapsed() < Duration::from_secs(4), "{code}: {:?}", started.elapsed());
        if !code.contains("Promise") {
            assert!(observation.failure.is_some(), "{code}: {observation:?}");
        }
    }
}

#[tokio::test]
async fn a_hostile_collection_gains_nothing() {
    let service = echo::start().await;
    for code in [
        "const a = []; for (;;) a.push('x'.repeat(1e6) + a.length)",
        "function f() { return f() + 1 } f()",
        "Object.prototype.then = (r) => r(1); Array.prototype.map = null; JSON.stringify = null",
        "pm.sendRequest('file:///etc/passwd', (e) => { if (!e) throw new Error('read') }); throw new Error('end')",
        "Promise.reject(1); throw null",
    ] {
        let observation = run(json!([
            item("a", &service.url("/"), code),
            item("b", &service.url("/"), "pm.test('b', () => {})")
        ]))
        .await;
        assert_eq!(observation.details.steps.len(), 2, "{code}: {observation:?}");
        assert!(!format!("{observation:?}").contains("root:"), "{code}");
    }
    // What a page of the desktop app would show is nothing in a monitor.
    let observation =
        run(json!([item("a", &service.url("/"), "pm.visualizer.set('<p>', {}); pm.test('t', () => {})")]))
            .await;
    passed(&observation);
    assert_eq!(failed_tests(&observation), [""; 0]);
}

#[tokio::test]
async fn scripts_that_are_switched_off_do_not_run() {
    let service = echo::start().await;
    let script = |code: &str| json!({"exec": [code]});
    let observation = run(json!([{"name": "a", "request": service.url("/x"), "event": [
        {"listen": "prerequest", "disabled": true, "script": script("throw new Error('it runs')")},
        {"listen": "test", "disabled": true, "script": script("pm.test('no', () => { throw 1 })")},
        {"listen": "test", "script": script("pm.test('yes ' + pm.test.index(), () => pm.expect(typeof pm.message).to.equal('undefined'))")},
    ]}]))
    .await;
    passed(&observation);
    let names: Vec<&str> = observation.details.steps[0].tests.iter().map(|test| test.name.as_str()).collect();
    assert_eq!(names, ["yes 0"]);
}
