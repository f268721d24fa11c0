//! Hostile responses and expressions: each fails clearly, in bounded time and memory.

use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};

use super::failure;

/// Processor time limit of each case, in a build without optimisation.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// Runs `work` on a stack of the size of the threads that evaluate bodies; returns its result and the processor time
/// that it used, since the machine may be busy.
fn timed<T: Send>(work: impl FnOnce() -> T + Send) -> (T, Duration) {
    let work = || {
        let result = work();
        let usage = getrusage(UsageWho::RUSAGE_THREAD).unwrap();
        let micros = |time: TimeVal| Duration::from_micros(time.num_microseconds().unsigned_abs());
        (result, micros(usage.user_time()) + micros(usage.system_time()))
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(2 * 1024 * 1024).spawn_scoped(scope, work);
        thread.unwrap().join().unwrap()
    })
}

#[track_caller]
fn assert_refused(source: &str, property: &str, text: &str, expected: &str) {
    let (failure, took) = timed(|| failure(source, property, "exists", "1", text));
    let failure = failure.unwrap_or_default();
    assert!(failure.contains(expected), "{failure}");
    assert!(failure.chars().count() < 300, "{failure}");
    assert!(took < TIME_LIMIT, "{property}: {took:?}");
}

#[test]
fn json_that_is_too_deep_is_not_parsed() {
    for depth in [10_000, 1_000_000] {
        let arrays = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        assert_refused("JSON Response", "$..*", &arrays, "nested deeper than 127");
        let objects = format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
        assert_refused("JSON Response", "$..a", &objects, "nested deeper than 127");
    }
    assert_refused("JSON Response", "$", &"[".repeat(10_000), "nested deeper than 127");
    let fits = format!("{}1{}", "[".repeat(127), "]".repeat(127));
    assert_eq!(failure("JSON Response", "$..*", "count", "127", &fits), None);
}

#[test]
fn json_that_is_too_large_is_not_parsed() {
    let long = format!("[\"{}\"]", "x".repeat(10 * 1024 * 1024));
    assert_refused("JSON Response", "$[0]", &long, "more than 10485760 bytes, too many for JSON");
    let many = format!("[{}1]", "1,".repeat(1_000_000));
    assert_refused("JSON Response", "$[0]", &many, "more than 1000000 values");
}

#[test]
fn a_million_nodes_are_counted_and_queries_that_multiply_them_fail() {
    let many = format!("[{}1]", "1,".repeat(999_997));
    assert_eq!(failure("JSON Response", "$[*]", "count", "999998", &many), None);
    assert_eq!(failure("JSON Response", "$..*", "count", "999998", &many), None);
    let text = failure("JSON Response", "$[*]", "equals", "2", &many).unwrap();
    assert_eq!(text, "JSON Response `$[*]` equals `2`: found `1`, `1` … (999998 nodes)");
    let expected = "visits too many values";
    assert_refused("JSON Response", &format!("$[{}*]", "*,".repeat(30)), &many, expected);
    assert_refused("JSON Response", "$[?count($[*]) > 1]", &many, expected);
    assert_refused("JSON Response", "$[?match(@, '1')]", &many, expected);
    assert_refused("JSON Response", "$[*,*][*,*][*,*][*,*][*,*]", &many, expected);
}

#[test]
fn xml_that_is_too_large_or_too_deep_is_refused() {
    let large = format!("<r>{}</r>", "<a>x</a>".repeat(50 * 1024 * 1024 / 8));
    assert_refused("XML Response", "//a", &large, "more than 8388608 bytes, too many for XML");
    let many = format!("<r>{}</r>", "<a/>".repeat(200_001));
    assert_refused("XML Response", "//a", &many, "the body is not XML");
    let deep = format!("{}x{}", "<a>".repeat(10_000), "</a>".repeat(10_000));
    assert_refused("XML Response", "//a", &deep, "nested deeper than 256");
    let attributes: String = (0..100_000).map(|at| format!(" a{at}=''")).collect::<Vec<_>>().concat();
    assert_refused(
        "XML Response",
        "//a",
        &format!("<a{attributes}/>"),
        "an element with more than 256 attributes",
    );
    let script = format!("<a><![CDATA[<b {}]]><!-- <c {} --></a>", "='".repeat(300), "=\"".repeat(300));
    assert_eq!(failure("XML Response", "//a", "exists", "", &script), None);
    let deepest = format!("{}x{}", "<a>".repeat(1_000_000), "</a>".repeat(1_000_000));
    assert_refused("XML Response", "//a", &deepest, "found ");
}

#[test]
fn an_xpath_that_multiplies_nodes_fails() {
    let flat = format!("<r>{}</r>", "<a><b/></a>".repeat(60_000));
    let text = "visits too many nodes";
    for path in [
        "//*[//*[//*]]",
        "//a/following::*",
        "//a[count(preceding-sibling::a) > 70000]",
        "//*[../*[../*]]",
        "count(//*[string(/) = 'x'])",
    ] {
        assert_refused("XML Response", path, &flat, text);
    }
    assert_eq!(failure("XML Response", "//b", "count", "60000", &flat), None);
    assert_eq!(failure("XML Response", "//a[b]/b/..", "count", "60000", &flat), None);
    let attributes: String =
        (0..200).map(|at| format!(" xmlns:n{at}='urn:{at}'")).collect::<Vec<_>>().concat();
    let spaces = format!("<r{attributes}>{}</r>", "<a/>".repeat(20_000));
    assert_refused("XML Response", "//*/namespace::*[. = 'urn:x']", &spaces, text);
}

#[test]
fn entity_bombs_are_refused() {
    let mut bomb = "<!DOCTYPE a [<!ENTITY e0 \"lol\">".to_owned();
    for level in 1..20 {
        let before = level - 1;
        bomb.extend(["<!ENTITY e", &level.to_string(), " \"", &format!("&e{before};").repeat(10), "\">"]);
    }
    bomb.push_str("]><a>&e19;</a>");
    assert_refused("XML Response", "//a", &bomb, "the XML declares entities");
}

#[test]
fn regular_expressions_take_time_linear_in_the_body() {
    let text = format!("{}!", "a".repeat(1024 * 1024));
    for expression in ["(a+)+$", "(a|aa)+$", "^(a*)*b", "(.*){1,30}[bc]"] {
        let includes = "regular expression includes";
        let (failure, took) = timed(|| failure("Response", "", includes, expression, &text));
        assert!(failure.is_some() && took < TIME_LIMIT, "{expression} {took:?}");
    }
}
