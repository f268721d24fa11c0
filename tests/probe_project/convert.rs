//! A case as API steps: the same requests, the same verdicts, and a list of what is lost.

use serde_json::json;
use vigie::domain::{MonitorType, Observation};
use vigie::project::{Conversion, Project, convert_to_steps};
use vigie::schema::reader::InputFormat;
use vigie::schema::validate::validate_new;
use vigie::schema::validation_context::ValidationContext;
use vigie::syntax::node::Node;

use super::check::{run, start_service};
use super::project::{
    assertion, case, http, one_case, project, properties, rest, rest_interface, soap, soap_interface, step,
    transfer,
};
use crate::probe_api::check as steps;
use crate::probe_api::service::{Request, Service};

fn convert(script: &str) -> Conversion {
    convert_to_steps(&Project::parse(script).unwrap(), "Suite", "Case").unwrap()
}

/// Returns what was sent, but for header fields that each kind of check sets by itself.
fn sent(requests: &[Request]) -> Vec<(String, String, String, Vec<String>)> {
    let own = [
        "user-agent",
        "connection",
        "accept",
        "accept-encoding",
        "content-length",
        "cookie",
        "host",
        "cache-control",
        "pragma",
    ];
    let headers = |request: &Request| {
        let lines = request.head.lines().skip(1).filter(|line| !line.is_empty());
        let is_own = |line: &&str| {
            let name = line.split(':').next().unwrap_or_default().to_ascii_lowercase();
            !own.contains(&name.as_str())
        };
        let mut lines: Vec<String> = lines.filter(is_own).map(str::to_ascii_lowercase).collect();
        lines.sort();
        lines
    };
    let row = |request: &Request| {
        (request.method.clone(), request.target.clone(), request.body.clone(), headers(request))
    };
    requests.iter().map(row).collect()
}

/// Runs the case as a project and as steps. Compares what they send, and whether they pass.
async fn compare(service: &Service, script: &str, passes: bool) -> (Observation, Observation) {
    let conversion = convert(script);
    assert_eq!(conversion.losses, [], "{:#?}", conversion.steps);
    let fields = json!({"name": "n", "billing_plancode": "default", "api_steps": conversion.steps});
    let context = ValidationContext::default();
    let validated = validate_new(MonitorType::WebsiteApi, InputFormat::V3, &Node::from(fields), &context);
    assert!(validated.is_ok(), "{validated:?}");
    let before = service.requests().len();
    let as_project = run(script).await;
    let between = service.requests().len();
    let as_steps = steps::run(&conversion.steps).await;
    let requests = service.requests();
    assert_eq!(as_project.failure.is_none(), passes, "{as_project:#?}");
    assert_eq!(as_steps.failure.is_none(), passes, "{as_steps:#?}");
    assert_eq!(sent(&requests[before..between]), sent(&requests[between..]));
    (as_project, as_steps)
}

#[tokio::test]
async fn a_case_and_its_steps_send_and_check_the_same() {
    let service = start_service().await;
    let base = service.url("");
    let base = base.trim_end_matches('/');
    let kept = |steps: &str| case("Case", "failOnError=\"true\" keepSession=\"true\"", steps);
    let copy = transfer(
        "Copy",
        "failOnError=\"true\" setNullOnMissingSource=\"false\"",
        &[
            ("sourceType", "Response"),
            ("sourceStep", "Get"),
            ("sourcePath", "$.parts[1].k"),
            ("type", "JSONPATH"),
            ("targetType", "out"),
            ("targetStep", "#TestCase#"),
        ],
    );
    let checks = [
        assertion("Valid HTTP Status Codes", &[("codes", "200, 201")]),
        assertion("Simple Contains", &[("token", "ann"), ("ignoreCase", "true")]),
        assertion("Simple NotContains", &[("token", "Bob")]),
        assertion("Simple Contains", &[("token", "(?s).*\"id\": \\d,.*"), ("useRegEx", "true")]),
        assertion("JsonPath Match", &[("path", "$.name"), ("content", "Ann")]),
        assertion("JsonPath Count", &[("path", "$.tags[*]"), ("content", "2")]),
        assertion("JsonPath RegEx Match", &[("path", "$.name"), ("regEx", "A.n"), ("content", "true")]),
        assertion("Response SLA Assertion", &[("SLA", "15000")]),
    ]
    .concat();
    let login = "<con:credentials><con:username>u</con:username><con:password>p</con:password><con:authType>Preemptive</con:authType></con:credentials>";
    let parameters = "<con:parameters><con:parameter><con:name>q</con:name><con:value>a b&amp;${V#x}</con:value><con:style>QUERY</con:style></con:parameter><con:parameter><con:name>X-P</con:name><con:value>${level}</con:value><con:style>HEADER</con:style></con:parameter></con:parameters>";
    let envelope = "<e:Envelope xmlns:e=\"http://schemas.xmlsoap.org/soap/envelope/\"><e:Body>${#TestCase#out}</e:Body></e:Envelope>";
    let all = [
        properties("V", &[("x", "ä")]),
        http("Get", "GET", &service.url("/json"), &[&checks, login].concat()),
        copy,
        rest(
            "Read",
            "/v1/items/{id}",
            "Read",
            "<con:parameters><con:entry key=\"q\" value=\"${Get#Response#$.name}\"/></con:parameters>",
        ),
        http("Plain", "GET", &service.url("/json"), parameters),
        soap("Add", "Calc", envelope, &assertion("SOAP Response", &[])),
        http(
            "Missing",
            "GET",
            &service.url("/status/404"),
            &assertion("Simple Contains", &[("token", "status")]),
        ),
    ]
    .concat();
    let interfaces = [rest_interface(base), soap_interface("Calc", "1_1", &service.url("/soap"))].concat();
    let script = project(&interfaces, &kept(&all));
    let (as_project, as_steps) = compare(&service, &script, true).await;
    assert_eq!(as_project.details.steps.len(), as_steps.details.steps.len());

    for wrong in [
        assertion("Valid HTTP Status Codes", &[("codes", "201")]),
        assertion("Invalid HTTP Status Codes", &[("codes", "200")]),
        assertion("Simple Contains", &[("token", "Bob")]),
        assertion("Simple NotContains", &[("token", "ANN"), ("ignoreCase", "true")]),
        assertion("Simple Contains", &[("token", "Ann"), ("useRegEx", "true")]),
        assertion("JsonPath Match", &[("path", "$.name"), ("content", "Bob")]),
        assertion("JsonPath Count", &[("path", "$.tags[*]"), ("content", "3")]),
        assertion("JsonPath RegEx Match", &[("path", "$.name"), ("regEx", "A.n"), ("content", "false")]),
        assertion("SOAP Response", &[]),
    ] {
        let script = project("", &kept(&http("Get", "GET", &service.url("/json"), &wrong)));
        compare(&service, &script, false).await;
    }
    for (path, rule, passes) in [
        ("/fault", "SOAP Fault Assertion", false),
        ("/fault", "Not SOAP Fault Assertion", true),
        ("/soap", "SOAP Fault Assertion", true),
        ("/soap", "Not SOAP Fault Assertion", false),
    ] {
        let script = project("", &kept(&http("Get", "GET", &service.url(path), &assertion(rule, &[]))));
        compare(&service, &script, passes).await;
    }
}

