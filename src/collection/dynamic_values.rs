//! The dynamic variables `{{$name}}`: a new value at each use.

use std::net::Ipv6Addr;

use serde_json::Value;

use super::dynamic_words::{
    BUSINESS_SUFFIXES, CITIES, COLORS, COUNTRIES, COUNTRY_CODES, CURRENCIES, FILE_EXTENSIONS, FIRST_NAMES,
    JOB_TITLES, LAST_NAMES, LOREM, MONTHS, PRODUCTS, STREET_SUFFIXES, TOP_LEVEL_DOMAINS, WEEKDAYS,
};
use crate::domain::{Timestamp, format_uuid_v4};

/// A name and what makes its value.
type DynamicVariable = (&'static str, fn(&mut Random) -> String);

/// The dynamic variables of this build; others stay as they are and are listed as not supported.
pub const DYNAMIC_VARIABLES: &[DynamicVariable] = &[
    ("$guid", Random::uuid),
    ("$randomUUID", Random::uuid),
    ("$timestamp", |r| (r.now.as_micros() / 1_000_000).to_string()),
    ("$isoTimestamp", |r| r.now.to_string()),
    ("$randomInt", |r| r.below(1001).to_string()),
    ("$randomAlphaNumeric", |r| r.chars("abcdefghijklmnopqrstuvwxyz0123456789", 1)),
    ("$randomBoolean", |r| (r.below(2) == 1).to_string()),
    ("$randomColor", |r| r.word(COLORS)),
    ("$randomHexColor", |r| format!("#{}", r.chars("0123456789abcdef", 6))),
    ("$randomPassword", |r| r.chars("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789_", 15)),
    ("$randomIP", |r| (0..4).map(|_| r.below(256).to_string()).collect::<Vec<_>>().join(".")),
    ("$randomIPV6", |r| Ipv6Addr::from(r.next()).to_string()),
    ("$randomMACAddress", |r| (0..6).map(|_| format!("{:02x}", r.below(256))).collect::<Vec<_>>().join(":")),
    ("$randomSemver", |r| format!("{}.{}.{}", r.below(10), r.below(10), r.below(10))),
    ("$randomFirstName", |r| r.word(FIRST_NAMES)),
    ("$randomLastName", |r| r.word(LAST_NAMES)),
    ("$randomFullName", |r| format!("{} {}", r.word(FIRST_NAMES), r.word(LAST_NAMES))),
    ("$randomUserName", |r| format!("{}_{}{}", r.word(FIRST_NAMES), r.word(LAST_NAMES), r.below(100))),
    ("$randomJobTitle", |r| r.word(JOB_TITLES)),
    ("$randomPhoneNumber", |r| format!("{}-{}-{}", r.digits(3), r.digits(3), r.digits(4))),
    ("$randomCity", |r| r.word(CITIES)),
    ("$randomCountry", |r| r.word(COUNTRIES)),
    ("$randomCountryCode", |r| r.word(COUNTRY_CODES)),
    ("$randomStreetName", |r| format!("{} {}", r.word(LAST_NAMES), r.word(STREET_SUFFIXES))),
    ("$randomStreetAddress", |r| {
        format!("{} {} {}", r.below(9999) + 1, r.word(LAST_NAMES), r.word(STREET_SUFFIXES))
    }),
    ("$randomLatitude", |r| r.decimal(-90, 90)),
    ("$randomLongitude", |r| r.decimal(-180, 180)),
    ("$randomEmail", |r| format!("{}.{}@example.com", r.lower(FIRST_NAMES), r.lower(LAST_NAMES))),
    ("$randomExampleEmail", |r| format!("{}{}@example.org", r.lower(FIRST_NAMES), r.below(100))),
    ("$randomDomainWord", |r| r.lower(LAST_NAMES)),
    ("$randomDomainName", |r| format!("{}.{}", r.lower(LAST_NAMES), r.word(TOP_LEVEL_DOMAINS))),
    ("$randomDomainSuffix", |r| r.word(TOP_LEVEL_DOMAINS)),
    ("$randomUrl", |r| format!("https://{}.{}", r.lower(LAST_NAMES), r.word(TOP_LEVEL_DOMAINS))),
    ("$randomProtocol", |r| r.word(&["http", "https"])),
    ("$randomCompanyName", |r| format!("{} {}", r.word(LAST_NAMES), r.word(BUSINESS_SUFFIXES))),
    ("$randomProductName", |r| r.word(PRODUCTS)),
    ("$randomPrice", |r| format!("{}.{:02}", r.below(1000), r.below(100))),
    ("$randomBankAccount", |r| r.digits(8)),
    ("$randomCurrencyCode", |r| r.word(CURRENCIES)),
    ("$randomMonth", |r| r.word(MONTHS)),
    ("$randomWeekday", |r| r.word(WEEKDAYS)),
    ("$randomDateFuture", |r| r.date(1, 365)),
    ("$randomDatePast", |r| r.date(-365, -1)),
    ("$randomDateRecent", |r| r.date(-1, 0)),
    ("$randomFileExt", |r| r.word(FILE_EXTENSIONS)),
    ("$randomFileName", |r| format!("{}_{}.{}", r.word(LOREM), r.word(LOREM), r.word(FILE_EXTENSIONS))),
    ("$randomWord", |r| r.word(LOREM)),
    ("$randomWords", |r| r.words(4)),
    ("$randomLoremWord", |r| r.word(LOREM)),
    ("$randomLoremWords", |r| r.words(3)),
    ("$randomLoremSlug", |r| r.words(3).replace(' ', "-")),
    ("$randomLoremSentence", |r| r.sentence()),
    ("$randomLoremSentences", |r| (0..4).map(|_| r.sentence()).collect::<Vec<_>>().join(" ")),
    ("$randomLoremParagraph", |r| (0..4).map(|_| r.sentence()).collect::<Vec<_>>().join(" ")),
    ("$randomLoremText", |r| (0..3).map(|_| r.sentence()).collect::<Vec<_>>().join(" ")),
];

/// Returns a new value of the dynamic variable `name`, such as `$guid`, at the time `now`; `None` for a name that this
/// build does not know.
#[must_use]
pub fn dynamic_value(name: &str, now: Timestamp) -> Option<String> {
    let (_, value) = DYNAMIC_VARIABLES.iter().find(|(known, _)| *known == name)?;
    Some(value(&mut Random::new(now)))
}

/// Returns the dynamic variables in the texts of `value` that this build does not know, each once.
pub(super) fn unknown_names(value: &Value) -> Vec<String> {
    let is_known = |name: &String| DYNAMIC_VARIABLES.iter().any(|(known, _)| known == name);
    names_in(value).into_iter().filter(|name| !is_known(name)).collect()
}

/// Returns the placeholders with a `$` in the texts of `value`, each once.
pub(super) fn names_in(value: &Value) -> Vec<String> {
    let mut names = Vec::new();
    collect_names(value, &mut names);
    names
}

fn collect_names(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            for part in text.split("{{$").skip(1) {
                let Some((name, _)) = part.split_once("}}") else { continue };
                let name = format!("${}", name.trim());
                let is_name = name[1..].chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                if is_name && name.len() > 1 && !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_names(item, names)),
        Value::Object(entries) => entries.values().for_each(|entry| collect_names(entry, names)),
        _ => {}
    }
}

