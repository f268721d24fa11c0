//! Scripts that are expensive to parse: they are parsed or refused in bounded time.

use std::time::{Duration, Instant};

use vigie::script::language::Script;

use crate::script::support::{errors, read};

/// Size of the largest script, in bytes (fields.md 2).
const LARGEST: usize = 10 * 1024 * 1024;

/// Time limit for any script, in a build without optimisation on a busy machine.
const LONGEST: Duration = Duration::from_secs(30);

/// Repeats `text` to a quarter of the largest size, which suffices to show nonlinear growth.
fn quarter_of(text: &str) -> String {
    text.repeat(LARGEST / 4 / text.len())
}

#[test]
fn hostile_scripts_take_bounded_time_and_give_a_bounded_number_of_errors() {
    let in_step = |inner: &str| format!("<script><step>{inner}</step></script>");
    let bombs = [
        format!("<!DOCTYPE s [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;'>]>{}", in_step("&b;")),
        in_step(&"<a>".repeat(90_000)),
        in_step(&format!("{}{}", "<a>".repeat(60_000), "</a>".repeat(60_000))),
        in_step(&"<clik/>".repeat(150_000)),
        in_step(&"<click/>".repeat(150_000)),
        in_step(&"<close-window/>\n".repeat(150_000)),
        in_step(&"<open url='{{a}}{{b}}'/>".repeat(100_000)),
        in_step(&"<assert-url matches='\\w{200}'/>".repeat(9_000)),
        in_step(&"<assert-url matches='(((a{9}){9}){9}){9}'/>".repeat(9_000)),
        in_step(&format!("<click css='{}'/>", quarter_of("a["))),
        in_step(&format!("<click css='{}'/>", quarter_of("a "))),
        in_step(&format!("<click xpath='{}'/>", quarter_of("//a["))),
        in_step(&format!("<click xpath='{}'/>", quarter_of("-"))),
        in_step(&format!("<click xpath='{}'/>", quarter_of("/a"))),
        in_step(&format!("<click>{}</click>", "<by id='a'/>".repeat(100_000))),
        in_step(&format!("<assert-url matches='{}'/>", quarter_of("(a|"))),
        in_step(&format!("<open url='{}'/>", quarter_of("{{"))),
        in_step(&format!("<open url='{}}}}}'/>", quarter_of("{{"))),
        in_step(&format!("<open url='{}}}}}'/>", quarter_of("{{ a"))),
        in_step(&format!("<open url='{}'/>", quarter_of("{{a}}"))),
        in_step(&format!("<assert-url matches='[{}]'/>", quarter_of("ab"))),
        in_step(&format!("<keyword regex='1' text='[{}]'/>", quarter_of("ab"))),
        format!(
            "<script>{}<step>{}</step></script>",
            (0..80_000).map(|at| format!("<variable name='v{at}'/>")).collect::<Vec<_>>().concat(),
            "<open url='{{w}}'/>".repeat(9_000)
        ),
        in_step(&format!("<open url='/' {}/>", "a=\"\" ".repeat(200_000))),
        in_step(&format!("<press key='{}'/>", quarter_of("Control+"))),
        in_step(&format!("<open {}='/'/>", quarter_of("u"))),
        format!("<script>{}<step/></script>", "<variable name='a'/>".repeat(100_000)),
        "<script><step>".to_owned() + &quarter_of("<"),
        quarter_of(" "),
    ];
    for bomb in &bombs {
        let started = Instant::now();
        let outcome = Script::parse(bomb);
        let elapsed = started.elapsed();
        let start: String = bomb.chars().take(60).collect();
        // Braces without a name are plain text.
        let errors = outcome.err().unwrap_or_default();
        let harmless = start.contains("<open url='{{{{") || start.contains("<open url='{{ a");
        assert!(harmless || !errors.is_empty(), "{start}");
        assert!(errors.len() <= 100, "{} faults: {start}", errors.len());
        assert!(errors.iter().all(|error| error.message.len() < 400), "{start}");
        assert!(elapsed < LONGEST, "{elapsed:?}: {start}");
    }
}

#[test]
fn a_large_script_is_read_fast() {
    let comment = format!("<!-- {} -->", "xyz ".repeat(24)).repeat(LARGEST / 105 - 5000);
    let acts = "<click css='#a' timeout='2'/>".repeat(9_999);
    let text = format!("<script>{comment}<step>{acts}<run-js>{}</run-js></step></script>", "a=1;".repeat(9));
    let started = Instant::now();
    let script = read(&text);
    assert_eq!(script.steps[0].actions.len(), 10_000);
    let last = script.steps[0].actions[9_999].position;
    assert_eq!(last.column as usize, text.find("<run-js").unwrap() + 1);
    assert!(started.elapsed() < LONGEST, "{:?}", started.elapsed());
    let code = "a=1;".repeat(LARGEST / 4 - 50);
    let code = format!("<script><step><run-js>{code}</run-js></step></script>");
    let started = Instant::now();
    read(&code);
    assert!(started.elapsed() < LONGEST, "{:?}", started.elapsed());
}

// row: 8 steps of a transaction
#[test]
fn sixty_steps_are_read_and_counted() {
    let text = format!("<script>{}</script>", "<step><close-window/></step>".repeat(60));
    let script = read(&text);
    assert_eq!(script.steps.len(), 60, "the check says 94, and not the parser");
    assert_eq!(script.steps[59].name, "Step 60");
    assert_eq!(read(&script.to_xml()).steps.len(), 60);
}

#[test]
fn acts_patterns_and_locators_are_limited() {
    let acts = format!("<script><step>{}</step></script>", "<close-window/>".repeat(10_001));
    assert_eq!(errors(&acts), ["1:150015: there are more than 10000 acts in the script"]);
    let patterns =
        |count: usize| format!("<script><step>{}</step></script>", "<assert-url matches='a'/>".repeat(count));
    assert_eq!(read(&patterns(100)).steps[0].actions.len(), 100);
    assert!(errors(&patterns(101))[0].ends_with("there are more than 100 regular expressions in the script"));
    let by = |count: usize| {
        format!("<script><step><click>{}</click></step></script>", "<by id='a'/>".repeat(count))
    };
    assert_eq!(read(&by(20)).steps.len(), 1);
    assert_eq!(errors(&by(21)), ["1:15: `click` has more than 20 locators"]);
}
