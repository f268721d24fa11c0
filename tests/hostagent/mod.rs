//! `vigie hostagent`: what it measures, and how it reports over cuts, kills and refusals.

mod agent;
mod measured;
mod refused;
mod reporting;
