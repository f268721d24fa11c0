//! Converts texts of Selenium IDE: variables and keys.

use super::super::language::{ActionKind, ElementTarget};

/// Keys with different names in Selenium IDE and the script language; others differ only in case.
const KEY_NAMES: &[(&str, &str)] = &[
    ("ENTER", "Enter"),
    ("RETURN", "Enter"),
    ("TAB", "Tab"),
    ("ESC", "Escape"),
    ("ESCAPE", "Escape"),
    ("SPACE", "Space"),
    ("BACKSPACE", "Backspace"),
    ("BKSP", "Backspace"),
    ("BACK_SPACE", "Backspace"),
    ("DELETE", "Delete"),
    ("DEL", "Delete"),
    ("INSERT", "Insert"),
    ("HOME", "Home"),
    ("END", "End"),
    ("PAGE_UP", "PageUp"),
    ("PGUP", "PageUp"),
    ("PAGE_DOWN", "PageDown"),
    ("PGDN", "PageDown"),
    ("LEFT", "ArrowLeft"),
    ("UP", "ArrowUp"),
    ("RIGHT", "ArrowRight"),
    ("DOWN", "ArrowDown"),
    ("ARROW_LEFT", "ArrowLeft"),
    ("ARROW_UP", "ArrowUp"),
    ("ARROW_RIGHT", "ArrowRight"),
    ("ARROW_DOWN", "ArrowDown"),
    ("CONTROL", "Control"),
    ("CTRL", "Control"),
    ("SHIFT", "Shift"),
    ("ALT", "Alt"),
    ("META", "Meta"),
    ("COMMAND", "Meta"),
];

/// Maximum number of characters that are pressed one by one while a key is held.
const MAX_KEYS_WHILE_HELD: usize = 50;

/// Converts `${name}` in `text` to `{{name}}`.
pub(super) fn convert_placeholders(text: &str) -> String {
    split_at_variables(text)
        .map(|part| part.map_or_else(|name| format!("{{{{{}}}}}", variable_name(name)), str::to_owned))
        .collect()
}

/// Converts a name to a valid variable name.
pub(super) fn variable_name(name: &str) -> String {
    let to_allowed = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
    let name: String = name.trim().chars().map(to_allowed).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name }
}

/// Splits `text` at `${…}`: `Ok` is literal text, `Err` the name of a variable.
fn split_at_variables(text: &str) -> impl Iterator<Item = Result<&str, &str>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some((name, after)) = leading_variable(rest) {
            rest = after;
            return Some(Err(name));
        }
        let mut starts =
            rest.match_indices("${").map(|(position, _)| position).skip_while(|position| *position == 0);
        let next = if rest.contains('}') {
            starts.find(|position| leading_variable(&rest[*position..]).is_some())
        } else {
            None
        };
        let end = next.unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        rest = after;
        Some(Ok(part))
    })
}

/// Returns the name in `${name}` at the start of `text`, and the text after it.
fn leading_variable(text: &str) -> Option<(&str, &str)> {
    let named = text.strip_prefix("${").and_then(|inside| inside.split_once('}'));
    named.filter(|(name, _)| !name.trim().is_empty())
}

/// Whether `text` contains names of keys, such as `${KEY_ENTER}`.
pub(super) fn contains_key_names(text: &str) -> bool {
    text.contains("${KEY_")
}

/// Returns the actions that type `text` into `target`, with separate actions for named keys.
pub(super) fn typing_actions(target: &ElementTarget, text: &str) -> Result<Vec<ActionKind>, String> {
    let mut actions = Vec::new();
    let mut modifiers: Vec<&str> = Vec::new();
    let mut pending_text = String::new();
    let press_action = |modifiers: &[&str], key: &str| {
        let key = modifiers.iter().copied().chain([key]).collect::<Vec<_>>().join("+");
        ActionKind::Press { key, target: Some(target.clone()) }
    };
    for part in split_at_variables(text) {
        let key = match part {
            Ok(text) if !modifiers.is_empty() => {
                if text.chars().count() > MAX_KEYS_WHILE_HELD {
                    return Err(format!(
                        "more than {MAX_KEYS_WHILE_HELD} keys are pressed while another is held"
                    ));
                }
                actions.extend(text.chars().map(|c| press_action(&modifiers, &c.to_string())));
                continue;
            }
            Ok(text) => {
                pending_text.push_str(text);
                continue;
            }
            Err(name) => match name.strip_prefix("KEY_") {
                Some(key) => key,
                None if modifiers.is_empty() => {
                    pending_text.push_str(&convert_placeholders(&format!("${{{name}}}")));
                    continue;
                }
                None => return Err("a variable is typed while a key is held".to_owned()),
            },
        };
        let converted_key =
            KEY_NAMES.iter().find(|(selenium_key, _)| *selenium_key == key).map(|(_, name)| *name);
        let is_function_key =
            key.starts_with('F') && key[1..].parse::<u8>().is_ok_and(|number| (1..=12).contains(&number));
        match converted_key.or(is_function_key.then_some(key)) {
            None => return Err(format!("the dialect has no key `{key}`")),
            Some(modifier @ ("Control" | "Shift" | "Alt" | "Meta")) => {
                flush_text(&mut actions, target, &mut pending_text);
                if !modifiers.contains(&modifier) {
                    modifiers.push(modifier);
                }
            }
            Some(key) => {
                flush_text(&mut actions, target, &mut pending_text);
                actions.push(press_action(&modifiers, key));
            }
        }
    }
    flush_text(&mut actions, target, &mut pending_text);
    Ok(actions)
}

fn flush_text(actions: &mut Vec<ActionKind>, target: &ElementTarget, pending_text: &mut String) {
    if !pending_text.is_empty() {
        actions.push(ActionKind::Type { target: target.clone(), text: std::mem::take(pending_text) });
    }
}

/// Converts `text`, which may contain placeholders, to a JavaScript expression.
pub(super) fn js_expression(text: &str) -> String {
    let literal = |text: &str| serde_json::Value::from(text).to_string();
    let to_expression = |part: Result<&str, &str>| {
        part.map_or_else(|name| format!("{{{{{}}}}}", variable_name(name)), literal)
    };
    let parts: Vec<String> = split_at_variables(text).map(to_expression).collect();
    if parts.is_empty() { "\"\"".to_owned() } else { parts.join(" + ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_become_placeholders_and_expressions() {
        for (text, placeholders, code) in [
            ("", "", "\"\""),
            ("a", "a", "\"a\""),
            ("${a}", "{{a}}", "{{a}}"),
            ("x${my-var}é$${b}{", "x{{my_var}}é${{b}}{", "\"x\" + {{my_var}} + \"é$\" + {{b}} + \"{\""),
            ("${1}", "{{_1}}", "{{_1}}"),
            ("${", "${", "\"${\""),
            ("${}\"", "${}\"", "\"${}\\\"\""),
            ("é${a", "é${a", "\"é${a\""),
        ] {
            assert_eq!(convert_placeholders(text), placeholders, "{text}");
            assert_eq!(js_expression(text), code, "{text}");
        }
    }
}
