//! One page of the manual, and the sections below its headings.

/// One page of the manual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManualPage {
    /// Path below the manual without the file ending, such as `alerting` or `monitors/website`.
    pub path: &'static str,
    /// Markdown, as in the file.
    pub markdown: &'static str,
}

/// The text below one heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManualSection<'a> {
    /// Heading without its `#` marks.
    pub heading: &'a str,
    /// Lines below it, up to the next heading of any level.
    pub text: &'a str,
}

impl ManualPage {
    /// Returns its first heading.
    #[must_use]
    pub fn first_heading(&self) -> &'static str {
        self.sections().first().map_or(self.path, |section| section.heading)
    }

    /// Returns the subject that people type: the last part of its name, or the folder for an index page.
    #[must_use]
    pub fn subject(&self) -> &'static str {
        match self.path.rsplit_once('/') {
            Some((folder, "index")) => folder,
            Some((_, last)) => last,
            None if self.path == "index" => "manual",
            None => self.path,
        }
    }

    /// Returns its sections in order. Lines of code blocks are not headings.
    #[must_use]
    pub fn sections(&self) -> Vec<ManualSection<'static>> {
        // Title, and start and end of the text below it.
        let mut sections: Vec<(&str, usize, usize)> = Vec::new();
        let (mut line_start, mut in_code) = (0, false);
        for line in self.markdown.split_inclusive('\n') {
            let line_end = line_start + line.len();
            in_code ^= line.trim_start().starts_with("```");
            if let Some(last_section) = sections.last_mut() {
                last_section.2 = line_end;
            }
            if let Some(title) = parse_heading(line).filter(|_| !in_code) {
                if let Some(last_section) = sections.last_mut() {
                    last_section.2 = line_start;
                }
                sections.push((title, line_end, line_end));
            }
            line_start = line_end;
        }
        sections
            .into_iter()
            .map(|(title, from, to)| ManualSection { heading: title, text: &self.markdown[from..to] })
            .collect()
    }
}

impl ManualSection<'_> {
    /// Returns the id of its heading on the page.
    #[must_use]
    pub fn anchor(&self) -> String {
        heading_anchor(self.heading)
    }
}

/// Returns the title if `line` is a heading.
fn parse_heading(line: &str) -> Option<&str> {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    ((1..=6).contains(&level)).then(|| title.strip_prefix(' ')).flatten().map(str::trim)
}

/// Returns the id that links use for a heading of this `title`: lower case, hyphens for spaces, no punctuation.
#[must_use]
pub fn heading_anchor(title: &str) -> String {
    let is_anchor_char = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    title
        .chars()
        .filter(is_anchor_char)
        .map(|c| if c == ' ' { '-' } else { c })
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: ManualPage = ManualPage {
        path: "monitors/index",
        markdown: "# Types, all\n\nIntro.\n\n```sh\n# no heading\n```\n\n## How `it` runs\nText.\n",
    };

    #[test]
    fn headings_start_sections_and_lines_of_code_do_not() {
        let sections = PAGE.sections();
        let titles: Vec<_> = sections.iter().map(|section| section.heading).collect();
        assert_eq!(titles, ["Types, all", "How `it` runs"]);
        assert_eq!(sections[0].text, "\nIntro.\n\n```sh\n# no heading\n```\n\n");
        assert_eq!(sections[1].text, "Text.\n");
        assert_eq!((PAGE.first_heading(), PAGE.subject()), ("Types, all", "monitors"));
    }

    #[test]
    fn anchors_are_those_that_links_use() {
        assert_eq!(heading_anchor("3. One check"), "3-one-check");
        assert_eq!(heading_anchor("How `it` runs"), "how-it-runs");
    }
}
