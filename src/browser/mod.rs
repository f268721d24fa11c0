//! Real browsers: a driver and a browser for each check, with a profile, a process group and a forward proxy
//! of their own, all of it gone when the check ends. What a script does with them is the probe's to play.

mod wish;

pub use wish::{BrowserKind, Guise, Wish};
