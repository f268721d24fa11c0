//! `vigie help SUBJECT`: prints a page of the manual in the terminal.

use std::process::ExitCode;

use clap::Command;

use super::command_hint::suggest_command;
use super::output::{self, UsageError};
use super::style::Style;
use crate::manual::{self, ManualPage};
use crate::syntax::closest_match;

/// Prints the page of `subject`.
///
/// # Errors
/// For a subject that is neither a page nor a command of `cli`; the hint names the closest one.
pub(super) fn run(subject: &str, cli: &Command) -> anyhow::Result<ExitCode> {
    let name = subject.strip_suffix(".md").unwrap_or(subject);
    let Some(page) = manual::find_page(name) else {
        let subjects = manual::PAGES.iter().map(ManualPage::subject);
        let closest =
            suggest_command(name, cli).map(|command| format!("did you mean `vigie {command}`?")).or_else(
                || closest_match(name, subjects).map(|page| format!("did you mean `vigie help {page}`?")),
            );
        let hint = match closest {
            Some(hint) => hint,
            None => "`vigie help` lists the commands, `vigie help manual` the pages".to_owned(),
        };
        let text = format!("`{subject}` is neither a command nor a page of the manual");
        return Err(UsageError::with_hint(text, Some(hint)));
    };
    output::print(&render_page(page, Style::for_stdout()))?;
    Ok(ExitCode::SUCCESS)
}

/// Renders the page for a terminal: headings are bold, links are replaced by their texts.
fn render_page(page: ManualPage, style: Style) -> String {
    let (mut text, mut in_code) = (String::new(), false);
    for line in page.markdown.lines() {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        if !in_code && !is_fence && line.starts_with("<!--") {
            continue;
        }
        let rendered = match line {
            _ if is_fence => continue,
            code if in_code => format!("    {code}"),
            heading if heading.starts_with('#') => style.bold(heading.trim_start_matches(['#', ' '])),
            prose => replace_links_with_text(prose),
        };
        text.push_str(&rendered);
        text.push('\n');
    }
    text
}

/// Replaces the links in `line` by their texts.
fn replace_links_with_text(line: &str) -> String {
    let (mut text, mut rest) = (String::new(), line);
    while let Some((before, link)) = rest.split_once('[') {
        let label_and_rest =
            link.split_once("](").and_then(|(label, after)| Some((label, after.split_once(')')?.1)));
        let Some((label, after)) = label_and_rest.filter(|(label, _)| !label.contains('[')) else {
            text.push_str(before);
            text.push('[');
            rest = link;
            continue;
        };
        text.push_str(before);
        text.push_str(label);
        rest = after;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_become_their_texts_and_other_brackets_stay() {
        assert_eq!(
            replace_links_with_text("see [Alerts](alerting.md#x), [a] and [b](c)"),
            "see Alerts, [a] and b"
        );
        assert_eq!(replace_links_with_text("`[{id}]` and [x"), "`[{id}]` and [x");
    }

    #[test]
    fn code_is_indented_and_markers_of_generated_parts_are_left_out() {
        let page =
            ManualPage { path: "x", markdown: "# T\n<!-- fields: tcp -->\n```sh\n# c\nvigie x\n```\ntext\n" };
        assert_eq!(render_page(page, Style::PLAIN), "T\n    # c\n    vigie x\ntext\n");
    }
}
