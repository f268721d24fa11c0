//! The order of steps: failures, sessions, delays, gotos, limits.

use std::time::{Duration, Instant};

use vigie::domain::FailureKind;

use super::check::{Check, run, run_failing, run_passing, start_service};
use super::project::{assertion, case, http, one_case, project, properties, step, transfer};
use crate::probe_api::check::failed;
use crate::probe_api::service::{Service, respond_json};

#[tokio::test]
async fn failed_steps_end_and_fail_the_case_as_it_says() {
    let service = start_service().await;
    let failing = http(
        "Fails",
        "GET",
        &service.url("/status/500"),
        &assertion("Valid HTTP Status Codes", &[("codes", "200")]),
    );
    let steps = [failing, http("Next", "GET", &service.url("/json"), "")].concat();
    for (attributes, request_count, fails) in [
        ("", 1, true),
        ("failOnError=\"true\" failTestCaseOnErrors=\"false\"", 1, true),
        ("failOnError=\"false\"", 2, true),
        ("failOnError=\"false\" failTestCaseOnErrors=\"false\"", 2, false),
    ] {
        let before = service.requests().len();
        let observation = run(&project("", &case("Case", attributes, &steps))).await;
        assert_eq!(service.requests().len() - before, request_count, "{attributes}");
        assert_eq!(observation.failure.is_some(), fails, "{attributes}");
        assert_eq!(observation.details.steps.len(), request_count);
        assert_eq!(observation.details.steps[0].status.0, 5, "the step shows its failure");
    }
}

#[tokio::test]
async fn cookies_are_kept_in_a_session_only() {
    let service = start_service().await;
    let steps =
        [http("Login", "GET", &service.url("/login"), ""), http("Next", "GET", &service.url("/json"), "")]
            .concat();
    for (attributes, cookie) in
        [("keepSession=\"true\"", Some("sid=1")), ("keepSession=\"false\"", None), ("", None)]
    {
        run_passing(&project("", &case("Case", attributes, &steps))).await;
        assert_eq!(service.last().header("Cookie"), cookie, "{attributes}");
    }
}

#[tokio::test]
async fn disabled_items_are_skipped() {
    let service = start_service().await;
    let steps = [
        step("groovy", "Script", "<con:config><script>log.info 1</script></con:config>")
            .replace("type=", "disabled=\"true\" type="),
        http("Off", "GET", &service.url("/json"), "").replacen("type=", "disabled=\"true\" type=", 1),
        http("On", "GET", &service.url("/text"), ""),
    ];
    run_passing(&one_case(&steps.concat())).await;
    let targets: Vec<String> = service.requests().into_iter().map(|request| request.target).collect();
    assert_eq!(targets, ["/text"]);
}

#[tokio::test]
async fn a_delay_waits() {
    let delay = |text: &str| {
        step(
            "delay",
            "Wait",
            &format!("<con:settings/><con:config><delay>{text}</delay></con:config>")
                .replace("<delay>", "<con:delay>")
                .replace("</delay>", "</con:delay>"),
        )
    };
    let started = Instant::now();
    run_passing(&one_case(&[properties("V", &[("ms", "150")]), delay("${V#ms}")].concat())).await;
    assert!(started.elapsed() >= Duration::from_millis(150));
    assert!(
        run_failing(&one_case(&[properties("V", &[("ms", "soon")]), delay("${V#ms}")].concat()), 5)
            .await
            .contains("no number")
    );
    let mut check = Check::of(&one_case(&delay("60000")));
    check.timeout = Duration::from_millis(200);
    let observation = check.run().await;
    assert!(failed(&observation, FailureKind::ProjectFailed, 60).detail.contains("a delay of 60s"));
}

