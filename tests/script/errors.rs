//! Invalid scripts: the position and message of every error.

use vigie::script::language::Script;

use crate::script::support::{errors, script_with};

/// Hint of an act that lacks its locator.
const LOCATORS: &str = "give one of `id`, `css`, `xpath`, `link`, `name`, `text`, or `by` elements in it";

/// Returns a script with this act only, at line 2, column 1.
pub fn script_around(act: &str) -> String {
    format!("<script><variable name='user' value='anna'/><step>\n{act}</step></script>")
}

fn errors_of(act: &str) -> Vec<String> {
    errors(&script_around(act))
}

/// Invalid scripts, each with its error.
pub const SCRIPTS: &[(&str, &str)] = &[
    ("", "1:1: the document does not have a root node"),
    ("<x/>", "1:1: the root must be `script`, not `x`"),
    ("<s:script xmlns:s='u'/>", "1:1: the root `script` must have no namespace"),
    ("<script/>", "1:1: it contains no `step`"),
    ("<script>\n<step/></script>", "2:1: this `step` contains no act"),
    (
        "<script version='2'><step><close-window/></step></script>",
        "1:9: the version of the dialect must be `1`, not `2`",
    ),
    (
        "<script most-skiped='2'><step><close-window/></step></script>",
        "1:9: `script` has no attribute `most-skiped` [did you mean `most-skipped`?]",
    ),
    (
        "<script most-skipped='-1'><step><close-window/></step></script>",
        "1:9: `most-skipped` must be a whole number from 0 to 1000, not `-1`",
    ),
    (
        "<script base='shop'><step><close-window/></step></script>",
        "1:9: `base` must be an http or https URL with a host",
    ),
    (
        "<script base='http://{{host}}'><step><close-window/></step></script>",
        "1:9: `{{host}}` is not a variable, and no earlier act sets it",
    ),
    ("<script>hello<step><close-window/></step></script>", "1:9: text is not allowed in `script`"),
    (
        "<script><stpe/><step><close-window/></step></script>",
        "1:9: `stpe` is not allowed in `script` [did you mean `step`?]",
    ),
    (
        "<script><step><close-window/></step>\n<variable name='a'/></script>",
        "2:1: variables must precede the first step",
    ),
    (
        "<script><step name='a' timeuot='1'><close-window/></step></script>",
        "1:24: `step` has no attribute `timeuot` [did you mean `timeout`?]",
    ),
    ("<!DOCTYPE script><script/>", "1:1: document types are not allowed"),
    ("<script><step></script>", "1:15: expected 'step' tag, not 'script'"),
    (
        "<script xmlns:x='u'><x:step/><step><close-window/></step></script>",
        "1:21: `step` has a namespace; elements of a script have none",
    ),
    (
        "<script xmlns:x='u' x:name='a'><step><close-window/></step></script>",
        "1:21: `script` has no attribute `name`",
    ),
];

#[test]
fn the_frame_of_a_script() {
    for (text, expected) in SCRIPTS {
        assert_eq!(errors(text), [*expected], "{text}");
    }
}

#[test]
fn variables() {
    let with = |variable: &str| errors(&format!("<script>\n{variable}<step><close-window/></step></script>"));
    for (variable, expected) in [
        ("<variable value='x'/>", "2:1: `variable` needs the attribute `name`"),
        (
            "<variable name='a-b'/>",
            "2:11: `a-b` is not a valid variable name [letters, digits and `_`, with no digit first]",
        ),
        ("<variable name='a'/>\n<variable name='a'/>", "3:11: the variable `a` is already defined"),
        (
            "<variable name='a' protected='yes' value='hush'/>",
            "2:20: `protected` must be `true` or `false`, not `yes`",
        ),
        ("<variable name='a'>hush</variable>", "2:20: text is not allowed in `variable`"),
        (
            "<variable name='a' valeu='hush'/>",
            "2:20: `variable` has no attribute `valeu` [did you mean `value`?]",
        ),
    ] {
        let actual = with(variable);
        assert_eq!(actual, [expected], "{variable}");
        assert!(!actual[0].contains("hush"), "values may be secrets");
    }
}