/// A source of random values.
pub struct Random {
    now: Timestamp,
    bytes: [u8; 256],
    /// How many of them are used up; a multiple of 16.
    used: usize,
}

impl Random {
    fn new(now: Timestamp) -> Self {
        Self { now, bytes: [0; 256], used: 256 }
    }

    fn next(&mut self) -> u128 {
        if self.used == self.bytes.len() {
            // Without entropy the values repeat; nothing depends on their secrecy.
            let _ = aws_lc_rs::rand::fill(&mut self.bytes);
            self.used = 0;
        }
        let drawn =
            self.bytes[self.used..].iter().take(16).fold(0, |sum: u128, byte| sum << 8 | u128::from(*byte));
        self.used += 16;
        drawn
    }

    /// Returns a number from 0 to `bound` - 1.
    fn below(&mut self, bound: u64) -> u64 {
        u64::try_from(self.next() % u128::from(bound)).unwrap_or(0)
    }

    fn word(&mut self, words: &[&str]) -> String {
        let index = self.below(words.len() as u64);
        words.get(usize::try_from(index).unwrap_or(0)).copied().unwrap_or_default().to_owned()
    }

    fn lower(&mut self, words: &[&str]) -> String {
        self.word(words).to_lowercase()
    }

    fn words(&mut self, count: usize) -> String {
        (0..count).map(|_| self.word(LOREM)).collect::<Vec<_>>().join(" ")
    }

    fn sentence(&mut self) -> String {
        let words = self.words(7);
        format!("{}{}.", words[..1].to_uppercase(), &words[1..])
    }

    fn chars(&mut self, alphabet: &str, count: usize) -> String {
        let chars: Vec<char> = alphabet.chars().collect();
        (0..count).filter_map(|_| chars.get(usize::try_from(self.below(chars.len() as u64)).ok()?)).collect()
    }

    fn digits(&mut self, count: usize) -> String {
        self.chars("0123456789", count)
    }

    fn decimal(&mut self, low: i32, high: i32) -> String {
        let steps = u64::from(high.abs_diff(low)) * 10_000;
        let ten_thousandths = i64::from(low) * 10_000 + i64::try_from(self.below(steps + 1)).unwrap_or(0);
        format!("{:.4}", ten_thousandths as f64 / 10_000.0)
    }

    /// Returns a time between `first` and `last` days from now.
    fn date(&mut self, first: i64, last: i64) -> String {
        const DAY_SECONDS: i64 = 86_400;
        let span = u64::try_from((last - first) * DAY_SECONDS).unwrap_or(1);
        let offset = first * DAY_SECONDS + i64::try_from(self.below(span.max(1))).unwrap_or(0);
        Timestamp::from_micros(self.now.as_micros() + offset * 1_000_000).to_string()
    }

    fn uuid(&mut self) -> String {
        format_uuid_v4(self.next())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_variable_has_a_value_and_new_ones_each_time() {
        let now = Timestamp::from_micros(1_700_000_000_000_000);
        for (name, _) in DYNAMIC_VARIABLES {
            let value = dynamic_value(name, now).unwrap();
            assert!(!value.is_empty() && !value.contains("{{"), "{name}: {value}");
        }
        assert_eq!(dynamic_value("$timestamp", now).unwrap(), "1700000000");
        assert_ne!(dynamic_value("$guid", now), dynamic_value("$guid", now));
        assert_eq!(dynamic_value("$guid", now).unwrap().len(), 36);
        assert_eq!(dynamic_value("$randomCatImage", now), None);
    }

    #[test]
    fn unknown_ones_are_found_once() {
        let value = json!({"url": "{{$guid}}/{{$randomCatImage}}", "x": ["{{ $a }}", "{{$randomCatImage}} {{$jsonPath.x}}"]});
        assert_eq!(unknown_names(&value), ["$randomCatImage"]);
    }
}
