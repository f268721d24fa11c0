//! The list of monitors: filters, order, groups and columns of choice; and as a file for spreadsheets.

mod csv;
mod groups;
mod page;
mod query;
mod rows;
mod saved;

pub(super) use csv::get_file;
pub(super) use page::{get_page, ids_of_list, live_page, path_of_list, visible_board};
pub(super) use query::{VIEWS_PATH, to_status_query};
pub(super) use saved::post_view;
