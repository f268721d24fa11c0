//! Changes of many monitors that a person chose in the list: a preview first, then the change.

mod bulk_form;
mod bulk_page;

pub(super) use bulk_form::render_bulk_form;
pub(super) use bulk_page::post_bulk;