#[tokio::test]
async fn timeouts_of_request_case_and_monitor_end_a_step() {
    let service = start_service().await;
    let slow = http("Slow", "GET", &service.url("/slow"), "");
    let started = Instant::now();
    let of_request = slow.replace("method=", "timeout=\"200\" method=");
    failed(&run(&one_case(&of_request)).await, FailureKind::ProjectStepFailed, 6002);
    failed(
        &run(&project("", &case("Case", "timeout=\"200\"", &slow))).await,
        FailureKind::ProjectStepFailed,
        6002,
    );
    let mut check = Check::of(&one_case(&slow));
    check.timeout = Duration::from_millis(200);
    failed(&check.run().await, FailureKind::ProjectStepFailed, 6002);
    assert!(started.elapsed() < Duration::from_secs(10));
}

fn goto(conditions: &[(&str, &str)]) -> String {
    let conditions: Vec<String> = conditions
        .iter()
        .map(|(expression, target)| {
            format!("<con:condition><con:name>c</con:name><con:type>XPATH</con:type><con:expression>{expression}</con:expression><con:targetStep>{target}</con:targetStep></con:condition>")
        })
        .collect();
    let conditions = conditions.concat();
    step("goto", "Branch", &format!("<con:config>{conditions}</con:config>"))
}

#[tokio::test]
async fn the_first_true_condition_is_followed() {
    let service = start_service().await;
    let sum = "declare namespace o='urn:o'; count(//o:i) = ";
    for (conditions, expected) in [
        (vec![(format!("{sum}2"), "End")], vec!["/xml", "/text"]),
        (vec![(format!("{sum}3"), "End")], vec!["/xml", "/json", "/text"]),
        (vec![(format!("{sum}3"), "Middle"), (format!("{sum}2"), "End")], vec!["/xml", "/text"]),
        (vec![("declare namespace o='urn:o'; //o:none".to_owned(), "End")], vec!["/xml", "/json", "/text"]),
        (vec![(format!("{sum}${{V#n}}"), "End")], vec!["/xml", "/text"]),
    ] {
        let before = service.requests().len();
        let conditions: Vec<(&str, &str)> =
            conditions.iter().map(|(expression, target)| (&**expression, *target)).collect();
        let steps = [
            properties("V", &[("n", "2")]),
            http("Xml", "GET", &service.url("/xml"), ""),
            goto(&conditions),
            http("Middle", "GET", &service.url("/json"), ""),
            http("End", "GET", &service.url("/text"), ""),
        ];
        run_passing(&one_case(&steps.concat())).await;
        let targets: Vec<String> =
            service.requests()[before..].iter().map(|request| request.target.clone()).collect();
        assert_eq!(targets, expected, "{conditions:?}");
    }
}

#[tokio::test]
async fn a_loop_runs_until_its_condition_ends_it_or_a_limit() {
    let count = std::sync::atomic::AtomicUsize::new(0);
    let counting = Service::start(move |_| {
        let number = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
        crate::probe_api::service::respond(200, "Content-Type: text/xml\r\n", format!("<n>{number}</n>"))
    })
    .await;
    let steps = [http("Poll", "GET", &counting.url("/"), ""), goto(&[("/n &lt; 5", "Poll")])].concat();
    let observation = run_passing(&one_case(&steps)).await;
    assert_eq!((counting.requests().len(), observation.details.steps.len()), (5, 5));
    let endless = [http("Poll", "GET", &counting.url("/"), ""), goto(&[("true()", "Poll")])].concat();
    let observation = run(&one_case(&endless)).await;
    assert!(failed(&observation, FailureKind::ProjectFailed, 60).detail.contains("more than 500 requests"));
    let steps = [
        http("Poll", "GET", &counting.url("/"), ""),
        transfer("T", "", &[("sourceType", "Response"), ("targetStep", "#TestCase#"), ("targetType", "out")]),
        goto(&[("true()", "T")]),
    ];
    let observation = run(&one_case(&steps.concat())).await;
    assert!(failed(&observation, FailureKind::ProjectFailed, 60).detail.contains("more than 10000 steps"));
    assert!(
        run_failing(&one_case(&goto(&[("true()", "Branch")])), 60).await.contains("no request before it")
    );
}

