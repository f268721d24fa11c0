//! Variables: extraction, use, and values that try to inject something.

use serde_json::{Value, json};
use vigie::domain::FailureKind;
use vigie::net::EgressPolicy;

use crate::probe_api::check::{Check, failed, get, passed, run, with};
use crate::probe_api::service::{Request, Response, Service, respond, respond_json};

/// Starts a service that responds at `/give` with `value` in the property `v`, and with `{}` elsewhere.
async fn service_with_value(value: &str) -> Service {
    let value = json!({ "v": value }).to_string();
    Service::start(
        move |request: &Request| {
            if request.target == "/give" { respond_json(&value) } else { respond_json("{}") }
        },
    )
    .await
}

fn value_step(service: &Service) -> Value {
    with(get("Give", &service.url("/give")), json!({"variables": [{"name": "v", "property": "$.v"}]}))
}

const INJECTION: &str = "a\r\nX-Evil: 1\r\n\r\nGET /evil HTTP/1.1\r\n&\"'<%2F";

#[tokio::test]
async fn a_value_cannot_inject_headers_or_requests() {
    let service = service_with_value(INJECTION).await;
    let header = with(
        get("Use", &service.url("/use")),
        json!({"head": {"headers": [
        {"name": "X-Own", "value": "{{v}}"}]}}),
    );
    let bearer = with(get("Use", &service.url("/use")), json!({"head": {"bearer_token": "{{v}}"}}));
    for step in [header, bearer] {
        let observation = run(&[value_step(&service), step]).await;
        let failure = failed(&observation, FailureKind::VariableInvalid, 5);
        assert!(failure.detail.contains("step 2 `Use`: `{{v}}` in a header"), "{}", failure.detail);
        assert!(!failure.detail.contains("Evil"), "{}", failure.detail);
    }
    let host = get("Use", "http://{{v}}/use");
    failed(&run(&[value_step(&service), host]).await, FailureKind::VariableInvalid, 5);
    assert!(service.requests().iter().all(|request| request.target == "/give"));
    let steps = [
        with(get("Path", &service.url("/use/{{v}}?q={{v}}")), json!({})),
        with(
            get("Login", &service.url("/use")),
            json!({"head": {"http_basic_auth_username": "{{v}}",
            "http_basic_auth_password": "{{v}}", "preemptive_authentication": true}}),
        ),
    ];
    for step in steps {
        passed(&run(&[value_step(&service), step]).await);
        let request = service.last();
        assert!(request.target.starts_with("/use") && request.header("X-Evil").is_none(), "{request:?}");
        assert!(!request.head.contains("/evil"), "{request:?}");
    }
}

