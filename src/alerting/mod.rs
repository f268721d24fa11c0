//! Who is to be woken, decided without I/O: the runs of a monitor over its locations, its outages, thresholds and
//! who is told (behaviour.md 5 and 6). Time, recipients and blackouts come in as arguments; what is to be done
//! goes out as [`Effect`]s, in their order.

mod audience;
mod effect;
mod heard;
mod outage;
mod passing;
mod performance;
mod policy;
mod run;
mod settling;
mod terms;
mod watch;

pub use audience::{audience, performance_audience};
pub use effect::{Effect, EpisodeChange, EpisodeEnd, News};
pub use heard::{CertificateNews, Heard, PageNews};
pub use performance::{
    LEAST_CHECKS, PerformanceChange, PerformanceLevel, PerformanceRule, RaisedAlert, Threshold,
};
pub use policy::{Policy, Quorum};
pub use terms::{Contacts, Terms};
pub use watch::{Health, Watch};
