//! XPath 1.0: each axis, each function, operators, namespaces, and invalid expressions.

use super::failure;

/// A document like the response of a shop: a DOCTYPE, namespaces, a comment, an instruction, CDATA.
const SHOP: &str = r#"<?xml version="1.0"?>
<!DOCTYPE shop SYSTEM "http://127.0.0.1:1/never.dtd">
<?sort by price?>
<shop xmlns:p="urn:price" xmlns:q="urn:other" xml:lang="en">
 <!-- two shelves -->
 <shelf id="s1" xml:id="one"><book n="1" lang="x">Alpha<p:cost>10</p:cost></book><book n="2">Beta<p:cost>20.5</p:cost></book></shelf>
 <shelf id="s2" xml:lang="de-AT"><book n="3">Gamma<p:cost cur="EUR">7</p:cost></book><q:book>other</q:book><empty/></shelf>
 <note><![CDATA[a < b]]> &amp; c</note>
 <words>  two   words </words>
</shop>"#;

/// Asserts the value of `path` in `SHOP`: the text of a string, number or boolean, or all texts of nodes.
#[track_caller]
fn check(path: &str, expected: &str) {
    let failure_text = failure(
        "XML Response",
        path,
        "regular expression includes",
        &format!("^{}$", regex::escape(expected)),
        SHOP,
    );
    assert_eq!(failure_text, None, "{path}");
}

/// Asserts the number of nodes that `path` selects in `SHOP`, and the texts of the first and the last one.
#[track_caller]
fn nodes(path: &str, count: usize, first: &str, last: &str) {
    check(&format!("count({path})"), &count.to_string());
    check(&format!("string(({path})[1])"), first);
    check(&format!("string(({path})[last()])"), last);
}

#[test]
fn each_axis_selects_its_nodes() {
    for (path, count, first, last) in [
        ("/shop/child::shelf/child::book/@n", 3, "1", "3"),
        ("/descendant::book/@n", 3, "1", "3"),
        ("//book[@n=2]/descendant-or-self::node()", 4, "Beta20.5", "20.5"),
        ("//p:cost/parent::book/@n", 3, "1", "3"),
        ("//p:cost[.=7]/ancestor::*/@id", 1, "s2", "s2"),
        ("//book[@n=3]/ancestor-or-self::*", 3, "", ""),
        ("//book[@n=1]/following-sibling::*", 1, "Beta20.5", "Beta20.5"),
        ("//q:book/preceding-sibling::*", 1, "Gamma7", "Gamma7"),
        ("//book[@n=2]/following::*", 7, "", "  two   words "),
        ("//book[@n=3]/preceding::book", 2, "Alpha10", "Beta20.5"),
        ("//book[@n=1]/attribute::*", 2, "1", "x"),
        ("//book[@n=1]/self::book", 1, "Alpha10", "Alpha10"),
        ("//book[@n=1]/self::shelf", 0, "", ""),
        ("/shop/namespace::p", 1, "urn:price", "urn:price"),
        ("//empty/namespace::*", 3, "", ""),
        ("//@n/..", 3, "Alpha10", "Gamma7"),
        ("//@n[.=3]/following::book", 0, "", ""),
        ("//@id[.='s2']/following::book", 1, "Gamma7", "Gamma7"),
        ("//@n[.=3]/preceding::book", 2, "Alpha10", "Beta20.5"),
        ("//@n[.=3]/ancestor::shelf/@id", 1, "s2", "s2"),
        ("//@n/ancestor-or-self::node()[1]", 3, "1", "3"),
        ("//@n/child::node() | //@n/following-sibling::node() | //@n/attribute::*", 0, "", ""),
        (".//book[3]", 0, "", ""),
        ("(.//book)[3]/@n", 1, "3", "3"),
        ("//book[1]/@n", 2, "1", "3"),
    ] {
        if first.is_empty() {
            check(&format!("count({path})"), &count.to_string());
        } else {
            nodes(path, count, first, last);
        }
    }
}

#[test]
fn reverse_axes_count_backwards_from_the_node() {
    check("string(//book[@n=3]/preceding::book[1]/@n)", "2");
    check("string(//book[@n=3]/preceding::book[position()=last()]/@n)", "1");
    check("name(//p:cost[.=7]/ancestor::*[1])", "book");
    check("name(//p:cost[.=7]/ancestor::*[last()])", "shop");
    check("string((//book[@n=3]/preceding::book)[1]/@n)", "1");
    check("string(//empty/preceding-sibling::*[2]/@n)", "3");
}

