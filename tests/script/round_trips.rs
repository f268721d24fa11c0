//! Written scripts parse back to the same script, and masking secrets recognises every valid script.

use std::time::Duration;

use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use vigie::script::language::{
    Action, ActionKind, DialogResponse, ElementState, ElementTarget, ExpectedEffect, FrameSelector, Locator,
    Matcher, OptionSelector, PageProperty, RegexPattern, Script, ScriptStep, ScriptVariable, WaitCondition,
    WindowSelector,
};
use vigie::script::{ScriptOverview, has_secrets, mask_secrets, restore_masked_secrets};
use vigie::syntax::node::Position;

use crate::script::support::without_positions;

/// Generates texts with everything that XML treats specially, but no blank ones.
fn text() -> impl Strategy<Value = String> {
    let special = select(vec![
        " a\nb\t",
        "<&>\"'",
        "]]>",
        "a\r\nb",
        "{{v0}}",
        "é\u{1f980}",
        "{{$uuid}}x",
        "<![CDATA[",
        "-->",
    ]);
    prop_oneof![special.prop_map(str::to_owned), "[ -~]{0,12}[a-z]"]
}

fn locator() -> impl Strategy<Value = Locator> {
    prop_oneof![
        text().prop_map(Locator::Id),
        select(vec!["#a", "a[b=\"c\"]", "li:nth-child(2)", "p > a"])
            .prop_map(|css| Locator::Css(css.to_owned())),
        select(vec!["//a", "//li[{{v0}}]/a[.='x']", "id('a')"])
            .prop_map(|path| Locator::XPath(path.to_owned())),
        text().prop_map(Locator::Link),
        text().prop_map(Locator::Name),
        text().prop_map(Locator::Text),
    ]
}

fn target() -> impl Strategy<Value = ElementTarget> {
    prop::collection::vec(locator(), 1..4).prop_map(|locators| ElementTarget { locators })
}

fn seconds() -> impl Strategy<Value = Duration> {
    (1u64..3_600_000).prop_map(Duration::from_millis)
}

fn pattern() -> impl Strategy<Value = RegexPattern> {
    select(vec!["a", "<\\d+>&\"", "^\\s\n$"]).prop_map(|text| RegexPattern(text.into()))
}

fn matcher() -> impl Strategy<Value = Matcher> {
    let plain = prop_oneof![
        text().prop_map(Matcher::Equals),
        Just(Matcher::Equals(String::new())),
        text().prop_map(Matcher::Contains),
        pattern().prop_map(Matcher::Matches),
    ];
    negated(plain)
}

fn count() -> impl Strategy<Value = Matcher> {
    let plain = prop_oneof![
        (0u64..1_000_000).prop_map(|number| Matcher::Equals(number.to_string())),
        Just(Matcher::Equals("{{v0}}".to_owned())),
        (0u64..1_000_000).prop_map(Matcher::AtLeast),
        (0u64..1_000_000).prop_map(Matcher::AtMost),
    ];
    negated(plain)
}

fn negated(plain: impl Strategy<Value = Matcher>) -> impl Strategy<Value = Matcher> {
    (plain, any::<bool>()).prop_map(|(plain, not)| if not { Matcher::Not(Box::new(plain)) } else { plain })
}

fn state() -> impl Strategy<Value = ElementState> {
    select(vec![
        ElementState::Present,
        ElementState::Visible,
        ElementState::Enabled,
        ElementState::Hidden,
        ElementState::Absent,
    ])
}

fn page_assertion() -> impl Strategy<Value = (PageProperty, Matcher)> {
    prop_oneof![
        (option::of(target()).prop_map(PageProperty::Text), matcher()),
        (target().prop_map(|target| PageProperty::Attribute(target, "data-x".to_owned())), matcher()),
        (target().prop_map(PageProperty::Value), matcher()),
        (Just(PageProperty::Url), matcher()),
        (Just(PageProperty::Title), matcher()),
        (target().prop_map(PageProperty::Count), count()),
    ]
}

