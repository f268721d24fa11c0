//! Converts each command of Selenium IDE to the script language.

use std::time::Duration;

use super::super::language::{
    ActionKind, DialogResponse, ElementState, ElementTarget, FrameSelector, Locator, Matcher, OptionSelector,
    PageProperty, WaitCondition, WindowSelector,
};
use super::converter::{CommandContext, Converter, WindowRef};
use super::locators;
use super::project::SeleniumIdeCommand;
use super::text::{contains_key_names, convert_placeholders, js_expression, typing_actions, variable_name};

type ConvertedActions = Result<Vec<ActionKind>, String>;

/// Texts in the locators of a command that indicate a password field.
const PASSWORD_HINTS: [&str; 4] = ["password", "passwd", "passwort", "pwd"];

/// Converts the command of `cx` to actions; fails with the reason when that is not possible.
pub(super) fn convert_to_actions(
    converter: &mut Converter<'_>,
    cx: CommandContext<'_>,
    name: &str,
) -> ConvertedActions {
    let command = cx.command;
    if let Some(suffix) = ["assert", "verify"].iter().find_map(|prefix| name.strip_prefix(prefix)) {
        return convert_assertion(converter, cx, suffix);
    }
    if let Some(suffix) = name.strip_prefix("waitFor") {
        return convert_wait(converter, command, suffix);
    }
    if let Some(suffix) = name.strip_prefix("store") {
        return convert_store(converter, command, suffix);
    }
    if let Some(response) = dialog_response(command, name) {
        return Ok(vec![ActionKind::Dialog(response)]);
    }
    let single_action = |action| Ok(vec![action]);
    match name {
        "open" => {
            let url = command.target.trim();
            let url = if url.is_empty() { converter.base_url() } else { url };
            single_action(ActionKind::Open { url: convert_placeholders(url) })
        }
        "click" | "clickAt" => {
            single_action(ActionKind::Click { target: converter.convert_target(command)?, double: false })
        }
        "doubleClick" | "doubleClickAt" => {
            single_action(ActionKind::Click { target: converter.convert_target(command)?, double: true })
        }
        "mouseOver" | "mouseMove" | "mouseMoveAt" => {
            single_action(ActionKind::Hover { target: converter.convert_target(command)? })
        }
        "type" => {
            let field = converter.convert_target(command)?;
            let mut actions = vec![ActionKind::Clear { target: field.clone() }];
            actions.extend(convert_typing(converter, cx, &field)?);
            Ok(actions)
        }
        "sendKeys" => {
            let field = converter.convert_target(command)?;
            convert_typing(converter, cx, &field)
        }
        "select" | "addSelection" => {
            let option = convert_option(&command.value)?;
            single_action(ActionKind::Select { target: converter.convert_target(command)?, option })
        }
        "check" | "uncheck" => single_action(ActionKind::SetChecked {
            target: converter.convert_target(command)?,
            checked: name == "check",
        }),
        "selectFrame" => single_action(ActionKind::SwitchFrame(convert_frame(converter, command)?)),
        "selectWindow" => single_action(ActionKind::SwitchWindow(convert_window(converter, command)?)),
        "close" => {
            converter.current_window = WindowRef::Main;
            single_action(ActionKind::CloseWindow)
        }
        "executeScript" | "runScript" => {
            let variable =
                Some(command.value.trim()).filter(|variable| name == "executeScript" && !variable.is_empty());
            single_action(ActionKind::RunJs {
                code: convert_placeholders(&command.target),
                into_variable: variable.map(variable_name),
            })
        }
        "pause" => {
            converter.report_issue(
                cx,
                "scripts do not sleep: the act waits until the network is idle for half a second",
            );
            single_action(ActionKind::WaitFor(WaitCondition::NetworkIdle(Duration::from_millis(500))))
        }
        "chooseOkOnNextConfirmation" => defer_dialog_response(converter, DialogResponse::Accept),
        "chooseCancelOnNextConfirmation" | "chooseCancelOnNextPrompt" => {
            defer_dialog_response(converter, DialogResponse::Dismiss)
        }
        "answerOnNextPrompt" => defer_dialog_response(
            converter,
            DialogResponse::AcceptWithText(convert_placeholders(&command.target)),
        ),
        "setWindowSize" => {
            Err("the page size is not part of a script: set the monitor's `subtype` to a device \
             profile"
                .to_owned())
        }
        "echo" | "debugger" | "setSpeed" => Err("it has no effect on the page".to_owned()),
        "executeAsyncScript" => Err("asynchronous scripts with callbacks cannot be converted".to_owned()),
        "else" | "elseIf" | "end" | "repeatIf" => Err("it belongs to no block of control flow".to_owned()),
        _ => Err("the script language has no equivalent".to_owned()),
    }
}

