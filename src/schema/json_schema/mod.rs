//! JSON Schema (2020-12, as in OpenAPI 3.1) of requests and responses, generated from the field table. A test ensures
//! that the schema of an input agrees with what the reader accepts.

mod components;
mod example;
mod field_schema;
mod pattern;
mod reference_page;
mod schema_role;
mod sub_objects;

pub use components::{add_component_schema, component_schemas, selected_fields_schema_ref};
pub use example::{create_example, patch_example};
pub use reference_page::{describe_type, fields_as_markdown, sub_objects_as_markdown};
pub use schema_role::{SchemaRole, schema_name, schema_ref};
pub use sub_objects::sub_objects;
