//! The engine from outside: attempts, checks and the runner, on scripted probes.

mod back_pressure;
mod checks;
mod connectivity;
mod kit;
mod real_time;
mod runner;
mod shutdown;
