//! The agent through its public interface: attempts, checks and the runner, with scripted probes.

mod back_pressure;
mod checks;
mod connectivity;
mod first_checks;
pub mod kit;
mod real_time;
mod runner;
mod shutdown;
