//! The page of one result: what happened, how that was found, and the evidence.

mod attempts;
mod browser;
mod captures;
mod content_views;
mod details;
mod evidence;
mod exchanges;
mod lookup;
mod page;
mod steps;
mod verdict;
mod waterfall;

pub(super) use captures::get_capture;
pub(super) use page::{get_page, render_lone_result};
pub(super) use verdict::location_name;
