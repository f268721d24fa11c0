//! What every form of every act is read as.

use std::time::Duration;

use vigie::script::ScriptFacts;
use vigie::script::dialect::vocabulary::ACTS;
use vigie::script::dialect::{
    Action, Check, DialogAnswer, Expected, FrameChoice, Locator, Match, Pick, Script, State, Target,
    Variable, Wanted, WindowChoice,
};
use vigie::syntax::source::Position;

use crate::script::support::{action, acts, read, stepped};

fn css(text: &str) -> Target {
    Target { locators: vec![Locator::Css(text.to_owned())] }
}

fn contains(text: &str) -> Match {
    Match::Contains(text.to_owned())
}

#[test]
fn a_whole_script_is_read_with_its_places() {
    let text = "\u{feff}<?xml version='1.0'?>\n<!-- A shop. -->\n<script version=\"1\" name=\"Shop\" base=\"https://shop.test/\" \
        most-skipped=\"2\">\n  <variable name=\"user\" value=\"anna\"/>\n  <variable name='pass' value='a&amp;b' protected='true'/>\n\
        \x20 <step name=\"Front\" timeout=\"12.5\">\n    é<open url=\"/\" timeout=\"3\"/>\n  </step>\n  <step>\n<clear id='q' optional='1' \
        expect='event:cart:new'/></step>\n</script>\n"
        .replace('é', "");
    let script = read(&text);
    assert_eq!((script.name.as_str(), script.base.as_deref()), ("Shop", Some("https://shop.test/")));
    assert_eq!(script.most_skipped, 2);
    let variable =
        |name: &str, value: &str, protected| Variable { name: name.into(), value: value.into(), protected };
    assert_eq!(script.variables, [variable("user", "anna", false), variable("pass", "a&b", true)]);
    let steps: Vec<_> =
        script.steps.iter().map(|step| (step.name.as_str(), step.timeout, step.place)).collect();
    let place = |line, column| Position { line, column };
    let long = Some(Duration::from_millis(12_500));
    assert_eq!(steps, [("Front", long, place(6, 3)), ("Step 2", None, place(9, 3))]);
    let open = &script.steps[0].acts[0];
    assert_eq!((open.place, open.timeout), (place(7, 5), Some(Duration::from_secs(3))));
    assert_eq!((open.optional, &open.expected), (false, &None));
    let clear = &script.steps[1].acts[0];
    assert_eq!((clear.place, clear.optional), (place(10, 1), true));
    assert_eq!(clear.expected, Some(Expected::Event("cart:new".to_owned())));
    let plain = read("<script><step><close-window/></step></script>");
    assert_eq!((plain.name.as_str(), plain.base, plain.most_skipped), ("", None, 5));
    let facts = ScriptFacts::read(&text).unwrap();
    assert_eq!((facts.steps, facts.events, facts.protected), (2, 2, vec!["pass".to_owned()]));
}

