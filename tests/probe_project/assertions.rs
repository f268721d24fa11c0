//! Every assertion holds for one response and fails for another.

use super::check::{envelope, run_failing, run_passing, start_service};
use super::project::{assertion, http, one_case, properties};

const NAMESPACE: &str = "declare namespace o='urn:o'; declare namespace p='urn:p';\n";

/// Checks `path` with an assertion, which must hold, or fail with `reason`.
async fn check(path: &str, assertion_type: &str, configuration: &[(&str, &str)], reason: Option<&str>) {
    let service = start_service().await;
    let rule = assertion(assertion_type, configuration);
    let steps =
        [properties("V", &[("x", "200"), ("i", "two")]), http("Get", "GET", &service.url(path), &rule)];
    let script = one_case(&steps.concat());
    match reason {
        None => drop(run_passing(&script).await),
        Some(reason) => {
            let detail = run_failing(&script, 5).await;
            assert!(
                detail.contains("assertion `the rule`") && detail.contains(reason),
                "{assertion_type} {configuration:?}: {detail}"
            );
        }
    }
}

#[tokio::test]
async fn status_codes_are_compared_as_text() {
    for (assertion_type, codes, reason) in [
        ("Valid HTTP Status Codes", "200", None),
        ("Valid HTTP Status Codes", "201, 200", None),
        ("Valid HTTP Status Codes", "${V#x}", None),
        ("Valid HTTP Status Codes", "20", Some("the status 200 is none of `20`")),
        ("Invalid HTTP Status Codes", "404,500", None),
        ("Invalid HTTP Status Codes", "404, 200", Some("the status 200 is one of")),
    ] {
        check("/json", assertion_type, &[("codes", codes)], reason).await;
    }
}

#[tokio::test]
async fn texts_are_contained_or_not() {
    let missing = Some("does not contain the text");
    for (token, options, reason) in [
        ("world", &[][..], None),
        ("Hello\nworld", &[], None),
        ("WORLD", &[], missing),
        ("WORLD", &[("ignoreCase", "true")], None),
        ("w.rld", &[], missing),
        ("(?s).*w.rld.*", &[("useRegEx", "true")], None),
        ("w.rld", &[("useRegEx", "true")], missing),
        ("", &[], None),
    ] {
        let configuration = [&[("token", token)], options].concat();
        check("/text", "Simple Contains", &configuration, reason).await;
        let opposite = match (reason, token) {
            (None, "") | (Some(_), _) => None,
            (None, _) => Some("contains the text"),
        };
        check("/text", "Simple NotContains", &configuration, opposite).await;
    }
}

#[tokio::test]
async fn xpaths_are_matched() {
    let path = |path: &str| format!("{NAMESPACE}{path}");
    for (xpath, content, option, reason) in [
        ("//o:i[1]", "one", "", None),
        ("//o:i", "two", "", None),
        ("//o:i", "${V#i}", "", None),
        ("//o:i[1]", "two", "", Some("the content is `one`")),
        ("//o:i[1]", "o*", "", Some("the content is `one`")),
        ("//o:i[1]", "o*", "allowWildcards", None),
        ("//o:i/@k", "v", "", None),
        ("//p:q/text()", "3", "", None),
        ("count(//o:i)", "2", "", None),
        ("//o:i[1] = 'one'", "true", "", None),
        ("//o:none", "", "", Some("the XPath selects nothing")),
        ("//p:q", "<p:q xmlns:p='urn:p'>3</p:q>", "", None),
        ("//p:q", "<q>3</q>", "", Some("no selected element is the expected XML")),
        ("//p:q", "<q>3</q>", "ignoreNamspaceDifferences", None),
        ("//p:q", "<p:q xmlns:p='urn:p'><!-- c -->3</p:q>", "", Some("no selected element")),
        ("//p:q", "<p:q xmlns:p='urn:p'><!-- c -->3</p:q>", "ignoreComments", None),
    ] {
        let xpath = path(xpath);
        let mut configuration = vec![("path", &*xpath), ("content", content)];
        configuration.extend(Some((option, "true")).filter(|(option, _)| !option.is_empty()));
        check("/xml", "XPath Match", &configuration, reason).await;
    }
    let json = "declare namespace j='http://127.0.0.1/json'; //j:Response/j:parts/j:e[2]/j:k";
    check("/json", "XPath Match", &[("path", json), ("content", "y")], None).await;
    check("/text", "XPath Match", &[("path", "//a"), ("content", "y")], Some("the body is not XML")).await;
}

