//! JSON Schema (2020-12, as OpenAPI 3.1 has it) of what goes in and what comes out, out of the field table.
//! What the schema of an input says is what the intake does: a test holds the two together.

mod describe;
mod example;
mod page;
mod parts;
mod pattern;
mod role;
mod value;

pub use describe::{add_schema, components, partial_schema_ref};
pub use example::{create_example, patch_example};
pub use page::{describe_type, reference_page, reference_section};
pub use parts::sub_objects;
pub use role::{SchemaRole, schema_name, schema_ref};