fn window() -> impl Strategy<Value = WindowSelector> {
    prop_oneof![
        Just(WindowSelector::Main),
        Just(WindowSelector::Newest),
        (0u32..9999).prop_map(WindowSelector::Index),
        matcher().prop_map(WindowSelector::Title),
        matcher().prop_map(WindowSelector::Url),
    ]
}

fn wait_condition() -> impl Strategy<Value = WaitCondition> {
    prop_oneof![
        (target(), state()).prop_map(|(target, state)| WaitCondition::Element(target, state)),
        (option::of(target()), matcher()).prop_map(|(target, matcher)| WaitCondition::Text(target, matcher)),
        matcher().prop_map(WaitCondition::Url),
        "[a-z.:-]{1,9}".prop_map(WaitCondition::Event),
        seconds().prop_map(WaitCondition::NetworkIdle),
    ]
}

fn interaction() -> impl Strategy<Value = ActionKind> {
    prop_oneof![
        text().prop_map(|url| ActionKind::Open { url }),
        (target(), any::<bool>()).prop_map(|(on, twice)| ActionKind::Click { target: on, double: twice }),
        (target(), text()).prop_map(|(into, text)| ActionKind::Type { target: into, text }),
        target().prop_map(|field| ActionKind::Clear { target: field }),
        (target(), text()).prop_map(|(field, value)| ActionKind::Select {
            target: field,
            option: OptionSelector::Value(value)
        }),
        (target(), text()).prop_map(|(field, label)| ActionKind::Select {
            target: field,
            option: OptionSelector::Label(label)
        }),
        (target(), 0u32..9).prop_map(|(field, index)| ActionKind::Select {
            target: field,
            option: OptionSelector::Index(index)
        }),
        (target(), any::<bool>())
            .prop_map(|(field, on)| ActionKind::SetChecked { target: field, checked: on }),
        target().prop_map(|over| ActionKind::Hover { target: over }),
        (select(vec!["a", " ", "\"", "Enter", "Control+Shift+End", "Control++"]), option::of(target()))
            .prop_map(|(key, on)| ActionKind::Press { key: key.to_owned(), target: on }),
        target().prop_map(|to| ActionKind::Scroll { target: Some(to), x: 0, y: 0 }),
        (-999i64..999, -999i64..999).prop_map(|(x, y)| ActionKind::Scroll { target: None, x, y }),
    ]
}

fn other_action() -> impl Strategy<Value = ActionKind> {
    prop_oneof![
        target().prop_map(|target| ActionKind::SwitchFrame(FrameSelector::Element(target))),
        (0u16..9999).prop_map(|index| ActionKind::SwitchFrame(FrameSelector::Index(index))),
        select(vec![FrameSelector::Parent, FrameSelector::Top]).prop_map(ActionKind::SwitchFrame),
        window().prop_map(ActionKind::SwitchWindow),
        Just(ActionKind::CloseWindow),
        select(vec![
            DialogResponse::Accept,
            DialogResponse::Dismiss,
            DialogResponse::AcceptWithText(String::new())
        ])
        .prop_map(ActionKind::Dialog),
        text().prop_map(|text| ActionKind::Dialog(DialogResponse::AcceptWithText(text))),
        wait_condition().prop_map(ActionKind::WaitFor),
        (page_assertion(), option::of(pattern())).prop_map(|((from, _), pattern)| ActionKind::Extract {
            into_variable: "v1".to_owned(),
            property: from,
            pattern
        }),
        (text(), any::<bool>()).prop_map(|(code, into)| ActionKind::RunJs {
            code,
            into_variable: into.then(|| "v0".to_owned())
        }),
        text().prop_map(|name| ActionKind::Screenshot { name }),
        page_assertion().prop_map(|(what, matcher)| ActionKind::Assert { property: what, matcher }),
        (target(), state()).prop_map(|(element, state)| ActionKind::AssertElement { target: element, state }),
        (text(), any::<bool>(), any::<bool>()).prop_map(|(text, invert, wait)| ActionKind::Keyword {
            text,
            regex: false,
            invert,
            wait
        }),
    ]
}