#[tokio::test]
async fn json_paths_are_matched() {
    for (assertion_type, path, content, option, reason) in [
        ("JsonPath Match", "$.name", "Ann", "", None),
        ("JsonPath Match", "$.id", "${V#x}", "", Some("the value is `7`")),
        ("JsonPath Match", "$.tags", r#"["a","b"]"#, "", None),
        ("JsonPath Match", "$.parts[?(@.k=='y')].n", "[2]", "", None),
        ("JsonPath Match", "$.parts.length()", "2", "", None),
        ("JsonPath Match", "$.name", "A*", "", Some("the value is `Ann`")),
        ("JsonPath Match", "$.name", "A*", "allowWildcards", None),
        ("JsonPath Match", "$.missing", "", "", Some("selects nothing")),
        ("JsonPath Count", "$.parts", "2", "", None),
        ("JsonPath Count", "$..n", "2", "", None),
        ("JsonPath Count", "$.missing", "0", "", None),
        ("JsonPath Count", "$.parts", "3", "", Some("selects 2, and not `3`")),
        ("JsonPath Existence Match", "$.name", "true", "", None),
        ("JsonPath Existence Match", "$.missing", "false", "", None),
        ("JsonPath Existence Match", "$.none", "false", "", None),
        ("JsonPath Existence Match", "$.missing", "true", "", Some("exists: false")),
        ("JsonPath Existence Match", "$.name", "false", "", Some("exists: true")),
    ] {
        let mut configuration = vec![("path", path), ("content", content)];
        configuration.extend(Some((option, "true")).filter(|(option, _)| !option.is_empty()));
        check("/json", assertion_type, &configuration, reason).await;
    }
    for (pattern, content, reason) in [
        ("A.n", "true", None),
        ("A", "true", Some("matches: false")),
        ("A", "false", None),
        ("A.n", "false", Some("matches: true")),
    ] {
        let configuration = [("path", "$.name"), ("content", content), ("regEx", pattern)];
        check("/json", "JsonPath RegEx Match", &configuration, reason).await;
    }
    check("/xml", "JsonPath Match", &[("path", "$.a"), ("content", "1")], Some("the body is not JSON")).await;
}

#[tokio::test]
async fn the_response_time_is_limited() {
    check("/json", "Response SLA Assertion", &[("SLA", "10000")], None).await;
    check("/json", "Response SLA Assertion", &[("SLA", "${V#x}0")], None).await;
    check("/json", "Response SLA Assertion", &[("SLA", "soon")], Some("`soon` is no number")).await;
    let service = crate::probe_api::service::Service::start(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        crate::probe_api::service::respond_json("{}")
    })
    .await;
    let rule = assertion("Response SLA Assertion", &[("SLA", "5")]);
    let detail = run_failing(&one_case(&http("Get", "GET", &service.url("/"), &rule)), 5).await;
    assert!(detail.contains("more than 5 ms"), "{detail}");
}

#[tokio::test]
async fn the_two_ids_of_faults_are_the_wrong_way_round() {
    for (path, assertion_type, reason) in [
        ("/soap", "SOAP Response", None),
        ("/fault", "SOAP Response", None),
        ("/xml", "SOAP Response", Some("not an envelope of SOAP")),
        ("/soap", "SOAP Fault Assertion", None),
        ("/fault", "SOAP Fault Assertion", Some("the response is a fault")),
        ("/fault", "Not SOAP Fault Assertion", None),
        ("/soap", "Not SOAP Fault Assertion", Some("the response is not a fault")),
    ] {
        check(path, assertion_type, &[], reason).await;
    }
    assert!(envelope("").contains("Envelope"));
}

#[tokio::test]
async fn every_failed_assertion_is_listed() {
    let service = start_service().await;
    let rules = [
        assertion("Valid HTTP Status Codes", &[("codes", "201")]),
        assertion("Simple Contains", &[("token", "Ann")]),
        assertion("Simple Contains", &[("token", "Bob")]),
        assertion("Simple Contains", &[("token", "disabled")]).replace("type=", "disabled=\"true\" type="),
    ];
    let observation =
        super::check::run(&one_case(&http("Get", "GET", &service.url("/json"), &rules.concat()))).await;
    assert_eq!(observation.details.steps[0].failures.len(), 2, "{observation:#?}");
    assert_eq!(observation.details.steps[0].status.0, 5);
}

#[tokio::test]
async fn large_responses_are_checked_too() {
    let body = format!("{{\"items\": [{}0]}}", "{\"n\": 1}, ".repeat(20_000));
    let service =
        crate::probe_api::service::Service::start(move |_| crate::probe_api::service::respond_json(&body))
            .await;
    let rules = |count: &str| assertion("JsonPath Count", &[("path", "$.items"), ("content", count)]);
    run_passing(&one_case(&http("Get", "GET", &service.url("/"), &rules("20001")))).await;
    let detail = run_failing(&one_case(&http("Get", "GET", &service.url("/"), &rules("1"))), 5).await;
    assert!(detail.contains("selects 20001"), "{detail}");
}
