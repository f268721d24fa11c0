//! `vigie run`: the job as it is without it, and what is reported of it.

mod job;
mod kit;
mod reported;
