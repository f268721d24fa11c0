//! The parsed form of every variant of every act.

use std::time::Duration;

use vigie::script::ScriptOverview;
use vigie::script::language::vocabulary::ACTION_SPECS;
use vigie::script::language::{
    ActionKind, DialogResponse, ElementState, ElementTarget, ExpectedEffect, FrameSelector, Locator, Matcher,
    OptionSelector, PageProperty, Script, ScriptVariable, WaitCondition, WindowSelector,
};
use vigie::syntax::node::Position;

use crate::script::support::{action, acts, read, script_with};

fn css(text: &str) -> ElementTarget {
    ElementTarget { locators: vec![Locator::Css(text.to_owned())] }
}

fn contains(text: &str) -> Matcher {
    Matcher::Contains(text.to_owned())
}

#[test]
fn a_whole_script_is_parsed_with_positions() {
    let text = "\u{feff}<?xml version='1.0'?>\n<!-- A shop. -->\n<script version=\"1\" name=\"Shop\" base=\"https://shop.test/\" \
        most-skipped=\"2\">\n  <variable name=\"user\" value=\"anna\"/>\n  <variable name='pass' value='a&amp;b' protected='true'/>\n\
        \x20 <step name=\"Front\" timeout=\"12.5\">\n    é<open url=\"/\" timeout=\"3\"/>\n  </step>\n  <step>\n<clear id='q' optional='1' \
        expect='event:cart:new'/></step>\n</script>\n"
        .replace('é', "");
    let script = read(&text);
    assert_eq!((script.name.as_str(), script.base_url.as_deref()), ("Shop", Some("https://shop.test/")));
    assert_eq!(script.max_skipped_actions, 2);
    let variable = |name: &str, value: &str, protected| ScriptVariable {
        name: name.into(),
        value: value.into(),
        protected,
    };
    assert_eq!(script.variables, [variable("user", "anna", false), variable("pass", "a&b", true)]);
    let steps: Vec<_> =
        script.steps.iter().map(|step| (step.name.as_str(), step.timeout, step.position)).collect();
    let at = |line, column| Position { line, column };
    let long = Some(Duration::from_millis(12_500));
    assert_eq!(steps, [("Front", long, at(6, 3)), ("Step 2", None, at(9, 3))]);
    let open = &script.steps[0].actions[0];
    assert_eq!((open.position, open.timeout), (at(7, 5), Some(Duration::from_secs(3))));
    assert_eq!((open.optional, &open.expected_effect), (false, &None));
    let clear = &script.steps[1].actions[0];
    assert_eq!((clear.position, clear.optional), (at(10, 1), true));
    assert_eq!(clear.expected_effect, Some(ExpectedEffect::Event("cart:new".to_owned())));
    let plain = read("<script><step><close-window/></step></script>");
    assert_eq!((plain.name.as_str(), plain.base_url, plain.max_skipped_actions), ("", None, 5));
    let facts = ScriptOverview::parse(&text).unwrap();
    assert_eq!(
        (facts.step_count, facts.action_count, facts.protected_variables),
        (2, 2, vec!["pass".to_owned()])
    );
}