/// Returns the time limit of a `waitForElement…` command, which is its value in milliseconds.
pub(super) fn wait_timeout(command: &SeleniumIdeCommand) -> Option<Duration> {
    let is_element_wait = command.command.trim().starts_with("waitForElement");
    let milliseconds =
        command.value.trim().parse::<u64>().ok().filter(|ms| is_element_wait && (1..=3_600_000).contains(ms));
    milliseconds.map(Duration::from_millis)
}

fn defer_dialog_response(converter: &mut Converter<'_>, response: DialogResponse) -> ConvertedActions {
    converter.check_action(&ActionKind::Dialog(response.clone()))?;
    converter.pending_response = Some(response);
    Ok(Vec::new())
}

/// Returns the response of the command to an open dialog; `None` when it does something else.
fn dialog_response(command: &SeleniumIdeCommand, name: &str) -> Option<DialogResponse> {
    let bare_name = name.strip_prefix("webdriver").unwrap_or(name);
    Some(match bare_name {
        "ChooseOkOnVisibleConfirmation" | "acceptConfirmation" | "acceptAlert" => DialogResponse::Accept,
        "ChooseCancelOnVisibleConfirmation"
        | "ChooseCancelOnVisiblePrompt"
        | "dismissConfirmation"
        | "dismissPrompt" => DialogResponse::Dismiss,
        "AnswerOnVisiblePrompt" | "answerPrompt" => {
            DialogResponse::AcceptWithText(convert_placeholders(&command.target))
        }
        _ => return None,
    })
}

/// Whether the next commands answer the open dialog, after optional checks of its text.
pub(super) fn is_dialog_answered_next(rest: &[SeleniumIdeCommand]) -> bool {
    let checks_text = |name: &str| {
        let kind = ["assert", "verify"].iter().find_map(|prefix| name.strip_prefix(prefix));
        matches!(kind, Some("Alert" | "Confirmation" | "Prompt"))
    };
    let next = rest.iter().find(|command| !checks_text(command.command.trim()));
    next.is_some_and(|command| dialog_response(command, command.command.trim()).is_some())
}

/// Converts keys and text typed into a field; input of a password field becomes a protected variable.
fn convert_typing(
    converter: &mut Converter<'_>,
    cx: CommandContext<'_>,
    field: &ElementTarget,
) -> ConvertedActions {
    let command = cx.command;
    let value = &command.value;
    let mut locators = command.recorded_locators.iter().flatten().chain([&command.target]);
    let is_password_field =
        locators.any(|text| PASSWORD_HINTS.iter().any(|hint| text.to_lowercase().contains(hint)));
    if is_password_field && !value.is_empty() && !value.contains("${") {
        let text = converter.protected_placeholder(value, cx);
        return Ok(vec![ActionKind::Type { target: field.clone(), text }]);
    }
    if contains_key_names(value) {
        return typing_actions(field, value);
    }
    let text = convert_placeholders(value);
    Ok(if text.is_empty() { Vec::new() } else { vec![ActionKind::Type { target: field.clone(), text }] })
}

fn convert_option(value: &str) -> Result<OptionSelector, String> {
    let (kind, text) = value.split_once('=').unwrap_or(("label", value));
    match kind {
        "label" if text.starts_with("regexp") || text.starts_with("glob:") => {
            Err("patterns of labels cannot be carried over".to_owned())
        }
        "label" => Ok(OptionSelector::Label(convert_placeholders(text))),
        "value" => Ok(OptionSelector::Value(convert_placeholders(text))),
        "index" => {
            text.trim().parse().map(OptionSelector::Index).map_err(|_| "`index` is not a number".to_owned())
        }
        "id" => Err("an option cannot be picked by its id".to_owned()),
        _ => Ok(OptionSelector::Label(convert_placeholders(value))),
    }
}

