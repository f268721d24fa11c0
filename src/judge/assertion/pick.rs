//! One value of a JSON text, taken out in passing: paths such as `$.data.items[0].id` are most of all, and need no
//! tree of the whole document.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// Where a path leads that goes from member to member and item to item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trail(Box<[Step]>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Member(Box<str>),
    Item(usize),
}

impl Trail {
    /// That of a JSONPath which is known to be good; `None` when it is written, or selects, in any other way.
    pub(super) fn of(property: &str) -> Option<Self> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut steps = Vec::new();
        let mut rest = property.strip_prefix('$').unwrap_or(property);
        // The leading `$.` may be missing (behaviour.md 4).
        let mut bare = rest.len() == property.len() && !rest.starts_with(['.', '[']);
        while !rest.is_empty() {
            if bare || rest.starts_with('.') {
                rest = if bare { rest } else { &rest[1..] };
                let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                let (name, behind) = rest.split_at(end);
                name.starts_with(|c: char| !c.is_ascii_digit()).then_some(())?;
                steps.push(Step::Member(name.into()));
                rest = behind;
            } else {
                let (digits, behind) = rest.strip_prefix('[')?.split_once(']')?;
                let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
                steps.push(Step::Item(digits.parse().ok().filter(|_| is_plain)?));
                rest = behind;
            }
            bare = false;
        }
        Some(Self(steps.into()))
    }

    /// What it leads to in `text`, or nothing; fails where [`serde_json::from_str`] of the whole does.
    pub(super) fn follow(&self, text: &str) -> serde_json::Result<Option<Value>> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let found = Walk(&self.0).deserialize(&mut reader)?;
        reader.end()?;
        Ok(found)
    }
}

/// Reads one value and gives what the steps lead to in it.
#[derive(Clone, Copy)]
struct Walk<'s>(&'s [Step]);

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = Option<Value>;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        if self.0.is_empty() { Value::deserialize(reader).map(Some) } else { reader.deserialize_any(self) }
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = Option<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (wanted, rest) = match self.0.split_first() {
            Some((Step::Member(name), rest)) => (Some(&**name), rest),
            _ => (None, self.0),
        };
        let mut found = None;
        while let Some(is_wanted) = map.next_key_seed(Key(wanted))? {
            // Of several members of one name the last one counts.
            if is_wanted {
                found = map.next_value_seed(Walk(rest))?;
            } else {
                map.next_value_seed(Skip)?;
            }
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        if let Some((&Step::Item(index), rest)) = self.0.split_first() {
            for _ in 0..index {
                if items.next_element_seed(Skip)?.is_none() {
                    return Ok(None);
                }
            }
            found = items.next_element_seed(Walk(rest))?.flatten();
        }
        while items.next_element_seed(Skip)?.is_some() {}
        Ok(found)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

/// Whether a name is the wanted one.
struct Key<'s>(Option<&'s str>);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = bool;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<bool, D::Error> {
        reader.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string key")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<bool, E> {
        Ok(self.0 == Some(name))
    }
}

/// Reads one value, as strictly as if it were kept: [`serde::de::IgnoredAny`] lets through numbers that are none
/// and halves of surrogate pairs.
struct Skip;

impl<'de> DeserializeSeed<'de> for Skip {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(Walk(&[])).map(drop)
    }
}
