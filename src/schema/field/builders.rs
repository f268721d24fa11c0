//! Builds the description of a field.

use super::definition::{Access, DefaultValue, Field, FieldTable, FieldType, LegacyEncoding};
use crate::syntax::text_format::TextFormat;

impl Field {
    /// A field of `kind` without a default, open to editors.
    #[must_use]
    pub const fn new(name: &'static str, kind: FieldType, about: &'static str) -> Self {
        Self {
            name,
            description: about,
            field_type: kind,
            default: DefaultValue::None,
            required: false,
            access: Access::ReadWrite,
            secret: false,
            extension: false,
            legacy: LegacyEncoding::Same,
        }
    }

    /// A yes or no with its default.
    #[must_use]
    pub const fn flag(name: &'static str, default: bool, about: &'static str) -> Self {
        Self::new(name, FieldType::Bool, about).with_default(DefaultValue::Bool(default))
    }

    /// A whole number in `min..=max`.
    #[must_use]
    pub const fn int(name: &'static str, min: i64, max: i64, about: &'static str) -> Self {
        Self::new(name, FieldType::Int { min, max }, about)
    }

    /// A free text of up to `max` characters.
    #[must_use]
    pub const fn text(name: &'static str, max: usize, about: &'static str) -> Self {
        Self::new(name, FieldType::Text { min: 0, max, format: TextFormat::Any }, about)
    }

    /// A text of up to `max` characters in `format`.
    #[must_use]
    pub const fn text_with_format(
        name: &'static str,
        max: usize,
        format: TextFormat,
        about: &'static str,
    ) -> Self {
        Self::new(name, FieldType::Text { min: 0, max, format }, about)
    }

    /// A text out of `choices`, the first of which is the default.
    #[must_use]
    pub const fn choice(name: &'static str, choices: &'static [&'static str], about: &'static str) -> Self {
        Self::new(name, FieldType::TextEnum(choices), about).with_default(DefaultValue::Text(choices[0]))
    }

    /// A list of up to `max` entries, empty by default.
    #[must_use]
    pub const fn list(name: &'static str, of: &'static FieldType, max: usize, about: &'static str) -> Self {
        Self::new(name, FieldType::List { items: of, min: 0, max }, about)
            .with_default(DefaultValue::EmptyList)
    }

    /// A map with the fields of `table`.
    #[must_use]
    pub const fn object(name: &'static str, table: &'static FieldTable, about: &'static str) -> Self {
        Self::new(name, FieldType::Object(table), about)
    }

    /// With this default.
    #[must_use]
    pub const fn with_default(mut self, default: DefaultValue) -> Self {
        self.default = default;
        self
    }

    /// Has to be there on create; a text must not be empty then.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        if let FieldType::Text { min: 0, max, format } = self.field_type {
            self.field_type = FieldType::Text { min: 1, max, format };
        }
        self
    }

    /// Set by Vigie alone.
    #[must_use]
    pub const fn read_only(mut self) -> Self {
        self.access = Access::ReadOnly;
        self
    }

    /// With this access.
    #[must_use]
    pub const fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// Shown masked.
    #[must_use]
    pub const fn secret(mut self) -> Self {
        self.secret = true;
        self
    }

    /// Beyond interface.md.
    #[must_use]
    pub const fn extension(mut self) -> Self {
        self.extension = true;
        self
    }

    /// With this form in the legacy API.
    #[must_use]
    pub const fn legacy(mut self, legacy: LegacyEncoding) -> Self {
        self.legacy = legacy;
        self
    }
}
