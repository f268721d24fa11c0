//! A table of assertions: source by comparison by type of value, and the text of each failure.

use super::failure;

const JS: &str = "JSON Response";
const XM: &str = "XML Response";
const IN: &str = "regular expression includes";
const EX: &str = "regular expression excludes";
const LE: &str = "less than or equal";
const NE: &str = "does not equal";
const NC: &str = "does not contain";
const NX: &str = "does not exist";

const JSON: &str = r#"{"whole":5,"point":5.50,"small":-0.001,"big":12345678901234567890,"exp":1e3,
 "text":"five","digits":"05","empty":"","yes":true,"no":false,"none":null,
 "list":[1,2,3],"nested":[[1],[2]],"object":{"a":1,"b":[true,null]},"hollow":{},"bare":[],
 "items":[{"id":1,"tag":"red"},{"id":2,"tag":"green"},{"id":3}],"line":"one\ntwo"}"#;
const XML: &str = r#"<order id="o1" xmlns:m="urn:m"><item sku="a">10</item><item sku="b">2.50</item>
<m:total>12.5</m:total><name>Ann &amp; Bob</name><empty/><flag>true</flag></order>"#;
const TEXT: &str = "Status: all systems fine\nUptime: 99.95 %\n";

/// Source, property, comparison, value, and the failure text after the first three; empty when it holds.
type Case = (&'static str, &'static str, &'static str, &'static str, &'static str);

#[track_caller]
fn check(cases: &[Case], text: &str) {
    let mut errors = Vec::new();
    for &(source, property, comparison, value, expected) in cases {
        let actual = failure(source, property, comparison, value, text).unwrap_or_default();
        let quoted_property = if property.is_empty() { String::new() } else { format!(" `{property}`") };
        let expected = match expected {
            "" => String::new(),
            rest => format!("{source}{quoted_property} {comparison}{rest}"),
        };
        if actual != expected {
            errors.push(format!(
                "{source}{quoted_property} {comparison} {value}\n   says {actual}\n not    {expected}"
            ));
        }
    }
    assert!(errors.is_empty(), "{} of {}:\n{}", errors.len(), cases.len(), errors.join("\n"));
}

// row: 2.3 Assertion.comparison; 2.3 Assertion.value
#[test]
fn numbers_in_json() {
    check(
        &[
            (JS, "whole", "equals", "5", ""),
            (JS, "whole", "equals", "5.0", ""),
            (JS, "whole", "equals", "5e0", ""),
            (JS, "whole", "equals", "\"5\"", " `\"5\"`: found `5`"),
            (JS, "whole", NE, "5.00", " `5.00`: found `5`"),
            (JS, "point", "equals", "5.5", ""),
            (JS, "point", LE, "5.5", ""),
            (JS, "point", LE, "5.4999", " `5.4999`: found `5.5`"),
            (JS, "small", LE, "0", ""),
            (JS, "whole", "less than", "5.1", ""),
            (JS, "whole", "less than", "5", " `5`: found `5`"),
            (JS, "whole", "greater than", "4.999", ""),
            (JS, "whole", "greater than", "5", " `5`: found `5`"),
            (JS, "whole", "greater than or equal", "5", ""),
            (JS, "whole", "greater than or equal", "6", " `6`: found `5`"),
            (JS, "text", "greater than", "1", " `1`: found `five`"),
            (JS, "small", "equals", "-1e-3", ""),
            (JS, "big", "equals", "12345678901234567890", ""),
            (
                JS,
                "big",
                "equals",
                "12345678901234567891",
                " `12345678901234567891`: found `12345678901234567890`",
            ),
            (JS, "exp", "equals", "1000", ""),
            (JS, "exp", "contains", "100", ""),
            (JS, "whole", IN, "^[0-9]$", ""),
            (JS, "whole", EX, "[0-9]", " `[0-9]`: found `5`"),
            (JS, "whole", "count", "1", ""),
        ],
        JSON,
    );
}

// row: 2.3 Assertion.comparison
#[test]
fn texts_in_json() {
    check(
        &[
            (JS, "text", "equals", "five", ""),
            (JS, "text", "equals", "\"five\"", ""),
            (JS, "text", "equals", "Five", " `Five`: found `five`"),
            (JS, "text", NE, "six", ""),
            (JS, "text", "contains", "iv", ""),
            (JS, "text", "contains", "", ""),
            (JS, "text", NC, "iv", " `iv`: found `five`"),
            (JS, "text", LE, "5", " `5`: found `five`"),
            (JS, "digits", "equals", "5", " `5`: found `05`"),
            (JS, "digits", LE, "5", ""),
            (JS, "empty", "equals", "", ""),
            (JS, "empty", "exists", "1", ""),
            (JS, "empty", NX, "1", ": found ``"),
            (JS, "line", IN, "one.two", " `one.two`: found `one two`"),
            (JS, "line", IN, "(?s)one.two", ""),
            (JS, "line", IN, "^two", " `^two`: found `one two`"),
        ],
        JSON,
    );
}

#[test]
fn other_values_in_json() {
    check(
        &[
            (JS, "yes", "equals", "true", ""),
            (JS, "yes", "equals", "1", " `1`: found `true`"),
            (JS, "no", NE, "true", ""),
            (JS, "no", "exists", "1", ""),
            (JS, "none", "equals", "null", ""),
            (JS, "none", "equals", "", " ``: found `null`"),
            (JS, "none", "exists", "1", ""),
            (JS, "list", "equals", "[1, 2.0, 3]", ""),
            (JS, "list", "equals", "[1,3,2]", " `[1,3,2]`: found an array of 3"),
            (JS, "list", NE, "[1,2,3]", " `[1,2,3]`: found an array of 3"),
            (JS, "list", "contains", "1,2", ""),
            (JS, "nested", "equals", "[[1],[2]]", ""),
            (JS, "object", "equals", "{\"b\":[true,null],\"a\":1.0}", ""),
            (JS, "object", "equals", "{\"a\":1}", " `{\"a\":1}`: found an object of 2"),
            (JS, "object", IN, "\"a\":1", ""),
            (JS, "hollow", "equals", "{}", ""),
            (JS, "bare", "equals", "[ ]", ""),
            (JS, "bare", "count", "1", ""),
            (JS, "bare[*]", "count", "0", ""),
        ],
        JSON,
    );
}

// row: 2.3 Assertion.property; 2.3 Assertion.comparison
#[test]
fn several_nodes_and_none_in_json() {
    check(
        &[
            (JS, "items[*].id", "equals", "3", ""),
            (JS, "items[*].id", "equals", "4", " `4`: found `1`, `2` … (3 nodes)"),
            (JS, "items[*].id", NE, "4", ""),
            (JS, "items[*].id", NE, "2", " `2`: found `2` as node 2 of 3"),
            (JS, "items[*].id", LE, "1", ""),
            (JS, "items[*].id", LE, "0", " `0`: found `1`, `2` … (3 nodes)"),
            (JS, "items[*].tag", "contains", "re", ""),
            (JS, "items[*].tag", NC, "ee", " `ee`: found `green` as node 2 of 2"),
            (JS, "items[*].tag", IN, "^g", ""),
            (JS, "items[*].tag", EX, "^g", " `^g`: found `green` as node 2 of 2"),
            (JS, "items[*].tag", "equals", "blue", " `blue`: found `red` and `green`"),
            (JS, "items[*]", "count", "2", " `2`: found 3 nodes"),
            (JS, "items[?@.tag=='red'].id", "equals", "1", ""),
            (JS, "$..id", "count", "3", ""),
            (JS, "items[-1].tag", "exists", "1", ": found nothing"),
            (JS, "items[-1].tag", NX, "1", ""),
            (JS, "gone", "equals", "", " ``: found nothing"),
            (JS, "gone", NE, "x", ""),
            (JS, "gone", NC, "x", ""),
            (JS, "gone", EX, "x", ""),
            (JS, "gone", "contains", "x", " `x`: found nothing"),
            (JS, "gone", IN, ".*", " `.*`: found nothing"),
            (JS, "gone", LE, "9", " `9`: found nothing"),
            (JS, "gone", "count", "0", ""),
        ],
        JSON,
    );
}

#[test]
fn nodes_and_values_in_xml() {
    check(
        &[
            (XM, "/order/@id", "equals", "o1", ""),
            (XM, "/order/@id", NE, "o1", " `o1`: found `o1`"),
            (XM, "//item", "count", "2", ""),
            (XM, "//item", "count", "3", " `3`: found 2 nodes"),
            (XM, "//item", "equals", "2.5", ""),
            (XM, "//item", "equals", "3", " `3`: found `10` and `2.50`"),
            (XM, "//item", NE, "2.5", " `2.5`: found `2.50` as node 2 of 2"),
            (XM, "//item", LE, "2.5", ""),
            (XM, "//item[1]", LE, "2.5", " `2.5`: found `10`"),
            (XM, "sum(//item)", "equals", "12.5", ""),
            (XM, "sum(//item) = //m:total", "equals", "true", ""),
            (XM, "count(//item)", LE, "1", " `1`: found `2`"),
            (XM, "//name", "equals", "Ann & Bob", ""),
            (XM, "//name", "contains", "&amp;", " `&amp;`: found `Ann & Bob`"),
            (XM, "//name", IN, "^Ann", ""),
            (XM, "//name", EX, "Bob$", " `Bob$`: found `Ann & Bob`"),
            (XM, "//empty", "exists", "1", ""),
            (XM, "//empty", "equals", "", ""),
            (XM, "//flag", "equals", "true", ""),
            (XM, "//gone", NX, "1", ""),
            (XM, "//gone", "exists", "1", ": found nothing"),
            (XM, "//gone", NC, "x", ""),
            (XM, "//x:gone", NX, "1", ": found the prefix `x` is not declared on the root"),
            (XM, "boolean(//gone)", "equals", "false", ""),
        ],
        XML,
    );
}

#[test]
fn whole_bodies() {
    check(
        &[
            ("Response", "", "equals", TEXT, ""),
            ("Response", "", "equals", "Status", " `Status`: found a text of 41 bytes"),
            ("Response", "", NE, "Status", ""),
            ("Response", "", "contains", "99.95", ""),
            ("Response", "", "contains", "down", " `down`: found a text of 41 bytes"),
            ("Response", "", NC, "down", ""),
            ("Response", "", NC, "Uptime", " `Uptime`: found it in line 2 of a text of 41 bytes"),
            ("Response", "", IN, r"Uptime: \d+\.\d+ %", ""),
            ("Response", "", IN, "(?m)^Uptime", ""),
            ("Response", "", EX, "fine", " `fine`: found it in line 1 of a text of 41 bytes"),
            ("Response", "", EX, "(?i)ERROR", ""),
            (JS, "a", "exists", "1", ": found the body is not JSON: expected value at line 1 column 1"),
        ],
        TEXT,
    );
}

// row: 2.3 Assertion.source; 2.3 Assertion.property
#[test]
fn headers_status_and_time() {
    check(
        &[
            ("Header", "content-TYPE", "equals", "application/json; charset=utf-8", ""),
            ("Header", "Content-Type", "contains", "json", ""),
            ("Header", "Content-Type", NC, "json", " `json`: found `application/json; charset=utf-8`"),
            ("Header", "Content-Length", "equals", "120.0", ""),
            ("Header", "Content-Length", NE, "120", " `120`: found `120`"),
            ("Header", "Via", "equals", "1.1 a, 1.1 b", ""),
            ("Header", "Via", IN, "b$", ""),
            ("Header", "Via", EX, "a", " `a`: found `1.1 a, 1.1 b`"),
            ("Header", "X-Empty", "exists", "1", ""),
            ("Header", "X-Empty", "equals", "", ""),
            ("Header", "X-Gone", "exists", "1", ": found nothing"),
            ("Header", "X-Gone", NX, "1", ""),
            ("Header", "X-Gone", NE, "x", ""),
            ("Header", "Set-Cookie", "equals", "sid=x", " `sid=x`: found a value of 10 bytes"),
            ("Status Code", "", "equals", "201", ""),
            ("Status Code", "", "equals", "2xx", ""),
            ("Status Code", "", "equals", "200, 204-299", " `200, 204-299`: found 201"),
            ("Status Code", "", NE, "200-299", " `200-299`: found 201"),
            ("Status Code", "", NE, "3xx,4xx,500", ""),
            ("Timeout", "", LE, "1.234", ""),
            ("Timeout", "", LE, "1.233", " `1.233`: found 1.234 seconds"),
            ("Timeout", "", LE, "30", ""),
        ],
        "",
    );
}

#[test]
fn long_values_are_cut_on_both_sides() {
    let text = format!(r#"{{"a":"{}"}}"#, "é".repeat(5000));
    let actual = failure(JS, "a", "equals", &"x".repeat(256), &text).unwrap();
    let expected = format!("JSON Response `a` equals `{}…`: found `{}…`", "x".repeat(60), "é".repeat(60));
    assert_eq!(actual, expected);
}