#[tokio::test]
async fn tokens_of_responses_are_masked() {
    let service = Service::start(|_| respond_json(r#"{"t": "l0gin-t0ken"}"#)).await;
    let steps = [
        properties("V", &[("token", "")]),
        http("Login", "GET", &service.url("/"), ""),
        transfer(
            "T",
            "",
            &[
                ("sourceType", "Response"),
                ("sourcePath", "$.t"),
                ("targetStep", "V"),
                ("targetType", "token"),
            ],
        ),
        http(
            "Use",
            "GET",
            &service.url("/${V#token}"),
            &assertion("Simple Contains", &[("token", "absent")]),
        ),
    ];
    let observation = run(&one_case(&steps.concat())).await;
    assert_eq!(service.last().target, "/l0gin-t0ken");
    failed(&observation, FailureKind::ProjectStepFailed, 6005);
    assert_eq!(observation.details.steps.len(), 2);
    for step in &observation.details.steps {
        let shown = format!("{step:?}");
        assert!(shown.contains("********") && !shown.contains("l0gin-t0ken"), "{shown}");
    }
    for capture in &observation.captures {
        let content = String::from_utf8_lossy(capture.content.as_deref().unwrap_or_default());
        assert!(!content.contains("l0gin-t0ken"), "{}: {content}", capture.name);
    }
    let shown = format!("{observation:?}");
    assert!(!shown.contains("l0gin-t0ken"), "{shown}");
}

#[tokio::test]
async fn expanded_values_of_sensitive_properties_are_masked() {
    let service = start_service().await;
    let steps = [
        properties("V", &[("half", "h4lf"), ("password", "${V#half}-and-more")]),
        http("Early", "POST", &service.url("/text"), "<con:request>h4lf-and-more</con:request>"),
        http("Late", "POST", &service.url("/text"), "<con:request>is ${V#password}</con:request>"),
    ];
    let observation = run_passing(&one_case(&steps.concat())).await;
    assert_eq!(service.last().body, "is h4lf-and-more");
    let shown = format!("{observation:?}");
    assert!(shown.contains("is ********") && !shown.contains("h4lf-and-more"), "{shown}");
}

#[tokio::test]
async fn what_a_run_keeps_is_bounded() {
    let service = Service::start(|_| {
        crate::probe_api::service::respond(200, "Content-Type: text/plain\r\n", "x".repeat(2 << 20))
    })
    .await;
    let names: Vec<String> = (0..35).map(|number| format!("p{number}")).collect();
    let values: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    let copies = |count: usize| {
        let copy = |name: &String| {
            transfer("T", "", &[("sourceType", "Response"), ("targetStep", "V"), ("targetType", name)])
        };
        names.iter().take(count).map(copy).collect::<String>()
    };
    let script = |count: usize| {
        let get = http("Get", "GET", &service.url("/"), "");
        one_case(&[properties("V", &values), get, copies(count)].concat())
    };
    run_passing(&script(30)).await;
    let detail = failed(&run(&script(35)).await, FailureKind::ProjectFailed, 60).detail.clone();
    assert!(detail.contains("responses and properties have more than 64 MiB"), "{detail}");
}

#[tokio::test]
async fn urls_and_header_fields_are_bounded() {
    let service = start_service().await;
    let value = "x".repeat(40_000);
    let parameter = |name: &str, style: &str| {
        format!(
            "<con:parameter name=\"{name}\" style=\"{style}\"><con:value>${{V#long}}</con:value></con:parameter>"
        )
    };
    for (path, parameters, expected) in [
        ("/{a}{a}", parameter("a", "TEMPLATE"), "the URL has more than 65000 bytes"),
        (
            "/",
            [parameter("a", "QUERY"), parameter("b", "QUERY")].concat(),
            "the query has more than 65000 bytes",
        ),
        (
            "/",
            (0..8).map(|n| parameter(&format!("h{n}"), "HEADER")).collect(),
            "the header fields have more than",
        ),
    ] {
        let parameters = format!("<con:parameters>{parameters}</con:parameters>");
        let get = http("Get", "GET", &service.url(path), &parameters);
        let detail = run_failing(&one_case(&[properties("V", &[("long", &value)]), get].concat()), 5).await;
        assert!(detail.contains(expected), "{detail}");
    }
    assert!(service.requests().is_empty());
}

#[tokio::test]
async fn a_goto_that_cannot_be_evaluated_fails() {
    let service = start_service().await;
    let closed = http("Closed", "GET", "http://127.0.0.1:9/", "");
    let text = http("Text", "GET", &service.url("/text"), "");
    let xml = http("Xml", "GET", &service.url("/xml"), "");
    for (request, expression, reason) in [
        (&text, "true()", ""),
        (&xml, "//${V#broken}", "not one of version 1.0"),
        (&xml, "//undeclared:a", ""),
    ] {
        let steps = [properties("V", &[("broken", "[")]), request.clone(), goto(&[(expression, "Branch")])];
        let detail = run_failing(&one_case(&steps.concat()), 60).await;
        assert!(detail.contains("`Branch`") && detail.contains(reason), "{detail}");
    }
    let steps = [closed, goto(&[("true()", "Closed")])].concat();
    let observation = run(&project("", &case("Case", "failOnError=\"false\"", &steps))).await;
    let branch = observation.details.steps.last().unwrap();
    assert_eq!(branch.name, "Branch");
    assert!(branch.failures[0].detail.contains("no response"), "{branch:?}");
}

#[tokio::test]
async fn results_of_many_failed_steps_are_bounded() {
    let service = start_service().await;
    let wrong = transfer(
        "Copy",
        "failOnError=\"true\"",
        &[("sourceType", "x"), ("sourceStep", "#Project#"), ("targetType", "x"), ("targetStep", "#Project#")],
    );
    let steps = [http("Get", "GET", &service.url("/xml"), ""), wrong, goto(&[("true()", "Copy")])].concat();
    let script = project("", &case("Case", "failOnError=\"false\"", &steps));
    let observation = run(&script).await;
    assert_eq!(failed(&observation, FailureKind::ProjectFailed, 60).detail, "it runs more than 10000 steps");
    assert_eq!(observation.details.steps.len(), 501, "the request, and 500 failures");
    let warnings = format!("{:?}", observation.warnings);
    assert!(warnings.contains("more failed steps are left out of the result"), "{warnings}");
}

#[tokio::test]
async fn evidence_of_a_failed_step_is_kept_behind_that_of_many() {
    let service = start_service().await;
    let mut steps = String::new();
    for index in 0..30 {
        steps += &http(&format!("Get {index}"), "GET", &service.url("/json"), "");
    }
    steps += &http(
        "Fails",
        "GET",
        &service.url("/status/500"),
        &assertion("Valid HTTP Status Codes", &[("codes", "200")]),
    );
    let capture = serde_json::json!({"level": "All Actions"});
    let observation = Check::of(&one_case(&steps)).with("capture", capture).run().await;
    assert_eq!(observation.captures.len(), 42, "40 of steps that pass, 2 of the last");
    let last = observation.captures.last().and_then(|capture| capture.content.clone());
    assert_eq!(last.as_deref(), Some(&b"status"[..]));
}

#[tokio::test]
async fn a_search_that_takes_too_long_is_told() {
    let service = Service::start(|_| respond_json(&"aaaa bbbb cccc ".repeat(60_000))).await;
    let slow = ("token", "[a-c ]*(?:[a-c ]{100,200}){8}y");
    let rule = assertion("Simple Contains", &[slow, ("useRegEx", "true")]);
    let mut check = Check::of(&one_case(&http("Get", "GET", &service.url("/"), &rule)));
    check.timeout = Duration::from_secs(3);
    let started = Instant::now();
    let observation = check.run().await;
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
    // Usually the search is not begun. On a busy machine it may turn out slower than its start promised.
    let failure = observation.failure.as_ref().map(|failure| (failure.kind, failure.detail.as_str()));
    match failure {
        Some((FailureKind::ProjectStepFailed, detail)) => {
            assert!(detail.contains("1 of 1 assertions were not checked within 3s"), "{detail}");
        }
        Some((FailureKind::Internal, detail)) => {
            assert!(detail.ends_with("did not finish before the timeout"), "{detail}");
        }
        other => panic!("{other:?}"),
    }
}
