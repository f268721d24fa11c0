//! Reads typed settings from fields: a serde deserializer over set values and the defaults of their table.

use serde::Deserialize;
use serde::de::value::{StrDeserializer, UsizeDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Value;

use super::invalid_settings::InvalidFieldValue;
use crate::schema::field::{Field, FieldTable, FieldType};

/// Returns the value of a field by its position in the table; `None` or null when it is not set.
type FieldValueLookup<'s, 'a> = &'s dyn Fn(usize, &'static Field) -> Option<&'a Value>;

/// Reads `T`, whose fields are named as those of `table`: each has the value of `value_of` or its default.
pub(in crate::schema) fn deserialize_fields<'a, T: Deserialize<'a>>(
    table: &'static FieldTable,
    value_of: FieldValueLookup<'_, 'a>,
) -> Result<T, InvalidFieldValue> {
    T::deserialize(FieldsDeserializer { table, value_of })
}

/// The fields of one object.
struct FieldsDeserializer<'s, 'a> {
    table: &'static FieldTable,
    value_of: FieldValueLookup<'s, 'a>,
}

impl<'de> Deserializer<'de> for FieldsDeserializer<'_, 'de> {
    type Error = InvalidFieldValue;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        let positions = self.table.positions(names).map_err(|name| {
            let reason = format!("`{}` has no such field", self.table.name);
            InvalidFieldValue::from_reason(reason).with_path_prefix(name)
        })?;
        visitor.visit_map(FieldEntries {
            deserializer: self,
            positions: positions.iter().enumerate(),
            next: None,
        })
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(InvalidFieldValue::from_reason("settings are read into structs"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// The fields of a struct, in turn.
struct FieldEntries<'s, 'a> {
    deserializer: FieldsDeserializer<'s, 'a>,
    /// Their positions in the table.
    positions: std::iter::Enumerate<std::slice::Iter<'s, u16>>,
    /// The field whose name was read last, with its value, which is read next.
    next: Option<(&'static Field, &'a Value)>,
}

impl<'a> MapAccess<'a> for FieldEntries<'_, 'a> {
    type Error = InvalidFieldValue;

    fn next_key_seed<K: DeserializeSeed<'a>>(&mut self, seed: K) -> Result<Option<K::Value>, Self::Error> {
        let table = self.deserializer.table;
        for (index, &position) in self.positions.by_ref() {
            let position = usize::from(position);
            let field = table.fields()[position];
            let set_value = (self.deserializer.value_of)(position, field).filter(|value| !value.is_null());
            if let Some(value) = set_value.or_else(|| table.default_at(position)) {
                self.next = Some((field, value));
                // Derived structs also accept the index of a field, which saves comparing names.
                return seed.deserialize(UsizeDeserializer::new(index)).map(Some);
            }
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'a>>(&mut self, seed: V) -> Result<V::Value, Self::Error> {
        let Some((field, value)) = self.next.take() else {
            return Err(InvalidFieldValue::custom("a value was read before its name"));
        };
        let read = seed.deserialize(ValueDeserializer { field_type: &field.field_type, value });
        read.map_err(|error| error.with_field(field, value))
    }
}

/// A value of `field_type`.
struct ValueDeserializer<'a> {
    field_type: &'static FieldType,
    value: &'a Value,
}

impl<'de> Deserializer<'de> for ValueDeserializer<'de> {
    type Error = InvalidFieldValue;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match (self.value, self.field_type) {
            (Value::String(text), _) => visitor.visit_borrowed_str(text),
            (Value::Array(items), FieldType::List { item_type, .. }) => {
                visitor.visit_seq(ListItems { field_type: item_type, items: items.iter().enumerate() })
            }
            (value, _) => value.deserialize_any(visitor).map_err(InvalidFieldValue::custom),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        if self.value.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        match (self.value, self.field_type) {
            (Value::Object(entries), FieldType::Object(table)) => {
                let value_of = |_, field: &'static Field| entries.get(field.name);
                FieldsDeserializer { table, value_of: &value_of }.deserialize_struct(name, names, visitor)
            }
            _ => Err(InvalidFieldValue::from_reason("it must be a map of fields")),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        match self.value {
            Value::String(text) => StrDeserializer::new(text).deserialize_enum(name, variants, visitor),
            _ => Err(InvalidFieldValue::unknown_variant("", variants)),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

/// The entries of a list.
struct ListItems<'a> {
    field_type: &'static FieldType,
    items: std::iter::Enumerate<std::slice::Iter<'a, Value>>,
}

impl<'a> SeqAccess<'a> for ListItems<'a> {
    type Error = InvalidFieldValue;

    fn next_element_seed<T: DeserializeSeed<'a>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Self::Error> {
        let Some((index, value)) = self.items.next() else { return Ok(None) };
        let read = seed.deserialize(ValueDeserializer { field_type: self.field_type, value });
        read.map(Some).map_err(|error| error.with_value(value).with_path_prefix(&format!("[{index}]")))
    }
}

#[cfg(test)]
#[path = "deserializer_tests.rs"]
mod tests;