fn convert_frame(converter: &Converter<'_>, command: &SeleniumIdeCommand) -> Result<FrameSelector, String> {
    match command.target.split_once('=') {
        Some(("relative", "parent")) => Ok(FrameSelector::Parent),
        Some(("relative", "top")) => Ok(FrameSelector::Top),
        Some(("index", index)) => {
            index.trim().parse().map(FrameSelector::Index).map_err(|_| "`index` is not a number".to_owned())
        }
        _ => converter.convert_target(command).map(FrameSelector::Element),
    }
}

fn convert_window(
    converter: &mut Converter<'_>,
    command: &SeleniumIdeCommand,
) -> Result<WindowSelector, String> {
    let target = command.target.trim();
    let handle = target.strip_prefix("handle=${").and_then(|rest| rest.strip_suffix('}'));
    let window = match (handle, target.strip_prefix("win_ser_")) {
        (Some(handle), _) => {
            *converter.windows_by_handle.get(handle).ok_or("no earlier command stores this handle")?
        }
        (None, Some("local")) => WindowRef::Main,
        (None, Some(number)) => WindowRef::Opened(number.parse().map_err(|_| "it does not name a window")?),
        _ => WindowRef::Unknown,
    };
    converter.current_window = window;
    Ok(match window {
        WindowRef::Main => WindowSelector::Main,
        WindowRef::Opened(number) if number == converter.opened_window_count => WindowSelector::Newest,
        WindowRef::Opened(number) => WindowSelector::Index(number),
        WindowRef::Unknown => match target.strip_prefix("title=") {
            Some(title) => WindowSelector::Title(Matcher::Equals(convert_placeholders(title))),
            None => return Err("windows are chosen by handle or title only".to_owned()),
        },
    })
}

fn convert_assertion(
    converter: &mut Converter<'_>,
    cx: CommandContext<'_>,
    condition: &str,
) -> ConvertedActions {
    let command = cx.command;
    let equals = |text: &str| Matcher::Equals(convert_placeholders(text));
    let not = |matcher| Matcher::Not(Box::new(matcher));
    let assert_state = |converter: &Converter<'_>, element_state| {
        Ok(vec![ActionKind::AssertElement {
            target: converter.convert_target(command)?,
            state: element_state,
        }])
    };
    let assert_property = |property, matcher| Ok(vec![ActionKind::Assert { property, matcher }]);
    match condition {
        "Title" => assert_property(PageProperty::Title, equals(&command.target)),
        "Text" => assert_property(
            PageProperty::Text(Some(converter.convert_target(command)?)),
            equals(&command.value),
        ),
        "NotText" => assert_property(
            PageProperty::Text(Some(converter.convert_target(command)?)),
            not(equals(&command.value)),
        ),
        "Value" | "SelectedValue" => {
            assert_property(PageProperty::Value(converter.convert_target(command)?), equals(&command.value))
        }
        "NotSelectedValue" => assert_property(
            PageProperty::Value(converter.convert_target(command)?),
            not(equals(&command.value)),
        ),
        "SelectedLabel" => {
            let option = target_with_suffix(converter, command, " option:checked")?;
            assert_property(PageProperty::Text(Some(option)), equals(&command.value))
        }
        "ElementPresent" => assert_state(converter, ElementState::Present),
        "ElementNotPresent" => assert_state(converter, ElementState::Absent),
        "Editable" => assert_state(converter, ElementState::Enabled),
        "Checked" | "NotChecked" => {
            let suffix = if condition == "Checked" { ":checked" } else { ":not(:checked)" };
            let element = target_with_suffix(converter, command, suffix)?;
            Ok(vec![ActionKind::AssertElement { target: element, state: ElementState::Present }])
        }
        "" => {
            let name = variable_name(&command.target);
            let code = format!(
                "if (String({{{{{name}}}}}) !== {}) {{ throw new Error({}); }}",
                js_expression(&command.value),
                serde_json::Value::from(format!("the variable `{name}` is not what it must be"))
            );
            Ok(vec![ActionKind::RunJs { code, into_variable: None }])
        }
        "Alert" => {
            converter.report_issue(cx, "the text of the dialog is not compared; it is answered with OK");
            let answered = converter.pending_response.is_some() || is_dialog_answered_next(cx.following());
            Ok(if answered { Vec::new() } else { vec![ActionKind::Dialog(DialogResponse::Accept)] })
        }
        "Confirmation" | "Prompt" => Err("the text of a dialog cannot be compared".to_owned()),
        "NotEditable" => Err("that a field takes no input cannot be asserted".to_owned()),
        _ => Err("the script language has no equivalent".to_owned()),
    }
}