/// Every form of every act, and what it is read as.
pub fn cases() -> Vec<(&'static str, Action)> {
    let link = || Target { locators: vec![Locator::Link("Sign in".into())] };
    let text = |text: &str| text.to_owned();
    vec![
        ("<open url='/a?b={{user}}'/>", Action::Open { url: text("/a?b={{user}}") }),
        ("<click css='#go'/>", Action::Click { on: css("#go"), twice: false }),
        ("<double-click link='Sign in'/>", Action::Click { on: link(), twice: true }),
        (
            "<type css='#q' text=' {{user}}{{$uuid}}'/>",
            Action::Type { into: css("#q"), text: text(" {{user}}{{$uuid}}") },
        ),
        ("<clear css='#q'/>", Action::Clear { field: css("#q") }),
        ("<select css='#s' value=''/>", Action::Select { field: css("#s"), pick: Pick::Value(text("")) }),
        (
            "<select css='#s' label='Red'/>",
            Action::Select { field: css("#s"), pick: Pick::Label(text("Red")) },
        ),
        ("<select css='#s' index='0'/>", Action::Select { field: css("#s"), pick: Pick::Index(0) }),
        ("<check css='#c'/>", Action::Check { field: css("#c"), on: true }),
        ("<check css='#c' on=' false '/>", Action::Check { field: css("#c"), on: false }),
        ("<hover css='.m'/>", Action::Hover { over: css(".m") }),
        ("<press key='Control+a'/>", Action::Press { key: text("Control+a"), on: None }),
        ("<press key='Enter' css='#q'/>", Action::Press { key: text("Enter"), on: Some(css("#q")) }),
        ("<scroll css='#end'/>", Action::Scroll { to: Some(css("#end")), x: 0, y: 0 }),
        ("<scroll y='-300'/>", Action::Scroll { to: None, x: 0, y: -300 }),
        ("<switch-frame css='iframe'/>", Action::SwitchFrame(FrameChoice::Element(css("iframe")))),
        ("<switch-frame index='1'/>", Action::SwitchFrame(FrameChoice::Index(1))),
        ("<switch-frame to='parent'/>", Action::SwitchFrame(FrameChoice::Parent)),
        ("<switch-frame to='top'/>", Action::SwitchFrame(FrameChoice::Top)),
        ("<switch-window to='main'/>", Action::SwitchWindow(WindowChoice::Main)),
        ("<switch-window to='newest'/>", Action::SwitchWindow(WindowChoice::Newest)),
        ("<switch-window index='2'/>", Action::SwitchWindow(WindowChoice::Index(2))),
        (
            "<switch-window to='title' contains='Help'/>",
            Action::SwitchWindow(WindowChoice::Title(contains("Help"))),
        ),
        ("<switch-window to='url' contains='/h'/>", Action::SwitchWindow(WindowChoice::Url(contains("/h")))),
        ("<close-window/>", Action::CloseWindow),
        ("<accept-dialog/>", Action::Dialog(DialogAnswer::Accept)),
        ("<dismiss-dialog/>", Action::Dialog(DialogAnswer::Dismiss)),
        ("<answer-dialog text=''/>", Action::Dialog(DialogAnswer::Answer(text("")))),
        ("<wait-for css='#x'/>", Action::WaitFor(Wanted::Element(css("#x"), State::Visible))),
        ("<wait-for css='#x' state='absent'/>", Action::WaitFor(Wanted::Element(css("#x"), State::Absent))),
        ("<wait-for-text contains='Hi'/>", Action::WaitFor(Wanted::Text(None, contains("Hi")))),
        (
            "<wait-for-text css='h1' contains='Hi'/>",
            Action::WaitFor(Wanted::Text(Some(css("h1")), contains("Hi"))),
        ),
        ("<wait-for-url contains='/x'/>", Action::WaitFor(Wanted::Url(contains("/x")))),
        ("<wait-for-event event='shop.ready'/>", Action::WaitFor(Wanted::Event(text("shop.ready")))),
        ("<wait-for-network-quiet/>", Action::WaitFor(Wanted::NetworkQuiet(Duration::from_millis(500)))),
        (
            "<wait-for-network-quiet quiet='1.25'/>",
            Action::WaitFor(Wanted::NetworkQuiet(Duration::from_millis(1250))),
        ),
        ("<extract into='a'/>", Action::Extract { into: text("a"), from: Check::Text(None), pattern: None }),
        (
            "<extract into='a' css='a' from='attribute' attribute='data-id'/>",
            Action::Extract {
                into: text("a"),
                from: Check::Attribute(css("a"), text("data-id")),
                pattern: None,
            },
        ),
        (
            "<extract into='a' css='a' from='value'/>",
            Action::Extract { into: text("a"), from: Check::Value(css("a")), pattern: None },
        ),
        (
            "<extract into='a' css='a' from='count'/>",
            Action::Extract { into: text("a"), from: Check::Count(css("a")), pattern: None },
        ),
        (
            "<extract into='a' from='url'/>",
            Action::Extract { into: text("a"), from: Check::Url, pattern: None },
        ),
        (
            "<extract into='a' from='title'/>",
            Action::Extract { into: text("a"), from: Check::Title, pattern: None },
        ),
        (
            "<run-js into='n'>return <![CDATA[1 < 2 && ]]>{{user}};<!-- c --> </run-js>",
            Action::RunJs { code: text("return 1 < 2 && {{user}}; "), into: Some(text("n")) },
        ),
        ("<run-js>go()</run-js>", Action::RunJs { code: text("go()"), into: None }),
        ("<screenshot name='Basket'/>", Action::Screenshot { name: text("Basket") }),
        ("<assert-text contains='Hi'/>", Action::Assert { what: Check::Text(None), must: contains("Hi") }),
        (
            "<assert-text css='h1' equals='' not='true'/>",
            Action::Assert {
                what: Check::Text(Some(css("h1"))),
                must: Match::Not(Box::new(Match::Equals(text("")))),
            },
        ),
        (
            "<assert-attribute css='a' attribute='href' contains='pdf'/>",
            Action::Assert { what: Check::Attribute(css("a"), text("href")), must: contains("pdf") },
        ),
        (
            "<assert-value css='a' contains='x'/>",
            Action::Assert { what: Check::Value(css("a")), must: contains("x") },
        ),
        ("<assert-url contains='x'/>", Action::Assert { what: Check::Url, must: contains("x") }),
        ("<assert-title contains='x' not='0'/>", Action::Assert { what: Check::Title, must: contains("x") }),
        (
            "<assert-count css='li' equals='007'/>",
            Action::Assert { what: Check::Count(css("li")), must: Match::Equals(text("7")) },
        ),
        (
            "<assert-count css='li' equals='{{user}}'/>",
            Action::Assert { what: Check::Count(css("li")), must: Match::Equals(text("{{user}}")) },
        ),
        (
            "<assert-count css='li' at-least='1'/>",
            Action::Assert { what: Check::Count(css("li")), must: Match::AtLeast(1) },
        ),
        (
            "<assert-count css='li' at-most='9'/>",
            Action::Assert { what: Check::Count(css("li")), must: Match::AtMost(9) },
        ),
        (
            "<assert-element css='b' state='hidden'/>",
            Action::AssertElement { element: css("b"), state: State::Hidden },
        ),
        (
            "<keyword text='(?i)hi' regex='true' invert='true' wait='true'/>",
            Action::Keyword { text: text("(?i)hi"), regex: true, invert: true, wait: true },
        ),
        (
            "<keyword text='(hi'/>",
            Action::Keyword { text: text("(hi"), regex: false, invert: false, wait: false },
        ),
    ]
}

