//! The engine from outside: attempts, checks and the runner, on scripted probes.

mod back_pressure;
mod checks;
mod kit;
mod places;
mod real_time;
mod runner;
mod shutdown;