fn expected_effect() -> impl Strategy<Value = ExpectedEffect> {
    prop_oneof![
        Just(ExpectedEffect::LocationChange),
        Just(ExpectedEffect::PageUpdate),
        "[a-z]{1,9}".prop_map(ExpectedEffect::Event)
    ]
}

fn act() -> impl Strategy<Value = Action> {
    let with_effect = (interaction(), option::of(expected_effect()));
    let action = prop_oneof![with_effect, other_action().prop_map(|action| (action, None))];
    (action, any::<(bool, bool)>(), option::of(seconds())).prop_map(
        |((kind, expected_effect), (optional, soft), timeout)| Action {
            kind,
            optional,
            soft,
            timeout,
            expected_effect,
            position: Position::default(),
        },
    )
}

fn step() -> impl Strategy<Value = ScriptStep> {
    (text(), option::of(seconds()), prop::collection::vec(act(), 1..5)).prop_map(|(name, timeout, acts)| {
        ScriptStep { name, timeout, actions: acts, position: Position::default() }
    })
}

prop_compose! {
    /// Generates any script.
    pub fn script()(
        name in prop_oneof![Just(String::new()), text()],
        base in option::of(select(vec!["https://a.test/", "http://{{v0}}/?a&b"])),
        most_skipped in prop_oneof![Just(5), 0u32..1000],
        values in prop::collection::vec((text(), any::<bool>()), 1..4),
        steps in prop::collection::vec(step(), 1..4),
    ) -> Script {
        let variable = |(at, (value, protected))| ScriptVariable { name: format!("v{at}"), value, protected };
        let variables = values.into_iter().enumerate().map(variable).collect();
        Script { name, base_url: base.map(str::to_owned), max_skipped_actions: most_skipped, variables, steps }
    }
}

proptest! {
    #[test]
    fn a_written_script_parses_back_to_the_same_script(script in script()) {
        let text = script.to_xml();
        match Script::parse(&text) {
            Ok(parsed) => {
                prop_assert_eq!(parsed.to_xml(), text.clone(), "always written alike");
                prop_assert_eq!(without_positions(parsed), script.clone());
            }
            Err(errors) => prop_assert!(false, "{:?}\n{}", errors, text),
        }
        let facts = ScriptOverview::parse(&text).unwrap();
        prop_assert_eq!(facts.step_count, script.steps.len());
        prop_assert_eq!(facts.action_count, script.steps.iter().map(|step| step.actions.len()).sum::<usize>());
        let protected: Vec<_> = script.variables.iter().filter(|variable| variable.protected).collect();
        prop_assert_eq!(facts.protected_variables.len(), protected.len());
        prop_assert_eq!(has_secrets(&text), !protected.is_empty());
        let masked = mask_secrets(&text).into_owned();
        prop_assert!(Script::parse(&masked).is_ok(), "what answers show can be read too");
        let restored = restore_masked_secrets(&masked, Some(&text));
        prop_assert_eq!(restored.as_deref(), Ok(text.as_str()));
    }

    #[test]
    fn no_text_breaks_the_parser(text in ".{0,200}", act in "[a-z-]{0,9}", attribute in "[a-z-]{0,9}") {
        let _ = Script::parse(&text);
        let odd = format!("<script><step><{act} {attribute}='{text}'/><click {attribute}='{text}'/></step></script>");
        if let Ok(script) = Script::parse(&odd) {
            prop_assert!(ScriptOverview::parse(&odd).is_ok());
            prop_assert_eq!(without_positions(Script::parse(&script.to_xml()).unwrap()), without_positions(script));
        }
    }
}

#[test]
fn characters_that_xml_cannot_contain_are_replaced() {
    let mut script = Script::from_url("https://a.test/");
    let code = "a\u{0}b\u{b}".to_owned();
    script.steps[0].actions[0].kind = ActionKind::RunJs { code, into_variable: None };
    let parsed = Script::parse(&script.to_xml()).unwrap();
    let code = "a\u{fffd}b\u{fffd}".to_owned();
    assert_eq!(parsed.steps[0].actions[0].kind, ActionKind::RunJs { code, into_variable: None });
}
