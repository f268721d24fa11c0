//! What is written reads back as the same; what reads is a script in the eyes of what hides secrets too.

use std::time::Duration;

use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use vigie::script::dialect::{
    Act, Action, Check, DialogAnswer, Expected, FrameChoice, Locator, Match, Pattern, Pick, Script, State,
    Step, Target, Variable, Wanted, WindowChoice,
};
use vigie::script::{ScriptFacts, hides, masked, unmasked};
use vigie::syntax::source::Position;

use crate::script::support::placeless;

/// Texts with everything that XML treats in a way of its own, and no blank ones.
fn text() -> impl Strategy<Value = String> {
    let odd = select(vec![
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
    prop_oneof![odd.prop_map(str::to_owned), "[ -~]{0,12}[a-z]"]
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

fn target() -> impl Strategy<Value = Target> {
    prop::collection::vec(locator(), 1..4).prop_map(|locators| Target { locators })
}

fn seconds() -> impl Strategy<Value = Duration> {
    (1u64..3_600_000).prop_map(Duration::from_millis)
}

fn pattern() -> impl Strategy<Value = Pattern> {
    select(vec!["a", "<\\d+>&\"", "^\\s\n$"]).prop_map(|text| Pattern(regex::Regex::new(text).unwrap()))
}

fn must() -> impl Strategy<Value = Match> {
    let plain = prop_oneof![
        text().prop_map(Match::Equals),
        Just(Match::Equals(String::new())),
        text().prop_map(Match::Contains),
        pattern().prop_map(Match::Matches),
    ];
    negated(plain)
}

fn count() -> impl Strategy<Value = Match> {
    let plain = prop_oneof![
        (0u64..1_000_000).prop_map(|number| Match::Equals(number.to_string())),
        Just(Match::Equals("{{v0}}".to_owned())),
        (0u64..1_000_000).prop_map(Match::AtLeast),
        (0u64..1_000_000).prop_map(Match::AtMost),
    ];
    negated(plain)
}

fn negated(plain: impl Strategy<Value = Match>) -> impl Strategy<Value = Match> {
    (plain, any::<bool>()).prop_map(|(plain, not)| if not { Match::Not(Box::new(plain)) } else { plain })
}

fn state() -> impl Strategy<Value = State> {
    select(vec![State::Present, State::Visible, State::Enabled, State::Hidden, State::Absent])
}

fn checked() -> impl Strategy<Value = (Check, Match)> {
    prop_oneof![
        (option::of(target()).prop_map(Check::Text), must()),
        (target().prop_map(|target| Check::Attribute(target, "data-x".to_owned())), must()),
        (target().prop_map(Check::Value), must()),
        (Just(Check::Url), must()),
        (Just(Check::Title), must()),
        (target().prop_map(Check::Count), count()),
    ]
}

fn window() -> impl Strategy<Value = WindowChoice> {
    prop_oneof![
        Just(WindowChoice::Main),
        Just(WindowChoice::Newest),
        (0u32..9999).prop_map(WindowChoice::Index),
        must().prop_map(WindowChoice::Title),
        must().prop_map(WindowChoice::Url),
    ]
}

fn wanted() -> impl Strategy<Value = Wanted> {
    prop_oneof![
        (target(), state()).prop_map(|(target, state)| Wanted::Element(target, state)),
        (option::of(target()), must()).prop_map(|(target, must)| Wanted::Text(target, must)),
        must().prop_map(Wanted::Url),
        "[a-z.:-]{1,9}".prop_map(Wanted::Event),
        seconds().prop_map(Wanted::NetworkQuiet),
    ]
}

fn clicking() -> impl Strategy<Value = Action> {
    prop_oneof![
        text().prop_map(|url| Action::Open { url }),
        (target(), any::<bool>()).prop_map(|(on, twice)| Action::Click { on, twice }),
        (target(), text()).prop_map(|(into, text)| Action::Type { into, text }),
        target().prop_map(|field| Action::Clear { field }),
        (target(), text()).prop_map(|(field, value)| Action::Select { field, pick: Pick::Value(value) }),
        (target(), text()).prop_map(|(field, label)| Action::Select { field, pick: Pick::Label(label) }),
        (target(), 0u32..9).prop_map(|(field, index)| Action::Select { field, pick: Pick::Index(index) }),
        (target(), any::<bool>()).prop_map(|(field, on)| Action::Check { field, on }),
        target().prop_map(|over| Action::Hover { over }),
        (select(vec!["a", " ", "\"", "Enter", "Control+Shift+End", "Control++"]), option::of(target()))
            .prop_map(|(key, on)| Action::Press { key: key.to_owned(), on }),
        target().prop_map(|to| Action::Scroll { to: Some(to), x: 0, y: 0 }),
        (-999i64..999, -999i64..999).prop_map(|(x, y)| Action::Scroll { to: None, x, y }),
    ]
}

fn looking() -> impl Strategy<Value = Action> {
    prop_oneof![
        target().prop_map(|target| Action::SwitchFrame(FrameChoice::Element(target))),
        (0u16..9999).prop_map(|index| Action::SwitchFrame(FrameChoice::Index(index))),
        select(vec![FrameChoice::Parent, FrameChoice::Top]).prop_map(Action::SwitchFrame),
        window().prop_map(Action::SwitchWindow),
        Just(Action::CloseWindow),
        select(vec![DialogAnswer::Accept, DialogAnswer::Dismiss, DialogAnswer::Answer(String::new())])
            .prop_map(Action::Dialog),
        text().prop_map(|text| Action::Dialog(DialogAnswer::Answer(text))),
        wanted().prop_map(Action::WaitFor),
        (checked(), option::of(pattern())).prop_map(|((from, _), pattern)| Action::Extract {
            into: "v1".to_owned(),
            from,
            pattern
        }),
        (text(), any::<bool>())
            .prop_map(|(code, into)| Action::RunJs { code, into: into.then(|| "v0".to_owned()) }),
        text().prop_map(|name| Action::Screenshot { name }),
        checked().prop_map(|(what, must)| Action::Assert { what, must }),
        (target(), state()).prop_map(|(element, state)| Action::AssertElement { element, state }),
        (text(), any::<bool>(), any::<bool>()).prop_map(|(text, invert, wait)| Action::Keyword {
            text,
            regex: false,
            invert,
            wait
        }),
    ]
}

fn expected() -> impl Strategy<Value = Expected> {
    prop_oneof![Just(Expected::Location), Just(Expected::Update), "[a-z]{1,9}".prop_map(Expected::Event)]
}

fn act() -> impl Strategy<Value = Act> {
    let acting = (clicking(), option::of(expected()));
    let action = prop_oneof![acting, looking().prop_map(|action| (action, None))];
    (action, any::<bool>(), option::of(seconds())).prop_map(|((action, expected), optional, timeout)| Act {
        action,
        optional,
        timeout,
        expected,
        place: Position::default(),
    })
}

fn step() -> impl Strategy<Value = Step> {
    (text(), option::of(seconds()), prop::collection::vec(act(), 1..5))
        .prop_map(|(name, timeout, acts)| Step { name, timeout, acts, place: Position::default() })
}

prop_compose! {
    /// Any script.
    pub fn script()(
        name in prop_oneof![Just(String::new()), text()],
        base in option::of(select(vec!["https://a.test/", "http://{{v0}}/?a&b"])),
        most_skipped in prop_oneof![Just(5), 0u32..1000],
        values in prop::collection::vec((text(), any::<bool>()), 1..4),
        steps in prop::collection::vec(step(), 1..4),
    ) -> Script {
        let variable = |(at, (value, protected))| Variable { name: format!("v{at}"), value, protected };
        let variables = values.into_iter().enumerate().map(variable).collect();
        Script { name, base: base.map(str::to_owned), most_skipped, variables, steps }
    }
}

proptest! {
    #[test]
    fn what_is_written_reads_back_as_the_same(script in script()) {
        let text = script.to_xml();
        match Script::read(&text) {
            Ok(again) => {
                prop_assert_eq!(again.to_xml(), text.clone(), "always written alike");
                prop_assert_eq!(placeless(again), script.clone());
            }
            Err(faults) => prop_assert!(false, "{:?}\n{}", faults, text),
        }
        let facts = ScriptFacts::read(&text).unwrap();
        prop_assert_eq!(facts.steps, script.steps.len());
        prop_assert_eq!(facts.events, script.steps.iter().map(|step| step.acts.len()).sum::<usize>());
        let protected: Vec<_> = script.variables.iter().filter(|variable| variable.protected).collect();
        prop_assert_eq!(facts.protected.len(), protected.len());
        prop_assert_eq!(hides(&text), !protected.is_empty());
        let shown = masked(&text).into_owned();
        prop_assert!(Script::read(&shown).is_ok(), "what answers show can be read too");
        let restored = unmasked(&shown, Some(&text));
        prop_assert_eq!(restored.as_deref(), Ok(text.as_str()));
    }

    #[test]
    fn no_text_breaks_the_parser(text in ".{0,200}", act in "[a-z-]{0,9}", attribute in "[a-z-]{0,9}") {
        let _ = Script::read(&text);
        let odd = format!("<script><step><{act} {attribute}='{text}'/><click {attribute}='{text}'/></step></script>");
        if let Ok(script) = Script::read(&odd) {
            prop_assert!(ScriptFacts::read(&odd).is_ok());
            prop_assert_eq!(placeless(Script::read(&script.to_xml()).unwrap()), placeless(script));
        }
    }
}

#[test]
fn what_xml_cannot_write_is_replaced_and_the_rest_kept() {
    let mut script = Script::opening("https://a.test/");
    let code = "a\u{0}b\u{b}".to_owned();
    script.steps[0].acts[0].action = Action::RunJs { code, into: None };
    let again = Script::read(&script.to_xml()).unwrap();
    let code = "a\u{fffd}b\u{fffd}".to_owned();
    assert_eq!(again.steps[0].acts[0].action, Action::RunJs { code, into: None });
}