#[test]
fn node_tests_select_their_kind() {
    for (path, count) in [
        ("//text()[.='Alpha']", 1),
        ("//comment()", 1),
        ("/processing-instruction()", 1),
        ("/processing-instruction('sort')", 1),
        ("/processing-instruction('other')", 0),
        ("/node()", 2),
        ("//p:*", 3),
        ("//@*", 10),
        ("//cost", 0),
        ("//book", 3),
        ("//q:book", 1),
        ("//*[local-name()='book']", 4),
        ("//@xml:lang", 2),
        ("//*[@n][2]", 1),
        ("//book[@n][p:cost > 8]", 2),
    ] {
        check(&format!("count({path})"), &count.to_string());
    }
    check("/processing-instruction()", "by price");
    check("//comment()", " two shelves ");
}

#[test]
fn functions_of_nodes() {
    for (path, expected) in [
        ("count(//book | //book[1] | //shelf)", "5"),
        ("//shelf[last()]/@id", "s2"),
        ("//book[position()=2]/@n", "2"),
        ("id('one')/@id", "s1"),
        ("count(id('one two'))", "1"),
        ("count(id(//nothing))", "0"),
        ("local-name(//q:book)", "book"),
        ("namespace-uri(//q:book)", "urn:other"),
        ("namespace-uri(//book)", ""),
        ("name(//q:book)", "q:book"),
        ("name(/processing-instruction())", "sort"),
        ("name(//nothing)", ""),
        ("name(//@xml:lang)", "xml:lang"),
        ("//*[name()='p:cost'][1]", "10"),
    ] {
        check(path, expected);
    }
}

#[test]
fn functions_of_texts() {
    for (path, expected) in [
        ("string(//book)", "Alpha10"),
        ("string(//nothing)", ""),
        ("string(1 div 0)", "Infinity"),
        ("string(-1 div 0)", "-Infinity"),
        ("string(0 div 0)", "NaN"),
        ("string(-0)", "0"),
        ("string(1000000000000000000000)", "1000000000000000000000"),
        ("string(0.1)", "0.1"),
        ("string(true())", "true"),
        ("concat('a', 1, //book/@n, true())", "a11true"),
        ("starts-with('abc', 'ab')", "true"),
        ("starts-with('abc', '')", "true"),
        ("contains(//book, 'lph')", "true"),
        ("contains('abc', 'x')", "false"),
        ("substring-before('1999/04/01', '/')", "1999"),
        ("substring-after('1999/04/01', '/')", "04/01"),
        ("substring-after('abc', 'x')", ""),
        ("substring('12345', 2, 3)", "234"),
        ("substring('12345', 2)", "2345"),
        ("substring('12345', 1.5, 2.6)", "234"),
        ("substring('12345', 0, 3)", "12"),
        ("substring('12345', 0 div 0, 3)", ""),
        ("substring('12345', 1, 0 div 0)", ""),
        ("substring('12345', -42, 1 div 0)", "12345"),
        ("substring('12345', -1 div 0, 1 div 0)", ""),
        ("string-length('äöü')", "3"),
        ("string-length(//book[1]/@n)", "1"),
        ("normalize-space(//words)", "two words"),
        ("//words[normalize-space()='two words']", "  two   words "),
        ("translate('bar', 'abc', 'AB')", "BAr"),
        ("translate('--aaa--', 'abc-', 'ABC')", "AAA"),
        ("//note", "a < b & c"),
    ] {
        check(path, expected);
    }
}

#[test]
fn functions_of_truth_and_numbers() {
    for (path, expected) in [
        ("boolean(//book)", "true"),
        ("boolean(//nothing)", "false"),
        ("boolean('')", "false"),
        ("boolean('false')", "true"),
        ("boolean(0)", "false"),
        ("boolean(0 div 0)", "false"),
        ("not(//nothing)", "true"),
        ("true() and not(false())", "true"),
        ("false() or 1 = 1", "true"),
        ("//book[lang('de')]/@n", "3"),
        ("count(//book[lang('EN')])", "2"),
        ("count(//book[lang('e')])", "0"),
        ("number('  12.50 ')", "12.5"),
        ("number('1e3')", "NaN"),
        ("number('+1')", "NaN"),
        ("number('-.5')", "-0.5"),
        ("number(true())", "1"),
        ("number(//nothing)", "NaN"),
        ("sum(//p:cost)", "37.5"),
        ("sum(//nothing)", "0"),
        ("sum(//shelf/@id)", "NaN"),
        ("floor(-1.5)", "-2"),
        ("ceiling(1.2)", "2"),
        ("round(2.5)", "3"),
        ("round(-2.5)", "-2"),
        ("round(-0.2)", "0"),
        ("round(0 div 0)", "NaN"),
    ] {
        check(path, expected);
    }
}

