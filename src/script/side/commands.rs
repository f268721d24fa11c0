//! What each command of Selenium IDE is in the dialect.

use std::time::Duration;

use super::super::dialect::{
    Action, Check, DialogAnswer, FrameChoice, Locator, Match, Pick, State, Target, Wanted, WindowChoice,
};
use super::carrier::{Carrier, Spot, Window};
use super::locate;
use super::project::Command;
use super::texts::{expression, filled, has_keys, typed, variable};

type Actions = Result<Vec<Action>, String>;

/// What a target or its other locators say of a field that takes a password.
const SECRET: [&str; 4] = ["password", "passwd", "passwort", "pwd"];

/// The acts that the command at `spot` becomes; an error says why it becomes none.
pub(super) fn actions(carrier: &mut Carrier<'_>, spot: Spot<'_>, name: &str) -> Actions {
    let command = spot.command;
    if let Some(rest) = ["assert", "verify"].iter().find_map(|prefix| name.strip_prefix(prefix)) {
        return asserted(carrier, spot, rest);
    }
    if let Some(rest) = name.strip_prefix("waitFor") {
        return waited(carrier, command, rest);
    }
    if let Some(rest) = name.strip_prefix("store") {
        return stored(carrier, command, rest);
    }
    if let Some(answer) = answer(command, name) {
        return Ok(vec![Action::Dialog(answer)]);
    }
    let one = |action| Ok(vec![action]);
    match name {
        "open" => {
            let url = command.target.trim();
            let url = if url.is_empty() { carrier.url() } else { url };
            one(Action::Open { url: filled(url) })
        }
        "click" | "clickAt" => one(Action::Click { on: carrier.target(command)?, twice: false }),
        "doubleClick" | "doubleClickAt" => one(Action::Click { on: carrier.target(command)?, twice: true }),
        "mouseOver" | "mouseMove" | "mouseMoveAt" => one(Action::Hover { over: carrier.target(command)? }),
        "type" => {
            let field = carrier.target(command)?;
            let mut actions = vec![Action::Clear { field: field.clone() }];
            actions.extend(typing(carrier, spot, &field)?);
            Ok(actions)
        }
        "sendKeys" => {
            let field = carrier.target(command)?;
            typing(carrier, spot, &field)
        }
        "select" | "addSelection" => {
            let pick = pick(&command.value)?;
            one(Action::Select { field: carrier.target(command)?, pick })
        }
        "check" | "uncheck" => one(Action::Check { field: carrier.target(command)?, on: name == "check" }),
        "selectFrame" => one(Action::SwitchFrame(frame(carrier, command)?)),
        "selectWindow" => one(Action::SwitchWindow(window(carrier, command)?)),
        "close" => {
            carrier.window = Window::Main;
            one(Action::CloseWindow)
        }
        "executeScript" | "runScript" => {
            let into = Some(command.value.trim()).filter(|into| name == "executeScript" && !into.is_empty());
            one(Action::RunJs { code: filled(&command.target), into: into.map(variable) })
        }
        "pause" => {
            carrier.lose(
                spot,
                "scripts do not sleep: the act waits until the network is quiet for half a second",
            );
            one(Action::WaitFor(Wanted::NetworkQuiet(Duration::from_millis(500))))
        }
        "chooseOkOnNextConfirmation" => put_off(carrier, DialogAnswer::Accept),
        "chooseCancelOnNextConfirmation" | "chooseCancelOnNextPrompt" => {
            put_off(carrier, DialogAnswer::Dismiss)
        }
        "answerOnNextPrompt" => put_off(carrier, DialogAnswer::Answer(filled(&command.target))),
        "setWindowSize" => {
            Err("the size of the page is no part of a script: the monitor's `subtype` names a profile \
             that has it"
                .to_owned())
        }
        "echo" | "debugger" | "setSpeed" => Err("it has no effect on the page".to_owned()),
        "executeAsyncScript" => Err("code that calls back cannot be carried over".to_owned()),
        "else" | "elseIf" | "end" | "repeatIf" => Err("it belongs to no block of control flow".to_owned()),
        _ => Err("the dialect has nothing like it".to_owned()),
    }
}

/// How long a command waits by itself: those that wait for an element say it in milliseconds.
pub(super) fn timeout(command: &Command) -> Option<Duration> {
    let waits = command.command.trim().starts_with("waitForElement");
    let milliseconds =
        command.value.trim().parse::<u64>().ok().filter(|ms| waits && (1..=3_600_000).contains(ms));
    milliseconds.map(Duration::from_millis)
}

fn put_off(carrier: &mut Carrier<'_>, answer: DialogAnswer) -> Actions {
    carrier.fits(&Action::Dialog(answer.clone()))?;
    carrier.pending = Some(answer);
    Ok(Vec::new())
}

