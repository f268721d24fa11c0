//! JSON Schema (2020-12, as OpenAPI 3.1 has it) of what goes in and what comes out, out of the field table.
//! What the schema of an input says is what the intake does: a test holds the two together.

mod components;
mod example;
mod field_schema;
mod pattern;
mod reference_page;
mod schema_role;
mod sub_objects;

pub use components::{add_schema, components, partial_schema_ref};
pub use example::{create_example, patch_example};
pub use reference_page::{describe_type, field_table, sub_object_sections};
pub use schema_role::{SchemaRole, schema_name, schema_ref};
pub use sub_objects::sub_objects;
