//! Golden observations of projects: what a result holds, with times and ports masked.

use super::check::{run, start_service};
use super::project::{assertion, case, http, one_case, project, step, transfer};
use crate::probe_api::check::golden;

#[tokio::test]
async fn a_case_that_passes() {
    let service = start_service().await;
    let port = service.address.port();
    let steps = [
        http(
            "Read",
            "GET",
            &service.url("/json?token=${#Project#api_token}"),
            &assertion("Valid HTTP Status Codes", &[("codes", "200")]),
        ),
        transfer(
            "Copy",
            "failOnError=\"true\"",
            &[
                ("sourceType", "Response"),
                ("sourceStep", "Read"),
                ("sourcePath", "$.id"),
                ("type", "JSONPATH"),
                ("targetType", "out"),
                ("targetStep", "#TestCase#"),
            ],
        ),
        http("Again", "POST", &service.url("/json?id=${#TestCase#out}"), "<con:request>{}</con:request>"),
    ];
    let observation = run(&one_case(&steps.concat())).await;
    insta::assert_snapshot!("project_ok", golden(&observation, port));
}

#[tokio::test]
async fn a_case_that_fails() {
    let service = start_service().await;
    let port = service.address.port();
    let rules = [
        assertion("JsonPath Match", &[("path", "$.name"), ("content", "Bob")]),
        assertion("Simple Contains", &[("token", "Ann")]),
    ];
    let steps = http("Read", "GET", &service.url("/json"), &rules.concat());
    let observation = run(&project("", &case("Case", "", &steps))).await;
    insta::assert_snapshot!("project_failed", golden(&observation, port));
}

#[tokio::test]
async fn a_case_that_cannot_run() {
    let script = step("groovy", "Script", "<con:config><script>log.info 1</script></con:config>");
    let observation = run(&one_case(&script)).await;
    insta::assert_snapshot!("project_not_started", golden(&observation, 0));
}