/// Acts, each with its error as the only one of a script, in line 2.
pub const ACTS: &[(&str, &str)] = &[
    ("<clik css='a'/>", "2:1: `clik` is not allowed in `step` [did you mean `click`?]"),
    ("<sleep seconds='5'/>", "2:1: `sleep` is not allowed in `step`"),
    ("<open/>", "2:1: `open` needs the attribute `url`"),
    ("<open url=' '/>", "2:7: `url` of `open` is empty"),
    ("<open url='/' css='a'/>", "2:15: `open` has no attribute `css`"),
    ("<open url='/'><by css='a'/></open>", "2:15: `by` is not allowed in `open`"),
    ("<open url='/'>x</open>", "2:15: text is not allowed in `open`"),
    (
        "<open url='/{{usr}}'/>",
        "2:7: `{{usr}}` is not a variable, and no earlier act sets it [did you mean `{{user}}`?]",
    ),
    (
        "<open url='/{{$now}}'/>",
        "2:7: `{{$now}}` is not a built-in variable [built-in are $timestamp, $timestamp_ms, $isoTimestamp, $uuid, $randomInt]",
    ),
    (
        "<click css='a' timeout='0'/>",
        "2:16: `timeout` must be seconds from 0.001 to 3600, with up to three decimals, not `0`",
    ),
    (
        "<click css='a' timeout='1,5'/>",
        "2:16: `timeout` must be seconds from 0.001 to 3600, with up to three decimals, not `1,5`",
    ),
    ("<click css='a' optional='maybe'/>", "2:16: `optional` must be `true` or `false`, not `maybe`"),
    (
        "<click css='a' expect='change'/>",
        "2:16: `expect` must be `location`, `update` or `event:` and the name of a DOM event",
    ),
    (
        "<click css='a' expect='event:a b'/>",
        "2:16: `expect` must be `location`, `update` or `event:` and the name of a DOM event",
    ),
    ("<assert-title equals='a' expect='update'/>", "2:26: `assert-title` has no attribute `expect`"),
    ("<type css='a'/>", "2:1: `type` needs the attribute `text`"),
    ("<type css='a' text=''/>", "2:15: `text` of `type` is empty [`clear` empties a field]"),
    (
        "<type text='a'/>",
        "2:1: `type` does not say which element is meant [give one of `id`, `css`, `xpath`, `link`, `name`, or `by` elements in it]",
    ),
    ("<select css='a'/>", "2:1: `select` needs exactly one of `value`, `label`, `index`"),
    ("<select css='a' value='1' label='b'/>", "2:1: `select` needs exactly one of `value`, `label`, `index`"),
    ("<select css='a' index='-1'/>", "2:17: `index` must be a whole number from 0 to 100000, not `-1`"),
    ("<select css='a' index='+1'/>", "2:17: `index` must be a whole number from 0 to 100000, not `+1`"),
    (
        "<press key='enter'/>",
        "2:8: `enter` is not a key [one character, or a name such as `Enter`, `Tab`, `ArrowDown`; held keys before it: `Control+a`]",
    ),
    ("<scroll/>", "2:1: `scroll` needs either an element or pixels, `x` and `y`"),
    ("<scroll css='a' y='1'/>", "2:1: `scroll` needs either an element or pixels, `x` and `y`"),
    ("<switch-frame/>", "2:1: `switch-frame` needs either the element of a frame, or `index`, or `to`"),
    ("<switch-frame to='up'/>", "2:15: `to` must be one of `parent`, `top`, not `up`"),
    ("<switch-window/>", "2:1: `switch-window` needs exactly one of `index`, `to`"),
    (
        "<switch-window to='main' contains='a'/>",
        "2:1: conditions of a window require `to=\"title\"` or `to=\"url\"`",
    ),
    (
        "<switch-window to='title'/>",
        "2:1: `switch-window` needs exactly one of `equals`, `contains`, `matches`",
    ),
    ("<answer-dialog/>", "2:1: `answer-dialog` needs the attribute `text`"),
    (
        "<wait-for css='a' state='visable'/>",
        "2:19: `state` must be one of `present`, `visible`, `enabled`, `hidden`, `absent`, not `visable` [did you mean `visible`?]",
    ),
    ("<wait-for-text/>", "2:1: `wait-for-text` needs exactly one of `equals`, `contains`, `matches`"),
    ("<wait-for-text contains=''/>", "2:16: `contains` of `wait-for-text` is empty"),
    (
        "<wait-for-event event='a b'/>",
        "2:17: `event` must be the name of a DOM event: letters, digits and `_ - . :`",
    ),
    ("<extract/>", "2:1: `extract` needs the attribute `into`"),
    (
        "<extract into='1a'/>",
        "2:10: `1a` is not a valid variable name [letters, digits and `_`, with no digit first]",
    ),
    ("<extract into='a' from='value'/>", "2:1: the value selected by `from` needs an element"),
    (
        "<extract into='a' from='url' css='a'/>",
        "2:1: the value selected by `from` is of the page, and not of an element",
    ),
    ("<extract into='a' attribute='href'/>", "2:19: `attribute` goes with `from=\"attribute\"`"),
    ("<extract into='a' from='attribute' css='a'/>", "2:1: `extract` needs the attribute `attribute`"),
    ("<run-js/>", "2:1: `run-js` has no code in it"),
    ("<run-js><b/></run-js>", "2:9: elements are not allowed in `run-js`; write `<` as `&lt;`, or use CDATA"),
    ("<run-js>return {{nobody}}</run-js>", "2:1: `{{nobody}}` is not a variable, and no earlier act sets it"),
    ("<screenshot/>", "2:1: `screenshot` needs the attribute `name`"),
    (
        "<assert-attribute css='a' attribute='a b' equals='c'/>",
        "2:27: `attribute` must be the name of an attribute, such as `href`",
    ),
    (
        "<assert-count css='a' contains='1'/>",
        "2:1: `assert-count` needs exactly one of `equals`, `at-least`, `at-most`",
    ),
    (
        "<assert-count css='a' equals='many'/>",
        "2:23: `equals` must be a whole number from 0 to 1000000, not `many`",
    ),
    ("<assert-url matches='('/>", "2:13: `matches` is not a regular expression: unclosed group"),
    (
        "<assert-url matches='{{user}}'/>",
        "2:13: `matches` is not a regular expression: repetition operator missing expression [regular expressions have no placeholders]",
    ),
    ("<keyword text='(' regex='true'/>", "2:10: `text` is not a regular expression: unclosed group"),
    ("<click/>", "2:1: `click` does not say which element is meant"),
    (
        "<click css='a' id='b'/>",
        "2:8: `click` has more than one locator as an attribute [several go into `by` elements, in the order in which they are tried]",
    ),
    (
        "<click css='a'><by id='b'/></click>",
        "2:8: `click` has locators both as attribute and as `by` [make `css` a `by` element too]",
    ),
    ("<click><by/></click>", "2:8: `by` needs exactly one of `id`, `css`, `xpath`, `link`, `name`, `text`"),
    (
        "<click><by id='a' css='b'/></click>",
        "2:8: `by` needs exactly one of `id`, `css`, `xpath`, `link`, `name`, `text`",
    ),
    ("<click><by idd='a' css='b'/></click>", "2:12: `by` has no attribute `idd` [did you mean `id`?]"),
    ("<click id=''/>", "2:8: `id` of `click` is empty"),
    ("<click css='a['/>", "2:8: `css` is not a CSS selector: a `]` is missing"),
    ("<click xpath='//a['/>", "2:8: `xpath` is not an XPath 1.0 expression: a step is missing at the end"),
    (
        "<click xpath='count(//a)'/>",
        "2:8: `xpath` is not an XPath 1.0 expression: it does not select elements",
    ),
    (
        "<click xpath='//svg:path'/>",
        "2:8: `xpath` is not an XPath 1.0 expression: namespace prefixes are not supported",
    ),
];

