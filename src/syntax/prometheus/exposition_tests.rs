//! Tests of the pages of metrics.

use super::exposition::{
    ExpositionError, ExpositionLimits, MetricSample, parse_exposition, visit_exposition,
};

fn parse(page: &str) -> Result<Vec<MetricSample>, ExpositionError> {
    parse_exposition(page.as_bytes(), &ExpositionLimits::default())
}

/// Returns the samples as lines, with the labels in the order of the page.
fn lines(page: &str) -> Vec<String> {
    let samples = parse(page).unwrap_or_else(|error| panic!("{page}: {error}"));
    samples.iter().map(|sample| format!("{} {:?} {}", sample.metric, sample.labels, sample.value)).collect()
}

#[test]
fn samples_are_read_and_comments_skipped() {
    let page = "\
# HELP http_requests_total Requests, with a \\ in the help.
# TYPE http_requests_total counter
http_requests_total{method=\"post\",code=\"200\"} 1027 1395066363000
http_requests_total{method=\"post\",code=\"400\",}    3 1395066363000

\t # a comment
a{path=\"C:\\\\DIR\\\\\",error=\"no\\n\\\"file\\\"\"} 1.458255915e9\r
something_weird{problem=\"division by zero\"} +Inf -3982045
b NaN
c{ x = \"\" , y=\"}#,\" } -Inf
job:rate:sum\t.5e-3\t
";
    assert_eq!(
        lines(page),
        [
            r#"http_requests_total [("method", "post"), ("code", "200")] 1027"#,
            r#"http_requests_total [("method", "post"), ("code", "400")] 3"#,
            r#"a [("path", "C:\\DIR\\"), ("error", "no\n\"file\"")] 1458255915"#,
            r#"something_weird [("problem", "division by zero")] inf"#,
            "b [] NaN",
            r#"c [("x", ""), ("y", "}#,")] -inf"#,
            "job:rate:sum [] 0.0005",
        ]
    );
}

#[test]
fn pages_of_openmetrics_are_read_with_exemplars() {
    let page = "\
# TYPE foo histogram
# UNIT foo seconds
foo_bucket{le=\"0.01\"} 0
foo_bucket{le=\"+Inf\"} 17 # {trace_id=\"KOO5S4vxi0o\"} 0.67 1520879607.789
foo_count 17.0 1520879607.789 # {} 3
foo_created 1520430000.123
# EOF
";
    let expected = [
        r#"foo_bucket [("le", "0.01")] 0"#,
        r#"foo_bucket [("le", "+Inf")] 17"#,
        "foo_count [] 17",
        "foo_created [] 1520430000.123",
    ];
    assert_eq!(lines(page), expected);
}

#[test]
fn an_unknown_escape_stands_for_itself() {
    assert_eq!(lines(r#"a{b="\d\é"} 1"#), [r#"a [("b", "\\d\\é")] 1"#]);
}

#[test]
fn errors_say_the_line_and_what_is_wrong() {
    for (wrong, expected) in [
        ("<html>", "expected the name of a metric, not `<`"),
        ("a", "expected a value, but it ends"),
        ("a ", "expected a value, but it ends"),
        ("a # {}", "the value `#` is not a number"),
        ("a one", "the value `one` is not a number"),
        ("a 0x1F", "the value `0x1F` is not a number"),
        ("a 1 then", "the timestamp `then` is not a number"),
        ("a 1 2 3", "expected the end of the line, not `3`"),
        ("a{b=\"c\"", "expected `,` or `}`, but it ends"),
        ("a{b=\"c", "the value has no closing quote"),
        ("a{b=\"c\"d=\"e\"} 1", "expected `,` or `}`, not `d`"),
        ("a{,} 1", "expected the name of a label, not `,`"),
        ("a{b=\"1\",b=\"2\"} 1", "the label `b` occurs twice"),
        ("{\"a\"} 1", "expected the name of a metric, not `{`"),
        ("\u{fe0f}a 1", "expected the name of a metric, not `\u{fe0f}`"),
    ] {
        let error = parse(&format!("ok 1\n# x\n{wrong}\nok 2\n")).unwrap_err();
        assert_eq!(error.to_string(), format!("line 3: {expected}"), "{wrong}");
    }
    let error = parse_exposition(b"a 1\na{b=\"\xff\"} 1", &ExpositionLimits::default()).unwrap_err();
    assert_eq!(error.to_string(), "line 2: it is not UTF-8");
}

#[test]
fn pages_are_bounded() {
    let limits = ExpositionLimits { max_bytes: 40, max_samples: 2, max_labels: 1, max_line_bytes: 20 };
    let error = |page: &str| parse_exposition(page.as_bytes(), &limits).unwrap_err().to_string();
    assert_eq!(error(&"\n".repeat(41)), "the page has 41 bytes, more than the limit of 40");
    assert_eq!(error("a 1\na 2\na 3\nwrong"), "line 3: the page has more than 2 samples");
    assert_eq!(error("a{b=\"\",c=\"\"} 1"), "line 1: there are more than 1 labels");
    assert_eq!(error(&format!("\n{}", "#".repeat(21))), "line 2: it has 21 bytes, more than the limit of 20");
}

#[test]
fn a_visitor_sees_what_is_borrowed_from_the_page() {
    let page = "a{b=\"plain\",c=\"esc\\\"aped\"} 1\na 2\n";
    let mut seen = Vec::new();
    let count = visit_exposition(page.as_bytes(), &ExpositionLimits::default(), |sample| {
        for (_, value) in sample.labels {
            let is_borrowed = matches!(value, std::borrow::Cow::Borrowed(_));
            assert_eq!(is_borrowed, !value.contains('"'));
        }
        seen.push((sample.line, sample.label("c").map(str::to_owned), sample.label("d").is_some()));
    });
    assert_eq!(count, Ok(2));
    assert_eq!(seen, [(1, Some("esc\"aped".to_owned()), false), (2, None, false)]);
}