/// Returns the target with a suffix at each CSS selector.
fn target_with_suffix(
    converter: &Converter<'_>,
    command: &SeleniumIdeCommand,
    suffix: &str,
) -> Result<ElementTarget, String> {
    let recorded = converter.convert_target(command)?.locators;
    let locators: Vec<Locator> =
        recorded.iter().filter_map(|locator| locators::css_locator_with_suffix(locator, suffix)).collect();
    if locators.is_empty() {
        return Err("it can only be carried over for an element that is found by id, name or CSS".to_owned());
    }
    Ok(ElementTarget { locators })
}

fn convert_wait(
    converter: &Converter<'_>,
    command: &SeleniumIdeCommand,
    condition: &str,
) -> ConvertedActions {
    let state = match condition {
        "ElementPresent" => ElementState::Present,
        "ElementVisible" => ElementState::Visible,
        "ElementEditable" => ElementState::Enabled,
        "ElementNotPresent" => ElementState::Absent,
        "ElementNotVisible" => ElementState::Hidden,
        "Text" => {
            let matcher = Matcher::Equals(convert_placeholders(&command.value));
            return Ok(vec![ActionKind::WaitFor(WaitCondition::Text(
                Some(converter.convert_target(command)?),
                matcher,
            ))]);
        }
        _ => return Err("the script language has no equivalent".to_owned()),
    };
    Ok(vec![ActionKind::WaitFor(WaitCondition::Element(converter.convert_target(command)?, state))])
}

fn convert_store(
    converter: &mut Converter<'_>,
    command: &SeleniumIdeCommand,
    source: &str,
) -> ConvertedActions {
    let variable = if command.value.trim().is_empty() { &command.target } else { &command.value };
    let variable = variable_name(variable);
    let extract = |variable: String, from| {
        Ok(vec![ActionKind::Extract { into_variable: variable, property: from, pattern: None }])
    };
    match source {
        "" => {
            let code = format!("return {};", js_expression(&command.target));
            Ok(vec![ActionKind::RunJs { code, into_variable: Some(variable) }])
        }
        "Json" if command.target.contains("${") => {
            Err("JSON with variables in it cannot be carried over".to_owned())
        }
        "Json" => {
            let code = format!("return {};", convert_placeholders(&command.target));
            Ok(vec![ActionKind::RunJs { code, into_variable: Some(variable) }])
        }
        "Text" => extract(variable, PageProperty::Text(Some(converter.convert_target(command)?))),
        "Value" => extract(variable, PageProperty::Value(converter.convert_target(command)?)),
        "Title" => extract(variable, PageProperty::Title),
        "ElementCount" | "XpathCount" | "CssCount" => {
            extract(variable, PageProperty::Count(converter.convert_target(command)?))
        }
        "Attribute" => {
            let (target, name) = command.target.rsplit_once('@').ok_or("it names no attribute")?;
            let element = SeleniumIdeCommand {
                target: target.to_owned(),
                recorded_locators: Vec::new(),
                ..command.clone()
            };
            extract(variable, PageProperty::Attribute(converter.convert_target(&element)?, name.to_owned()))
        }
        "WindowHandle" => {
            let window = converter.current_window;
            let name = if command.target.trim().is_empty() { &command.value } else { &command.target };
            converter.windows_by_handle.insert(name.trim().to_owned(), window);
            Ok(Vec::new())
        }
        _ => Err("the script language has no equivalent".to_owned()),
    }
}