#[test]
fn acts() {
    for (act, expected) in ACTS {
        let actual = errors_of(act);
        let with_hint = format!("{expected} [{LOCATORS}]");
        let fits = |actual: &String| actual == expected || *actual == with_hint;
        assert!(actual.iter().any(fits), "{act}\nexpected {expected}\ntold {actual:#?}");
        assert!(actual.len() <= 2, "one mistake, and not {actual:#?}");
    }
}

#[test]
fn locators_and_patterns_have_a_maximum_length() {
    let long = "a".repeat(10_001);
    for act in [format!("<click css='{long}'/>"), format!("<click><by xpath='//{long}'/></click>")] {
        assert!(errors_of(&act)[0].ends_with(": a locator has at most 10000 characters"), "{act}");
    }
    for act in [format!("<assert-url matches='{long}'/>"), format!("<keyword regex='true' text='{long}'/>")] {
        assert!(errors_of(&act)[0].ends_with(": a regular expression has at most 10000 characters"), "{act}");
    }
    assert!(Script::parse(&script_around(&format!("<click css='{}'/>", &long[1..]))).is_ok());
}

#[test]
fn errors_come_in_the_order_of_the_text() {
    let text =
        "<script>\n<step timeout='x'>\n<clik/>\n<open url='{{a}}{{b}}'/>\n</step>\n<step/>\n<stop/></script>";
    let positions: Vec<String> =
        errors(text).iter().map(|error| error.split(": ").next().unwrap().to_owned()).collect();
    assert_eq!(positions, ["2:7", "3:1", "4:7", "4:7", "6:1", "7:1"]);
}

#[test]
fn a_variable_must_be_set_before_it_is_used() {
    let late = script_with("<open url='/{{id}}'/><extract into='id' from='url'/>");
    assert_eq!(errors(&late).len(), 1);
    let before = script_with("<run-js into='a'>return {{a}}</run-js>");
    assert_eq!(errors(&before).len(), 1, "it is filled by what the code returns");
}
