//! A check result in words for people: verdict, reasons, phases as bars, what was learned of the target.

mod bars;
mod check;
mod course;
mod facts;
mod played;
mod units;

pub use check::check;
pub use units::{days_between, duration, plain};