#[tokio::test]
async fn values_are_escaped_for_the_media_type_of_the_body() {
    let service = service_with_value(INJECTION).await;
    let post = |content_type: &str, body: &str| {
        json!({"step_name": "Use", "url": service.url("/use"), "http_method": "POST", "head": {},
            "post": {"content_type": content_type, "body": body}})
    };
    let sent = async |step: Value| {
        passed(&run(&[value_step(&service), step]).await);
        service.last().body
    };
    let body = sent(post("application/json", r#"{"a": ["{{v}}"]}"#)).await;
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap()["a"][0], INJECTION);
    let body = sent(post("application/x-www-form-urlencoded", "a={{v}}&b=1")).await;
    let pairs: Vec<_> = url::form_urlencoded::parse(body.as_bytes()).into_owned().collect();
    assert_eq!(pairs, [("a".to_owned(), INJECTION.to_owned()), ("b".to_owned(), "1".to_owned())]);
    let body = sent(post("text/xml", "<a>{{v}}</a>")).await;
    assert!(body.contains("&amp;&quot;&#39;&lt;%2F</a>"), "{body}");
    assert_eq!(sent(post("text/plain", "{{v}}")).await, INJECTION);
}

#[tokio::test]
async fn unknown_and_missing_variables_fail_their_step() {
    let service = service_with_value("x").await;
    for (step, text) in [
        (get("Use", &service.url("/{{gone}}")), "`{{gone}}` in the URL was set by no step before"),
        (get("Use", &service.url("/{{$uuidd}}")), "`{{$uuidd}}` in the URL is not a built-in variable"),
        (
            with(
                get("Use", &service.url("/")),
                json!({"assertions": [
                {"source": "JSON Response", "property": "a", "comparison": "equals", "value": "{{gone}}"}]}),
            ),
            "`{{gone}}` in the value of an assertion was set by no step before",
        ),
    ] {
        let observation = run(&[value_step(&service), step]).await;
        let failure = failed(&observation, FailureKind::VariableNotSet, 5);
        assert_eq!(failure.detail, format!("step 2 `Use`: {text}"));
        assert_eq!(observation.details.steps.len(), 2);
    }
    let step = with(
        get("Take", &service.url("/")),
        json!({"variables": [
        {"name": "a", "property": "$.a", "source": "JSON Response"}, {"name": "b", "property": "X-B", "source": "Header"}]}),
    );
    let observation = run(&[step]).await;
    let failure = failed(&observation, FailureKind::VariableNotExtracted, 5);
    assert_eq!(
        failure.detail,
        "step 1 `Take`: `a` from JSON Response `$.a`: found nothing; `b` from Header `X-B`: found nothing"
    );
}

#[tokio::test]
async fn variables_are_replaced_in_values_of_assertions() {
    let service =
        Service::start(|_| respond_json(r#"{"v": "1.5", "n": 1.50, "t": "x1.5y", "u": "115"}"#)).await;
    let step = |property: &str, comparison: &str, value: &str| {
        with(
            get("Use", &service.url("/")),
            json!({"assertions": [
            {"source": "JSON Response", "property": property, "comparison": comparison, "value": value}]}),
        )
    };
    let includes = "regular expression includes";
    for (step, holds) in [
        (step("n", "equals", "{{v}}"), true),
        (step("t", "contains", "{{v}}"), true),
        (step("t", includes, "^x{{v}}y$"), true),
        (step("u", includes, "{{v}}"), false),
        (step("n", "less than or equal", "{{v}}"), true),
        (step("n", "does not equal", "{{ v }}"), false),
    ] {
        let observation = run(&[value_step(&service), step.clone()]).await;
        assert_eq!(observation.failure.is_none(), holds, "{step} {:?}", observation.failure);
    }
}

#[tokio::test]
async fn the_egress_policy_applies_to_hosts_from_variables() {
    let other = Service::start(|_| respond(200, "", "other")).await;
    let service = service_with_value(&other.url("/moved?a=b")).await;
    let open = [value_step(&service), get("Go", "{{v}}")];
    passed(&run(&open).await);
    assert_eq!(other.last().target, "/moved?a=b");
    let service = service_with_value("http://169.254.169.254/latest/meta-data").await;
    let observation = run(&[value_step(&service), get("Go", "{{v}}")]).await;
    let failure = failed(&observation, FailureKind::EgressDenied, 95);
    assert!(failure.detail.starts_with("step 2 `Go`: `169.254.169.254` is denied"), "{}", failure.detail);
    let service = service_with_value("127.0.0.2").await;
    let mut check = Check::of(&[value_step(&service), get("Go", "http://{{v}}:9/")]);
    check.config.egress_policy = EgressPolicy::new(&[], &["127.0.0.2/32".parse().unwrap()]);
    failed(&check.run().await, FailureKind::EgressDenied, 95);
    for url in ["file:///etc/passwd", "no url", "ftp://127.0.0.1/"] {
        let service = service_with_value(url).await;
        let observation = run(&[value_step(&service), get("Go", "{{v}}")]).await;
        let failure = failed(&observation, FailureKind::VariableInvalid, 5);
        assert!(failure.detail.contains("the URL with its variables cannot be used"), "{}", failure.detail);
    }
}

#[tokio::test]
async fn secrets_are_recorded_nowhere() {
    let service = Service::start(|request| match request.target.as_str() {
        "/give" => respond_json(r#"{"access_token": "geheim/4711"}"#),
        // The service echoes what it received.
        _ => respond(
            500,
            "X-Echo: geheim/4711\r\n",
            format!("{} {} {}", request.target, request.body, r#"{"password": "w0rt"}"#),
        ),
    })
    .await;
    let value_step = with(
        get("Give", &service.url("/give")),
        json!({"variables": [
        {"name": "access_token", "property": "$.access_token"}]}),
    );
    let echo = json!({"step_name": "Tell", "url": service.url("/tell?t={{access_token}}"), "http_method": "POST",
        "head": {"headers": [{"name": "X-Api-Key", "value": "k-schluessel"}],
            "http_basic_auth_username": "me", "http_basic_auth_password": "p-kennwort"},
        "post": {"content_type": "application/x-www-form-urlencoded",
            "body": "t={{access_token}}&k=k-schluessel&p=p-kennwort"},
        "assertions": [{"source": "Response", "property": "", "comparison": "equals", "value": "{{access_token}}"}]});
    let observation = run(&[value_step, echo]).await;
    failed(&observation, FailureKind::HttpErrorStatus, 7);
    assert!(service.last().body.contains("geheim%2F4711"), "it was sent");
    let recorded = serde_json::to_string(&observation.details).unwrap()
        + &format!("{:?} {:?}", observation.failure, observation.facts);
    let captures: String = observation
        .captures
        .iter()
        .filter_map(|capture| capture.content.as_deref())
        .map(String::from_utf8_lossy)
        .collect();
    for secret in ["geheim", "k-schluessel", "p-kennwort", "w0rt"] {
        assert!(!recorded.contains(secret), "{secret} in {recorded}");
        assert!(!captures.contains(secret), "{secret} in {captures}");
    }
}

#[tokio::test]
async fn built_in_variables_are_constant_within_an_attempt() {
    let service = Service::start(|_| respond(200, "", "")).await;
    let step = |name: &str| {
        get(
            name,
            &service.url("/{{$uuid}}/{{$timestamp}}/{{$timestamp_ms}}/{{$isoTimestamp}}/{{$randomInt}}"),
        )
    };
    for _ in 0..2 {
        passed(&run(&[step("A"), step("B")]).await);
    }
    let targets: Vec<String> = service.requests().into_iter().map(|request| request.target).collect();
    assert_eq!(targets[0], targets[1]);
    assert_ne!(targets[1], targets[2]);
    let parts: Vec<&str> = targets[0].split('/').skip(1).collect();
    assert_eq!(parts[0].as_bytes()[14], b'4');
    let seconds: i64 = parts[1].parse().unwrap();
    assert_eq!(parts[2].parse::<i64>().unwrap() / 1000, seconds);
    assert!(parts[3].ends_with('Z') && parts[4].parse::<u32>().unwrap() < 1_000_000);
}

#[tokio::test]
async fn a_header_that_is_too_long_cannot_become_a_variable() {
    let service =
        Service::start(|_| Response::Send(200, format!("X-V: {}\r\n", "x".repeat(70_000)), Vec::new())).await;
    let step = with(
        get("Take", &service.url("/")),
        json!({"variables": [
        {"name": "v", "property": "X-V", "source": "Header"}]}),
    );
    failed(&run(&[step]).await, FailureKind::ResponseTooLarge, 3);
}

#[tokio::test]
async fn variables_of_the_settings_are_set_before_the_first_step() {
    let service = service_with_value("of the answer").await;
    let mut check = Check::of(&[
        get("Use", &service.url("/{{v}}/{{w}}")),
        value_step(&service),
        get("Use", &service.url("/{{v}}")),
    ]);
    let given = [("v", "given"), ("w", "too")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    check.settings.preset_variables = std::sync::Arc::new(given.into());
    passed(&check.run().await);
    let targets: Vec<String> = service.requests().into_iter().map(|request| request.target).collect();
    assert_eq!(targets, ["/given/too", "/give", "/of%20the%20answer"]);
}