/// What the command answers an open dialog with; `None` when it does something else.
fn answer(command: &Command, name: &str) -> Option<DialogAnswer> {
    let plain = name.strip_prefix("webdriver").unwrap_or(name);
    Some(match plain {
        "ChooseOkOnVisibleConfirmation" | "acceptConfirmation" | "acceptAlert" => DialogAnswer::Accept,
        "ChooseCancelOnVisibleConfirmation"
        | "ChooseCancelOnVisiblePrompt"
        | "dismissConfirmation"
        | "dismissPrompt" => DialogAnswer::Dismiss,
        "AnswerOnVisiblePrompt" | "answerPrompt" => DialogAnswer::Answer(filled(&command.target)),
        _ => return None,
    })
}

/// Whether the next commands answer the dialog that is open, its text looked at before.
pub(super) fn answered_soon(rest: &[Command]) -> bool {
    let looks = |name: &str| {
        let what = ["assert", "verify"].iter().find_map(|prefix| name.strip_prefix(prefix));
        matches!(what, Some("Alert" | "Confirmation" | "Prompt"))
    };
    let next = rest.iter().find(|command| !looks(command.command.trim()));
    next.is_some_and(|command| answer(command, command.command.trim()).is_some())
}

/// Keys and text into a field; what a password field takes goes into a protected variable.
fn typing(carrier: &mut Carrier<'_>, spot: Spot<'_>, field: &Target) -> Actions {
    let command = spot.command;
    let value = &command.value;
    let mut named = command.targets.iter().flatten().chain([&command.target]);
    let secret = named.any(|text| SECRET.iter().any(|word| text.to_lowercase().contains(word)));
    if secret && !value.is_empty() && !value.contains("${") {
        let text = carrier.protected(value, spot);
        return Ok(vec![Action::Type { into: field.clone(), text }]);
    }
    if has_keys(value) {
        return typed(field, value);
    }
    let text = filled(value);
    Ok(if text.is_empty() { Vec::new() } else { vec![Action::Type { into: field.clone(), text }] })
}

fn pick(value: &str) -> Result<Pick, String> {
    let (kind, text) = value.split_once('=').unwrap_or(("label", value));
    match kind {
        "label" if text.starts_with("regexp") || text.starts_with("glob:") => {
            Err("patterns of labels cannot be carried over".to_owned())
        }
        "label" => Ok(Pick::Label(filled(text))),
        "value" => Ok(Pick::Value(filled(text))),
        "index" => text.trim().parse().map(Pick::Index).map_err(|_| "`index` is no number".to_owned()),
        "id" => Err("an option cannot be picked by its id".to_owned()),
        _ => Ok(Pick::Label(filled(value))),
    }
}

fn frame(carrier: &Carrier<'_>, command: &Command) -> Result<FrameChoice, String> {
    match command.target.split_once('=') {
        Some(("relative", "parent")) => Ok(FrameChoice::Parent),
        Some(("relative", "top")) => Ok(FrameChoice::Top),
        Some(("index", index)) => {
            index.trim().parse().map(FrameChoice::Index).map_err(|_| "`index` is no number".to_owned())
        }
        _ => carrier.target(command).map(FrameChoice::Element),
    }
}

fn window(carrier: &mut Carrier<'_>, command: &Command) -> Result<WindowChoice, String> {
    let target = command.target.trim();
    let handle = target.strip_prefix("handle=${").and_then(|rest| rest.strip_suffix('}'));
    let window = match (handle, target.strip_prefix("win_ser_")) {
        (Some(handle), _) => *carrier.windows.get(handle).ok_or("no command before has this handle")?,
        (None, Some("local")) => Window::Main,
        (None, Some(number)) => Window::Opened(number.parse().map_err(|_| "it does not say which window")?),
        _ => Window::Other,
    };
    carrier.window = window;
    Ok(match window {
        Window::Main => WindowChoice::Main,
        Window::Opened(number) if number == carrier.opened => WindowChoice::Newest,
        Window::Opened(number) => WindowChoice::Index(number),
        Window::Other => match target.strip_prefix("title=") {
            Some(title) => WindowChoice::Title(Match::Equals(filled(title))),
            None => return Err("windows are chosen by handle or title only".to_owned()),
        },
    })
}

