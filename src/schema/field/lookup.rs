//! Lookup of fields in a table, by name and position.

use std::borrow::Cow;
use std::sync::OnceLock;

use serde_json::{Map, Value};

use super::definition::{Access, CachedFieldPositions, Field, FieldIndex, FieldTable, FieldType};

impl FieldTable {
    /// Creates a table from groups of fields. A later field replaces an earlier one of the same name at its position.
    #[must_use]
    pub const fn new(
        name: &'static str,
        description: &'static str,
        groups: &'static [&'static [Field]],
    ) -> Self {
        Self { name, description, groups, index: OnceLock::new() }
    }

    /// Returns the fields in order.
    #[must_use]
    pub fn fields(&self) -> &[&'static Field] {
        &self.index().fields
    }

    /// Returns the field called `name` in version 3.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.position(name).map(|position| self.index().fields[position])
    }

    /// Returns the field called `name` in the legacy API.
    #[must_use]
    pub fn legacy_field(&self, name: &str) -> Option<&'static Field> {
        self.fields().iter().copied().find(|field| field.legacy_name() == name)
    }

    /// Returns the position of `name` in [`FieldTable::fields`].
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        self.index().position_by_name.get(name).map(|at| usize::from(*at))
    }

    /// Returns the positions of `names` in [`FieldTable::fields`]. Looks them up once per list, since typed settings
    /// are read often.
    ///
    /// # Errors
    /// A name that the table lacks.
    pub(in crate::schema) fn positions(
        &'static self,
        names: &'static [&'static str],
    ) -> Result<Cow<'static, [u16]>, &'static str> {
        for cache_entry in &self.index().field_position_cache {
            let Some(cached) = cache_entry.get() else {
                let positions = self.find_positions(names)?;
                // Another thread may have filled the entry.
                let cached = cache_entry.get_or_init(|| CachedFieldPositions {
                    field_names: names,
                    positions: positions.clone(),
                });
                if std::ptr::eq(cached.field_names, names) {
                    return Ok(Cow::Borrowed(&cached.positions));
                }
                return Ok(Cow::Owned(positions.into_vec()));
            };
            if std::ptr::eq(cached.field_names, names) {
                return Ok(Cow::Borrowed(&cached.positions));
            }
        }
        self.find_positions(names).map(|positions| Cow::Owned(positions.into_vec()))
    }

    fn find_positions(&self, names: &[&'static str]) -> Result<Box<[u16]>, &'static str> {
        names.iter().map(|name| self.index().position_by_name.get(name).copied().ok_or(*name)).collect()
    }

    /// Returns the default of the field at `position`.
    #[must_use]
    pub fn default_at(&self, position: usize) -> Option<&Value> {
        self.index().defaults.get(position)?.as_ref()
    }

    /// Returns the shared copy of `value`, if the field at `position` has only a few values.
    #[must_use]
    pub fn interned_value(&self, position: usize, value: &Value) -> Option<&Value> {
        self.index().interned_values.get(position)?.iter().find(|interned| *interned == value)
    }

    /// Returns the defaults of all fields that have one and that may be set.
    #[must_use]
    pub fn defaults(&self) -> Map<String, Value> {
        let with_default = |field: &&'static Field| Some((field.name.to_owned(), field.default_value()?));
        self.fields()
            .iter()
            .filter(|field| matches!(field.access, Access::ReadWrite | Access::ReadOnlyInV3))
            .filter_map(with_default)
            .collect()
    }

    fn index(&self) -> &FieldIndex {
        self.index.get_or_init(|| FieldIndex::from_groups(self.groups))
    }
}

impl FieldIndex {
    fn from_groups(groups: &'static [&'static [Field]]) -> Self {
        let mut fields: Vec<&'static Field> = Vec::new();
        for field in groups.iter().copied().flatten() {
            match fields.iter_mut().find(|earlier| earlier.name == field.name) {
                Some(earlier) => *earlier = field,
                None => fields.push(field),
            }
        }
        let positions = fields.iter().zip(0..).map(|(field, at)| (field.name, at)).collect();
        let defaults = fields.iter().map(|field| field.default_value()).collect();
        let interned_values = fields.iter().map(|field| enumerable_values(&field.field_type)).collect();
        Self {
            fields,
            position_by_name: positions,
            defaults,
            interned_values,
            field_position_cache: Default::default(),
        }
    }
}

fn enumerable_values(kind: &FieldType) -> Vec<Value> {
    match kind {
        FieldType::Bool => vec![Value::Bool(false), Value::Bool(true)],
        FieldType::IntEnum(choices) => choices.iter().copied().map(Value::from).collect(),
        FieldType::TextEnum(choices) => choices.iter().copied().map(Value::from).collect(),
        _ => Vec::new(),
    }
}

impl std::fmt::Debug for FieldTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FieldTable").field("name", &self.name).finish_non_exhaustive()
    }
}