#[test]
fn every_form_of_every_act() {
    let cases = cases();
    for (act, expected) in &cases {
        assert_eq!(action(act), *expected, "{act}");
        assert!(act.starts_with(&format!("<{}", expected.name())), "{act} is called `{}`", expected.name());
    }
    for word in ACTS {
        assert!(cases.iter().any(|(_, action)| action.name() == word.name), "no case has `{}`", word.name);
    }
    let Action::WaitFor(Wanted::Url(Match::Matches(pattern))) = action("<wait-for-url matches='/d\\d$'/>")
    else {
        panic!("not read as a pattern")
    };
    assert!(pattern.0.is_match("/d5") && !pattern.0.is_match("/d5/"));
}

#[test]
fn locators_stand_as_one_attribute_or_several_in_order() {
    let locators = |act: &str| match action(act) {
        Action::Click { on, .. } | Action::Type { into: on, .. } => on.locators,
        other => panic!("{other:?}"),
    };
    let text = |text: &str| text.to_owned();
    for (act, expected) in [
        ("<click id='a'/>", Locator::Id(text("a"))),
        ("<click css='a'/>", Locator::Css(text("a"))),
        ("<click xpath='//a[1]'/>", Locator::XPath(text("//a[1]"))),
        ("<click link='a'/>", Locator::Link(text("a"))),
        ("<click name='a'/>", Locator::Name(text("a"))),
        ("<click text='a'/>", Locator::Text(text("a"))),
        ("<type text='typed'><by text='Search'/></type>", Locator::Text(text("Search"))),
        ("<click css='li:nth-child({{user}}) a'/>", Locator::Css(text("li:nth-child({{user}}) a"))),
        ("<click xpath='//li[{{user}}]/a'/>", Locator::XPath(text("//li[{{user}}]/a"))),
        ("<click xpath='//li[1{{user}}]'/>", Locator::XPath(text("//li[1{{user}}]"))),
    ] {
        assert_eq!(locators(act), [expected], "{act}");
    }
    let several = "<click>\n<!-- best first --><by id='a'/><by text='Buy'/>\n<by id='a'/></click>";
    let (a, buy) = (Locator::Id(text("a")), Locator::Text(text("Buy")));
    assert_eq!(locators(several), [a.clone(), buy, a]);
}

#[test]
fn what_an_act_fills_later_ones_may_name() {
    let text =
        "<extract into='id' from='url'/><run-js into='n'>return {{id}}</run-js><open url='/{{id}}/{{n}}'/>";
    assert_eq!(acts(text).len(), 3);
    let two = "<script base='https://{{host}}/'><variable name='host' value='a.test'/>\
        <step><extract into='x' from='title'/></step><step><open url='/{{x}}'/></step></script>";
    assert_eq!(read(two).base.as_deref(), Some("https://{{host}}/"));
    let odd = stepped("<open url='/{{ user }}/{{1}}/{a}/{{'/>");
    assert_eq!(read(&odd).steps.len(), 1, "braces that are no placeholders are text");
}

#[test]
fn editors_may_be_told_the_schema() {
    let text = "<script xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xsi:noNamespaceSchemaLocation='script.xsd'>\
        <step><close-window/></step></script>";
    assert_eq!(read(text).steps.len(), 1);
}

#[test]
fn a_url_alone_is_one_step_that_opens_it() {
    let script = Script::opening("https://shop.test/?q={a}");
    assert_eq!(script.steps.len(), 1);
    let url = "https://shop.test/?q={a}".to_owned();
    assert_eq!(script.steps[0].acts[0].action, Action::Open { url });
    assert!(script.variables.is_empty() && script.most_skipped == 5);
    let odd = Script::opening("https://shop.test/?q={{a}}");
    assert_eq!(odd.variables[0].value, "https://shop.test/?q={{a}}", "no template is made of it");
    assert_eq!(odd.steps[0].acts[0].action, Action::Open { url: "{{url}}".to_owned() });
    assert!(Script::read(&odd.to_xml()).is_ok());
}

#[test]
fn a_relative_url_needs_a_base() {
    let relative = |script: &str| read(script).without_base().map(|act| act.place.line);
    assert_eq!(relative("<script><step><open url='http://a/'/>\n<open url='b'/></step></script>"), Some(2));
    assert_eq!(relative("<script base='http://a/'><step><open url='b'/></step></script>"), None);
    assert_eq!(relative("<script><step><open url='http://a/'/></step></script>"), None);
}