fn asserted(carrier: &mut Carrier<'_>, spot: Spot<'_>, what: &str) -> Actions {
    let command = spot.command;
    let equals = |text: &str| Match::Equals(filled(text));
    let not = |must| Match::Not(Box::new(must));
    let state = |carrier: &Carrier<'_>, state| {
        Ok(vec![Action::AssertElement { element: carrier.target(command)?, state }])
    };
    let must = |what, must| Ok(vec![Action::Assert { what, must }]);
    match what {
        "Title" => must(Check::Title, equals(&command.target)),
        "Text" => must(Check::Text(Some(carrier.target(command)?)), equals(&command.value)),
        "NotText" => must(Check::Text(Some(carrier.target(command)?)), not(equals(&command.value))),
        "Value" | "SelectedValue" => must(Check::Value(carrier.target(command)?), equals(&command.value)),
        "NotSelectedValue" => must(Check::Value(carrier.target(command)?), not(equals(&command.value))),
        "SelectedLabel" => {
            let option = suffixed(carrier, command, " option:checked")?;
            must(Check::Text(Some(option)), equals(&command.value))
        }
        "ElementPresent" => state(carrier, State::Present),
        "ElementNotPresent" => state(carrier, State::Absent),
        "Editable" => state(carrier, State::Enabled),
        "Checked" | "NotChecked" => {
            let suffix = if what == "Checked" { ":checked" } else { ":not(:checked)" };
            let element = suffixed(carrier, command, suffix)?;
            Ok(vec![Action::AssertElement { element, state: State::Present }])
        }
        "" => {
            let name = variable(&command.target);
            let code = format!(
                "if (String({{{{{name}}}}}) !== {}) {{ throw new Error({}); }}",
                expression(&command.value),
                serde_json::Value::from(format!("the variable `{name}` is not what it must be"))
            );
            Ok(vec![Action::RunJs { code, into: None }])
        }
        "Alert" => {
            carrier.lose(spot, "the text of the dialog is not compared; it is answered with OK");
            let answered = carrier.pending.is_some() || answered_soon(spot.rest());
            Ok(if answered { Vec::new() } else { vec![Action::Dialog(DialogAnswer::Accept)] })
        }
        "Confirmation" | "Prompt" => Err("the text of a dialog cannot be compared".to_owned()),
        "NotEditable" => Err("that a field takes no input cannot be asserted".to_owned()),
        _ => Err("the dialect has nothing like it".to_owned()),
    }
}

/// The element, with something behind each selector that it is found by.
fn suffixed(carrier: &Carrier<'_>, command: &Command, suffix: &str) -> Result<Target, String> {
    let found = carrier.target(command)?.locators;
    let locators: Vec<Locator> =
        found.iter().filter_map(|locator| locate::with_suffix(locator, suffix)).collect();
    if locators.is_empty() {
        return Err("it can only be carried over for an element that is found by id, name or CSS".to_owned());
    }
    Ok(Target { locators })
}

fn waited(carrier: &Carrier<'_>, command: &Command, what: &str) -> Actions {
    let state = match what {
        "ElementPresent" => State::Present,
        "ElementVisible" => State::Visible,
        "ElementEditable" => State::Enabled,
        "ElementNotPresent" => State::Absent,
        "ElementNotVisible" => State::Hidden,
        "Text" => {
            let must = Match::Equals(filled(&command.value));
            return Ok(vec![Action::WaitFor(Wanted::Text(Some(carrier.target(command)?), must))]);
        }
        _ => return Err("the dialect has nothing like it".to_owned()),
    };
    Ok(vec![Action::WaitFor(Wanted::Element(carrier.target(command)?, state))])
}

fn stored(carrier: &mut Carrier<'_>, command: &Command, what: &str) -> Actions {
    let into = if command.value.trim().is_empty() { &command.target } else { &command.value };
    let into = variable(into);
    let extract = |into: String, from| Ok(vec![Action::Extract { into, from, pattern: None }]);
    match what {
        "" => {
            let code = format!("return {};", expression(&command.target));
            Ok(vec![Action::RunJs { code, into: Some(into) }])
        }
        "Json" if command.target.contains("${") => {
            Err("JSON with variables in it cannot be carried over".to_owned())
        }
        "Json" => {
            let code = format!("return {};", filled(&command.target));
            Ok(vec![Action::RunJs { code, into: Some(into) }])
        }
        "Text" => extract(into, Check::Text(Some(carrier.target(command)?))),
        "Value" => extract(into, Check::Value(carrier.target(command)?)),
        "Title" => extract(into, Check::Title),
        "ElementCount" | "XpathCount" | "CssCount" => extract(into, Check::Count(carrier.target(command)?)),
        "Attribute" => {
            let (target, name) = command.target.rsplit_once('@').ok_or("it names no attribute")?;
            let element = Command { target: target.to_owned(), targets: Vec::new(), ..command.clone() };
            extract(into, Check::Attribute(carrier.target(&element)?, name.to_owned()))
        }
        "WindowHandle" => {
            let window = carrier.window;
            let name = if command.target.trim().is_empty() { &command.value } else { &command.target };
            carrier.windows.insert(name.trim().to_owned(), window);
            Ok(Vec::new())
        }
        _ => Err("the dialect has nothing like it".to_owned()),
    }
}
