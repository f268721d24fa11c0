//! How a person reads pages: the language, and the time zone.

use super::language::Language;
use super::table;
use super::zone::Zone;
use crate::domain::{Timestamp, escape_html};

/// The language and the time zone of a person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Locale {
    /// The language.
    pub language: Language,
    /// The time zone.
    pub zone: Zone,
}

/// Marks a text of the table where it is named before it is shown.
#[must_use]
pub const fn key(english: &'static str) -> &'static str {
    english
}

impl Locale {
    /// Returns a text of the table in the language; `english` itself when the table lacks it.
    #[must_use]
    pub fn text(self, english: &str) -> &str {
        table::find(english, self.language)
    }

    /// Returns a text with `values` in place of its `{name}`.
    #[must_use]
    pub fn fill(self, english: &str, values: &[(&str, &str)]) -> String {
        fill(self.text(english), values, ToOwned::to_owned)
    }

    /// Returns a text that is HTML, with `values` escaped in it.
    #[must_use]
    pub fn html(self, english: &str, values: &[(&str, &str)]) -> String {
        fill(self.text(english), values, |value| escape_html(value).into_owned())
    }

    /// Escapes a text that is in English whatever the language, such as what a check found, and marks it as that.
    #[must_use]
    pub fn english_html(self, text: &str) -> String {
        let escaped = escape_html(text);
        match self.language {
            Language::German | Language::French if !text.is_empty() => {
                format!(r#"<span lang="en">{escaped}</span>"#)
            }
            _ => escaped.into_owned(),
        }
    }

    /// Returns the text for `count`, with it in place of `{count}`.
    #[must_use]
    pub fn count(self, one: &str, other: &str, count: u64) -> String {
        let english = if self.language.is_singular(count) { one } else { other };
        self.fill(english, &[("count", &count.to_string())])
    }

    /// Formats a time such as `2026-11-20 12:00:00` in the zone.
    #[must_use]
    pub fn time(self, time: Timestamp) -> String {
        self.zone.format(time)
    }

    /// Formats a time with the zone, such as `2026-11-20 12:00:00 UTC`.
    #[must_use]
    pub fn zoned_time(self, time: Timestamp) -> String {
        format!("{} {}", self.zone.format(time), self.zone.abbreviation(time))
    }

    /// Writes a number with the decimal mark of the language.
    #[must_use]
    pub fn decimal(self, number: String) -> String {
        match self.language {
            Language::English => number,
            Language::German | Language::French => number.replace('.', ","),
        }
    }

    /// Writes a number that has commas between groups of digits with the mark of the language.
    #[must_use]
    pub fn grouped(self, number: String) -> String {
        match self.language {
            Language::English => number,
            Language::German => number.replace(',', "."),
            // A narrow space that does not break.
            Language::French => number.replace(',', "\u{202f}"),
        }
    }

    /// Returns a label as it stands within a sentence. German nouns keep their capital.
    #[must_use]
    pub fn within_sentence(self, label: &str) -> String {
        match self.language {
            Language::German => label.to_owned(),
            Language::English | Language::French => label.to_lowercase(),
        }
    }

    /// Formats microseconds for people: `840 µs`, `12.3 ms`, `4.56 s`.
    #[must_use]
    pub fn micros(self, micros: u64) -> String {
        let value = micros as f64;
        self.decimal(match micros {
            0..1_000 => format!("{micros} µs"),
            1_000..1_000_000 => format!("{:.1} ms", value / 1e3),
            _ => format!("{:.2} s", value / 1e6),
        })
    }
}

/// Puts values in place of their names in braces, each of which is looked for once: values may have braces, too.
fn fill(text: &str, values: &[(&str, &str)], to_text: impl Fn(&str) -> String) -> String {
    let mut out = String::with_capacity(text.len() + 32);
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let value = after.split_once('}').and_then(|(name, behind)| {
            let (_, value) = values.iter().find(|(known, _)| *known == name)?;
            Some((value, behind))
        });
        if let Some((value, behind)) = value {
            out.push_str(&to_text(value));
            rest = behind;
        } else {
            out.push('{');
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_filled_once_and_escaped_where_html_is_meant() {
        let locale = Locale::default();
        assert_eq!(locale.fill("{a} of {b} {c}", &[("a", "{b}"), ("b", "<")]), "{b} of < {c}");
        assert_eq!(locale.html("<b>{a}</b>", &[("a", "<i>")]), "<b>&lt;i&gt;</b>");
        let german = Locale { language: Language::German, ..locale };
        assert_eq!([locale.english_html("<i>"), german.english_html("")], ["&lt;i&gt;", ""]);
        assert_eq!(german.english_html("<i>"), r#"<span lang="en">&lt;i&gt;</span>"#);
    }

    #[test]
    fn numbers_have_the_mark_and_the_plural_of_the_language() {
        let in_language = |language| Locale { language, ..Locale::default() };
        let (english, french) = (in_language(Language::English), in_language(Language::French));
        assert_eq!([english.micros(12_345), french.micros(4_560_000)], ["12.3 ms", "4,56 s"]);
        assert_eq!([english.micros(0), english.micros(999)], ["0 µs", "999 µs"]);
        let german = in_language(Language::German);
        assert_eq!([english, german].map(|t| t.grouped("1,234".to_owned())), ["1,234", "1.234"]);
        assert_eq!(english.count("{count} run", "{count} runs", 0), "0 runs");
        assert_eq!(french.count("{count} run", "{count} runs", 0), "0 run");
    }
}