#[test]
fn operators_have_the_right_precedence_and_comparisons() {
    for (path, expected) in [
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("7 mod 3", "1"),
        ("-7 mod 3", "-1"),
        ("5 div 2", "2.5"),
        ("- - 2", "2"),
        ("--//book/@n", "1"),
        ("2 - -2", "4"),
        ("1 < 2 = true()", "true"),
        ("3 > 2 > 1", "false"),
        ("'a' = 'a' and 'a' != 'b'", "true"),
        ("//book/@n = 2", "true"),
        ("//book/@n != 2", "true"),
        ("//book[@n=2]/@n != 2", "false"),
        ("//nothing != 'a'", "false"),
        ("//nothing = ''", "false"),
        ("count(//book[@lang != 'y'])", "1"),
        ("//book/@n = //p:cost", "false"),
        ("//book/@n != //p:cost", "true"),
        ("//p:cost < 8", "true"),
        ("8 > //p:cost", "true"),
        ("//p:cost > 21", "false"),
        ("//p:cost[3] > 1", "false"),
        ("//book/@n < //p:cost", "true"),
        ("//p:cost <= //book/@n", "false"),
        ("//book = true()", "true"),
        ("//nothing = false()", "true"),
        ("'1.0' = 1", "true"),
        ("'1.0' = '1'", "false"),
        ("2 <= '2'", "true"),
        ("count(*/*)", "4"),
        ("2*3", "6"),
        ("count(//*[@n*2=4])", "1"),
        ("count(/*/div | /*/mod)", "0"),
        ("id('one')/book[2]/@n", "2"),
        ("(//shelf)[2]//p:cost/@cur", "EUR"),
        ("//book[p:cost=20.5]/@n", "2"),
        ("/shop/shelf/book[2][1]/@n", "2"),
        ("//shelf[book[p:cost < 8]]/@id", "s2"),
        ("count(/)", "1"),
    ] {
        check(path, expected);
    }
}

#[test]
fn unprefixed_names_have_no_namespace() {
    let feed = r#"<feed xmlns="urn:atom" xmlns:a="urn:atom"><entry xmlns:b="urn:b" b:x="1"/></feed>"#;
    let holds = |path: &str, count: &str| failure("XML Response", path, "count", count, feed).is_none();
    assert!(holds("//entry", "0"));
    assert!(holds("//a:entry", "1"));
    assert!(holds("//*[namespace-uri()='urn:atom']", "2"));
    assert!(holds("//a:entry/@x", "0"));
    assert!(holds("//@*[local-name()='x']", "1"));
    let unknown = failure("XML Response", "//b:entry", "does not exist", "", feed).unwrap();
    assert!(unknown.ends_with("found the prefix `b` is not declared on the root"), "{unknown}");
}

#[test]
fn a_doctype_is_tolerated_and_entities_are_refused() {
    let html = "<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Strict//EN\" \"http://127.0.0.1:1/x.dtd\">\
                <html><body><p>fine</p></body></html>";
    assert_eq!(failure("XML Response", "//p", "equals", "fine", html), None);
    for doctype in ["<!ENTITY e 'x'>", "<!ENTITY e SYSTEM 'file:///etc/hostname'>", "<!ENTITY % e 'x'>"] {
        let text = format!("<!DOCTYPE r [{doctype}]><r>x</r>");
        let failure_text = failure("XML Response", "//r", "equals", "x", &text).unwrap();
        assert!(
            failure_text.ends_with("found the XML declares entities, which are not read"),
            "{failure_text}"
        );
    }
    let unknown = failure("XML Response", "//r", "exists", "", "<r>&nbsp;</r>").unwrap();
    assert!(unknown.contains("the body is not XML"), "{unknown}");
}

#[test]
fn invalid_expressions_are_refused_with_a_reason() {
    for (path, text) in [
        ("", "needs a property"),
        (" ", "it is empty"),
        ("//book[", "a step is missing at the end"),
        ("//book]", "`]` does not belong there"),
        ("//book[1", "`]` is missing before the end"),
        ("count()", "another number of arguments than 0"),
        ("count('a')", "`count` needs nodes"),
        ("concat('a')", "another number of arguments"),
        ("nothing(1)", "the function `nothing` is not known"),
        ("sideways::a", "the axis `sideways` is not known"),
        ("'open", "no closing quote"),
        ("$x", "variables are not known"),
        ("1 | 2", "`|` needs nodes"),
        ("'a'/b", "`/` needs nodes before it"),
        ("1[1]", "`[` needs nodes before it"),
        ("a b", "`b` does not belong there"),
        ("//", "a step is missing at the end"),
        ("a//", "a step is missing at the end"),
        ("a/ /b", "a step is missing before `/`"),
        ("#", "`#` is not understood"),
        ("..[1]", "`[` does not belong there"),
        ("@", "a step is missing at the end"),
        ("a:", "is not understood"),
        (&"(".repeat(200), "too many brackets"),
    ] {
        let document = super::document("XML Response", path, "exists", "1");
        let error =
            vigie::evaluate::assertion::Assertion::new(&serde_json::from_value(document.clone()).unwrap())
                .unwrap_err()
                .to_string();
        assert!(error.contains(text), "{path}: {error}");
    }
}
