//! The page of one result: what happened, how that was found, and the evidence.

mod assertions;
mod attempts;
mod browser;
mod captures;
mod content;
mod content_views;
mod context;
mod details;
mod evidence;
mod exchanges;
mod lookup;
mod page;
mod path;
mod steps;
mod verdict;
mod waterfall;
mod waterfall_filter;
mod waterfall_row;

pub(super) use captures::{capture_response, get_capture};
pub(super) use content::{render_lone_result, render_shared_result};
pub(super) use lookup::find_result;
pub(super) use page::{get_page, get_record};
pub(super) use verdict::{location_name, suppression_text};