#[tokio::test]
async fn what_steps_cannot_do_is_listed_with_its_place() {
    let copy = |attributes: &str, ends: &[(&str, &str)]| transfer("Copy", attributes, ends);
    let to_out = [("targetType", "out"), ("targetStep", "#TestCase#")];
    let get = |children: &str| http("Get", "GET", "http://a.test/", children);
    for (steps, expected) in [
        (step("delay", "Wait", "<con:config><con:delay>1</con:delay></con:config>"), "step `Wait`: a delay"),
        (
            copy(
                "failOnError=\"true\"",
                &[&[("sourceType", "level"), ("sourceStep", "#Project#")][..], &to_out].concat(),
            ),
            "transfer `copy`: its source is no request before it",
        ),
        (
            copy(
                "",
                &[&[("sourceType", "Response"), ("sourceStep", "Get"), ("sourcePath", "$.a")][..], &to_out]
                    .concat(),
            ),
            "without a value it goes on",
        ),
        (
            get(&assertion("XPath Match", &[("path", "declare namespace a='u'; //a:b"), ("content", "1")])),
            "declares namespaces",
        ),
        (
            get(&assertion(
                "JsonPath Match",
                &[("path", "$.a"), ("content", "1*"), ("allowWildcards", "true")],
            )),
            "wildcards",
        ),
        (get(&assertion("JsonPath Count", &[("path", "$.a"), ("content", "1")])), "counts the items"),
        (
            get("<con:request>{{mine}}</con:request>").replacen("method=\"GET\"", "method=\"POST\"", 1),
            "`{{mine}}` in its texts",
        ),
        (http("Get", "GET", "http://a.test/${Other#Response#$.a}", ""), "its source is no request before it"),
        (step("groovy", "Script", "<con:config><script>log.info 1</script></con:config>"), "Groovy"),
    ] {
        let conversion = convert(&one_case(&[get(""), steps].concat()));
        let losses: Vec<String> = conversion.losses.iter().map(ToString::to_string).collect();
        assert!(losses.iter().any(|loss| loss.contains(expected)), "{expected}: {losses:#?}");
        assert!(losses.iter().all(|loss| loss.contains("suite `Suite`, case `Case`")), "{losses:#?}");
    }
    let several = one_case(&[get(""), get("")].concat());
    assert!(convert(&several).losses[0].what.contains("keepSession"));
    let goes_on = project("", &case("Case", "failOnError=\"false\" timeout=\"5\"", &get("")));
    assert_eq!(convert(&goes_on).losses.len(), 2);
    assert!(convert_to_steps(&Project::parse(&several).unwrap(), "Suite", "None").is_err());
}

#[test]
fn urls_with_variables_are_written_as_they_are() {
    let login = http("Login", "GET", "http://a.test/", "");
    for (endpoint, expected) in [
        ("${Login#Response#$.base}/cb?next=https://x", "{{Login}}/cb?next=https://x"),
        ("{{aaaaé://x", "{{aaaaé://x"),
        ("${Login#Response#$.base}", "{{Login}}"),
        ("b.test:1/x", "http://b.test:1/x"),
    ] {
        let script = one_case(&[login.clone(), http("Next", "GET", endpoint, "")].concat());
        assert_eq!(convert(&script).steps[1]["url"], expected, "{endpoint}");
    }
}
