//! Alert decisions: scripted histories of runs with exactly the notifications that follow, and properties of any
//! history.

mod harness;
mod histories;
mod location_modes;
mod properties;
mod recipients;
mod script;