/// Every variant of every act and its parsed form.
pub fn cases() -> Vec<(&'static str, ActionKind)> {
    let link = || ElementTarget { locators: vec![Locator::Link("Sign in".into())] };
    let text = |text: &str| text.to_owned();
    vec![
        ("<open url='/a?b={{user}}'/>", ActionKind::Open { url: text("/a?b={{user}}") }),
        ("<click css='#go'/>", ActionKind::Click { target: css("#go"), double: false }),
        ("<double-click link='Sign in'/>", ActionKind::Click { target: link(), double: true }),
        (
            "<type css='#q' text=' {{user}}{{$uuid}}'/>",
            ActionKind::Type { target: css("#q"), text: text(" {{user}}{{$uuid}}") },
        ),
        ("<clear css='#q'/>", ActionKind::Clear { target: css("#q") }),
        (
            "<select css='#s' value=''/>",
            ActionKind::Select { target: css("#s"), option: OptionSelector::Value(text("")) },
        ),
        (
            "<select css='#s' label='Red'/>",
            ActionKind::Select { target: css("#s"), option: OptionSelector::Label(text("Red")) },
        ),
        (
            "<select css='#s' index='0'/>",
            ActionKind::Select { target: css("#s"), option: OptionSelector::Index(0) },
        ),
        ("<check css='#c'/>", ActionKind::SetChecked { target: css("#c"), checked: true }),
        ("<check css='#c' on=' false '/>", ActionKind::SetChecked { target: css("#c"), checked: false }),
        ("<hover css='.m'/>", ActionKind::Hover { target: css(".m") }),
        ("<press key='Control+a'/>", ActionKind::Press { key: text("Control+a"), target: None }),
        ("<press key='Enter' css='#q'/>", ActionKind::Press { key: text("Enter"), target: Some(css("#q")) }),
        ("<scroll css='#end'/>", ActionKind::Scroll { target: Some(css("#end")), x: 0, y: 0 }),
        ("<scroll y='-300'/>", ActionKind::Scroll { target: None, x: 0, y: -300 }),
        ("<switch-frame css='iframe'/>", ActionKind::SwitchFrame(FrameSelector::Element(css("iframe")))),
        ("<switch-frame index='1'/>", ActionKind::SwitchFrame(FrameSelector::Index(1))),
        ("<switch-frame to='parent'/>", ActionKind::SwitchFrame(FrameSelector::Parent)),
        ("<switch-frame to='top'/>", ActionKind::SwitchFrame(FrameSelector::Top)),
        ("<switch-window to='main'/>", ActionKind::SwitchWindow(WindowSelector::Main)),
        ("<switch-window to='newest'/>", ActionKind::SwitchWindow(WindowSelector::Newest)),
        ("<switch-window index='2'/>", ActionKind::SwitchWindow(WindowSelector::Index(2))),
        (
            "<switch-window to='title' contains='Help'/>",
            ActionKind::SwitchWindow(WindowSelector::Title(contains("Help"))),
        ),
        (
            "<switch-window to='url' contains='/h'/>",
            ActionKind::SwitchWindow(WindowSelector::Url(contains("/h"))),
        ),
        ("<close-window/>", ActionKind::CloseWindow),
        ("<accept-dialog/>", ActionKind::Dialog(DialogResponse::Accept)),
        ("<dismiss-dialog/>", ActionKind::Dialog(DialogResponse::Dismiss)),
        ("<answer-dialog text=''/>", ActionKind::Dialog(DialogResponse::AcceptWithText(text("")))),
        (
            "<wait-for css='#x'/>",
            ActionKind::WaitFor(WaitCondition::Element(css("#x"), ElementState::Visible)),
        ),
        (
            "<wait-for css='#x' state='absent'/>",
            ActionKind::WaitFor(WaitCondition::Element(css("#x"), ElementState::Absent)),
        ),
        ("<wait-for-text contains='Hi'/>", ActionKind::WaitFor(WaitCondition::Text(None, contains("Hi")))),
        (
            "<wait-for-text css='h1' contains='Hi'/>",
            ActionKind::WaitFor(WaitCondition::Text(Some(css("h1")), contains("Hi"))),
        ),
        ("<wait-for-url contains='/x'/>", ActionKind::WaitFor(WaitCondition::Url(contains("/x")))),
        (
            "<wait-for-event event='shop.ready'/>",
            ActionKind::WaitFor(WaitCondition::Event(text("shop.ready"))),
        ),
        (
            "<wait-for-network-quiet/>",
            ActionKind::WaitFor(WaitCondition::NetworkIdle(Duration::from_millis(500))),
        ),
        (
            "<wait-for-network-quiet quiet='1.25'/>",
            ActionKind::WaitFor(WaitCondition::NetworkIdle(Duration::from_millis(1250))),
        ),
        (
            "<extract into='a'/>",
            ActionKind::Extract {
                into_variable: text("a"),
                property: PageProperty::Text(None),
                pattern: None,
            },
        ),
        (
            "<extract into='a' css='a' from='attribute' attribute='data-id'/>",
            ActionKind::Extract {
                into_variable: text("a"),
                property: PageProperty::Attribute(css("a"), text("data-id")),
                pattern: None,
            },
        ),
        (
            "<extract into='a' css='a' from='value'/>",
            ActionKind::Extract {
                into_variable: text("a"),
                property: PageProperty::Value(css("a")),
                pattern: None,
            },
        ),
        (
            "<extract into='a' css='a' from='count'/>",
            ActionKind::Extract {
                into_variable: text("a"),
                property: PageProperty::Count(css("a")),
                pattern: None,
            },
        ),
        (
            "<extract into='a' from='url'/>",
            ActionKind::Extract { into_variable: text("a"), property: PageProperty::Url, pattern: None },
        ),
        (
            "<extract into='a' from='title'/>",
            ActionKind::Extract { into_variable: text("a"), property: PageProperty::Title, pattern: None },
        ),
        (
            "<run-js into='n'>return <![CDATA[1 < 2 && ]]>{{user}};<!-- c --> </run-js>",
            ActionKind::RunJs { code: text("return 1 < 2 && {{user}}; "), into_variable: Some(text("n")) },
        ),
        ("<run-js>go()</run-js>", ActionKind::RunJs { code: text("go()"), into_variable: None }),
        ("<screenshot name='Basket'/>", ActionKind::Screenshot { name: text("Basket") }),
        (
            "<assert-text contains='Hi'/>",
            ActionKind::Assert { property: PageProperty::Text(None), matcher: contains("Hi") },
        ),
        (
            "<assert-text css='h1' equals='' not='true'/>",
            ActionKind::Assert {
                property: PageProperty::Text(Some(css("h1"))),
                matcher: Matcher::Not(Box::new(Matcher::Equals(text("")))),
            },
        ),
        (
            "<assert-attribute css='a' attribute='href' contains='pdf'/>",
            ActionKind::Assert {
                property: PageProperty::Attribute(css("a"), text("href")),
                matcher: contains("pdf"),
            },
        ),
        (
            "<assert-value css='a' contains='x'/>",
            ActionKind::Assert { property: PageProperty::Value(css("a")), matcher: contains("x") },
        ),
        (
            "<assert-url contains='x'/>",
            ActionKind::Assert { property: PageProperty::Url, matcher: contains("x") },
        ),
        (
            "<assert-title contains='x' not='0'/>",
            ActionKind::Assert { property: PageProperty::Title, matcher: contains("x") },
        ),
        (
            "<assert-count css='li' equals='007'/>",
            ActionKind::Assert {
                property: PageProperty::Count(css("li")),
                matcher: Matcher::Equals(text("7")),
            },
        ),
        (
            "<assert-count css='li' equals='{{user}}'/>",
            ActionKind::Assert {
                property: PageProperty::Count(css("li")),
                matcher: Matcher::Equals(text("{{user}}")),
            },
        ),
        (
            "<assert-count css='li' at-least='1'/>",
            ActionKind::Assert { property: PageProperty::Count(css("li")), matcher: Matcher::AtLeast(1) },
        ),
        (
            "<assert-count css='li' at-most='9'/>",
            ActionKind::Assert { property: PageProperty::Count(css("li")), matcher: Matcher::AtMost(9) },
        ),
        (
            "<assert-element css='b' state='hidden'/>",
            ActionKind::AssertElement { target: css("b"), state: ElementState::Hidden },
        ),
        (
            "<keyword text='(?i)hi' regex='true' invert='true' wait='true'/>",
            ActionKind::Keyword { text: text("(?i)hi"), regex: true, invert: true, wait: true },
        ),
        (
            "<keyword text='(hi'/>",
            ActionKind::Keyword { text: text("(hi"), regex: false, invert: false, wait: false },
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
    for spec in ACTION_SPECS {
        assert!(cases.iter().any(|(_, action)| action.name() == spec.name), "no case has `{}`", spec.name);
    }
    let ActionKind::WaitFor(WaitCondition::Url(Matcher::Matches(pattern))) =
        action("<wait-for-url matches='/d\\d$'/>")
    else {
        panic!("not read as a pattern")
    };
    assert_eq!(&*pattern.0, r"/d\d$");
}

#[test]
fn locators_are_one_attribute_or_several_elements_in_order() {
    let locators = |act: &str| match action(act) {
        ActionKind::Click { target: on, .. } | ActionKind::Type { target: on, .. } => on.locators,
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
fn later_acts_may_use_variables_of_earlier_ones() {
    let text =
        "<extract into='id' from='url'/><run-js into='n'>return {{id}}</run-js><open url='/{{id}}/{{n}}'/>";
    assert_eq!(acts(text).len(), 3);
    let two = "<script base='https://{{host}}/'><variable name='host' value='a.test'/>\
        <step><extract into='x' from='title'/></step><step><open url='/{{x}}'/></step></script>";
    assert_eq!(read(two).base_url.as_deref(), Some("https://{{host}}/"));
    let odd = script_with("<open url='/{{ user }}/{{1}}/{a}/{{'/>");
    assert_eq!(read(&odd).steps.len(), 1, "braces that are no placeholders are text");
}

#[test]
fn a_script_may_name_its_schema_for_editors() {
    let text = "<script xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xsi:noNamespaceSchemaLocation='script.xsd'>\
        <step><close-window/></step></script>";
    assert_eq!(read(text).steps.len(), 1);
}

#[test]
fn a_url_alone_becomes_one_step_that_opens_it() {
    let script = Script::from_url("https://shop.test/?q={a}");
    assert_eq!(script.steps.len(), 1);
    let url = "https://shop.test/?q={a}".to_owned();
    assert_eq!(script.steps[0].actions[0].kind, ActionKind::Open { url });
    assert!(script.variables.is_empty() && script.max_skipped_actions == 5);
    let odd = Script::from_url("https://shop.test/?q={{a}}");
    assert_eq!(odd.variables[0].value, "https://shop.test/?q={{a}}", "no template is made of it");
    assert_eq!(odd.steps[0].actions[0].kind, ActionKind::Open { url: "{{url}}".to_owned() });
    assert!(Script::parse(&odd.to_xml()).is_ok());
}

#[test]
fn a_relative_url_needs_a_base() {
    let relative = |script: &str| read(script).first_relative_open().map(|action| action.position.line);
    assert_eq!(relative("<script><step><open url='http://a/'/>\n<open url='b'/></step></script>"), Some(2));
    assert_eq!(relative("<script base='http://a/'><step><open url='b'/></step></script>"), None);
    assert_eq!(relative("<script><step><open url='http://a/'/></step></script>"), None);
}
