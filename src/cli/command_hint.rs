//! Suggestions for what is not a command: the command that does what another word means.

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::monitor_type::exact_types;
use crate::syntax::closest_match;

/// Words of other programs, each with the command that does it here.
const SYNONYMS: &[(&str, &str)] = &[
    ("list", "monitors"),
    ("ls", "monitors"),
    ("show", "monitors"),
    ("status", "monitors"),
    ("state", "monitors"),
    ("history", "results"),
    ("logs", "results"),
    ("start", "serve"),
    ("server", "serve"),
    ("up", "serve"),
    ("probe", "check"),
    ("validate", "config check"),
    ("lint", "config check"),
    ("verify", "config check"),
    ("add", "apply"),
    ("create", "apply"),
    ("deploy", "apply"),
    ("import", "script import"),
    ("backup", "store backup"),
    ("restore", "store restore"),
    ("migrate", "store migrate"),
    ("passwd", "user passwd"),
    ("password", "user passwd"),
    ("accounts", "customer list"),
    ("trace", "traceroute"),
    ("types", "fields"),
    ("version", "--version"),
    ("docs", "help manual"),
    ("man", "help manual"),
];

/// Words that people add to a command that lists already.
const WORDS_FOR_LISTS: &[&str] = &["list", "ls", "show", "status", "all"];

/// Returns the message for an error of the parser about a word that is no command; `None` for other errors.
pub(super) fn explain_unknown_word(error: &clap::Error, words: &[String], cli: &Command) -> Option<String> {
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let ContextValue::String(name) = error.get(ContextKind::InvalidSubcommand)? else { return None };
            let (path, parent) = parent_command(words, cli);
            let hint = if path == "vigie" {
                suggest_command(name, cli).map_or_else(
                    || "`vigie help` lists the commands".to_owned(),
                    |found| format!("did you mean `vigie {found}`?"),
                )
            } else {
                hint_of_subcommands(name, &path, parent)
            };
            Some(format!("`{path} {name}` is not a command\nhint: {hint}"))
        }
        ErrorKind::UnknownArgument => {
            let ContextValue::String(word) = error.get(ContextKind::InvalidArg)? else { return None };
            let (path, _) = parent_command(words, cli);
            WORDS_FOR_LISTS.contains(&word.as_str()).then(|| {
                format!("`{path}` takes no `{word}`\nhint: leave it out: `{path}`; `{path} --help` shows the options")
            })
        }
        _ => None,
    }
}

/// Returns the command, with its arguments, that someone may mean by `name`.
pub(super) fn suggest_command(name: &str, cli: &Command) -> Option<String> {
    let synonym = |word: &str| SYNONYMS.iter().find(|(other, _)| *other == word).map(|(_, command)| *command);
    if let Some(command) = synonym(name) {
        return Some(command.to_owned());
    }
    if let [monitor_type, ..] = exact_types(name).as_slice() {
        return Some(format!("check {monitor_type}"));
    }
    let commands = visible_names(cli);
    let words = commands.iter().map(String::as_str).chain(SYNONYMS.iter().map(|(word, _)| *word));
    let closest = closest_match(name, words)?;
    Some(synonym(closest).unwrap_or(closest).to_owned())
}

fn hint_of_subcommands(name: &str, path: &str, parent: &Command) -> String {
    let names = visible_names(parent);
    match closest_match(name, names.iter().map(String::as_str)) {
        Some(closest) => format!("did you mean `{path} {closest}`?"),
        None => format!("`{path}` has {}", quoted_list(&names)),
    }
}

/// Returns the innermost command that `words`, program name first, names, and how it is called.
fn parent_command<'c>(words: &[String], cli: &'c Command) -> (String, &'c Command) {
    let (mut path, mut command) = ("vigie".to_owned(), cli);
    for word in words.iter().skip(1) {
        let Some(inner) = command.find_subcommand(word) else { break };
        path = format!("{path} {word}");
        command = inner;
    }
    (path, command)
}

fn visible_names(command: &Command) -> Vec<String> {
    let shown = command.get_subcommands().filter(|inner| !inner.is_hide_set());
    shown.map(|inner| inner.get_name().to_owned()).collect()
}

fn quoted_list(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::dispatch::clap_command;

    fn explain(line: &str) -> Option<String> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let error = clap_command().try_get_matches_from(&words).unwrap_err();
        explain_unknown_word(&error, &words, &clap_command())
    }

    #[test]
    fn every_synonym_names_a_command_and_is_none() {
        for (word, command) in SYNONYMS {
            assert!(clap_command().find_subcommand(word).is_none(), "`{word}` is a command");
            let mut inner = clap_command();
            let is_real = |part: &str| ["--version", "help", "manual"].contains(&part);
            for part in command.split(' ').filter(|part| !is_real(part)) {
                inner = inner.find_subcommand(part).unwrap_or_else(|| panic!("`{command}`")).clone();
            }
        }
    }

    #[test]
    fn what_is_no_command_gets_the_one_that_does_it() {
        for (line, hint) in [
            ("vigie list", "did you mean `vigie monitors`?"),
            ("vigie status", "did you mean `vigie monitors`?"),
            ("vigie statsu", "did you mean `vigie monitors`?"),
            ("vigie chekc tcp", "did you mean `vigie check`?"),
            ("vigie website http://x/", "did you mean `vigie check website`?"),
            ("vigie dns 192.0.2.1", "did you mean `vigie check name-server`?"),
            ("vigie qqq", "`vigie help` lists the commands"),
            ("vigie user lst", "did you mean `vigie user list`?"),
            ("vigie store status", "`vigie store` has `check`, "),
            ("vigie monitors list", "leave it out: `vigie monitors`"),
        ] {
            let text = explain(line).unwrap_or_else(|| panic!("{line} has no explanation"));
            assert!(text.contains(hint), "{line}: {text}");
        }
        assert_eq!(explain("vigie monitors --bogus"), None);
        assert_eq!(
            explain("vigie tcp extra"),
            Some("`vigie tcp` is not a command\nhint: did you mean `vigie check tcp`?".to_owned())
        );
    }
}
