//! Builders of field descriptions.

use super::definition::{Access, DefaultValue, Field, FieldTable, FieldType, LegacyEncoding};
use crate::syntax::text_format::TextFormat;

impl Field {
    /// Creates a field without a default that editors may set.
    #[must_use]
    pub const fn new(name: &'static str, kind: FieldType, description: &'static str) -> Self {
        Self {
            name,
            description,
            field_type: kind,
            default: DefaultValue::None,
            required: false,
            required_in_v3: false,
            access: Access::ReadWrite,
            secret: false,
            extension: false,
            legacy: LegacyEncoding::Same,
        }
    }

    /// Creates a boolean field with a default.
    #[must_use]
    pub const fn flag(name: &'static str, default: bool, description: &'static str) -> Self {
        Self::new(name, FieldType::Bool, description).with_default(DefaultValue::Bool(default))
    }

    /// Creates an integer field with values in `min..=max`.
    #[must_use]
    pub const fn int(name: &'static str, min: i64, max: i64, description: &'static str) -> Self {
        Self::new(name, FieldType::Int { min, max }, description)
    }

    /// Creates a free text field of up to `max` characters.
    #[must_use]
    pub const fn text(name: &'static str, max: usize, description: &'static str) -> Self {
        Self::new(name, FieldType::Text { min: 0, max, format: TextFormat::Any }, description)
    }

    /// Creates a field for a name of up to `max` characters.
    #[must_use]
    pub const fn name(name: &'static str, max: usize, description: &'static str) -> Self {
        Self::text_with_format(name, max, TextFormat::Name, description)
    }

    /// Creates a text field of up to `max` characters in `format`.
    #[must_use]
    pub const fn text_with_format(
        name: &'static str,
        max: usize,
        format: TextFormat,
        description: &'static str,
    ) -> Self {
        Self::new(name, FieldType::Text { min: 0, max, format }, description)
    }

    /// Creates a text field with a fixed set of values; the first of `choices` is the default.
    #[must_use]
    pub const fn choice(
        name: &'static str,
        choices: &'static [&'static str],
        description: &'static str,
    ) -> Self {
        Self::new(name, FieldType::TextEnum(choices), description)
            .with_default(DefaultValue::Text(choices[0]))
    }

    /// Creates a list field of up to `max` entries, empty by default.
    #[must_use]
    pub const fn list(
        name: &'static str,
        items: &'static FieldType,
        max: usize,
        description: &'static str,
    ) -> Self {
        Self::new(name, FieldType::List { item_type: items, min: 0, max }, description)
            .with_default(DefaultValue::EmptyList)
    }

    /// Creates a field that holds an object with the fields of `table`.
    #[must_use]
    pub const fn object(name: &'static str, table: &'static FieldTable, description: &'static str) -> Self {
        Self::new(name, FieldType::Object(table), description)
    }

    /// Sets the default.
    #[must_use]
    pub const fn with_default(mut self, default: DefaultValue) -> Self {
        self.default = default;
        self
    }

    /// Makes the field required on create; a text must then not be empty.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        if let FieldType::Text { min: 0, max, format } = self.field_type {
            self.field_type = FieldType::Text { min: 1, max, format };
        }
        self
    }

    /// Makes the field required on create in version 3 alone; elsewhere it keeps its default.
    #[must_use]
    pub const fn required_in_v3(mut self) -> Self {
        self.required_in_v3 = true;
        self
    }

    /// Makes the field read-only: only Vigie sets it.
    #[must_use]
    pub const fn read_only(mut self) -> Self {
        self.access = Access::ReadOnly;
        self
    }

    /// Sets who may set the field.
    #[must_use]
    pub const fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// Marks the field as a secret, which is shown masked.
    #[must_use]
    pub const fn secret(mut self) -> Self {
        self.secret = true;
        self
    }

    /// Marks the field as an extension beyond interface.md.
    #[must_use]
    pub const fn vigie_extension(mut self) -> Self {
        self.extension = true;
        self
    }

    /// Sets the encoding in the legacy API.
    #[must_use]
    pub const fn legacy(mut self, legacy: LegacyEncoding) -> Self {
        self.legacy = legacy;
        self
    }
}
